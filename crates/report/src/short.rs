//! A record in a few rows, for a forum: as Markdown, and as the source of the result picture.

use cardproof_rating::{
    Doubt, Finding, RANDOM_QUEUE_DEPTH, doubts, shown_rate, stated_rate, telling_indications,
    wording,
};
use cardproof_record::{OpName, Record};
use cardproof_units::{Iops, Throughput};

use crate::capacity;
use crate::clean::{Markdown, one_line};
use crate::facts::{facts, when};
use crate::inventory::Entry;
use crate::lead::{Lead, found_in_words};

/// More doubts than this are counted.
const DOUBTS_MAX: usize = 1;

/// More findings of another tool than this are not told.
const FOUND_MAX: usize = 3;

/// More figures of another tool than this are not told.
const STATED_MAX: usize = 4;

/// What a forum is told of a record.
pub(crate) struct Short {
    /// The label and the card.
    pub(crate) name: String,
    /// What is bad, which comes first.
    pub(crate) lead: Option<Lead>,
    /// What is said of what.
    pub(crate) rows: Vec<(String, String)>,
    /// How it was measured, when, and with what.
    pub(crate) source: String,
}

impl Short {
    pub(crate) fn from_record(record: &Record) -> Self {
        let entry = Entry::of(record);
        let name = match &entry.label {
            Some(label) => format!("{label}: {}", entry.card),
            None => entry.card.clone(),
        };
        let found = found_in_words(record).into_iter().take(FOUND_MAX);
        let mut rows: Vec<(String, String)> = found.map(|it| ("Found".to_owned(), it)).collect();
        let lead = Lead::from_record(record);
        let is_told = capacity::leads(record, lead.as_ref()) && record.phases.is_empty();
        rows.extend(result(&entry).filter(|_| !is_told));
        let iops = |rate: Option<f64>| rate.map(|rate| Iops(rate).to_string());
        let mb = |rate: Option<f64>| rate.map(|rate| Throughput(rate).to_string());
        let figures = [
            (
                "4 KiB random, one at a time".to_owned(),
                iops(entry.random_read_iops),
                iops(entry.random_write_iops),
            ),
            (
                format!("4 KiB random, {RANDOM_QUEUE_DEPTH} at a time"),
                in_queue(record, OpName::Read),
                in_queue(record, OpName::Write),
            ),
            ("4 KiB with a flush after each".to_owned(), None, iops(entry.synced_write_iops)),
            (
                "Sequential".to_owned(),
                mb(entry.sequential_read_bytes_per_s),
                mb(entry.sequential_write_bytes_per_s),
            ),
        ];
        for (what, read, write) in figures {
            let parts = [
                read.map(|rate| format!("read {rate}")),
                write.map(|rate| format!("write {rate}")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if !parts.is_empty() {
                rows.push((what, parts.join(", ")));
            }
        }
        rows.extend(stated(record));
        rows.extend(likely(record));
        if let Some(computer) = facts(record).iter().find(|fact| fact.label == "Computer") {
            rows.push(("Host".to_owned(), one_line(&computer.text)));
        }
        // What was found is said above.
        if !entry.doubts.is_empty() && record.findings.is_empty() {
            let shown = entry.doubts[..entry.doubts.len().min(DOUBTS_MAX)].join("; ");
            let more = entry.doubts.len().saturating_sub(DOUBTS_MAX);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            rows.push(("In doubt".to_owned(), format!("{shown}{more}")));
        }
        let tool = format!("{} {}", record.tool.name, record.tool.version);
        let source =
            format!("Profile {}, {}, {}", entry.profile, when(record), one_line(&tool).trim());
        Self { name, lead, rows, source }
    }
}

/// The figures that another tool printed.
fn stated(record: &Record) -> Option<(String, String)> {
    let phases = record.phases.iter().filter(|phase| phase.stated.is_some());
    let figures: Vec<String> = phases
        .filter_map(|phase| Some(format!("{} {}", one_line(&phase.name), stated_rate(phase)?)))
        .take(STATED_MAX)
        .collect();
    (!figures.is_empty()).then(|| ("Figures".to_owned(), figures.join("; ")))
}

/// What such figures make likely of the classes.
fn likely(record: &Record) -> Option<(String, String)> {
    let classes: Vec<String> = telling_indications(record)
        .iter()
        .map(|it| format!("{} {}", one_line(&it.rule), wording::likelihood(it.outcome)))
        .collect();
    (!classes.is_empty()).then(|| ("Classes, by these figures".to_owned(), classes.join("; ")))
}

/// The record in at most ten lines of Markdown, ending in a newline. Text from the record cannot make
/// markup.
#[must_use]
pub fn markdown_short(record: &Record) -> String {
    let Short { name, lead, rows, source } = Short::from_record(record);
    let mut lines = vec![format!("**{}**", Markdown(&name)), String::new()];
    if let Some(lead) = lead {
        lines.extend([format!("**{}**: {}", lead.headline, Markdown(&lead.what)), String::new()]);
    }
    lines.extend(rows.iter().map(|(what, said)| format!("- {what}: {}", Markdown(said))));
    lines.push(format!("- {}", Markdown(&source)));
    lines.join("\n") + "\n"
}

/// The rate of random operations at the depth for which A1 is stated, as the table has it; `None` where
/// it is in doubt.
fn in_queue(record: &Record, op: OpName) -> Option<String> {
    let phase = Finding::of_random_4k(record, op, RANDOM_QUEUE_DEPTH).measured()?;
    let index = record.phases.iter().position(|other| std::ptr::eq(other, phase));
    let is_about = |doubt: &Doubt| doubt.phase.is_none() || doubt.phase == index;
    let is_doubted =
        doubts(record).iter().any(|it| it.warning.code.forbids_verdict() && is_about(it));
    let rate = shown_rate(phase).filter(|_| !is_doubted)?;
    Some(rate.estimate.to_string())
}

/// What the record found: verdicts, or the result of a test without them.
fn result(entry: &Entry) -> Option<(String, String)> {
    match (verdicts(entry), &entry.found) {
        (Some(verdicts), _) => Some(("Verdicts".to_owned(), verdicts)),
        (None, found) => Some(("Result".to_owned(), found.clone()?)),
    }
}

fn verdicts(entry: &Entry) -> Option<String> {
    // A defect leads.
    let capacity = entry.capacity.clone().filter(|_| entry.defect.is_none());
    let classes = entry.of_classes(|word, classes| format!("{} {word}", classes.join(", ")));
    let parts: Vec<String> = capacity.into_iter().chain(classes).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
