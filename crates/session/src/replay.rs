//! A recorded job done again on a storage, request for request.

use std::sync::atomic::Ordering;

use cardproof_io::Target;
use cardproof_log_layout::{LogLayout, Mode};
use cardproof_probe::Drive;
use cardproof_record::{JobTime, PhaseState, ProfileInfo, Record, Replay, State, Trial};
use cardproof_runner::{LayoutPlan, LayoutsTried, ReplayPlan, ReplayProgress, replay_layouts};
use cardproof_sim::Keeping;
use cardproof_trace::{FoldError, REGION, Reach, Shape, TraceReader};
use cardproof_units::{Bytes, Seed};

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
    log: Option<LogWish>,
}

/// A comparison with a log-structured layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWish {
    /// What a flush means to the log.
    pub mode: Mode,
    /// How many pairs of replays.
    pub pairs: u32,
}

/// The unit in which the log is cleaned.
const SEGMENT: Bytes = REGION;

/// How much of a target a log needs to offer `span`.
fn needed(span: Bytes) -> Bytes {
    let segments = span.get().div_ceil(SEGMENT.get() / 4 * 3).saturating_add(6);
    Bytes(segments.saturating_mul(SEGMENT.get()))
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
        let reach = Reach::new(&trace)?;
        Ok(Self { trace, reach, think_factor, queue_depth, log: None })
    }

    /// The same, in pairs with replays through a log.
    #[must_use]
    pub fn beside_log(self, log: LogWish) -> Self {
        Self { log: Some(log), ..self }
    }

    /// How much of `place` the job works in.
    fn span(&self, place: &Storage) -> Bytes {
        match self.log {
            None => place.span,
            Some(_) => LogLayout::<Box<dyn Target>>::offered(place.span, SEGMENT)
                .min(Bytes(self.reach.end.get().next_multiple_of(SEGMENT.get()))),
        }
    }
}

