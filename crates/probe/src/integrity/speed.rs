//! What speed a discard gives back: random writes to a region that is full, and to the same region filled and
//! then discarded, in turns.

use cardproof_evidence::capacity::stamp::Stamp;
use cardproof_io::{Fault, Target};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::patient::Patient;
use super::pieces::UNIT;
use super::{PlanError, Progress};
use crate::drive::DriveError;

/// The largest region, in bytes.
const REGION_MAX: u64 = 64 << 20;

/// A smaller region is in the card's cache.
const REGION_MIN: u64 = 8 << 20;

/// How many pairs of measurements.
const PAIRS: u64 = 8;

/// So many writes are timed before and after each discard: 16 MiB, after which most cards have tidied up once.
const WRITES: u64 = 4096;

/// The region is filled in requests of this length, in bytes, and discarded in such.
const REQUEST: u64 = 1 << 20;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeedPlan {
    region: u64,
    seed: Seed,
}

impl SpeedPlan {
    /// Measurements in a region at the start of `span`.
    ///
    /// # Errors
    /// The span is too small.
    pub fn new(span: Bytes, seed: Seed) -> Result<Self, PlanError> {
        let region = span.get().min(REGION_MAX) / REQUEST * REQUEST;
        if region < REGION_MIN {
            return Err(PlanError::TooSmall { size: span, needed: Bytes(REGION_MIN) });
        }
        Ok(Self { region, seed })
    }

    /// How much is written.
    #[must_use]
    pub const fn bytes_to_write(&self) -> Bytes {
        Bytes(PAIRS * 2 * (self.region + WRITES * UNIT))
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct SpeedOutcome {
    /// The size of the region.
    pub region: Bytes,
    /// Writes a second to the full region, of each pair.
    pub before: Vec<f64>,
    /// Writes a second after the discard, of each pair.
    pub after: Vec<f64>,
    /// Everything that was written.
    pub bytes_written: Bytes,
    /// The user ended it before all pairs were measured.
    pub is_stopped: bool,
    /// Requests that the device answered with an error; they were tried again.
    pub faults: u64,
    /// How many of these errors a further try did not show.
    pub mended: u64,
    /// The error that ended it before all pairs were measured.
    pub fault: Option<Fault>,
}

/// Measures what discards give back on `target`.
///
/// # Errors
/// The experiment cannot go on.
pub fn run_speed(
    target: &mut dyn Target,
    plan: &SpeedPlan,
    progress: &mut dyn Progress,
) -> Result<SpeedOutcome, DriveError> {
    let mut drive = Patient::new(target, Bytes(REQUEST))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed.derive("writes after discards"));
    let mut out = SpeedOutcome { region: Bytes(plan.region), ..SpeedOutcome::default() };
    for pair in 0..PAIRS {
        if !progress.step("speed after discards", pair as f64 / PAIRS as f64) {
            out.is_stopped = true;
            break;
        }
        match one_pair(&mut drive, plan, pair, &mut random)? {
            Ok([before, after]) => {
                out.before.push(before);
                out.after.push(after);
            }
            Err(fault) => {
                out.fault = Some(fault);
                break;
            }
        }
    }
    out.bytes_written = drive.written();
    out.faults = drive.faults();
    out.mended = drive.mended();
    Ok(out)
}

/// Writes a second to the region when it is full, and when it is discarded.
///
/// Either begins with the region filled anew, and every second pair measures the discarded region first: so
/// whatever the card is still doing from what came before falls on both alike. If the full region were always
/// measured first, a drift of the card would look like a gain.
fn one_pair(
    drive: &mut Patient<'_>,
    plan: &SpeedPlan,
    pair: u64,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Result<[f64; 2], Fault>, DriveError> {
    let mut rates = [0.0; 2];
    let order = if pair.is_multiple_of(2) { [false, true] } else { [true, false] };
    for discards in order {
        if let Err(fault) = fill(drive, plan, discards, random)? {
            return Ok(Err(fault));
        }
        match timed_writes(drive, plan, random)? {
            Ok(rate) => rates[usize::from(discards)] = rate,
            Err(fault) => return Ok(Err(fault)),
        }
    }
    Ok(Ok(rates))
}

/// Fills the region, and discards it if `discards`.
fn fill(
    drive: &mut Patient<'_>,
    plan: &SpeedPlan,
    discards: bool,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Result<(), Fault>, DriveError> {
    let salt = random.next_u64();
    for at in (0..plan.region).step_by(REQUEST as usize) {
        let stamp = Stamp { salt, address_bytes: at, generation: 1 };
        if let Err(fault) = drive.write_stamped(at, REQUEST, stamp)? {
            return Ok(Err(fault));
        }
    }
    if discards {
        for at in (0..plan.region).step_by(REQUEST as usize) {
            if let Err(fault) = drive.discard(at, REQUEST)? {
                return Ok(Err(fault));
            }
        }
    }
    Ok(Ok(()))
}

/// Writes a second, of single random writes with a flush at either end.
fn timed_writes(
    drive: &mut Patient<'_>,
    plan: &SpeedPlan,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Result<f64, Fault>, DriveError> {
    if let Err(fault) = drive.flush()? {
        return Ok(Err(fault));
    }
    let begun = drive.now();
    for _ in 0..WRITES {
        let at = random.next_u64() % (plan.region / UNIT) * UNIT;
        let stamp = Stamp { salt: plan.seed.derive("speed"), address_bytes: at, generation: 2 };
        if let Err(fault) = drive.write_stamped(at, UNIT, stamp)? {
            return Ok(Err(fault));
        }
    }
    if let Err(fault) = drive.flush()? {
        return Ok(Err(fault));
    }
    let took = drive.now().saturating_sub(begun).max(Nanos(1));
    Ok(Ok(WRITES as f64 / took.as_secs_f64()))
}
