//! The grade of pauses: how long a program waits while the storage finishes nothing.

use cardproof_record::{Limit, OpName, Phase, PhaseState, Record};
use cardproof_units::Nanos;

use super::{Answer, Grade, PAUSE_POOR, STALLED_SHARE_POOR};
use crate::disturbance::is_disturbed;
use crate::limits::limit_of_phase;
use crate::pauses::{FELT_PAUSE, Pause, longest_wait, pauses_in, stalls};

pub(super) fn pauses(record: &Record) -> Answer {
    let Some(longest) = longest_wait(record) else { return Answer::unknown(no_pauses(record)) };
    let name = record.phases.get(longest.phase).map_or("", |phase| phase.name.as_str());
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
        return felt_pauses(record, grade, (length, name), share);
    }
    let (long, where_it_was, grade) = match long_operation(record, FELT_PAUSE) {
        // Where most operations take as long, the storage is slow and does not pause; other grades tell.
        Some(found) if found.is_unusual() => {
            let grade = if found.longest < PAUSE_POOR { Grade::Good } else { Grade::Fair };
            (found.beside(), found.place(), grade)
        }
        Some(found) => (found.beside(), String::new(), Grade::Good),
        None => (String::new(), String::new(), Grade::Good),
    };
    let none = format!("No pause of {FELT_PAUSE} or more{long}.");
    if has_run_writes(record) {
        let comparison = format!(
            "{WHAT_A_PAUSE_IS}{where_it_was} The SD specification allows a card to be busy for up to \
             {FELT_PAUSE}."
        );
        Answer { grade, finding: none, comparison }
    } else {
        Answer::unknown(format!("{none} Pauses occur during writes, and this run only read."))
    }
}

const WHAT_A_PAUSE_IS: &str = "In a pause, the storage finishes no operation.";

/// An operation of at least `from`, where there is one, and where it was: the table beside shows it, and it was
/// no pause, since others finished meanwhile or all operations there take long.
fn long_operation(record: &Record, from: Nanos) -> Option<LongOperation<'_>> {
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
        phase: &phase.name,
        depth: phase.queue_depth,
    })
}

/// An operation that took long, and what is usual where it was.
struct LongOperation<'r> {
    longest: Nanos,
    usual: Nanos,
    phase: &'r str,
    /// Operations under way at a time.
    depth: u16,
}

impl LongOperation<'_> {
    /// Whether it took several times as long as the others.
    const fn is_unusual(&self) -> bool {
        self.longest.0 / 4 >= self.usual.0
    }

    /// The end of a sentence that tells it.
    fn beside(&self) -> String {
        if self.depth > 1 {
            // The others end meanwhile, so that it is no pause.
            return format!("; at depth {}, one request took {}", self.depth, self.longest);
        }
        format!("; the longest operation took {}", self.longest)
    }

    /// A sentence on where it was.
    fn place(&self) -> String {
        format!(" The longest operation was in {}, where {} is usual.", self.phase, self.usual)
    }
}

/// Why no pause is known, and the longest operation where at least that was told.
fn no_pauses(record: &Record) -> String {
    if record.phases.iter().any(|phase| !phase.intervals.is_empty()) {
        return "No phase is able to show pauses.".to_owned();
    }
    let latencies = record.phases.iter().filter_map(|phase| phase.latency_ns);
    let longest = latencies.map(|latency| latency.max).max();
    let longest =
        longest.map_or(String::new(), |longest| format!("; the longest operation took {longest}"));
    format!("The record has no rates over time, which would show pauses{longest}.")
}

/// The longest pause is `longest`, in the phase of that name; `share` is the part of a phase's time that its pauses took,
/// where that decided the grade.
fn felt_pauses(
    record: &Record,
    grade: Grade,
    (longest, name): (Nanos, &str),
    share: Option<f64>,
) -> Answer {
    let pauses: Vec<Pause> =
        (0..record.phases.len()).flat_map(|index| pauses_in(record, index)).collect();
    let longer = match pauses.len() {
        0 => None,
        _ => long_operation(record, longest.saturating_add(Nanos(1))),
    };
    let (longer, where_it_was) =
        longer.map(|found| (found.beside(), found.place())).unwrap_or_default();
    let finding = match pauses.len() {
        0 => format!("All operations are slow: one took {longest} (in {name})."),
        1 => format!("There was 1 pause of {FELT_PAUSE} or more: {longest} (in {name}){longer}."),
        count => format!(
            "There were {count} pauses of {FELT_PAUSE} or more. The longest was {longest} (in {name}){longer}."
        ),
    };
    let stop = "Programs that wait for the storage stop for that time.";
    let comparison = match pauses.len() {
        0 => stop.to_owned(),
        _ => format!("{WHAT_A_PAUSE_IS} {stop}{where_it_was}"),
    };
    let stood = share.map_or_else(String::new, |share| {
        format!(" In one test the storage stood still for {:.0} % of the time.", 100.0 * share)
    });
    Answer { grade, finding: format!("{finding}{stood}{}", of_host(record, &pauses)), comparison }
}

/// Whether every phase with a pause that is felt was disturbed, and that at `longest` with the longest wait: a program
/// that gets no processor finishes nothing either.
fn are_disturbed(record: &Record, longest: usize) -> bool {
    let has_pause = |&index: &usize| index == longest || !pauses_in(record, index).is_empty();
    let phases = (0..record.phases.len()).filter(has_pause).filter_map(|at| record.phases.get(at));
    phases.into_iter().all(|phase| is_disturbed(record, phase))
}

/// That the storage may not be the cause of `pauses`, if each phase with one was disturbed or limited by the processor.
fn of_host(record: &Record, pauses: &[Pause]) -> &'static str {
    let is_of_processor = |phase: &Phase| {
        limit_of_phase(record, phase).is_some_and(|limited| limited.limit == Limit::Cpu)
    };
    let phases = || pauses.iter().filter_map(|pause| record.phases.get(pause.phase));
    if pauses.is_empty() {
        ""
    } else if phases().all(is_of_processor) {
        " The processor was busy at that time, so the storage may not be the cause."
    } else if phases().all(|phase| is_disturbed(record, phase)) {
        " Other programs disturbed these tests, so the storage may not be the cause."
    } else {
        ""
    }
}

fn has_run_writes(record: &Record) -> bool {
    record.phases.iter().any(|phase| phase.op != OpName::Read && phase.ops > 0)
}
