//! Contestants that do the same jobs in turns, and how many times as fast one is as another.
//!
//! A card changes while it is used: it fills up, tidies up, gets warm. So all take turns, and every
//! second round goes backwards (ABBA): what drifts evenly then falls on all alike. Only rounds in
//! which both were measured make a pair.

use std::collections::BTreeMap;

use cardproof_record::Warning;
use cardproof_stats::{RatioInterval, geometric_mean};
use cardproof_units::Seed;

use super::catalogue::ForWhom;

/// How sure the intervals are.
pub(super) const CONFIDENCE: f64 = 0.95;

/// One of those that take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contestant {
    pub(super) name: String,
    /// What it costs.
    pub(super) costs: &'static str,
    pub(super) for_whom: ForWhom,
}

/// What is done in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Writes of 4 KiB anywhere in a file, an fsync after each.
    SyncedWrites,
    /// Transactions of one row each with SQLite's own default.
    Transactions,
    /// A browser's profile and cache while pages are read.
    Browser,
    /// The short form of the installation of packages.
    Packages,
}

impl Task {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] =
        [Self::SyncedWrites, Self::Transactions, Self::Browser, Self::Packages];

    /// What is done unless told otherwise. Browser and packages are not: 100 MB and more a turn are
    /// more than a card should bear for an answer that the other two give as well.
    pub const DEFAULT: [Self; 2] = [Self::SyncedWrites, Self::Transactions];

    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SyncedWrites => "fsync-4k",
            Self::Transactions => "sqlite",
            Self::Browser => "browser",
            Self::Packages => "package-install",
        }
    }

    /// What it is, as a heading.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::SyncedWrites => "4 KiB writes, fsync after each",
            Self::Transactions => "SQLite: database transactions, one row each",
            Self::Browser => "a browser's profile and cache",
            Self::Packages => "installing packages (short form)",
        }
    }

    /// The unit of its rate.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::SyncedWrites => "writes/s",
            Self::Transactions => "transactions/s",
            Self::Browser | Self::Packages => "jobs/s",
        }
    }
}

/// What came of one turn: a rate above 0 in the task's unit, or why there is none.
pub(super) type Turn = Result<f64, String>;

/// All turns of all contestants.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    /// What is compared, as a heading.
    pub(super) title: String,
    /// The one that the others are compared with; it is the first.
    pub(super) contestants: Vec<Contestant>,
    pub(super) tasks: Vec<Task>,
    /// What makes all of its figures doubtful.
    pub(super) doubts: Vec<Warning>,
    /// By contestant and task: round and what came of it.
    turns: BTreeMap<(usize, Task), Vec<(u32, Turn)>>,
    seed: Seed,
}

impl Contest {
    /// One in which nobody has had a turn; `contestants` is not empty.
    pub(super) fn new(
        title: impl Into<String>,
        contestants: Vec<Contestant>,
        tasks: Vec<Task>,
        seed: Seed,
    ) -> Self {
        let (title, turns, doubts) = (title.into(), BTreeMap::new(), Vec::new());
        Self { title, contestants, tasks, doubts, turns, seed }
    }

    /// In which order contestants take their turns in `round`, counted from 0.
    pub(super) fn order(&self, round: u32) -> Vec<usize> {
        let forwards = 0..self.contestants.len();
        if round.is_multiple_of(2) { forwards.collect() } else { forwards.rev().collect() }
    }

    /// Notes what came of a turn.
    pub(super) fn note(&mut self, contestant: usize, task: Task, round: u32, turn: Turn) {
        self.turns.entry((contestant, task)).or_default().push((round, turn));
    }

    /// Whether anything was measured.
    pub(super) fn has_figures(&self) -> bool {
        self.turns.values().flatten().any(|(_, turn)| turn.is_ok())
    }

    /// The rates of all measured turns.
    pub(super) fn rates(&self, contestant: usize, task: Task) -> Vec<f64> {
        self.measured(contestant, task).into_values().collect()
    }

    /// Why a turn has no figure, the first reason of all.
    pub(super) fn cause(&self, contestant: usize, task: Task) -> Option<&str> {
        let turns = self.turns.get(&(contestant, task))?;
        turns.iter().find_map(|(_, turn)| turn.as_ref().err().map(String::as_str))
    }

    /// The geometric mean of the rates.
    pub(super) fn mean(&self, contestant: usize, task: Task) -> Option<f64> {
        geometric_mean(&self.rates(contestant, task))
    }

    /// How many times as fast as the first contestant this one is; `None` with fewer than two
    /// pairs.
    pub(super) fn ratio(&self, contestant: usize, task: Task) -> Option<RatioInterval> {
        let (first, this) = (self.measured(0, task), self.measured(contestant, task));
        let pairs: Vec<_> =
            first.iter().filter_map(|(round, a)| Some((*a, *this.get(round)?))).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let seed = self.seed.derive("compare-setups");
        RatioInterval::paired(&a, &b, CONFIDENCE, seed).filter(|_| contestant > 0)
    }

    fn measured(&self, contestant: usize, task: Task) -> BTreeMap<u32, f64> {
        let turns = self.turns.get(&(contestant, task)).into_iter().flatten();
        turns.filter_map(|(round, turn)| Some((*round, *turn.as_ref().ok()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contest over four rounds in which the storage gets slower by half in each, the second
    /// contestant is always twice as fast, and the third fails.
    fn drifting() -> Contest {
        let contestant = |name: &str, for_whom| Contestant {
            name: name.to_owned(),
            costs: "its price",
            for_whom,
        };
        let contestants = vec![
            contestant("ext4", ForWhom::Anything),
            contestant("f2fs", ForWhom::Anything),
            contestant("vfat", ForWhom::StorageOnly),
        ];
        let tasks = vec![Task::SyncedWrites, Task::Packages];
        let mut contest = Contest::new("file systems", contestants, tasks, Seed::from_bits(1));
        for round in 0..4 {
            let rate = 100.0 * 0.5_f64.powi(round as i32);
            contest.note(0, Task::SyncedWrites, round, Ok(rate));
            contest.note(1, Task::SyncedWrites, round, Ok(2.0 * rate));
            contest.note(2, Task::SyncedWrites, round, Err("no room".to_owned()));
        }
        contest
    }

    #[test]
    fn drift_falls_on_all_alike() {
        let contest = drifting();
        let ratio = contest.ratio(1, Task::SyncedWrites).unwrap();
        assert!((ratio.low - 2.0).abs() < 1e-9 && (ratio.high - 2.0).abs() < 1e-9, "{ratio:?}");
        assert_eq!(contest.ratio(0, Task::SyncedWrites), None, "the first is compared with nobody");
    }

    #[test]
    fn a_turn_without_a_figure_makes_no_pair() {
        let mut contest = drifting();
        assert_eq!(contest.ratio(2, Task::SyncedWrites), None);
        assert_eq!(contest.cause(2, Task::SyncedWrites), Some("no room"));
        contest.note(2, Task::SyncedWrites, 4, Ok(10.0));
        assert_eq!(contest.ratio(2, Task::SyncedWrites), None, "the first had no turn then");
        assert!((contest.mean(2, Task::SyncedWrites).unwrap() - 10.0).abs() < 1e-9);
    }

    #[test]
    fn every_second_round_goes_backwards() {
        let contest = drifting();
        assert_eq!(contest.order(0), [0, 1, 2]);
        assert_eq!(contest.order(1), [2, 1, 0]);
    }
}
