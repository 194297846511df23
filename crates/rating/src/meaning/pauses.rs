//! The grade of pauses: how long a program waits while the storage finishes nothing.

use cardproof_record::{Limit, OpName, Phase, PhaseState, Record};
use cardproof_units::Nanos;

use super::{Basis, Grade, PAUSE_POOR, STALLED_SHARE_POOR};
use crate::disturbance::is_disturbed;
use crate::limits::limit_of_phase;
use crate::pauses::{FELT_PAUSE, Pause, longest_wait, pauses_in, stalls};

/// What was found of pauses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PausesFound {
    /// No phase is able to show them.
    CannotShow,
    /// The record has no rates over time, which would show them.
    NoRatesOverTime {
        /// The longest operation.
        longest: Option<Nanos>,
    },
    /// None is felt.
    NoneFelt {
        /// An operation that took as long.
        long: Option<LongOperation>,
        /// Whether anything was written.
        has_written: bool,
    },
    /// There are such that are felt.
    Felt(FeltPauses),
}

/// Pauses that are felt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeltPauses {
    /// How many; 0 where all operations are slow.
    pub(crate) count: usize,
    /// The longest.
    pub(crate) longest: Nanos,
    /// The name of its phase.
    pub(crate) phase: String,
    /// An operation that took longer.
    pub(crate) longer: Option<LongOperation>,
    /// The part of a phase's time that its pauses took, where that decided the grade.
    pub(crate) share: Option<f64>,
    /// What else may have caused them all.
    pub(crate) cause: Option<OtherCause>,
}

/// What may have caused pauses other than the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherCause {
    /// The processor was busy.
    Processor,
    /// Other programs disturbed the tests.
    OtherPrograms,
}

/// An operation that took long, and what is usual where it was.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LongOperation {
    /// How long it took.
    pub(crate) longest: Nanos,
    /// What is usual.
    pub(crate) usual: Nanos,
    /// The name of the phase.
    pub(crate) phase: String,
    /// Operations under way at a time.
    pub(crate) depth: u16,
}

impl LongOperation {
    /// Whether it took several times as long as the others.
    pub(crate) const fn is_unusual(&self) -> bool {
        self.longest.0 / 4 >= self.usual.0
    }
}

pub(super) fn pauses(record: &Record) -> (Grade, Basis) {
    let Some(longest) = longest_wait(record) else {
        return (Grade::Unknown, Basis::Pauses(no_pauses(record)));
    };
    let length = longest.length;
    if length >= FELT_PAUSE {
        let share = stalls(record).map_or(0.0, |stalls| stalls.share_max);
        let is_poor = length >= PAUSE_POOR || share >= STALLED_SHARE_POOR;
        let grade = match is_poor {
            _ if are_disturbed(record, longest.phase) => Grade::Unknown,
            true => Grade::Poor,
            false => Grade::Fair,
        };
        let is_long_alone = length >= PAUSE_POOR;
        let share = (is_poor && !is_long_alone).then_some(share);
        return (grade, Basis::Pauses(felt_pauses(record, &longest, share)));
    }
    let long = long_operation(record, FELT_PAUSE);
    let grade = match &long {
        // Where most operations take as long, the storage is slow and does not pause; other grades tell.
        Some(found) if found.is_unusual() && found.longest >= PAUSE_POOR => Grade::Fair,
        _ => Grade::Good,
    };
    let has_written = has_run_writes(record);
    // Pauses occur during writes.
    let grade = if has_written { grade } else { Grade::Unknown };
    (grade, Basis::Pauses(PausesFound::NoneFelt { long, has_written }))
}

/// An operation of at least `from`, where there is one, and where it was: the table beside shows it, and it was
/// no pause, since others finished meanwhile or all operations there take long.
fn long_operation(record: &Record, from: Nanos) -> Option<LongOperation> {
    let has_run = |phase: &&Phase| !matches!(phase.state, PhaseState::NotMeasured { .. });
    let longest = record
        .phases
        .iter()
        .filter(has_run)
        .filter_map(|phase| Some((phase, phase.latency_ns?.max)))
        .max_by_key(|(_, longest)| *longest)
        .filter(|(_, longest)| *longest >= from);
    let (phase, longest) = longest?;
    Some(LongOperation {
        longest,
        usual: phase.latency_ns?.p50,
        phase: phase.name.clone(),
        depth: phase.queue_depth,
    })
}

/// Why no pause is known, and the longest operation where at least that was told.
fn no_pauses(record: &Record) -> PausesFound {
    if record.phases.iter().any(|phase| !phase.intervals.is_empty()) {
        return PausesFound::CannotShow;
    }
    let latencies = record.phases.iter().filter_map(|phase| phase.latency_ns);
    PausesFound::NoRatesOverTime { longest: latencies.map(|latency| latency.max).max() }
}

/// The longest pause is `longest`; `share` is the part of a phase's time that its pauses took, where that decided the
/// grade.
fn felt_pauses(record: &Record, longest: &Pause, share: Option<f64>) -> PausesFound {
    let pauses: Vec<Pause> =
        (0..record.phases.len()).flat_map(|index| pauses_in(record, index)).collect();
    let longer = match pauses.len() {
        0 => None,
        _ => long_operation(record, longest.length.saturating_add(Nanos(1))),
    };
    let phase = record.phases.get(longest.phase).map_or_else(String::new, |it| it.name.clone());
    let cause = other_cause(record, &pauses);
    let (count, longest) = (pauses.len(), longest.length);
    PausesFound::Felt(FeltPauses { count, longest, phase, longer, share, cause })
}

/// Whether every phase with a pause that is felt was disturbed, and that at `longest` with the longest wait: a program
/// that gets no processor finishes nothing either.
fn are_disturbed(record: &Record, longest: usize) -> bool {
    let has_pause = |&index: &usize| index == longest || !pauses_in(record, index).is_empty();
    let phases = (0..record.phases.len()).filter(has_pause).filter_map(|at| record.phases.get(at));
    phases.into_iter().all(|phase| is_disturbed(record, phase))
}

/// What other than the storage may have caused `pauses`, if each phase with one was disturbed or limited by the processor.
fn other_cause(record: &Record, pauses: &[Pause]) -> Option<OtherCause> {
    let is_of_processor = |phase: &Phase| {
        limit_of_phase(record, phase).is_some_and(|limited| limited.limit == Limit::Cpu)
    };
    let phases = || pauses.iter().filter_map(|pause| record.phases.get(pause.phase));
    if pauses.is_empty() {
        None
    } else if phases().all(is_of_processor) {
        Some(OtherCause::Processor)
    } else if phases().all(|phase| is_disturbed(record, phase)) {
        Some(OtherCause::OtherPrograms)
    } else {
        None
    }
}

fn has_run_writes(record: &Record) -> bool {
    record.phases.iter().any(|phase| phase.op != OpName::Read && phase.ops > 0)
}
