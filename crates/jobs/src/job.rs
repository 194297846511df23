//! A job: what it is called, where it comes from, its steps, and its operations one by one.
//!
//! The operations are made as they are asked for, a package or a page at a time: a job of 300,000
//! operations takes no more memory than its largest part.

use cardproof_units::Seed;

use super::batch::Batch;
use super::op::FileOp;
use super::totals::{StepTotals, Totals};
use super::{all, find};

/// Whether all of a job is done or a part that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All of it.
    Full,
    /// A part.
    Short,
}

/// What a step's time counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// It makes what the job finds; its time is told of nowhere.
    Prepares,
    /// It is part of the job.
    Counts,
    /// It comes after the program would have ended: what is not durable yet becomes so. Its time is
    /// told beside the job's.
    Settles,
}

/// A named group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSpec {
    /// Its name, such as `unpack`.
    pub name: &'static str,
    /// What happens in it, in a few words.
    pub what: &'static str,
    /// What its time counts for.
    pub timing: Timing,
}

impl StepSpec {
    /// Whether its time is part of the job's.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.timing == Timing::Counts
    }
}

/// A job on files.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub name: &'static str,
    /// Raised whenever times stop being comparable with those of the version before.
    pub version: u32,
    /// What is done, to begin a sentence with, such as `installing 400 packages`.
    pub deed: String,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// What it follows, in one line.
    pub source: &'static str,
    /// Whether it is all of the job.
    pub form: Form,
    /// The name of its short form, if it has one.
    pub short: Option<&'static str>,
    /// Its steps; a stream may come back to one.
    pub steps: &'static [StepSpec],
    /// What is to be known of it; whole sentences.
    pub notes: &'static [&'static str],
    /// Makes its operations.
    pub(super) generator: fn(Seed) -> Box<dyn Generator>,
}

impl Job {
    /// Its operations, which follow from `seed` alone.
    #[must_use]
    pub fn stream(&self, seed: Seed) -> FileOps {
        FileOps { generator: (self.generator)(seed), batch: Batch::default() }
    }

    /// What it will do, counted without doing it.
    #[must_use]
    pub fn totals(&self, seed: Seed) -> Totals {
        Totals::new(self.steps, self.stream(seed))
    }

    /// What each of its steps asks for, in their order.
    #[must_use]
    pub fn step_totals(&self, seed: Seed) -> Vec<StepTotals> {
        StepTotals::of_each(self.steps.len(), self.stream(seed))
    }

    /// The whole job, where this is its short form.
    #[must_use]
    pub fn whole(&self) -> Option<Self> {
        all().find(|job| job.short == Some(self.name))
    }

    /// Its short form.
    #[must_use]
    pub fn shorter(&self) -> Option<Self> {
        self.short.and_then(find)
    }
}

/// Makes the operations of a job, a part at a time.
pub(super) trait Generator: Send {
    /// Appends the next part to `batch`; false at the job's end.
    fn fill(&mut self, batch: &mut Batch) -> bool;
}

/// The operations of one job.
pub struct FileOps {
    generator: Box<dyn Generator>,
    batch: Batch,
}

impl Iterator for FileOps {
    type Item = FileOp;

    fn next(&mut self) -> Option<FileOp> {
        loop {
            if let Some(op) = self.batch.take() {
                return Some(op);
            }
            if !self.generator.fill(&mut self.batch) {
                return None;
            }
        }
    }
}
