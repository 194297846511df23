//! iozone's throughput mode (`-t`): several processes beside each other, one test after the other.
//!
//! The processes' own rates added up are the phase; the rate that the parent saw, from the first start to the
//! last end, is kept beside it. kB are 1024 bytes. The part for a spreadsheet (`-R`) repeats the figures; it
//! is read only where it stands alone.

use cardproof_record::{OpName, PatternName};
use cardproof_units::{Bytes, Iops};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Iozone;

pub(super) fn is_sign(view: &View) -> bool {
    const FIRST: Beginnings =
        Beginnings::new(&["Children see throughput for", "\"Throughput report Y-axis"]);
    FIRST.begin(view.text)
}

/// The tests, as iozone calls those who run them.
const TESTS: [(&str, OpName, PatternName, &str); 7] = [
    ("initial writers", OpName::Write, PatternName::Sequential, ""),
    ("rewriters", OpName::Write, PatternName::Sequential, "again"),
    ("readers", OpName::Read, PatternName::Sequential, ""),
    ("re-readers", OpName::Read, PatternName::Sequential, "again"),
    ("random readers", OpName::Read, PatternName::Random, ""),
    ("random writers", OpName::Write, PatternName::Random, ""),
    ("mixed workload", OpName::Unknown, PatternName::Random, "mixed"),
];

/// The same in the part for a spreadsheet.
const REPORTED: [(&str, usize); 7] = [
    ("Initial write", 0),
    ("Rewrite", 1),
    ("Read", 2),
    ("Re-read", 3),
    ("Random read", 4),
    ("Random write", 5),
    ("Mixed workload", 6),
];

/// What the lines before the figures say.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    record: Bytes,
    span: Bytes,
    processes: u16,
    is_direct: Option<bool>,
    is_flushed: bool,
    is_report: bool,
}

/// The record of all tests.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut run = Run::default();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if let Some(rest) = text.strip_prefix("Children see throughput for") {
            if let Some(phase) = children(rest, &run) {
                line.claim();
                draft.phases.push(phase);
            }
        } else if let Some(rest) = text.strip_prefix("Parent sees throughput for") {
            if let (Some((_, rate)), Some(phase)) = (figure(rest), draft.phases.last_mut()) {
                line.claim();
                phase.figures.push(
                    Printed::new("as the parent saw it", rate, "kB/s").in_bytes_per_s(1024.0),
                );
            }
        } else if run.note(text) {
            line.claim();
        } else if let Some(phase) = reported(text, &run).filter(|_| run.is_report) {
            line.claim();
            let is_known = draft.phases.iter().any(|known| known.name() == phase.name());
            if !is_known {
                draft.phases.push(phase);
            }
        }
    }
    if draft.phases.is_empty() {
        let expected = "'Children see throughput for N … = N kB/sec'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// The command of the mode in iozone's own banner or behind a prompt.
fn command_in(text: &str) -> Option<&str> {
    if let Some((_, command)) = text.split_once("Command line used:") {
        return Some(command);
    }
    let at = text.find("iozone")?;
    let is_start = at == 0 || text[..at].ends_with([' ', '/']);
    let has_mode = || text[at..].split_whitespace().any(|word| word.starts_with("-t"));
    (is_start && has_mode()).then(|| &text[at..])
}

impl Run {
    /// Takes over a line about how it is measured.
    fn note(&mut self, text: &str) -> bool {
        if text.starts_with("Each process writes a ") {
            let numbers = quantities(text);
            if let [span, record, ..] = numbers.as_slice() {
                self.span = Bytes((span.value * 1024.0) as u64);
                self.record = Bytes((record.value * 1024.0) as u64);
            }
        } else if text.starts_with("Throughput test with ") {
            self.processes = quantities(text).first().map_or(0, |it| it.value.min(4096.0) as u16);
        } else if text == "O_DIRECT feature enabled" {
            self.is_direct = Some(true);
        } else if text == "Include fsync in write timing" {
            self.is_flushed = true;
        } else if let Some(command) = command_in(text) {
            let has = |option: &str| command.split_whitespace().any(|word| word == option);
            self.is_direct = Some(has("-I") || self.is_direct == Some(true));
            self.is_flushed |= has("-e");
        } else if text.starts_with("\"Throughput report Y-axis") {
            self.is_report = true;
        } else if self.is_report && text.starts_with("\"Record size = ") {
            let record = quantities(text).first().map_or(0.0, |it| it.value);
            self.record = Bytes((record * 1024.0) as u64);
        } else {
            return false;
        }
        true
    }

    /// A phase of test `index` at a rate in kB/s, or in operations.
    fn phase(&self, index: usize, rate: f64, is_ops: bool) -> PhaseDraft {
        let (name, op, pattern, note) = TESTS[index];
        let mut phase = PhaseDraft::new(op, pattern);
        (phase.block, phase.span, phase.depth) = (self.record, self.span, self.processes);
        phase.note = note.into();
        if op == OpName::Write && self.is_flushed {
            phase.sync = Sync::AtEnd;
        }
        phase.cache = match self.is_direct {
            Some(true) => Cache::Bypassed,
            Some(false) => Cache::Used(
                "iozone ran without -I, and so through the page cache: its figures may be those of memory",
            ),
            None => Cache::Unknown(
                "iozone's command line is missing, so whether -I was given is not known",
            ),
        };
        if is_ops {
            phase.stated.iops = Some(Iops(rate));
            phase.figures.push(Printed::new(name, rate, "ops/s"));
            return phase;
        }
        phase.at(rate * 1024.0, Printed::new(name, rate, "kB/s").in_bytes_per_s(1024.0))
    }
}

/// The phase in `4 initial writers = 13867.27 kB/sec`.
fn children(rest: &str, run: &Run) -> Option<PhaseDraft> {
    let (who, rate) = figure(rest)?;
    let (count, name) = who.split_once(' ')?;
    let index = TESTS.iter().position(|(known, ..)| *known == name.trim())?;
    let processes = count.parse().ok()?;
    let is_ops = rest.trim_end().ends_with("ops/sec");
    Some(Run { processes, ..*run }.phase(index, rate, is_ops))
}

/// Who ran, and the rate behind the equals sign.
fn figure(rest: &str) -> Option<(&str, f64)> {
    let (who, rate) = rest.split_once('=')?;
    let numbers = quantities(rate);
    let rate = numbers.first()?;
    let is_rate = ["kB/sec", "KB/sec", "Kbytes/sec", "kBytes/sec", "ops/sec"].contains(&rate.unit);
    is_rate.then(|| (who.trim(), rate.value))
}

/// The phase in `"  Initial write "   13867.27`.
fn reported(text: &str, run: &Run) -> Option<PhaseDraft> {
    let (name, rate) = text.strip_prefix('"')?.split_once('"')?;
    let (_, index) = REPORTED.iter().find(|(known, _)| *known == name.trim())?;
    let rate = crate::text::number(rate.trim())?;
    Some(run.phase(*index, rate, false))
}
