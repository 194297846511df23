//! Replays a recorded job on a target, in a closed loop.
//!
//! A request is issued when what it waited for in the recording is over here and the job has
//! thought as long as it thought there; never because of the hour at which it was issued there.
//! So a slow card stretches the job as it would stretch the real one, and nothing crosses a flush
//! that did not cross it when the job was recorded.

mod drive;
mod layouts;
mod tally;

use std::sync::atomic::AtomicBool;

use cardproof_io::{Target, TargetError, Usage};
use cardproof_record::{
    OwnActivity, PhaseState, PhaseSurroundings, Replay, ReplayLayout, ReplayedRequests,
};
use cardproof_trace::{Fold, FoldError, Layout, Reach, TraceError, TraceReader};
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::monitor::{Observation, Watcher};
use crate::phase::PhaseError;
use crate::surroundings;
pub use layouts::{LayoutPlan, LayoutsTried, replay_layouts};

use drive::Drive;
use tally::Tally;

/// Longer requests are cut: kernels make none above about this, and a buffer of each slot must
/// hold one.
const PIECE_MAX: Bytes = Bytes::mib(1);

/// How a trace is to be replayed.
#[derive(Clone, Debug)]
pub struct ReplayPlan {
    /// What the job's thinking is multiplied by: 1 keeps it, 0 leaves it out.
    pub think_factor: f64,
    /// The most requests under way at a time.
    pub queue_depth: u16,
    /// How much of the target, from its start, is worked in.
    pub span: Bytes,
    /// From which the data follow.
    pub seed: Seed,
    /// Whether the span is written once before, so that reads find data and writes find their
    /// place on a fresh file. It is not part of the replay's time.
    pub lay_out: bool,
}

/// Where a replay stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayProgress {
    /// Requests issued.
    pub requests: u64,
    /// Of so many.
    pub requests_of: u64,
    /// How much is laid out before the replay, and of how much, while that goes on.
    pub laid_out: Option<(Bytes, Bytes)>,
}

/// Why a replay did not reach its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// The trace does not fit, or is not sound.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// The trace turned out to be damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// An operation failed.
    #[error(transparent)]
    Operation(#[from] PhaseError),
    /// The engine gave up.
    #[error(transparent)]
    Engine(#[from] TargetError),
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
}

/// Replays `trace`, from its start, on `target`, and tells `progress` now and then. What `beside`
/// sees meanwhile is kept with the figures.
///
/// It ends with the trace, when `stop` turns true ([`PhaseState::Partial`]), or with the first
/// fault ([`PhaseState::NotMeasured`] with the cause).
pub fn replay(
    target: &mut dyn Target,
    trace: &TraceReader<'_>,
    plan: &ReplayPlan,
    progress: &mut dyn FnMut(ReplayProgress),
    stop: &AtomicBool,
    mut watcher: Option<Watcher<'_>>,
) -> Replay {
    let header = trace.header();
    let queue_depth = plan.queue_depth.clamp(1, target.abilities().queue_depth_max);
    let mut replay = Replay {
        trace: header.name.clone(),
        state: PhaseState::Measured,
        duration_ns: Nanos::ZERO,
        recorded_ns: header.duration_ns,
        requests: 0,
        requests_of: header.requests,
        think_factor: plan.think_factor,
        queue_depth,
        layout: ReplayLayout::Kept,
        thought_ns: Nanos::ZERO,
        waited: Default::default(),
        reads: None,
        writes: None,
        flushes: None,
        epochs: 0,
        epoch_ns: None,
        discards_left_out: 0,
        disturbances: Vec::new(),
        surroundings: None,
    };
    let Some(mut tally) = Tally::new() else {
        let cause = "there is no memory for its figures".to_owned();
        return Replay { state: PhaseState::NotMeasured { cause }, ..replay };
    };
    let (mut cost_before, mut is_watched) = (None, false);
    let done = fold(target, trace, plan).map_err(ReplayError::from).and_then(|fold| {
        replay.layout = layout_name(fold.layout());
        let slots = target.slots_for(queue_depth);
        target.prepare(slots, piece_max(target))?;
        let mut drive = Drive::new(target, slots, plan, fold, &mut tally, stop);
        if plan.lay_out {
            drive.lay_out(progress)?;
        }
        cost_before = drive.cost();
        if let Some(watcher) = &mut watcher {
            watcher.monitor.begin();
            is_watched = true;
        }
        drive.run(trace, progress)
    });
    let cost = (cost_before, target.cost());
    replay.state = match done {
        Ok(()) => PhaseState::Measured,
        Err(ReplayError::Stopped) => PhaseState::Partial,
        Err(error) => PhaseState::NotMeasured { cause: with_causes(&error) },
    };
    tally.put_into(&mut replay);
    let is_direct = target.abilities().directness.is_direct();
    // A replay that did not begin has nothing beside it.
    if let Some(watcher) = watcher.filter(|_| is_watched)
        && let Some(seen) = watcher.monitor.end()
    {
        let surroundings = surroundings(&replay, &seen, cost, is_direct);
        replay.disturbances = watcher.monitor.disturbances(&surroundings, watcher.filesystem);
        replay.surroundings = Some(Box::new(surroundings));
    }
    replay
}

/// What was `seen` during `replay`; `cost` is what driving it had cost before and had in the end.
fn surroundings(
    replay: &Replay,
    seen: &Observation,
    cost: (Option<Usage>, Option<Usage>),
    is_direct: bool,
) -> PhaseSurroundings {
    let moved = |requests: &Option<ReplayedRequests>| {
        requests.as_ref().map_or((0, Bytes::ZERO), |requests| (requests.ops, requests.bytes))
    };
    let (reads, writes) = (moved(&replay.reads), moved(&replay.writes));
    let own = OwnActivity {
        // Requests of many sizes cannot be counted against the device's own.
        block_size_bytes: PIECE_MAX,
        ops: reads.0 + writes.0,
        flushes: moved(&replay.flushes).0,
        read_bytes: reads.1,
        written_bytes: writes.1,
        direct: is_direct,
        fetched: false,
    };
    surroundings::surroundings(seen, own, surroundings::own_cpu(cost.0, cost.1, &seen.whole))
}

/// The longest piece: whole blocks of the target.
fn piece_max(target: &dyn Target) -> Bytes {
    PIECE_MAX.max(target.abilities().logical_block)
}

fn fold(
    target: &dyn Target,
    trace: &TraceReader<'_>,
    plan: &ReplayPlan,
) -> Result<Fold, FoldError> {
    let reach = Reach::new(trace)?;
    let span = plan.span.min(target.abilities().size);
    Fold::new(&reach, span, target.abilities().logical_block, piece_max(target))
}

const fn layout_name(layout: Layout) -> ReplayLayout {
    match layout {
        Layout::Kept => ReplayLayout::Kept,
        Layout::Packed => ReplayLayout::Packed,
        Layout::Wrapped => ReplayLayout::Wrapped,
    }
}
