//! Where a run stands, and what it has seen.

use super::bad::{BadPages, PAGE};
use super::plan::Plan;

/// Bad shares that are worth a line, in the order of time; the first stands for any error.
pub const MILESTONES: [(&str, f64); 6] = [
    ("first_error", 0.0),
    ("0.1%", 0.001),
    ("1%", 0.01),
    ("10%", 0.1),
    ("25%", 0.25),
    ("50%", 0.5),
];

/// One half of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// The span is written.
    #[default]
    Write,
    /// It is read back and compared.
    Read,
}

/// How a card has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Writes fail; what was written stays readable.
    ReadOnly,
    /// Writes and reads succeed, and other data come back.
    SilentlyWrong,
    /// Writes succeed and change nothing.
    IgnoresWrites,
    /// Operations end without an answer in time.
    TimesOut,
    /// Addresses from a place on fail.
    Shrinks,
    /// The device has vanished and not come back.
    Gone,
    /// Reads fail.
    Unreadable,
}

impl End {
    /// Every end.
    pub const ALL: [Self; 7] = [
        Self::ReadOnly,
        Self::SilentlyWrong,
        Self::IgnoresWrites,
        Self::TimesOut,
        Self::Shrinks,
        Self::Gone,
        Self::Unreadable,
    ];

    /// What the card does, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "read only",
            Self::SilentlyWrong => "silently wrong",
            Self::IgnoresWrites => "ignores writes",
            Self::TimesOut => "times out",
            Self::Shrinks => "shrinks",
            Self::Gone => "gone",
            Self::Unreadable => "unreadable",
        }
    }

    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::SilentlyWrong => "silently_wrong",
            Self::IgnoresWrites => "ignores_writes",
            Self::TimesOut => "times_out",
            Self::Shrinks => "shrinks",
            Self::Gone => "gone",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What went wrong, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Writes that failed at their place each time.
    pub write_errors: u64,
    /// Reads that failed at their place each time.
    pub read_errors: u64,
    /// Pages with data of an earlier cycle.
    pub stale_pages: u64,
    /// Pages with other data.
    pub wrong_pages: u64,
    /// Failures that a second attempt did not show. They are no fault of the flash.
    pub transient: u64,
    /// Times in which the whole device failed and came back: host, reader or cable.
    pub host_errors: u64,
}

/// A cycle that was written and read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cycle {
    /// Its number, from 1.
    pub number: u64,
    /// All bytes written up to its end.
    pub written_bytes: u64,
    /// All bytes read up to its end.
    pub read_bytes: u64,
    /// Pages that turned bad in it, as stretches (first page, count).
    pub new_bad: Vec<(u64, u64)>,
    /// Bad pages in all.
    pub bad_pages: u64,
    /// What went wrong in it.
    pub tally: Tally,
    /// The rate of the part of the writing that was timed, in bytes a second.
    pub write_rate: f64,
    /// The same of the reading.
    pub read_rate: f64,
    /// How long it took, in nanoseconds.
    pub duration_ns: u64,
}

/// Where the current cycle stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The number of the cycle, from 1.
    pub cycle: u64,
    /// Which half of it.
    pub pass: Pass,
    /// How many pieces of that half are done.
    pub done: u64,
    /// Pieces that failed and are tried again at the end of the half.
    pub later: Vec<u64>,
    /// All bytes written.
    pub written_bytes: u64,
    /// All bytes read.
    pub read_bytes: u64,
    /// Pages that turned bad in this cycle.
    pub new_bad: Vec<u64>,
    /// What went wrong in this cycle.
    pub tally: Tally,
    /// The rate of writing in this cycle, once known.
    pub write_rate: f64,
    /// The same of reading.
    pub read_rate: f64,
    /// How long this cycle took so far, in nanoseconds.
    pub duration_ns: u64,
}

/// A run as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Cycles that are complete, in order, without a gap.
    pub cycles: Vec<Cycle>,
    /// The current cycle.
    pub position: Position,
    /// The bad pages.
    pub bad: BadPages,
    /// The cycle in which each of [`MILESTONES`] was reached.
    pub milestones: [Option<u64>; 6],
    /// How the card has ended.
    pub end: Option<End>,
    /// Pages that a cycle writes.
    pages: u64,
}

impl State {
    /// The start of a run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            cycles: Vec::new(),
            position: Position { cycle: 1, ..Position::default() },
            bad: BadPages::none(plan.span / PAGE),
            milestones: [None; 6],
            end: None,
            pages: plan.pages(),
        }
    }

    /// The bad share, 0 to 1.
    #[must_use]
    pub fn bad_share(&self) -> f64 {
        self.bad.count() as f64 / self.pages.max(1) as f64
    }

    /// Adds a cycle that a saved run had completed; whether it is the next one.
    pub fn take_cycle(&mut self, cycle: Cycle) -> bool {
        if cycle.number != self.position.cycle {
            return false;
        }
        for &(first, count) in &cycle.new_bad {
            (first..first + count).for_each(|page| {
                self.bad.add(page);
            });
        }
        self.reach_milestones(cycle.number);
        let (written_bytes, read_bytes) = (cycle.written_bytes, cycle.read_bytes);
        let number = cycle.number + 1;
        self.position =
            Position { cycle: number, written_bytes, read_bytes, ..Position::default() };
        self.cycles.push(cycle);
        true
    }

    /// Takes a saved position in the current cycle; whether it belongs there.
    pub fn take_position(&mut self, position: Position) -> bool {
        if position.cycle != self.position.cycle {
            return false;
        }
        for &page in &position.new_bad {
            self.bad.add(page);
        }
        self.position = position;
        true
    }

    /// Ends the run: the card is of no use from the current cycle on.
    pub fn finish(&mut self, end: End) {
        self.end = Some(end);
        let cycle = self.position.cycle;
        self.milestones.iter_mut().for_each(|reached| {
            reached.get_or_insert(cycle);
        });
    }

    /// Takes back an end that has proved to be none: a device that vanished is there again.
    pub fn reopen(&mut self) {
        if self.end == Some(End::Gone) {
            self.end = None;
            let share = self.bad_share();
            let cycle = self.position.cycle;
            for (reached, (_, least)) in self.milestones.iter_mut().zip(MILESTONES) {
                if *reached == Some(cycle) && !is_reached(share, least) {
                    *reached = None;
                }
            }
        }
    }

    pub(super) fn reach_milestones(&mut self, cycle: u64) {
        let share = self.bad_share();
        for (reached, (_, least)) in self.milestones.iter_mut().zip(MILESTONES) {
            if is_reached(share, least) {
                reached.get_or_insert(cycle);
            }
        }
    }
}

fn is_reached(share: f64, least: f64) -> bool {
    share > 0.0 && share >= least
}