impl Experiment for TraceReplay<'_> {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        // A file of ours has no room to waste; a device has its size. No device is so large that
        // the last region would not end.
        let end = self.reach.end.get().checked_next_multiple_of(REGION.get());
        let end = Bytes(end.unwrap_or(u64::MAX));
        // What it writes is not compared later, so nothing of it is kept.
        StorageNeeds::new(
            match self.log {
                None => Span { own_file: self.reach.packed(), existing: end },
                Some(_) => Span { own_file: needed(self.reach.packed()), existing: needed(end) },
            },
            if self.reach.writes { Writing::Always } else { Writing::Never },
            Keeping::Nothing,
        )
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("replay", 1);
        let mut shape = Shape::new();
        // An unsound request ends the replay later, with its place.
        self.trace.restarted().map_while(Result::ok).for_each(|request| shape.add(&request));
        let laid_out = if place.scratch.is_some() { place.span } else { Bytes::ZERO };
        let name = &self.trace.header().name;
        let written = match self.log {
            None => shape.bytes_written + laid_out,
            // A log adds at most a header to each block, and cleaning moves at most three for one.
            Some(log) => laid_out + shape.bytes_written * (6 * u64::from(log.pairs)),
        };
        let writes = if written == Bytes::ZERO { Writes::Nothing } else { Writes::AtMost(written) };
        let log = self.log.map(|log| (log.mode.name(), log.pairs));
        let trace = digest(self.trace.bytes());
        let how = (self.think_factor, self.queue_depth, place.span, log);
        let decided_by = serde_json::json!([trace, how]).to_string();
        Ok(Prepared {
            name: match self.log {
                None => format!("replay-{name}"),
                Some(log) => format!("replay-{name}-{}", log.mode.name()),
            },
            decided_by,
            effect: Effect { writes, span: place.span, ..Effect::default() },
            notes: vec![format!("Replays the recorded job {name}.")],
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let plan = ReplayPlan {
            think_factor: self.think_factor,
            queue_depth: self.queue_depth,
            span: self.span(&bench.place),
            seed: bench.seed,
            lay_out: bench.place.scratch.is_some(),
        };
        if let Some(log) = self.log {
            return self.run_beside_log(bench, &plan, log);
        }
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

impl TraceReplay<'_> {
    /// Replays in pairs, on the plain layout and through a log.
    fn run_beside_log(&self, bench: &mut Bench<'_, Storage>, plan: &ReplayPlan, log: LogWish) {
        let within = bench.place.span;
        if plan.lay_out && !lay_out(bench, within) {
            bench.record.state = State::Failed;
            return;
        }
        let plan = ReplayPlan { lay_out: false, ..plan.clone() };
        let layouts = LayoutPlan { mode: log.mode, pairs: log.pairs, within };
        let (watcher, frontend) = bench.recorder.watcher();
        let before = (bench.record.bytes_read, bench.record.bytes_written);
        let replays = 2 * u64::from(log.pairs);
        let deed = format!("of the {replays} replays done");
        let (mut whole, mut last) = (0, 0);
        let LayoutsTried { plain, plain_read, plain_written, trial, state } = replay_layouts(
            &mut *bench.place.target,
            &self.trace,
            &plan,
            &layouts,
            &mut |ReplayProgress { requests, requests_of, .. }| {
                whole += u64::from(requests < last);
                last = requests;
                let (done, of) = (whole * requests_of + requests, replays * requests_of);
                frontend.tell(Event::Part { deed: &deed, done, of });
            },
            bench.stop,
            watcher,
        );
        if let PhaseState::NotMeasured { cause } = &state {
            bench.recorder.note(&format!("The comparison has ended early: {cause}."));
        }
        if let Some(plain) = plain {
            fill(&mut bench.record, plain);
        }
        // All replays count, and not only the one that is shown.
        bench.record.bytes_read = before.0 + plain_read;
        bench.record.bytes_written = before.1 + plain_written + trial.written_bytes;
        bench.record.trial = Some(Trial::Layout(trial));
        bench.record.state = state_of(&state);
    }
}

/// Writes a file of our own once from its start to `end`, so that it has its place on the storage.
/// Whether that worked.
fn lay_out(bench: &mut Bench<'_, Storage>, end: Bytes) -> bool {
    let piece = Bytes::mib(1);
    let Ok(mut drive) = Drive::new(&mut *bench.place.target, piece) else { return false };
    let mut offset = Bytes::ZERO;
    while offset < end && !bench.stop.load(Ordering::Relaxed) {
        let length = piece.min(end.saturating_sub(offset));
        let salt = bench.seed.get() ^ offset.get();
        let written = drive.write(offset.get(), length.get(), |data| {
            for (word, number) in data.as_chunks_mut::<8>().0.iter_mut().zip(1_u64..) {
                *word = (salt ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            }
        });
        if !matches!(written, Ok(Ok(()))) {
            bench.recorder.note("The file could not be laid out.");
            return false;
        }
        offset += length;
        let (done, of) = (offset.get(), end.get());
        bench.recorder.tell(Event::Part { deed: "laid out", done, of });
    }
    bench.record.bytes_written += offset;
    matches!(drive.flush(), Ok(Ok(())))
}

const fn state_of(state: &PhaseState) -> State {
    match state {
        PhaseState::Measured => State::Complete,
        PhaseState::Partial => State::Partial,
        PhaseState::NotMeasured { .. } => State::Failed,
        PhaseState::Unknown => State::Unknown,
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
    record.bytes_read += moved(&replay.reads);
    record.bytes_written += moved(&replay.writes);
    record.state = state_of(&replay.state);
    if replay.state == PhaseState::Measured && (replay.think_factor - 1.0).abs() < 1e-9 {
        let name = format!("replay-{}", replay.trace);
        record.jobs.push(JobTime { name, duration_ns: replay.duration_ns });
    }
    record.replays.push(replay);
}
