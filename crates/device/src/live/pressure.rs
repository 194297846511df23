//! How long tasks have stalled: the totals in `/proc/pressure`, microseconds since boot
//! (the kernel's `Documentation/accounting/psi.rst`). Many small boards have no such files.

use cardproof_units::Nanos;

/// The totals of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stalls {
    some_micros: u64,
    full_micros: Option<u64>,
}

impl Stalls {
    /// From the text of one of the files.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let total = |kind: &str| {
            let line = text.lines().find(|line| line.starts_with(kind))?;
            line.split_once("total=")?.1.trim().parse().ok()
        };
        Some(Self { some_micros: total("some")?, full_micros: total("full") })
    }

    /// The shares of `window` since `earlier` in which some and all tasks stalled.
    pub(super) fn since(&self, earlier: &Self, window: Nanos) -> (Option<f64>, Option<f64>) {
        let share = |later: u64, earlier: u64| {
            let micros = later.checked_sub(earlier)?;
            (window > Nanos::ZERO)
                .then(|| (micros as f64 / 1e6 / window.as_secs_f64()).clamp(0.0, 1.0))
        };
        let full = self.full_micros.zip(earlier.full_micros);
        (
            share(self.some_micros, earlier.some_micros),
            full.and_then(|(later, earlier)| share(later, earlier)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_are_shares_of_the_window() {
        let before = Stalls::parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n");
        let after = Stalls::parse(
            "some avg10=9.00 avg60=1.00 avg300=0.20 total=2500000\nfull avg10=0.00 total=300000\n",
        );
        let (some, full) = after.unwrap().since(&before.unwrap(), Nanos::from_secs(2));
        assert_eq!((some, full), (Some(0.75), None));
        assert_eq!(Stalls::parse("full total=1"), None);
        assert_eq!(Stalls::parse("some avg10=1"), None);
    }
}
