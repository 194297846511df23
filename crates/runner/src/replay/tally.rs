//! What a replay counts while it runs.

use cardproof_io::{Completion, OpKind};
use cardproof_record::{Replay, ReplayedRequests, Waiting};
use cardproof_stats::LatencyHistogram;
use cardproof_units::{Bytes, Nanos};

use crate::meter::latency_of;

/// Requests of one kind.
struct Kind {
    latencies: LatencyHistogram,
    bytes: Bytes,
}

impl Kind {
    fn figures(&self) -> Option<ReplayedRequests> {
        let latency_ns = latency_of(self.latencies.summary()?);
        Some(ReplayedRequests { ops: self.latencies.count(), bytes: self.bytes, latency_ns })
    }
}

/// The figures of one replay.
pub(super) struct Tally {
    reads: Kind,
    writes: Kind,
    flushes: Kind,
    epochs: LatencyHistogram,
    epoch_start: Nanos,
    is_epoch_open: bool,
    pub(super) requests: u64,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) thought: Nanos,
    pub(super) waited: Waiting,
    pub(super) discards_left_out: u64,
}

impl Tally {
    /// Nothing counted yet; `None` where no histogram can be had.
    pub(super) fn new() -> Option<Self> {
        let histogram = || LatencyHistogram::new().ok();
        let kind = || Some(Kind { latencies: histogram()?, bytes: Bytes::ZERO });
        Some(Self {
            reads: kind()?,
            writes: kind()?,
            flushes: kind()?,
            epochs: histogram()?,
            epoch_start: Nanos::ZERO,
            is_epoch_open: false,
            requests: 0,
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            thought: Nanos::ZERO,
            waited: Waiting::default(),
            discards_left_out: 0,
        })
    }

    /// The replay begins; nothing that was before counts.
    pub(super) fn begin(&mut self, now: Nanos) {
        for kind in [&mut self.reads, &mut self.writes, &mut self.flushes] {
            kind.latencies.clear();
            kind.bytes = Bytes::ZERO;
        }
        self.is_epoch_open = false;
        self.waited = Waiting::default();
        self.start = now;
        self.end = now;
        self.epoch_start = now;
    }

    /// A piece of a request is over that moved `bytes`; `ends_epoch` where nothing may cross it.
    pub(super) fn count(&mut self, completion: &Completion, bytes: Bytes, ends_epoch: bool) {
        self.end = self.end.max(completion.completed);
        let kind = match completion.kind {
            OpKind::Read => &mut self.reads,
            OpKind::Write => &mut self.writes,
            OpKind::Flush => &mut self.flushes,
            OpKind::Discard => return,
        };
        kind.latencies.record(completion.latency());
        kind.bytes += bytes;
        self.is_epoch_open |= completion.kind == OpKind::Write;
        if !ends_epoch {
            return;
        }
        if self.is_epoch_open {
            self.epochs.record(completion.completed.saturating_sub(self.epoch_start));
        }
        self.epoch_start = completion.completed;
        self.is_epoch_open = false;
    }

    /// The job could not go on for `time` because of an operation of `kind`.
    pub(super) fn waited_for(&mut self, kind: OpKind, time: Nanos) {
        let waited = match kind {
            OpKind::Read => &mut self.waited.reads_ns,
            OpKind::Write => &mut self.waited.writes_ns,
            OpKind::Flush | OpKind::Discard => &mut self.waited.flushes_ns,
        };
        *waited += time;
    }

    /// Puts the figures where they belong.
    pub(super) fn put_into(&self, replay: &mut Replay) {
        replay.duration_ns = self.end.saturating_sub(self.start);
        replay.requests = self.requests;
        replay.thought_ns = self.thought;
        replay.waited = self.waited;
        replay.reads = self.reads.figures();
        replay.writes = self.writes.figures();
        replay.flushes = self.flushes.figures();
        replay.epochs = self.epochs.count();
        replay.epoch_ns = self.epochs.summary().map(latency_of);
        replay.discards_left_out = self.discards_left_out;
    }
}
