//! Figures of programs with windows, which people type or copy below the program's name: AmorphousDiskMark,
//! Blackmagic Disk Speed Test, GNOME Disks, A1 SD Bench, AndroBench.
//!
//! A line counts only where every number in it is understood: behind or before "read" or "write", with a
//! unit of its own or of its column. Lines of several labels, such as those of two cards, are as many records.

mod line;

use cardproof_record::{OpName, PatternName, WarningCode};
use cardproof_units::{Bytes, Iops};

use super::index_of;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::labels;
use crate::lines::Line;
use crate::refusals::check_count;
use crate::text::quantities;
use crate::view::{Beginnings, Needle};
use crate::{ForeignTool, ImportError};
use line::{Told, Unit, columns, is_label, told};

/// A program, and the words with which its name stands at the beginning of a line.
const APPS: [(&str, ForeignTool); 5] = [
    ("amorphousdiskmark", ForeignTool::AmorphousDiskMark),
    ("blackmagic disk speed test", ForeignTool::Blackmagic),
    ("blackmagic speed test", ForeignTool::Blackmagic),
    ("a1 sd bench", ForeignTool::A1SdBench),
    ("androbench", ForeignTool::Androbench),
];

/// Parts of the names, one of which each line with a name has.
const NAMES: [Needle; 4] = [
    Needle::new("amorphousdiskmark"),
    Needle::new("blackmagic "),
    Needle::new("a1 sd bench"),
    Needle::new("androbench"),
];

/// No line with a name is longer, in bytes.
const LENGTH_MAX: usize = 4096;

/// No name is shorter, in bytes.
const NAME_MIN: usize = 10;

/// Below its name a program has no more lines.
const LINES_MAX: usize = 30;

/// The records in `lines`, with the index of the first line of each.
///
/// # Errors
/// There are more measurements than a text may hold, repeats included.
pub(super) fn read(
    lines: &[Line],
    is_free: &dyn Fn(usize) -> bool,
) -> Result<Vec<(usize, RecordDraft)>, ImportError> {
    let mut found = Vec::new();
    let mut measurements = 0;
    let mut at = 0;
    while at < lines.len() {
        if lines[at].text.len() < NAME_MIN || !is_free(at) {
            at += 1;
            continue;
        }
        let rest = &lines[at..];
        let Some((tool, before, behind)) = app(&lines[at]) else {
            if is_of_gnome(lines[at].shown()) {
                at += gnome(rest, &mut found, lines);
            }
            at += 1;
            continue;
        };
        let label = labels::is_name(before).then(|| labels::name(before)).flatten();
        let mut reading = Reading { tool, label, drafts: Vec::new(), columns: Vec::new() };
        let mut is_used = reading.line(behind, lines[at].number);
        for (index, line) in lines.iter().enumerate().skip(at + 1).take(LINES_MAX) {
            if app(line).is_some() || !is_free(index) {
                break;
            }
            if reading.line(&line.text, line.number) {
                line.claim();
                is_used = true;
            }
        }
        if is_used {
            lines[at].claim();
        }
        measurements +=
            reading.drafts.iter().map(|(.., draft)| draft.measurements()).sum::<usize>();
        check_count(measurements)?;
        found.extend(
            reading.drafts.into_iter().map(|(_, number, draft)| (index_of(lines, number), draft)),
        );
        at += 1;
    }
    Ok(found)
}

/// The program whose name begins a line or ends it, what stands before the name, and what stands behind it.
fn app<'l>(line: &'l Line<'_>) -> Option<(ForeignTool, &'l str, &'l str)> {
    let view = line.view();
    if line.text.len() > LENGTH_MAX || !NAMES.iter().any(|name| view.may_hold_in_any_case(name)) {
        return None;
    }
    let text = view.text.trim_start_matches(['#', '*', ' ']);
    let (at, length, tool) = named(text)?;
    let (before, behind) = (&text[..at], &text[at + length..]);
    let is_end = behind.split_whitespace().all(is_of_end);
    let label = before.trim_end_matches([' ', ',', ';', ':', '(', '"', '\'']);
    (at == 0 || is_end).then_some((tool, label, behind))
}

/// Where the first name of a program stands as a word of `text`, how long it is, and whose it is.
fn named(text: &str) -> Option<(usize, usize, ForeignTool)> {
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (at, byte) in bytes.iter().enumerate() {
        let is_start = matches!(byte, b'a' | b'A' | b'b' | b'B') && b" (/\"'".contains(&before);
        before = *byte;
        if !is_start {
            continue;
        }
        let has = |name: &str| {
            bytes
                .get(at..at + name.len())
                .is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
        };
        if let Some((name, tool)) = APPS.iter().find(|(name, _)| has(name)) {
            return Some((at, name.len(), *tool));
        }
    }
    None
}

/// Whether a word may stand between a program's name and the end of a line that its figures follow.
fn is_of_end(word: &str) -> bool {
    let word = word.trim_matches([':', ')', ',', '.', '\'', '"']).to_ascii_lowercase();
    let is_version = word.trim_start_matches('v').chars().all(|c| c.is_ascii_digit() || c == '.');
    let words = ["results", "result", "says", "shows", "gives", "reports", "benchmark", "test"];
    is_version || words.contains(&word.as_str())
}

/// The figures below a program's name.
struct Reading {
    tool: ForeignTool,
    /// What stands before the program's name.
    label: Option<String>,
    /// By label, with the number of their first line.
    drafts: Vec<(Option<String>, usize, RecordDraft)>,
    columns: Vec<(OpName, Unit)>,
}

