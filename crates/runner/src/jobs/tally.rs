//! What a job counts while it runs.

use cardproof_io::files::read_from_storage;
use cardproof_jobs::{StepSpec, Timing};
use cardproof_record::{JobRun, JobStep, JobSyncs};
use cardproof_stats::LatencyHistogram;
use cardproof_units::{Bytes, Nanos};

use crate::meter::latency_of;

/// The figures of one step.
#[derive(Clone, Copy, Default)]
struct Step {
    duration: Nanos,
    sync: Nanos,
    syncs: u64,
}

/// The step that goes on.
struct Current {
    index: usize,
    start: Nanos,
    /// What had been fetched from the storage at its start, where the kernel tells.
    fetched: Option<Bytes>,
}

/// The figures of one job.
pub(super) struct Tally {
    specs: &'static [StepSpec],
    steps: Vec<Step>,
    current: Option<Current>,
    latencies: LatencyHistogram,
    ops: u64,
    bytes_written: Bytes,
    bytes_read: Bytes,
    fetched: Option<Bytes>,
    pub(super) bytes_written_in_all: Bytes,
}

impl Tally {
    /// Nothing counted yet; `None` where no histogram can be had.
    pub(super) fn new(specs: &'static [StepSpec]) -> Option<Self> {
        Some(Self {
            specs,
            steps: vec![Step::default(); specs.len()],
            current: None,
            latencies: LatencyHistogram::new().ok()?,
            ops: 0,
            bytes_written: Bytes::ZERO,
            bytes_read: Bytes::ZERO,
            fetched: Some(Bytes::ZERO),
            bytes_written_in_all: Bytes::ZERO,
        })
    }

    /// What follows belongs to the step at `index`.
    pub(super) fn begin(&mut self, index: usize, now: Nanos) {
        self.end(now);
        self.current = Some(Current { index, start: now, fetched: read_from_storage() });
    }

    /// The step that goes on is over.
    pub(super) fn end(&mut self, now: Nanos) {
        let Some(current) = self.current.take() else { return };
        if let Some(step) = self.steps.get_mut(current.index) {
            step.duration += now.saturating_sub(current.start);
        }
        if self.timing(current.index) == Some(Timing::Counts) {
            let of_step = || Some(read_from_storage()?.saturating_sub(current.fetched?));
            self.fetched = self.fetched.and_then(|sum| Some(sum + of_step()?));
        }
    }

    /// Where the job stands.
    pub(super) fn step(&self) -> usize {
        self.current.as_ref().map_or(0, |current| current.index)
    }

    /// What the step is called that goes on.
    pub(super) fn step_name(&self) -> Option<&'static str> {
        let current = self.current.as_ref()?;
        Some(self.specs.get(current.index)?.name)
    }

    /// What the time of the step at `index` counts for.
    pub(super) fn timing(&self, index: usize) -> Option<Timing> {
        Some(self.specs.get(index)?.timing)
    }

    fn counts(&self) -> bool {
        self.timing(self.step()) == Some(Timing::Counts)
    }

    /// An operation was done.
    pub(super) fn op(&mut self) {
        self.ops += u64::from(self.counts());
    }

    /// So much was written.
    pub(super) fn wrote(&mut self, bytes: Bytes) {
        self.bytes_written_in_all += bytes;
        if self.counts() {
            self.bytes_written += bytes;
        }
    }

    /// So much was read.
    pub(super) fn read(&mut self, bytes: Bytes) {
        if self.counts() {
            self.bytes_read += bytes;
        }
    }

    /// The job waited `time` until something was durable.
    pub(super) fn synced(&mut self, time: Nanos) {
        let index = self.step();
        if let Some(step) = self.steps.get_mut(index) {
            step.sync += time;
            step.syncs += 1;
        }
        if self.counts() {
            self.latencies.record(time);
        }
    }

    /// Puts the figures where they belong.
    pub(super) fn put_into(&self, run: &mut JobRun) {
        let of = |timing| {
            let steps = self.specs.iter().zip(&self.steps);
            steps.filter(move |(spec, _)| spec.timing == timing).map(|(_, step)| *step)
        };
        let time = |timing| of(timing).fold(Nanos::ZERO, |sum, step| sum + step.duration);
        run.duration_ns = time(Timing::Counts);
        run.settle_ns = of(Timing::Settles).next().map(|_| time(Timing::Settles));
        run.steps = self
            .specs
            .iter()
            .zip(&self.steps)
            .filter(|(spec, _)| spec.counts())
            .map(|(spec, step)| JobStep {
                name: spec.name.to_owned(),
                duration_ns: step.duration,
                sync_ns: step.sync,
                syncs: step.syncs,
            })
            .collect();
        run.ops = self.ops;
        run.bytes_written = self.bytes_written;
        run.bytes_read = self.bytes_read;
        run.bytes_from_storage = self.fetched;
        run.syncs = self.latencies.summary().map(|summary| JobSyncs {
            count: self.latencies.count(),
            total_ns: of(Timing::Counts).fold(Nanos::ZERO, |sum, step| sum + step.sync),
            latency_ns: latency_of(summary),
        });
    }
}
