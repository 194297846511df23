//! What the runner tells while it works.

use cardproof_record::{Phase, Record};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use cardproof_workload::PhaseSpec;

use crate::monitor::Monitor;

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase begins.
    PhaseStarted {
        /// Which one, from 0.
        index: usize,
        /// How many there are.
        count: usize,
        /// What it does.
        spec: &'a PhaseSpec,
    },
    /// Some time has passed.
    Progress(Progress),
    /// A phase is over, measured or not.
    PhaseFinished {
        /// Which one, from 0.
        index: usize,
        /// What it yielded.
        phase: &'a Phase,
    },
    /// A phase was disturbed and is run a second time.
    PhaseRepeated {
        /// Which one, from 0.
        index: usize,
        /// The result of the first try, and its disturbances.
        first: &'a Phase,
    },
    /// The record as it stands after a phase, sound enough to be saved.
    Checkpoint(&'a Record),
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Operations a second over the last half second.
    pub iops: Iops,
    /// Bytes a second over the last half second.
    pub throughput: Throughput,
    /// The longest latency in the last half second; zero when nothing completed.
    pub latency_max: Nanos,
    /// The most that the whole run can still take; zero when nothing bounds it.
    pub time_left: Nanos,
    /// The most that the whole run can still write; `None` when only time bounds it.
    pub bytes_to_write_left: Option<Bytes>,
}

/// Whoever wants to know what happens.
pub trait Observer {
    /// Takes note of `event`. It is called between operations, so it must be quick.
    fn observe(&mut self, event: Event<'_>);

    /// Who looks at the system beside the run. By default nobody does.
    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        None
    }
}

/// An observer that does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _event: Event<'_>) {}
}
