//! Whether storage still becomes warmer: until it does not, a steady rate is that of a cold card.
//!
//! The test of steady state looks at rates alone. A card that throttles keeps its full rate until it is
//! hot, which without a fan takes minutes, and those minutes are as steady as any.

use cardproof_io::Target;
use cardproof_stats::STEADY_WINDOW;
use cardproof_units::Nanos;

/// Storage that does not become warmer by more than this has settled; thermometers of storage tell
/// whole degrees.
const RISE_MAX_MILLICELSIUS: i32 = 1_000;

/// For so long it must not. Half a degree a minute is what a card with a time constant of 25 minutes
/// does when it is 12 degrees from where it goes.
const LOOKED_AT: Nanos = Nanos::from_secs(120);

/// What the storage's thermometer told before the first run and after each.
#[derive(Debug, Default)]
pub(crate) struct Warming {
    readings: Vec<(Nanos, i32)>,
}

impl Warming {
    /// Reads the thermometer of `target`, if it has one.
    pub(crate) fn look(&mut self, target: &mut dyn Target) {
        let now = target.now();
        self.readings.extend(target.temperature_millicelsius().map(|reading| (now, reading)));
    }

    /// Whether the storage did not become warmer in the runs that steady state is judged by, which here
    /// last [`LOOKED_AT`] at least. Without a thermometer it is taken for settled.
    pub(crate) fn has_settled(&self) -> bool {
        let Some(&(end, _)) = self.readings.last() else { return true };
        let Some(newest) = self.readings.len().checked_sub(STEADY_WINDOW + 1) else { return false };
        let is_early_enough = |&(time, _): &(Nanos, i32)| end.saturating_sub(time) >= LOOKED_AT;
        let Some(last_before) = self.readings[..=newest].iter().rposition(is_early_enough) else {
            return false;
        };
        let (before, looked_at) = self.readings.split_at(last_before + 1);
        let warmest = |part: &[(Nanos, i32)]| part.iter().map(|&(_, reading)| reading).max();
        match (warmest(before), warmest(looked_at)) {
            (Some(before), Some(now)) => now.saturating_sub(before) <= RISE_MAX_MILLICELSIUS,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_settled(seconds_a_run: u64, celsius: &[i32]) -> bool {
        let reading = |(run, degrees): (usize, &i32)| {
            (Nanos::from_secs(seconds_a_run * run as u64), degrees * 1000)
        };
        Warming { readings: celsius.iter().enumerate().map(reading).collect() }.has_settled()
    }

    #[test]
    fn storage_has_settled_when_it_stays_as_warm_as_before() {
        for (what, seconds, celsius, expected) in [
            ("no thermometer", 30, &[][..], true),
            ("too few runs", 300, &[40, 40, 40, 40, 40], false),
            ("warm from the start", 30, &[40, 40, 40, 41, 40, 40], true),
            ("in less than two minutes", 10, &[40, 40, 40, 40, 40, 40], false),
            ("more runs where they are short", 10, &[40; 13], true),
            ("warming", 30, &[20, 30, 38, 44, 49, 53], false),
            (
                "warming slowly in short runs",
                10,
                &[30, 30, 30, 31, 31, 31, 32, 32, 32, 33, 33, 33, 34],
                false,
            ),
            ("at the limit, up and down", 30, &[20, 50, 70, 80, 81, 79, 81, 80, 79, 81], true),
            ("cooling", 30, &[80, 70, 60, 55, 52, 50], true),
        ] {
            assert_eq!(has_settled(seconds, celsius), expected, "{what}");
        }
    }
}
