//! Pauses: times in which the storage completed no operation.
//!
//! A system that waits for its card stops, and averages hide that. A pause shows in two ways: as a time
//! without a completion in which several were expected at the phase's rate; and as the longest
//! latency, if only one operation is in flight. The latency in a queue of 32 is no pause, nor is the
//! transfer time of a large block, nor the latency of storage that is always that slow.

use cardproof_record::{Interval, OpName, Phase, PhaseState, Record};
use cardproof_units::{Bytes, Nanos};

/// Users notice pauses from this length on: the SD specification allows a card to be busy for 250 ms in a
/// write.
pub const FELT_PAUSE: Nanos = Nanos::from_millis(250);

/// A time without a completion is unusual only if at least this many were expected in it: if they came at
/// random, one such time in 20,000 would be due to chance (exp(-10)).
const EXPECTED_OPS_MIN: u64 = 10;

/// Larger blocks take noticeable time to transfer alone.
const SMALL_BLOCK: Bytes = Bytes::kib(64);

/// A time in which no operation of a phase completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The phase's place in the record.
    pub phase: usize,
    /// When it ended, from the phase's start; exact to the slice.
    pub end: Nanos,
    /// How long it was, at least.
    pub length: Nanos,
}

/// A wait of this many times the median is out of the ordinary.
const MEDIANS_MIN: u64 = 4;

/// The longest time without a completion in any phase that ran, even if it is too short for a pause.
#[must_use]
pub fn longest_wait(record: &Record) -> Option<Pause> {
    let has_run = |phase: &Phase| !matches!(phase.state, PhaseState::NotMeasured { .. });
    let phases = record.phases.iter().enumerate().filter(|(_, phase)| has_run(phase));
    phases.flat_map(|(index, phase)| waits(index, phase)).max_by_key(|pause| pause.length)
}

/// The pauses of at least [`FELT_PAUSE`] in the phase at `index`, in order.
#[must_use]
pub fn pauses_in(record: &Record, index: usize) -> Vec<Pause> {
    let Some(phase) = record.phases.get(index) else { return Vec::new() };
    let ordinary = phase.latency_ns.map_or(Nanos::ZERO, |latency| latency.p50);
    let silences = Silences::from_phase(phase);
    let is_pause = |pause: &Pause| {
        let is_unusual = pause.length.0 / MEDIANS_MIN >= ordinary.0;
        pause.length >= FELT_PAUSE && (is_unusual || silences.are_unusual(pause.length))
    };
    waits(index, phase).into_iter().filter(is_pause).collect()
}

/// The pauses of a whole run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// How many there were of at least [`FELT_PAUSE`].
    pub count: usize,
    /// The longest time without a completion.
    pub longest: Nanos,
    /// The largest share of a phase's time that its pauses took, 0 to 1.
    pub share_max: f64,
}

/// The pauses of `record`; `None` where no phase that writes can show them.
#[must_use]
pub fn stalls(record: &Record) -> Option<Stalls> {
    let writes = |phase: &Phase| phase.op != OpName::Read && phase.ops > 0;
    record.phases.iter().find(|phase| writes(phase))?;
    let longest = longest_wait(record)?.length;
    let mut stalls = Stalls { count: 0, longest, share_max: 0.0 };
    for (index, phase) in record.phases.iter().enumerate() {
        let pauses = pauses_in(record, index);
        let paused: f64 = pauses.iter().map(|pause| pause.length.as_secs_f64()).sum();
        let time = phase.duration_ns.as_secs_f64();
        stalls.count += pauses.len();
        if time > 0.0 {
            stalls.share_max = stalls.share_max.max((paused / time).min(1.0));
        }
    }
    Some(stalls)
}

/// The rate of a phase, against which a time without a completion is held.
struct Silences {
    ops: u64,
    /// The length of all slices together.
    time: Nanos,
}

impl Silences {
    fn from_phase(phase: &Phase) -> Self {
        let slices = phase.intervals.iter();
        let time = slices.fold(Nanos::ZERO, |sum, slice| sum.saturating_add(slice.duration_ns));
        Self { ops: phase.ops, time }
    }

    /// Whether several operations were expected to complete in `length`.
    fn are_unusual(&self, length: Nanos) -> bool {
        let expected = u128::from(self.ops) * u128::from(length.0);
        length > Nanos::ZERO
            && expected >= u128::from(EXPECTED_OPS_MIN) * u128::from(self.time.0.max(1))
    }
}

/// The wait that ended in each slice, zero where there was none. Of a phase too slow to tell each felt pause
/// from plain slowness, only the pauses that are certain.
fn waits(index: usize, phase: &Phase) -> Vec<Pause> {
    let silences = Silences::from_phase(phase);
    let waits_alone = phase.queue_depth == 1 && phase.block_size_bytes <= SMALL_BLOCK;
    let shows_all = silences.are_unusual(FELT_PAUSE) || waits_alone;
    let mut waits = Vec::new();
    let unusual =
        |silence: Nanos| if silences.are_unusual(silence) { silence } else { Nanos::ZERO };
    let mut silence = Nanos::ZERO;
    for slice in &phase.intervals {
        if slice.ops == 0 {
            silence = silence.saturating_add(slice.duration_ns);
            continue;
        }
        let alone = if waits_alone { slice.latency_max_ns } else { Nanos::ZERO };
        let end = if silence > Nanos::ZERO { slice.start_ns } else { end_of(slice) };
        waits.push(Pause { phase: index, end, length: unusual(silence).max(alone) });
        silence = Nanos::ZERO;
    }
    if unusual(silence) > Nanos::ZERO {
        let end = phase.intervals.last().map_or(Nanos::ZERO, end_of);
        waits.push(Pause { phase: index, end, length: silence });
    }
    waits.retain(|wait| shows_all || wait.length > Nanos::ZERO);
    waits
}

const fn end_of(slice: &Interval) -> Nanos {
    slice.start_ns.saturating_add(slice.duration_ns)
}
