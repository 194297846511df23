//! Power cuts: write by a plan, lose the power, read what is there.
//!
//! [`Writer`] and [`read_area`] work on any target. [`run`] does whole cuts on a target whose power
//! a program can switch ([`cardproof_io::PowerSwitch`]), on that target's clock.

mod reader;
mod writer;

use cardproof_evidence::powercut::{CutReport, Plan, PlanError, Promise, Tally, classify, gone};
use cardproof_io::{Target, Wait};
use cardproof_units::{Bytes, Nanos, Seed};

pub use reader::{Read, read_area};
pub use writer::{Ended, Ledger, Style, Until, Writer};

use crate::drive::DriveError;

/// How often a device is switched on again before it counts as gone.
const POWER_ONS: u32 = 3;

/// Before a cut so many epochs are written in full at most.
const EPOCHS_MAX: u64 = 4;

/// Reports of cuts that did harm are kept up to this number.
const KEPT_MAX: usize = 100;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// How many cuts.
    pub cuts: u64,
    /// Where the area begins on the target.
    pub start: Bytes,
    /// How large the area is.
    pub size: Bytes,
    /// How many writes lie between two flushes.
    pub epoch_writes: u32,
    /// How it is written.
    pub style: Style,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All cuts summed up.
    pub tally: Tally,
    /// The cuts that did harm, by their number from 1; the first of them where there are many.
    pub harmful: Vec<(u64, CutReport)>,
    /// What was written.
    pub bytes_written: Bytes,
    /// What was read.
    pub bytes_read: Bytes,
    /// It was stopped before all cuts were made.
    pub is_cut_short: bool,
}

/// Why cuts cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// The area does not do.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The target cannot go on.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// No program can cut its power.
    #[error("the power of this target cannot be cut by a program")]
    NoSwitch,
    /// It failed with the power on.
    #[error("the device failed while its power was on: {0}")]
    Device(cardproof_io::Fault),
}

/// Makes the cuts of `wish` on `target`. `seed` decides addresses, data and the moments of the cuts.
/// `progress` hears of the cuts made and says whether to go on.
///
/// A device that does not come back ends it.
///
/// # Errors
/// The cuts cannot be made.
pub fn run(
    target: &mut dyn Target,
    wish: &Wish,
    seed: Seed,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Outcome, CutError> {
    let mut outcome = Outcome::default();
    for number in 1..=wish.cuts {
        if !progress(number - 1) {
            outcome.is_cut_short = true;
            break;
        }
        let seed = Seed::from_bits(seed.derive(&format!("cut {number}")));
        let report = one_cut(target, wish, seed, &mut outcome)?;
        outcome.tally.add(&report);
        let is_gone = report.kinds().contains(&cardproof_evidence::powercut::Kind::Gone);
        if !report.findings.is_empty() && outcome.harmful.len() < KEPT_MAX {
            outcome.harmful.push((number, report));
        }
        if is_gone {
            break;
        }
    }
    Ok(outcome)
}

/// What the writer of a simulated card was told.
#[derive(Debug, Default)]
struct PromiseLedger(Promise);

impl Ledger for PromiseLedger {
    fn issued(&mut self, number: u64) -> bool {
        self.0.issued = self.0.issued.max(number);
        true
    }

    fn durable(&mut self, number: u64) -> bool {
        self.0.durable = self.0.durable.max(number);
        true
    }
}

/// Writes, cuts at a random moment, switches on, reads twice and judges.
fn one_cut(
    target: &mut dyn Target,
    wish: &Wish,
    seed: Seed,
    outcome: &mut Outcome,
) -> Result<CutReport, CutError> {
    let block = target.abilities().logical_block;
    let plan = Plan::new(seed, wish.start, wish.size, block, wish.epoch_writes)?;
    let mut told = PromiseLedger::default();
    let mut writer = Writer::new(target, plan, wish.style)?;
    let moment = seed.derive("moment of the cut");
    let ended = lead_up(&mut writer, moment, &mut told);
    outcome.bytes_written += writer.bytes_written();
    match ended? {
        Ended::Reached => {}
        Ended::Device(fault) => return Err(CutError::Device(fault)),
        Ended::ByLedger => outcome.is_cut_short = true,
    }
    let in_flight = writer.in_flight();
    drop(writer);
    cut(target, in_flight)?;
    for _ in 0..POWER_ONS {
        target.power().ok_or(CutError::NoSwitch)?.restore();
        let (first, second) = (read_area(target, &plan)?, read_area(target, &plan)?);
        outcome.bytes_read += first.bytes + second.bytes;
        if !first.is_gone && !second.is_gone {
            return Ok(classify(&plan, told.0, &first.sectors, &second.sectors));
        }
    }
    Ok(gone(told.0.issued > told.0.durable))
}

/// Lays the area down, writes some epochs in full, and goes on until a moment within an epoch.
fn lead_up(
    writer: &mut Writer<'_>,
    moment: u64,
    told: &mut PromiseLedger,
) -> Result<Ended, DriveError> {
    match writer.lay_down()? {
        Ended::Reached => {}
        ended => return Ok(ended),
    }
    let epochs = 1 + moment % EPOCHS_MAX;
    let begin = writer.now();
    match writer.write(Until::Epochs(epochs), told)? {
        Ended::Reached => {}
        ended => return Ok(ended),
    }
    let now = writer.now();
    let epoch = now.saturating_sub(begin).get() / epochs;
    let until = now.saturating_add(Nanos((moment >> 8) % epoch.max(1)));
    writer.write(Until::Time(until), told)
}

/// Cuts the power and takes back what was in flight.
fn cut(target: &mut dyn Target, in_flight: usize) -> Result<(), CutError> {
    target.power().ok_or(CutError::NoSwitch)?.cut();
    let mut completions = Vec::new();
    while completions.len() < in_flight {
        target.complete(Wait::One, &mut completions).map_err(DriveError::from)?;
    }
    Ok(())
}
