//! Discards under test: ranges of all lengths with live data between them, some written again at once.
//!
//! An area at a random place is filled with live data. Ranges in it are discarded in random order, and half
//! of them are written again, in whole or in part, before anything is flushed. Then everything is read twice,
//! with a flush between: live data must be as they were, what was written again must be the newer data, and a
//! discarded place may read as zeros, as 255 or as its own old data. What was discarded is also read before the
//! first flush, so that old data which come back with it are seen. Single blocks all over the span show discards
//! that reach far, and the first rounds discard ranges as large as those of fstrim.
//!
//! A request that fails is tried again; a place whose write or discard failed for good holds nobody knows what,
//! and is not judged until it is written again.
//!
//! Data that were wrong may be wrong without discards too. So where any were, the same is done without them, until it
//! is known whether the discards are to blame.

use cardproof_evidence::integrity::{Sector, is_to_blame, trials_for};
use cardproof_io::Target;
use cardproof_units::{Bytes, Nanos, Seed};

use super::patient::Patient;
use super::pieces::UNIT;
use super::queue::End;
use super::trial::{REQUEST, Trial};
use super::{PlanError, Progress};
use crate::drive::DriveError;

/// The largest area of a round, in bytes.
const AREA_MAX: u64 = 32 << 20;

/// A smaller area has too few ranges.
const AREA_MIN: u64 = 4 << 20;

/// A range and the live data beside it take about so many bytes: the mean of an even logarithm is the
/// difference of its ends over the logarithm of their ratio.
const PER_RANGE: u64 = 52 * UNIT;

/// The answer is certain at this number of wrong places, and no more of them are kept.
pub(super) const WRONG_MAX: u64 = 100;

/// With fewer wrong places, more is discarded before the control begins: a rate is known too badly from them.
const WRONG_ENOUGH: u64 = 5;

/// Discards go on up to so many times the planned ones.
const DISCARDS_MAX: u64 = 4;

/// The control goes on up to so many times the planned test: enough for 5 wrong places in the longest one.
const CONTROL_MAX: u64 = 7;

/// Rounds with large ranges at the start, where there is room: about four ranges each.
const LARGE_ROUNDS: u64 = 2;

/// A large range takes at least so many bytes, and an area for some of them three times as many.
const LARGE_MIN: u64 = 4 << 20;

/// The lengths of ranges, in units: at least and at most, with even logarithms.
pub(super) const RANGE_UNITS: (u64, u64) = (1, 256);
pub(super) const LARGE_UNITS: (u64, u64) = (LARGE_MIN / UNIT, 2 * LARGE_MIN / UNIT);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardPlan {
    span: Bytes,
    area: u64,
    discards: u64,
    seed: Seed,
}

impl DiscardPlan {
    /// A test in `span` from the start of a target, that finds discards of which a share of `share` (between
    /// 0 and 1) harms data in the area tested, with 95 % confidence.
    ///
    /// # Errors
    /// The span is too small.
    pub fn new(span: Bytes, share: f64, seed: Seed) -> Result<Self, PlanError> {
        let area = span.get().min(AREA_MAX) / UNIT * UNIT;
        if area < AREA_MIN {
            return Err(PlanError::TooSmall { size: span, needed: Bytes(AREA_MIN) });
        }
        Ok(Self { span, area, discards: trials_for(share), seed })
    }

    /// The span from the start of the target.
    pub(super) const fn span(&self) -> Bytes {
        self.span
    }

    /// The size of the area of each round, in bytes.
    pub(super) const fn area(&self) -> u64 {
        self.area
    }

    pub(super) const fn seed(&self) -> Seed {
        self.seed
    }

    /// At least so many discards.
    #[must_use]
    pub const fn discards(&self) -> u64 {
        self.discards
    }

    /// How many rounds have large ranges.
    const fn large_rounds(&self) -> u64 {
        if self.area < 3 * LARGE_MIN { 0 } else { LARGE_ROUNDS }
    }

    /// How many rounds are planned, and how much each writes.
    const fn rounds(&self) -> (u64, u64) {
        let rounds = (self.discards * PER_RANGE).div_ceil(self.area) + self.large_rounds();
        (rounds, self.area + self.area / 4)
    }

    /// About so much is written.
    #[must_use]
    pub const fn bytes_to_write(&self) -> Bytes {
        let (rounds, each) = self.rounds();
        Bytes(rounds * each)
    }

    /// At most about so much is written where data are wrong, and too few to know whether they are without discards
    /// as well.
    #[must_use]
    pub const fn bytes_at_most(&self) -> Bytes {
        let (rounds, each) = self.rounds();
        Bytes(((DISCARDS_MAX + CONTROL_MAX) * rounds + 1) * each)
    }

    /// Whether another round belongs to the test after `rounds`, which found `out`.
    fn is_short_of(&self, rounds: u64, out: &DiscardOutcome) -> bool {
        let is_unclear = (1..WRONG_ENOUGH).contains(&out.wrong_count);
        out.discards < self.discards
            || rounds < self.large_rounds()
            || is_unclear && out.discards < DISCARDS_MAX * self.discards
    }
}

/// What a place was when it was found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// It was never discarded.
    Live,
    /// It was written after its discard.
    WrittenAgain,
    /// It lies outside of the area in which ranges were discarded.
    Far,
    /// It was discarded, and reads as the data of another address.
    Discarded,
}

