//! `watch --explain`: a log of iostat in words.

use std::path::Path;

use cardproof_import::iostat::iostat;
use cardproof_rating::limits::{LogExplanation, LogState, explain_log};
use cardproof_record::LimitedBy;
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::Serialize;

use super::args::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output::{self, Sink};
use crate::talk;

/// A week of `iostat 1` for two devices is as long.
const LENGTH_MAX: Bytes = Bytes::mib(256);

/// Explains the log at `path`.
pub(super) fn run(path: &Path, args: &WatchArgs) -> Result<Exit, Failure> {
    let text = read(path)?;
    let log = iostat(&text).map_err(|error| {
        Failure::usage(format!("{} is not a log that can be explained: {error}", path.display()))
    })?;
    let explanations = explain_log(&log, args.interval);
    if explanations.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds only iostat's first report, which counts since boot; let it run on, as in \
             `iostat 20`",
            path.display()
        )));
    }
    let text = if args.json { json(&explanations)? } else { page(&explanations) };
    output::write(&Sink::Stdout, &text)?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<String, Failure> {
    input::read_text(path, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!("cannot read {}: {error}; name a log of iostat", path.display()),
        )
    })
}

/// All explanations as text for the terminal.
fn page(explanations: &[LogExplanation]) -> String {
    let width = usize::from(talk::width()).clamp(20, 100);
    let mut page = String::new();
    let is_idle = |explanation: &&LogExplanation| {
        explanations.len() > 1
            && explanation.states.iter().all(|share| share.state == LogState::Idle)
    };
    for explanation in explanations.iter().filter(|explanation| !is_idle(explanation)) {
        if !page.is_empty() {
            page.push('\n');
        }
        for paragraph in &explanation.story {
            page.push_str(&cardproof_report::wrapped(paragraph, width as u16));
            page.push('\n');
        }
        for share in &explanation.states {
            page.push_str(&format!("  {:<26}{}\n", share.state.words(), share.words()));
        }
    }
    let idle: Vec<&str> =
        explanations.iter().filter(is_idle).map(|explanation| &*explanation.device).collect();
    if !idle.is_empty() {
        page.push_str(&format!("\nIdle throughout: {}.\n", idle.join(", ")));
    }
    page
}

/// The explanations in JSON.
#[derive(Serialize)]
struct Document<'log> {
    schema: &'static str,
    devices: Vec<DeviceDocument<'log>>,
}

/// The explanation of one device.
#[derive(Serialize)]
struct DeviceDocument<'log> {
    device: &'log str,
    reports: u64,
    time_ns: Option<Nanos>,
    read_bytes: Bytes,
    written_bytes: Bytes,
    limited_by: &'log LimitedBy,
    states: Vec<StateDocument>,
    words: &'log [String],
}

#[derive(Serialize)]
struct StateDocument {
    state: &'static str,
    reports: u64,
    time_ns: Option<Nanos>,
    transactions_per_s: Iops,
    bytes_per_s: Throughput,
    mean_bytes: Bytes,
}

/// All explanations as one JSON document.
fn json(explanations: &[LogExplanation]) -> Result<String, Failure> {
    let devices = explanations.iter().map(document).collect();
    let document = Document { schema: "cardproof.explained/1", devices };
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the explanation cannot be put into JSON"))?;
    text.push('\n');
    Ok(text)
}

fn document(explanation: &LogExplanation) -> DeviceDocument<'_> {
    let states = explanation.states.iter().map(|share| StateDocument {
        state: share.state.words(),
        reports: share.reports,
        time_ns: share.time,
        transactions_per_s: share.transactions_per_s,
        bytes_per_s: share.bytes_per_s,
        mean_bytes: share.mean_bytes,
    });
    DeviceDocument {
        device: &explanation.device,
        reports: explanation.reports,
        time_ns: explanation.time,
        read_bytes: explanation.read,
        written_bytes: explanation.written,
        limited_by: &explanation.limited_by,
        states: states.collect(),
        words: &explanation.story,
    }
}