impl Reading {
    /// Reads a line, or says that there is no figure in it.
    fn line(&mut self, text: &str, number: usize) -> bool {
        if let Some(columns) = columns(text) {
            self.columns = columns;
            return true;
        }
        let parts = text.split_once(':').filter(|(label, _)| is_label(label));
        let (label, rest) = match parts {
            Some((label, rest)) => (Some(label.trim().to_owned()), rest),
            None => (self.label.clone(), text),
        };
        let Some(figures) = told(rest, &self.columns) else { return false };
        let tool = self.tool;
        let at = self.drafts.iter().position(|(known, ..)| *known == label).unwrap_or_else(|| {
            self.drafts.push((label.clone(), number, draft(tool, label)));
            self.drafts.len() - 1
        });
        for phase in phases(tool, &figures) {
            self.drafts[at].2.phases.push(phase);
        }
        true
    }
}

fn draft(tool: ForeignTool, label: Option<String>) -> RecordDraft {
    let mut draft = RecordDraft::new(tool);
    draft.label = label;
    if tool != ForeignTool::AmorphousDiskMark {
        draft.warn(
            WarningCode::Other,
            "the program does not tell whether its MB are 10^6 or 2^20 bytes; they are read as 10^6, which \
             may be 4.9 % too little",
        );
    }
    draft
}

/// The phases of a line: a rate and operations a second of one operation are one phase.
fn phases(tool: ForeignTool, figures: &[Told]) -> Vec<PhaseDraft> {
    let mut found: Vec<PhaseDraft> = Vec::new();
    for told in figures {
        let name = if told.op == OpName::Read { "read" } else { "write" };
        let printed = Printed::new(name, told.value, told.unit.name());
        let same = found.last_mut().filter(|last| {
            let has = match told.unit.bytes_per_s() {
                Some(_) => last.stated.throughput_bytes_per_s.is_some(),
                None => last.stated.iops.is_some(),
            };
            last.op == told.op && !has
        });
        let is_new = same.is_none();
        let mut phase = same.cloned().unwrap_or_else(|| begun(tool, told));
        match told.unit.bytes_per_s() {
            Some(unit) => phase = phase.at(told.value * unit, printed.in_bytes_per_s(unit)),
            None => {
                phase.stated.iops = Some(Iops(told.value));
                phase.figures.push(printed);
            }
        }
        if is_new {
            found.push(phase);
        } else if let Some(last) = found.last_mut() {
            *last = phase;
        }
    }
    found
}

fn begun(tool: ForeignTool, told: &Told) -> PhaseDraft {
    // Blackmagic's program writes and reads video.
    let usual = if tool == ForeignTool::Blackmagic {
        PatternName::Sequential
    } else {
        PatternName::Unknown
    };
    // AndroBench and A1 SD Bench are at random with 4 KiB.
    let is_small = matches!(tool, ForeignTool::Androbench | ForeignTool::A1SdBench)
        && told.pattern == PatternName::Random
        && told.block == Bytes::ZERO;
    PhaseDraft {
        block: if is_small { Bytes::kib(4) } else { told.block },
        depth: told.depth,
        cache: Cache::Unknown("the program does not tell whether the page cache was in use"),
        ..PhaseDraft::new(
            told.op,
            if told.pattern == PatternName::Unknown { usual } else { told.pattern },
        )
    }
}

/// Whether a line is one of GNOME Disks' window.
fn is_of_gnome(shown: &str) -> bool {
    const NAMES: Beginnings =
        Beginnings::new(&["Average Read Rate", "Average Write Rate", "Average Access Time"]);
    NAMES.begin(shown)
}

/// The record of GNOME Disks' lines at the beginning of `rest`; how many more lines it takes.
fn gnome(rest: &[Line], found: &mut Vec<(usize, RecordDraft)>, lines: &[Line]) -> usize {
    let mut draft = RecordDraft::new(ForeignTool::GnomeDisks);
    let mut last = 0;
    for (index, line) in rest.iter().take(LINES_MAX).enumerate() {
        let text = line.shown();
        if !is_of_gnome(text) {
            continue;
        }
        let numbers = quantities(text);
        let Some(number) = numbers.first() else { continue };
        let op = if text.starts_with("Average Read") { OpName::Read } else { OpName::Write };
        if text.starts_with("Average Access Time") {
            let printed = Printed::new("average access time", number.value, number.unit);
            if matches!(number.unit, "msec" | "ms") && draft.figures.is_empty() {
                draft.figures.push(printed);
                line.claim();
                last = index;
            }
            continue;
        }
        // Another device's figures are another record.
        if draft.phases.iter().any(|phase| phase.op == op) {
            break;
        }
        let Some(unit) = Unit::of(number.unit) else { continue };
        let Some(bytes) = unit.bytes_per_s() else { continue };
        let name = if op == OpName::Read { "average read rate" } else { "average write rate" };
        let printed = Printed::new(name, number.value, unit.name()).in_bytes_per_s(bytes);
        let phase = PhaseDraft::new(op, PatternName::Unknown).at(number.value * bytes, printed);
        draft.phases.push(phase);
        line.claim();
        last = index;
    }
    if draft.has_content()
        && let Some(first) = rest.first()
    {
        found.push((index_of(lines, first.number), draft));
    }
    last
}
