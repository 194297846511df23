//! The result of a test without classes in a few words, for a list; in full it is told in
//! [`contents`](crate::contents).

use cardproof_rating::{flushes, geometry, words};
use cardproof_record::{JobRun, PhaseState, Record, Replay};

use crate::clean::one_line;

/// What the test of `record` found in a few words, without an end that had to be cut off; `None` where only a sentence
/// has it.
pub(crate) fn in_short(record: &Record) -> Option<String> {
    crate::lead::in_short(record)
        .or_else(|| crate::powercut::in_short(record))
        .or_else(|| record.endurance().map(words::life::result_in_short))
        .or_else(|| of_geometry(record))
        .or_else(|| record.job_runs.first().filter(|_| record.job_runs.len() == 1).map(of_job))
        .or_else(|| record.replays.first().filter(|_| record.replays.len() == 1).map(of_replay))
        .or_else(|| of_flushes(record))
}

fn of_geometry(record: &Record) -> Option<String> {
    let unit = geometry(record)?.allocation_unit.bytes();
    Some(match unit {
        Some(unit) => format!("geometry: allocation unit {unit}"),
        None => "geometry: allocation unit not found".to_owned(),
    })
}

fn of_flushes(record: &Record) -> Option<String> {
    let found = flushes(record)?;
    let verdict = match found.continuous {
        _ if found.is_suspicious() => "SUSPICIOUS: faster than its writes",
        Some(_) if !found.is_disturbed => "no sign of a false answer",
        _ => "not judged",
    };
    Some(format!("flushes: {verdict}"))
}

fn of_job(run: &JobRun) -> String {
    let name = one_line(&run.name);
    let rate = run.transactions.as_ref().and_then(|transactions| transactions.per_s);
    match (&run.state, rate) {
        (PhaseState::Measured, Some(rate)) => {
            format!("{name}: {:.0} database transactions a second", rate.estimate.0)
        }
        (PhaseState::Measured, None) => format!("{name}: {}", run.duration_ns),
        _ => format!("{name}: not measured"),
    }
}

fn of_replay(replay: &Replay) -> String {
    let trace = one_line(&replay.trace);
    match replay.state {
        PhaseState::Measured => format!("{trace}: {}", replay.duration_ns),
        _ => format!("{trace}: not measured"),
    }
}