/// A place that was found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardWrong {
    /// What the test had done with the place.
    pub place: PlaceKind,
    /// What came back in its first wrong sector.
    pub found: Sector,
    /// Where that lies.
    pub address_bytes: u64,
    /// How many bytes of the stretch are wrong.
    pub length_bytes: u64,
    /// How far it lies from the nearest discarded range; 0 within one and right beside one.
    pub distance_bytes: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct DiscardOutcome {
    /// Discards that were done and checked.
    pub discards: u64,
    /// How much they covered.
    pub discarded: Bytes,
    /// Live data that were compared.
    pub live_checked: Bytes,
    /// Data written after a discard that were compared.
    pub again_checked: Bytes,
    /// The wrong places, the first of them where there are many.
    pub wrong: Vec<DiscardWrong>,
    /// How many places were wrong.
    pub wrong_count: u64,
    /// Bytes of discarded places that read as zeros, as 255, as the old data, and as anything else.
    pub reads: [Bytes; 4],
    /// Bytes of discarded places that read as empty at first, and later as the old data.
    pub revived: Bytes,
    /// Data that were compared in the control, where nothing was discarded; none where nothing had been wrong.
    pub control_checked: Bytes,
    /// How many places were wrong there.
    pub control_wrong: u64,
    /// Requests that the device answered with an error.
    pub faults: u64,
    /// How many of these errors a further try did not show.
    pub mended: u64,
    /// The device cannot discard.
    pub is_unsupported: bool,
    /// The time that it took.
    pub time: Nanos,
    /// Everything that was written.
    pub bytes_written: Bytes,
    /// Everything that was read.
    pub bytes_read: Bytes,
    /// How it ended.
    pub end: End,
}

/// Tests the discards of `target` by `plan`.
///
/// # Errors
/// The experiment cannot go on.
pub fn run_discards(
    target: &mut dyn Target,
    plan: &DiscardPlan,
    progress: &mut dyn Progress,
) -> Result<DiscardOutcome, DriveError> {
    let drive = Patient::new(target, Bytes(REQUEST))?;
    let mut trial = Trial::new(drive, plan);
    let begun = trial.drive.now();
    trial.far.write(&mut trial.drive)?;
    let mut end = End::Done;
    let mut rounds = 0;
    while end == End::Done && plan.is_short_of(rounds, &trial.out) && !trial.out.is_unsupported {
        let done = (trial.out.discards as f64 / plan.discards as f64).min(1.0);
        if !progress.step("discards", done) {
            end = End::Stopped;
            break;
        }
        trial.round(if rounds < plan.large_rounds() { LARGE_UNITS } else { RANGE_UNITS })?;
        rounds += 1;
        if let Some(fault) = trial.drive.exhausted() {
            end = End::Failing(fault);
        } else if trial.out.wrong_count >= WRONG_MAX {
            end = End::Certain;
        }
    }
    let mut out = std::mem::take(&mut trial.out);
    let is_harmed = out.wrong_count > 0 || out.revived > Bytes::ZERO;
    if is_harmed && matches!(end, End::Done | End::Certain) {
        trial = trial.into_control();
        end = control(&mut trial, plan, &mut out, end, progress)?;
    }
    out.faults = trial.drive.faults();
    out.mended = trial.drive.mended();
    out.time = trial.drive.now().saturating_sub(begun);
    out.bytes_written = trial.drive.written();
    out.bytes_read = trial.drive.read_so_far();
    out.end = end;
    Ok(out)
}

/// Does the same without discards until that would have shown what `out` has found, or shows it; how the test ends,
/// which without errors is `end`.
///
/// What an earlier discard still does falls into a first round, of which nothing is kept.
fn control(
    trial: &mut Trial<'_>,
    plan: &DiscardPlan,
    out: &mut DiscardOutcome,
    end: End,
    progress: &mut dyn Progress,
) -> Result<End, DriveError> {
    let found = out.wrong_count.max(1);
    let tested = out.compared().get();
    let planned = plan.rounds().0 * plan.area;
    trial.round(RANGE_UNITS)?;
    trial.begin_anew()?;
    while out.control_wrong == 0
        && out.control_checked.get() < CONTROL_MAX * planned
        && !(is_to_blame(found, tested, out.control_checked.get())
            || out.wrong_count == 0 && out.control_checked >= out.compared())
    {
        let done = out.control_checked.as_f64() / (CONTROL_MAX * planned) as f64;
        if !progress.step("without discards", done.min(1.0)) {
            return Ok(End::Stopped);
        }
        trial.round(RANGE_UNITS)?;
        if let Some(fault) = trial.drive.exhausted() {
            return Ok(End::Failing(fault));
        }
        out.control_checked = trial.out.compared();
        out.control_wrong = trial.out.wrong_count;
    }
    Ok(end)
}

impl DiscardOutcome {
    /// All data that were to be kept and were compared.
    fn compared(&self) -> Bytes {
        self.live_checked + self.again_checked
    }
}

impl DiscardWrong {
    /// Whether the place at `address_bytes` is a part of it.
    pub(super) const fn covers(&self, address_bytes: u64) -> bool {
        self.address_bytes <= address_bytes
            && address_bytes < self.address_bytes + self.length_bytes
    }
}
