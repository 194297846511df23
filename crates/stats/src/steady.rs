//! Whether a series of rounds has reached steady state, as the industry's own test defines it.
//!
//! By SNIA's "Solid State Storage Performance Test Specification" (PTS), definition of steady state:
//! over a window of five rounds the values range over at most 20 % of their average, and the line
//! of best fit changes over the window by at most 10 % of it. Too long and too much wear for a
//! default; it says when a used drive has settled, not how it performs when new.

/// The rounds that are looked at.
pub const STEADY_WINDOW: usize = 5;

/// The most by which the values may range, as a part of their average.
const RANGE_MAX: f64 = 0.20;

/// The most by which the line of best fit may change over the window, as a part of the average.
const SLOPE_MAX: f64 = 0.10;

/// What the last rounds show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// The average of the window, in the unit of the rounds.
    pub average: f64,
    /// From the smallest to the largest of the window, as a part of the average.
    pub range: f64,
    /// By how much the line of best fit changes over the window, as a part of the average; without
    /// its sign.
    pub slope: f64,
}

impl SteadyState {
    /// The state of the last [`STEADY_WINDOW`] of `rounds`; `None` of fewer, or where they average
    /// to nothing.
    #[must_use]
    pub fn new(rounds: &[f64]) -> Option<Self> {
        let window = rounds.len().checked_sub(STEADY_WINDOW).map(|from| &rounds[from..])?;
        let count = window.len() as f64;
        let average = window.iter().sum::<f64>() / count;
        if !(average.is_finite() && average > 0.0) {
            return None;
        }
        let (min, max) = window
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(min, max), &value| (min.min(value), max.max(value)));
        let middle = (count - 1.0) / 2.0;
        let steps = || (0..window.len()).map(|index| index as f64 - middle);
        let rise: f64 = steps().zip(window).map(|(step, value)| step * value).sum();
        let per_round = rise / steps().map(|step| step * step).sum::<f64>();
        let slope = (per_round * (count - 1.0) / average).abs();
        Some(Self { average, range: (max - min) / average, slope })
    }

    /// Whether that is steady state.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX && self.slope <= SLOPE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_level_rounds_are_steady_whatever_came_before() {
        let state = SteadyState::new(&[900.0, 400.0, 100.0, 101.0, 99.0, 100.0, 100.0]).unwrap();
        assert!(state.is_steady(), "{state:?}");
        assert_eq!(state.average, 100.0);
    }

    #[test]
    fn a_slow_fall_is_not_steady_though_its_range_is_small() {
        // Ranges over 12 %, and falls by 12 % from end to end.
        let state = SteadyState::new(&[106.0, 103.0, 100.0, 97.0, 94.0]).unwrap();
        assert!((state.range - 0.12).abs() < 1e-9 && (state.slope - 0.12).abs() < 1e-9);
        assert!(!state.is_steady());
    }

    #[test]
    fn a_swing_is_not_steady_though_its_line_is_level() {
        let state = SteadyState::new(&[100.0, 115.0, 85.0, 115.0, 100.0]).unwrap();
        assert!(state.slope < 0.1 && !state.is_steady(), "{state:?}");
    }

    #[test]
    fn fewer_than_five_rounds_or_none_that_count_say_nothing() {
        assert_eq!(SteadyState::new(&[1.0; 4]), None);
        assert_eq!(SteadyState::new(&[0.0; 5]), None);
    }
}
