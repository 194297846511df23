//! A replay in words: how long it took, what it waited for, and where that lies among others.

use cardproof_rating::standing;
use cardproof_record::{PhaseState, Record, Replay, ReplayLayout, ReplayedRequests};
use cardproof_units::{Bytes, Nanos};

use crate::clean::one_line;

/// The heading above replays in every report.
pub(crate) const HEADING: &str = "Replayed jobs";

/// What the replays in `record` took, in lines.
pub(crate) fn replays(record: &Record) -> Vec<String> {
    record.replays.iter().flat_map(|replay| replay_lines(record, replay)).collect()
}

/// What a replay took, and where that lies among others.
pub(crate) fn briefly(replay: &Replay) -> Vec<String> {
    let standing = standing(replay);
    let standing = standing.iter().map(|sentence| one_line(sentence));
    std::iter::once(format!("Replayed {}", headline(replay))).chain(standing).collect()
}

/// Each replay in a sentence.
pub(crate) fn headlines(record: &Record) -> String {
    let all: Vec<String> =
        record.replays.iter().map(|replay| format!("Replayed {}.", headline(replay))).collect();
    all.join(" ")
}

/// What `replay` of `record` took, what it waited for and where it lies, in lines.
#[must_use]
pub fn replay_lines(record: &Record, replay: &Replay) -> Vec<String> {
    let mut lines = vec![headline(replay), time(replay)];
    for (name, requests) in
        [("reads", &replay.reads), ("writes", &replay.writes), ("flushes", &replay.flushes)]
    {
        let done = requests.as_ref().filter(|requests| requests.ops > 0);
        lines.extend(done.map(|requests| kind(name, requests)));
    }
    if let Some(epoch) = replay.epoch_ns {
        let (p50, p99, max) = (epoch.p50, epoch.p99, epoch.max);
        let epochs = replay.epochs;
        lines.push(format!(
            "times from one flush to the next: {epochs}; median {p50}, p99 {p99}, longest {max}"
        ));
    }
    lines.extend(remarks(replay));
    let disturbed = cardproof_rating::disturbance::of_replay(record, replay);
    lines.extend(disturbed.iter().map(|it| format!("disturbed: {}", one_line(&it.to_string()))));
    lines.extend(standing(replay).iter().map(|sentence| one_line(sentence)));
    lines
}

fn headline(replay: &Replay) -> String {
    let Replay { duration_ns, recorded_ns, requests, requests_of, .. } = replay;
    let trace = one_line(&replay.trace);
    match &replay.state {
        PhaseState::Measured => {
            format!("{trace}: took {duration_ns}; the recorded job took {recorded_ns}")
        }
        PhaseState::Partial => {
            format!("{trace}: stopped after {duration_ns} and {requests} of {requests_of} requests")
        }
        PhaseState::NotMeasured { cause } => format!(
            "{trace}: not measured, after {requests} of {requests_of} requests: {}",
            one_line(cause)
        ),
        PhaseState::Unknown => format!("{trace}: ended in a state of a newer version"),
    }
}

fn time(replay: &Replay) -> String {
    let waited = replay.waited;
    let share = |part: Nanos| {
        let whole = replay.duration_ns.as_secs_f64();
        if whole > 0.0 { 100.0 * part.as_secs_f64() / whole } else { 0.0 }
    };
    format!(
        "the time was spent as follows: {:.0} % computing, {:.0} % waiting for writes, {:.0} % waiting for \
         flushes, {:.0} % waiting for reads",
        share(replay.thought_ns),
        share(waited.writes_ns),
        share(waited.flushes_ns),
        share(waited.reads_ns),
    )
}

fn kind(name: &str, requests: &ReplayedRequests) -> String {
    let ReplayedRequests { ops, bytes, latency_ns } = requests;
    let bytes = if *bytes == Bytes::ZERO { String::new() } else { format!(", {bytes}") };
    let (p50, p99, max) = (latency_ns.p50, latency_ns.p99, latency_ns.max);
    if max == Nanos::ZERO {
        return format!("{name}: {ops}{bytes}; they took no time");
    }
    format!("{name}: {ops}{bytes}; median {p50}, p99 {p99}, longest {max}")
}

fn remarks(replay: &Replay) -> impl Iterator<Item = String> {
    let layout = match replay.layout {
        ReplayLayout::Kept => None,
        ReplayLayout::Packed => Some("the address ranges of the job were moved together to fit"),
        ReplayLayout::Other => Some("this version does not know the layout of the addresses"),
        ReplayLayout::Wrapped => {
            Some("some address ranges of the job overlap, because there was too little room")
        }
    };
    let think = match replay.think_factor {
        factor if factor <= 0.0 => {
            Some("the computing time between requests was left out".to_owned())
        }
        factor if (factor - 1.0).abs() > 1e-9 => {
            Some(format!("the computing time between requests was multiplied by {factor}"))
        }
        _ => None,
    };
    let discards = (replay.discards_left_out > 0).then(|| {
        format!(
            "{} discards were left out: this target does not support them",
            replay.discards_left_out
        )
    });
    [layout.map(str::to_owned), think, discards].into_iter().flatten()
}
