//! Many cuts summed up: how many counted, what was found, and the bound.

use std::collections::BTreeMap;

use super::bound::{interval, upper_bound};
use super::classify::{CutReport, Kind};

/// How sure a bound is.
pub const CONFIDENCE: f64 = 0.95;

/// The sum of many cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All cuts.
    pub cuts: u64,
    /// Cuts with writes in flight, and those that did harm.
    pub effective_cuts: u64,
    /// Cuts that did harm of any kind.
    pub harmful_cuts: u64,
    /// For each kind, the cuts in which it was found.
    pub findings: BTreeMap<Kind, u64>,
}

impl Tally {
    /// Adds one cut.
    pub fn add(&mut self, report: &CutReport) {
        let kinds = report.kinds();
        self.cuts += 1;
        if report.had_writes_in_flight || !kinds.is_empty() {
            self.effective_cuts += 1;
        }
        self.harmful_cuts += u64::from(!kinds.is_empty());
        for kind in kinds {
            *self.findings.entry(kind).or_default() += 1;
        }
    }

    /// Puts what is known of a cut in place of what was known `before`, which was added.
    pub fn replace(&mut self, before: &CutReport, report: &CutReport) {
        let earlier = before.kinds();
        let is_effective =
            |report: &CutReport, is_harmful| report.had_writes_in_flight || is_harmful;
        let (was_harmful, is_harmful) = (!earlier.is_empty(), !report.kinds().is_empty());
        self.harmful_cuts += u64::from(is_harmful && !was_harmful);
        let becomes_effective =
            is_effective(report, is_harmful) && !is_effective(before, was_harmful);
        self.effective_cuts += u64::from(becomes_effective);
        for kind in report.kinds().difference(&earlier) {
            *self.findings.entry(*kind).or_default() += 1;
        }
    }

    /// The share of effective cuts that do harm is below this at [`CONFIDENCE`].
    #[must_use]
    pub fn bound(&self) -> f64 {
        upper_bound(self.harmful_cuts, self.effective_cuts, CONFIDENCE)
    }

    /// The interval of that share at [`CONFIDENCE`].
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        interval(self.harmful_cuts, self.effective_cuts, CONFIDENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::super::classify::gone;
    use super::*;

    #[test]
    fn idle_cuts_say_nothing() {
        let idle = CutReport::default();
        let mut tally = Tally::default();
        (0..50).for_each(|_| tally.add(&idle));
        assert_eq!((tally.cuts, tally.effective_cuts, tally.bound()), (50, 0, 1.0));
        tally.add(&CutReport { had_writes_in_flight: true, ..idle });
        assert_eq!(tally.effective_cuts, 1);
    }

    #[test]
    fn harm_that_is_seen_later_counts_for_the_same_cut() {
        let mut tally = Tally::default();
        let before = CutReport::default();
        tally.add(&before);
        let after = gone(false);
        tally.replace(&before, &after);
        tally.replace(&after, &after);
        assert_eq!((tally.cuts, tally.effective_cuts, tally.harmful_cuts), (1, 1, 1));
        assert_eq!(tally.findings[&Kind::Gone], 1);
    }

    #[test]
    fn harm_counts_also_where_nothing_seemed_in_flight() {
        let mut tally = Tally::default();
        tally.add(&gone(false));
        assert_eq!((tally.effective_cuts, tally.harmful_cuts), (1, 1));
        assert_eq!(tally.findings[&Kind::Gone], 1);
    }
}
