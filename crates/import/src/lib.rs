//! Other tools' outputs read into records, so that years of figures compare with today's.
//!
//! Text comes in and records go out; nothing is opened and no clock is read here. People paste parts:
//! between prompts, in quotes and code, among other tools' lines. What certainly belongs to a tool is
//! read, whatever stands around it, and what was passed over is listed. What a part does not tell, such
//! as whether the page cache was in use, is unknown and never guessed. Only what contradicts itself is
//! refused, with its line. Every figure is one of the text's, converted from the tool's own unit and
//! nothing more: none of these tools prints an interval, so rates are [`cardproof_record::Stated`] and
//! never an estimate. What identifies a person or a card (serial numbers, host names, paths) is never
//! taken over.

mod cards;
mod clean;
mod cut_json;
mod decode;
mod draft;
pub mod drive_report;
mod entities;
mod error;
pub mod iostat;
mod labels;
mod lines;
mod margins;
pub mod monitors;
mod programs;
mod readers;
mod recognise;
mod refusals;
mod sentences;
mod table;
mod text;
mod tool;
mod typography;
mod view;
mod whole;

pub use clean::{CleanText, clean};
pub use cut_json::closed_json;
pub use decode::decode;
pub use error::ImportError;
pub use readers::pibenchmarks::{PibenchmarksFigures, pibenchmarks_score};
pub use recognise::recognise;
pub use tool::ForeignTool;

use cardproof_record::Record;
use lines::{Line, lines};

/// A text may hold so many measurements and no more: a record of more could not be shown.
pub const MEASUREMENTS_MAX: usize = 50_000;

/// What a record needs and no tool's output holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The first record's name, which no other record has. Others of one text get a number behind it.
    pub id: String,
    /// When the output was read, RFC 3339, in UTC.
    pub read_at: String,
}

/// What was read of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// A record for each card, in the order of the text; at least one.
    pub records: Vec<Record>,
    /// Lines that belong to no tool that is known, or that nothing was taken from.
    pub skipped: Vec<SkippedLines>,
    /// Outputs that contradict themselves and so became no record.
    pub refused: Vec<ImportError>,
}

/// Lines in a row from which nothing was taken. Blank lines among them do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedLines {
    /// The first, from 1.
    pub first: usize,
    /// The last, from 1.
    pub last: usize,
    /// How many there are.
    pub count: usize,
}

/// The records that `text` holds: of outputs of `tool` alone, or of all tools that are recognised.
///
/// # Errors
/// The text holds no output of a known tool, or nothing but outputs that contradict themselves, or
/// more than [`MEASUREMENTS_MAX`] measurements; the message names the line.
pub fn import(
    text: &str,
    tool: Option<ForeignTool>,
    origin: &Origin,
) -> Result<Imported, ImportError> {
    let lines = lines(text);
    let (drafts, refused) = cards::read(text, &lines, tool)?;
    let id = |index: usize| match index {
        0 => origin.id.clone(),
        _ => format!("{}-{}", origin.id, index + 1),
    };
    let finish =
        |(index, draft): (usize, draft::RecordDraft)| draft.finish(id(index), &origin.read_at);
    let records = drafts.into_iter().enumerate().map(finish).collect();
    Ok(Imported { records, skipped: skipped(&lines), refused })
}

/// The lines that no reader has claimed, joined where nothing else stands between.
fn skipped(lines: &[Line]) -> Vec<SkippedLines> {
    let mut runs: Vec<SkippedLines> = Vec::new();
    let mut is_open = false;
    for line in lines {
        if line.is_claimed() {
            is_open = false;
            continue;
        }
        match runs.last_mut().filter(|_| is_open) {
            Some(run) => (run.last, run.count) = (line.number, run.count + 1),
            None => runs.push(SkippedLines { first: line.number, last: line.number, count: 1 }),
        }
        is_open = true;
    }
    runs
}
