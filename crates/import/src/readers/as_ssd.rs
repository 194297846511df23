//! AS SSD Benchmark's text: sequential, 4 KiB, 4 KiB with 64 threads, access times.
//!
//! Its figures bypass the cache of Windows. It does not document whether its MB are 10^6 or 2^20 bytes;
//! they are read as 10^6, and the record says so.

use cardproof_record::{OpName, PatternName, WarningCode};
use cardproof_units::{Bytes, Iops};

use crate::draft::{PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::AsSsd;

pub(super) fn is_sign(view: &View) -> bool {
    const NAME: Needle = Needle::new("AS SSD Benchmark ");
    let version = || view.text.strip_prefix("AS SSD Benchmark ").unwrap_or_default();
    view.holds(&NAME) && version().starts_with(|c: char| c.is_ascii_digit())
}

/// Whether `text` is a line of a report that names no card to anybody else.
pub(crate) fn is_part(text: &str) -> bool {
    const FIRST: Beginnings = Beginnings::new(&[
        "Name: ",
        "Firmware: ",
        "Controller: ",
        "Offset: ",
        "Size: ",
        "Date: ",
        "Read: ",
        "Write: ",
        "Sequential:",
        "4K:",
        "4K-64Thr",
        "Access Times:",
        "Score:",
    ]);
    FIRST.begin(text)
}

/// A section of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Rates(PatternName, Bytes, u16),
    Access,
    Other,
}

/// Names of sections.
fn section(text: &str) -> Option<Section> {
    match text.strip_suffix(':')? {
        "Sequential" | "Sequentiell" | "Seq" => {
            Some(Section::Rates(PatternName::Sequential, Bytes::mib(16), 1))
        }
        "4K" => Some(Section::Rates(PatternName::Random, Bytes::kib(4), 1)),
        "4K-64Threads" | "4K-64Thrd" => {
            Some(Section::Rates(PatternName::Random, Bytes::kib(4), 64))
        }
        "Access Times" | "Zugriffszeiten" | "Acc.time" => Some(Section::Access),
        "Score" | "Copy" | "Compression" => Some(Section::Other),
        _ => None,
    }
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut current = None;
    let mut is_begun = false;
    for line in lines {
        draft.check_count()?;
        let view = line.view();
        let text = view.text;
        if is_sign(&view) {
            line.claim();
            is_begun = true;
            draft.version = text.rsplit(' ').next().map(str::to_owned);
        } else if !is_begun {
            continue;
        } else if let Some(found) = section(text) {
            line.claim();
            current = Some(found);
        } else if let Some(name) = text.strip_prefix("Name:") {
            line.claim();
            let words: Vec<&str> = name.split_whitespace().collect();
            draft.conditions.device.model = Some(words.join(" ")).filter(|name| !name.is_empty());
        } else if let Some(figure) = operation(text).filter(|_| current.is_some()) {
            line.claim();
            add(line, current.unwrap_or(Section::Other), figure, &mut draft)?;
        }
    }
    if draft.phases.is_empty() {
        let expected = "'Read: N MB/s' below 'Sequential:'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    draft.warn(
        WarningCode::Other,
        "AS SSD does not tell whether its MB are 10^6 or 2^20 bytes; they are read as 10^6, which may be \
         4.9 % too little",
    );
    Ok(draft)
}

/// The operation of a line and what stands behind it.
fn operation(text: &str) -> Option<(OpName, &str)> {
    let (name, figure) = text.split_once(':')?;
    match name.trim() {
        "Read" | "Lesen" => Some((OpName::Read, figure)),
        "Write" | "Schreiben" => Some((OpName::Write, figure)),
        _ => None,
    }
}

fn add(
    line: &Line,
    section: Section,
    (op, figure): (OpName, &str),
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    let numbers = quantities(figure);
    let [number] = numbers.as_slice() else {
        let expected = "a rate such as '128.65 MB/s'";
        return Err(ImportError::unexpected(TOOL, line.number, expected, &line.text));
    };
    let is_read = op == OpName::Read;
    let name = if is_read { "read" } else { "write" };
    match (section, number.unit) {
        (Section::Rates(pattern, block, depth), "MB/s") => {
            let printed = Printed::new(name, number.value, "MB/s").in_bytes_per_s(1e6);
            let phase = PhaseDraft { block, depth, ..PhaseDraft::new(op, pattern) };
            draft.phases.push(phase.at(number.value * 1e6, printed));
        }
        (Section::Rates(pattern, block, depth), "iops" | "IOPS") => {
            let mut phase = PhaseDraft { block, depth, ..PhaseDraft::new(op, pattern) };
            phase.stated.iops = Some(Iops(number.value));
            phase.figures.push(Printed::new(name, number.value, "IOPS"));
            draft.phases.push(phase);
        }
        (Section::Access, "ms") => {
            let name = if is_read { "access time of reads" } else { "access time of writes" };
            draft.figures.push(Printed::new(name, number.value, "ms"));
        }
        _ => {}
    }
    Ok(())
}
