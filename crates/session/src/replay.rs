//! A recorded job done again on a storage, request for request.

use cardproof_record::{Job, PhaseState, ProfileInfo, Record, Replay, State};
use cardproof_runner::{ReplayPlan, ReplayProgress};
use cardproof_sim::Keeping;
use cardproof_trace::{FoldError, REGION, Reach, Shape, TraceReader};
use cardproof_units::{Bytes, Nanos, Seed};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::{Bench, digest};
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// A recorded job to be done again.
pub struct TraceReplay<'a> {
    trace: TraceReader<'a>,
    reach: Reach,
    /// What the job's thinking is multiplied by: 1 keeps it, 0 leaves it out.
    think_factor: f64,
    /// The most requests under way at a time.
    queue_depth: u16,
}

impl<'a> TraceReplay<'a> {
    /// The replay of `trace`, in which the job's thinking is multiplied by `think_factor` (1 keeps
    /// it, 0 leaves it out) and at most `queue_depth` requests are under way at a time.
    ///
    /// # Errors
    /// A request of the trace is not sound.
    pub fn new(
        trace: TraceReader<'a>,
        think_factor: f64,
        queue_depth: u16,
    ) -> Result<Self, FoldError> {
        let reach = Reach::of(&trace)?;
        Ok(Self { trace, reach, think_factor, queue_depth })
    }
}

impl Experiment for TraceReplay<'_> {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        // A file of ours has no room to waste; a device has its size. No device is so large that
        // the last region would not end.
        let end = self.reach.end.get().checked_next_multiple_of(REGION.get());
        StorageNeeds {
            span: Span { own_file: self.reach.packed(), existing: Bytes(end.unwrap_or(u64::MAX)) },
            writing: if self.reach.writes { Writing::Always } else { Writing::Never },
            // Nobody reads the bytes again.
            keeping: Keeping::Nothing,
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo {
            name: "replay".to_owned(),
            version: 1,
            time_budget_ns: Nanos::ZERO,
            extra: Default::default(),
        };
        let mut shape = Shape::new();
        // An unsound request ends the replay later, with its place.
        self.trace.restarted().map_while(Result::ok).for_each(|request| shape.add(&request));
        let laid_out = if place.scratch.is_some() { place.span } else { Bytes::ZERO };
        let name = &self.trace.header().name;
        let written = shape.bytes_written + laid_out;
        let writes = if written == Bytes::ZERO { Writes::Nothing } else { Writes::AtMost(written) };
        let decided_by = format!(
            "{:016x} {} {} {}",
            digest(self.trace.bytes()),
            self.think_factor,
            self.queue_depth,
            place.span.get()
        );
        Ok(Prepared {
            name: format!("replay-{name}"),
            decided_by,
            effect: Effect { writes, span: place.span, ..Effect::default() },
            notes: vec![format!("Replays the recorded job {name}.")],
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let plan = ReplayPlan {
            think_factor: self.think_factor,
            queue_depth: self.queue_depth,
            span: bench.place.span,
            seed: bench.seed,
            lay_out: bench.place.scratch.is_some(),
        };
        let (watcher, frontend) = bench.recorder.watcher();
        let replay = cardproof_runner::replay(
            &mut *bench.place.target,
            &self.trace,
            &plan,
            &mut |progress| tell(frontend, progress),
            bench.stop,
            watcher,
        );
        fill(&mut bench.record, replay);
    }
}

fn tell(frontend: &mut dyn Frontend, progress: ReplayProgress) {
    frontend.tell(match progress.laid_out {
        Some((done, of)) => Event::Part { deed: "laid out", done: done.get(), of: of.get() },
        None => Event::Part { deed: "replayed", done: progress.requests, of: progress.requests_of },
    });
}

/// Puts `replay` into its record. Only a whole job that thought as it was recorded is a job's
/// time.
fn fill(record: &mut Record, replay: Replay) {
    let moved = |requests: &Option<cardproof_record::ReplayedRequests>| {
        requests.as_ref().map_or(Bytes::ZERO, |requests| requests.bytes)
    };
    record.bytes_read = moved(&replay.reads);
    record.bytes_written = moved(&replay.writes);
    record.state = match replay.state {
        PhaseState::Measured => State::Complete,
        PhaseState::Partial => State::Partial,
        PhaseState::NotMeasured { .. } => State::Failed,
        PhaseState::Unknown => State::Unknown,
    };
    if replay.state == PhaseState::Measured && (replay.think_factor - 1.0).abs() < 1e-9 {
        let name = format!("replay-{}", replay.trace);
        record.jobs.push(Job { name, duration_ns: replay.duration_ns });
    }
    record.replays.push(replay);
}
