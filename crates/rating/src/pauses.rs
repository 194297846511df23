//! Pauses: times in which the storage completed no operation.
//!
//! A system that waits for its card stops, and averages hide that. A pause shows in two ways: as slices
//! of time without a completion, where several were expected at the phase's rate; and as the longest
//! latency, if only one operation is in flight. The latency in a queue of 32 is no pause, nor is the
//! transfer time of a large block, nor the latency of storage that is always that slow.

use cardproof_record::{Interval, Phase, PhaseState, Record};
use cardproof_units::{Bytes, Nanos};

/// Users notice pauses from this length on: the SD specification allows a card to be busy for 250 ms in a
/// write.
pub const FELT_PAUSE: Nanos = Nanos::from_millis(250);

/// A slice without a completion says something only where this many were to be expected.
const EXPECTED_OPS_MIN: u64 = 3;

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
    let is_pause =
        |pause: &Pause| pause.length >= FELT_PAUSE && pause.length.0 / MEDIANS_MIN >= ordinary.0;
    waits(index, phase).into_iter().filter(is_pause).collect()
}

/// The wait that ended in each slice, zero where there was none; nothing where the phase cannot
/// tell a pause from plain slowness.
fn waits(index: usize, phase: &Phase) -> Vec<Pause> {
    let shows_silence = phase.ops >= EXPECTED_OPS_MIN * phase.intervals.len() as u64;
    let waits_alone = phase.queue_depth == 1 && phase.block_size_bytes <= SMALL_BLOCK;
    let mut waits = Vec::new();
    if !shows_silence && !waits_alone {
        return waits;
    }
    let mut silence = Nanos::ZERO;
    for slice in &phase.intervals {
        if slice.ops == 0 {
            silence = silence.saturating_add(slice.duration_ns);
            continue;
        }
        let silent = if shows_silence { silence } else { Nanos::ZERO };
        let alone = if waits_alone { slice.latency_max_ns } else { Nanos::ZERO };
        let end = if silence > Nanos::ZERO { slice.start_ns } else { end_of(slice) };
        waits.push(Pause { phase: index, end, length: silent.max(alone) });
        silence = Nanos::ZERO;
    }
    if shows_silence && silence > Nanos::ZERO {
        let end = phase.intervals.last().map_or(Nanos::ZERO, end_of);
        waits.push(Pause { phase: index, end, length: silence });
    }
    waits
}

const fn end_of(slice: &Interval) -> Nanos {
    slice.start_ns.saturating_add(slice.duration_ns)
}
