//! A record in at most ten lines of Markdown, for a forum.

use cardproof_record::{OpName, PatternName, Phase, Record};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::clean::{Markdown, one_line};
use crate::facts::{facts, when};
use crate::inventory::Entry;

/// More doubts than this are counted.
const DOUBTS_MAX: usize = 1;

/// The record in at most ten lines of Markdown, ending in a newline. Text from the record cannot make
/// markup.
#[must_use]
pub fn markdown_short(record: &Record) -> String {
    let entry = Entry::of(record);
    let name = match &entry.label {
        Some(label) => format!("{label}: {}", entry.card),
        None => entry.card.clone(),
    };
    let mut lines = vec![format!("**{}**", Markdown(&name)), String::new()];
    lines.push(format!("- Verdicts: {}", Markdown(&verdicts(&entry))));
    let iops = |rate: Option<f64>| rate.map(|rate| Iops(rate).to_string());
    let mb = |rate: Option<f64>| rate.map(|rate| Throughput(rate).to_string());
    let [deep_read, deep_write] = [OpName::Read, OpName::Write].map(|op| deepest(record, op));
    let depth = [deep_read, deep_write].into_iter().flatten().map(|phase| phase.queue_depth).max();
    let deep = format!("4 KiB random, {} at a time", depth.unwrap_or_default());
    let rate = |phase: Option<&Phase>| iops(phase?.iops.as_ref().map(|rate| rate.estimate.0));
    let figures = [
        (
            "4 KiB random, one at a time",
            iops(entry.random_read_iops),
            iops(entry.random_write_iops),
        ),
        (&*deep, rate(deep_read), rate(deep_write)),
        ("4 KiB with a flush after each", None, iops(entry.synced_write_iops)),
        (
            "Sequential",
            mb(entry.sequential_read_bytes_per_s),
            mb(entry.sequential_write_bytes_per_s),
        ),
    ];
    for (what, read, write) in figures {
        let parts =
            [read.map(|rate| format!("read {rate}")), write.map(|rate| format!("write {rate}"))];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            lines.push(format!("- {what}: {}", parts.join(", ")));
        }
    }
    if let Some(computer) = facts(record).iter().find(|fact| fact.label == "Computer") {
        lines.push(format!("- Host: {}", Markdown(&computer.text)));
    }
    if !entry.doubts.is_empty() {
        let shown = entry.doubts[..entry.doubts.len().min(DOUBTS_MAX)].join("; ");
        let more = entry.doubts.len().saturating_sub(DOUBTS_MAX);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        lines.push(format!("- In doubt: {}{more}", Markdown(&shown)));
    }
    let tool = format!("{} {}", record.tool.name, record.tool.version);
    lines.push(format!(
        "- Profile {}, {}, {}",
        Markdown(&entry.profile),
        Markdown(&when(record)),
        Markdown(one_line(&tool).trim())
    ));
    lines.join("\n") + "\n"
}

/// The random phase of `op` with the most operations in flight, of several, as A1 asks for.
fn deepest(record: &Record, op: OpName) -> Option<&Phase> {
    let is_random = |phase: &&Phase| {
        phase.is_measured()
            && phase.op == op
            && phase.pattern == PatternName::Random
            && phase.block_size_bytes == Bytes::kib(4)
            && phase.queue_depth > 1
    };
    record.phases.iter().filter(is_random).max_by_key(|phase| phase.queue_depth)
}

fn verdicts(entry: &Entry) -> String {
    let part = |classes: &[String], word: &str| {
        (!classes.is_empty()).then(|| format!("{} {word}", classes.join(", ")))
    };
    let parts: Vec<String> = [
        entry.capacity.clone(),
        part(&entry.met, "passed"),
        part(&entry.missed, "failed"),
        part(&entry.undecided, "undecided"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}
