//! A replay in words.

use std::fmt::Write;

use cardproof_record::{PhaseState, Replay, ReplayLayout, ReplayedRequests};
use cardproof_units::{Bytes, Nanos};

/// What `replay` took, and what it waited for.
pub(super) fn summary(replay: &Replay) -> String {
    let mut text = String::new();
    headline(&mut text, replay);
    time(&mut text, replay);
    kind(&mut text, "reads", replay.reads.as_ref());
    kind(&mut text, "writes", replay.writes.as_ref());
    kind(&mut text, "flushes", replay.flushes.as_ref());
    if let Some(epoch) = replay.epoch_ns {
        let (p50, p99, max) = (epoch.p50, epoch.p99, epoch.max);
        let epochs = replay.epochs;
        // Writing to a string does not fail.
        let _ = writeln!(text, "  epochs   {epochs}; median {p50}, p99 {p99}, longest {max}");
    }
    remarks(&mut text, replay);
    text
}

fn headline(text: &mut String, replay: &Replay) {
    let Replay { trace, duration_ns, recorded_ns, requests, requests_of, .. } = replay;
    let _ = match &replay.state {
        PhaseState::Measured => writeln!(
            text,
            "{trace}: took {duration_ns}; where it was recorded it took {recorded_ns}"
        ),
        PhaseState::Partial => writeln!(
            text,
            "{trace}: stopped after {duration_ns} and {requests} of {requests_of} requests"
        ),
        PhaseState::NotMeasured { cause } => writeln!(
            text,
            "{trace}: not measured, after {requests} of {requests_of} requests: {cause}"
        ),
    };
}

fn time(text: &mut String, replay: &Replay) {
    let waited = replay.waited;
    let share = |part: Nanos| {
        let whole = replay.duration_ns.as_secs_f64();
        if whole > 0.0 { 100.0 * part.as_secs_f64() / whole } else { 0.0 }
    };
    let _ = writeln!(
        text,
        "  {:.0} % of that thinking, {:.0} % waiting for writes, {:.0} % for flushes, {:.0} % for \
         reads",
        share(replay.thought_ns),
        share(waited.writes_ns),
        share(waited.flushes_ns),
        share(waited.reads_ns),
    );
}

fn kind(text: &mut String, name: &str, requests: Option<&ReplayedRequests>) {
    let Some(ReplayedRequests { ops, bytes, latency_ns }) = requests else { return };
    let bytes = if *bytes == Bytes::ZERO { String::new() } else { format!(", {bytes}") };
    let (p50, p99, max) = (latency_ns.p50, latency_ns.p99, latency_ns.max);
    let _ = writeln!(text, "  {name:<8} {ops}{bytes}; median {p50}, p99 {p99}, longest {max}");
}

fn remarks(text: &mut String, replay: &Replay) {
    let layout = match replay.layout {
        ReplayLayout::Kept => None,
        ReplayLayout::Packed => {
            Some("the parts of the device that the job used were moved together to fit")
        }
        ReplayLayout::Wrapped => {
            Some("parts of the device that the job used share a place, as there was less room")
        }
    };
    let think = match replay.think_factor {
        factor if factor <= 0.0 => Some("the job did not think in between".to_owned()),
        factor if (factor - 1.0).abs() > 1e-9 => {
            Some(format!("the job thought {factor} times as long as when it was recorded"))
        }
        _ => None,
    };
    let discards = (replay.discards_left_out > 0).then(|| {
        format!("{} discards were left out: this target has none", replay.discards_left_out)
    });
    for remark in [layout.map(str::to_owned), think, discards].into_iter().flatten() {
        let _ = writeln!(text, "  {remark}");
    }
}
