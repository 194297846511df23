//! The gain of a partition's place, measured on the user's own card.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_facts::CONFIDENCE;
use cardproof_probe::layout::Trial;
use cardproof_rating::tuning::Gain;
use cardproof_stats::RatioInterval;
use cardproof_units::{Bytes, Seed, with_causes};

use super::SetUp;
use crate::failure::Failure;
use crate::frontend::Frontend;

/// Where old partitioning tools let the first partition begin: sector 63.
const OLD_START: Bytes = Bytes(63 * 512);

/// How much of the target is used, in allocation units.
const UNITS: u64 = 20;

/// Two sectors of 512 bytes at which a partition may begin, as partitioning tools count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starts {
    before: Bytes,
    after: Bytes,
}

impl FromStr for Starts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give two sectors that differ, such as 8192,32768".to_owned();
        let sector = |word: &str| -> Option<u64> { word.trim().parse::<u32>().ok().map(u64::from) };
        let (before, after) = text.split_once(',').ok_or_else(wrong)?;
        let (before, after) = sector(before).zip(sector(after)).ok_or_else(wrong)?;
        let starts = Self { before: Bytes(512 * before), after: Bytes(512 * after) };
        if before == after { Err(wrong()) } else { Ok(starts) }
    }
}

/// Two beginnings of a partition, and what is filled at a time behind either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    begins: Starts,
    unit: Bytes,
    /// How much of the target is used.
    wanted: Bytes,
}

impl Case {
    /// Any two beginnings. What is filled at a time is the plan's unit, doubled until the beginnings differ within
    /// it. Longer stretches would hide what a border costs.
    fn of_starts(begins: Starts, unit: Bytes) -> Self {
        let Starts { before, after } = begins;
        let mut unit = unit.get().max(512);
        while before.get() % unit == after.get() % unit {
            unit *= 2;
        }
        let wanted = before.max(after) + Bytes(UNITS * unit);
        Self { begins, unit: Bytes(unit), wanted }
    }

    /// The beginning `begins` and the plan's.
    fn of_plan(begins: Bytes, unit: Bytes) -> Self {
        let begins = Starts { before: begins, after: unit };
        Self { begins, unit, wanted: Bytes(UNITS * unit.get()) }
    }
}

/// What is measured of a partition's place.
#[derive(Clone, Copy, Debug)]
pub struct GainWish {
    /// Two beginnings to compare; the plan's and the one there is, where there are none.
    pub starts: Option<Starts>,
    /// Where the partition begins now.
    pub partition_start: Option<Bytes>,
    /// How many pairs of measurements.
    pub pairs: u32,
    /// How much of the target may be used, where the user says so.
    pub size: Option<Bytes>,
    /// All addresses and data follow from it.
    pub seed: Seed,
}

impl SetUp<'_> {
    /// Measures the two beginnings that `wish` names; else the place that the plan gives the partition beside the
    /// place it has, or, where it has none, beside the place that old tools gave it.
    ///
    /// # Errors
    /// The target cannot be used, or fails.
    pub fn measure_gain(
        &self,
        wish: &GainWish,
        frontend: &mut dyn Frontend,
        stop: &AtomicBool,
    ) -> Result<Gain, Failure> {
        let size = self.device.size_bytes.unwrap_or(Bytes::ZERO);
        let Some(layout) = self.layout(size) else {
            return Ok(not_measured("the target is too small for the plan"));
        };
        let unit = layout.unit;
        let begins = wish.partition_start.unwrap_or(OLD_START);
        let case = match wish.starts {
            Some(starts) => Case::of_starts(starts, unit),
            None if begins.is_multiple_of(unit) => {
                return Ok(not_measured(&format!(
                    "the partition begins at a multiple of {unit} already"
                )));
            }
            None => Case::of_plan(begins, unit),
        };
        self.measured(wish, &case, frontend, stop)
    }

    fn measured(
        &self,
        wish: &GainWish,
        case: &Case,
        frontend: &mut dyn Frontend,
        stop: &AtomicBool,
    ) -> Result<Gain, Failure> {
        let Case { begins, unit, wanted } = *case;
        let GainWish { starts, pairs, size, seed, .. } = *wish;
        let mut storage = self.open(size, seed, wanted)?;
        // A place inside a directory's file says nothing of the card's units: the file lies anywhere.
        if storage.scratch.is_some() {
            return Ok(not_measured(
                "a file in a directory lies anywhere on the card; name the block device with --destroy",
            ));
        }
        let span = storage.span.min(wanted);
        // Of the partition's own beginning the offset within a unit decides.
        let before = match starts {
            Some(starts) => starts.before,
            None => Bytes(begins.before.get() % unit.get()).round_down_to(Bytes(512)),
        };
        let trial = Trial { before, after: begins.after, unit, span, pairs, seed };
        if !trial.fits() {
            return Ok(not_measured("too little of the target may be used"));
        }
        frontend.note(&format!("Writes {} to the first {span}.", trial.bytes()));
        let is_stopped = || stop.load(Ordering::Relaxed);
        let turns = trial.run(&mut *storage.target, &is_stopped).map_err(|error| {
            Failure::incomplete(format!("the gain was not measured: {}", with_causes(&error)))
        })?;
        let interval = RatioInterval::paired(&turns.before, &turns.after, CONFIDENCE, seed.get());
        Ok(interval.map_or_else(
            || not_measured("the rates have no interval"),
            |RatioInterval { estimate, low, high }| Gain::Measured {
                ratio: estimate,
                low,
                high,
                confidence: CONFIDENCE,
                is_gain: low > 1.0,
                before_start_bytes: begins.before,
                after_start_bytes: begins.after,
            },
        ))
    }
}

fn not_measured(reason: &str) -> Gain {
    Gain::NotMeasured { not_measured: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_smallest_within_which_two_starts_differ() {
        for (text, unit, expected) in [
            // Published: 8192 against 32768 on a card that reports 4 MiB.
            ("8192,32768", Bytes::mib(4), Some(Bytes::mib(8))),
            ("32768, 8192", Bytes::mib(4), Some(Bytes::mib(8))),
            ("63,2048", Bytes::mib(4), Some(Bytes::mib(4))),
            ("0,63", Bytes::mib(4), Some(Bytes::mib(4))),
            ("0,4294967295", Bytes::mib(3), Some(Bytes::mib(3))),
            ("8192,8192", Bytes::mib(4), None),
            ("8192", Bytes::mib(4), None),
            ("4MiB,16MiB", Bytes::mib(4), None),
        ] {
            let case = text.parse().ok().map(|starts| Case::of_starts(starts, unit));
            assert_eq!(case.map(|case| case.unit), expected, "{text}");
        }
    }
}
