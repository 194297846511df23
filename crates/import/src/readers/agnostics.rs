//! Raspberry Pi's SD Card Speed Test (the package agnostics): up to three runs, three figures each.
//!
//! The test runs fio over 256 MiB with 32 operations in flight, direct, with a flush at the end: a
//! sequential write in blocks of 4 MiB, random writes and random reads of 4 KiB. Its KB/sec are
//! fio's KiB/s. From version 0.15 on it reads sequentially as well, and prints the fields of fio's
//! terse lines before its sentences. That version's sentences say 0 IOPS where fio measured more (its
//! fields had moved), so fio's own lines are the figures where they stand in the text. Its script prints
//! PASS also where fio printed nothing, so a line without a number, or with a verdict that its number
//! does not give, is refused.

use cardproof_units::{Bytes, Iops};

use crate::draft::{PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{number, quantities};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, WarningCode};

const TOOL: ForeignTool = ForeignTool::Agnostics;

/// The lines of a run: how each begins, and the unit of its figure.
const RESULTS: [(&str, &str); 3] = [
    ("Sequential write speed", "KB/sec"),
    ("Random write speed", "IOPS"),
    ("Random read speed", "IOPS"),
];

/// What stands in all of them.
const TARGET: Needle = Needle::new("(target");

/// What stands between the fields of fio's lines.
const SEPARATOR: Needle = Needle::new(";");

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&SEPARATOR) && job_in(view.text).is_some()
        || view.holds(&TARGET) && is_result(view.text)
}

fn kind_of(text: &str) -> Option<usize> {
    RESULTS.iter().position(|(start, _)| text.starts_with(start))
}

/// Whether `text` is a sentence with a result.
fn is_result(text: &str) -> bool {
    kind_of(text).is_some_and(|kind| text.contains(RESULTS[kind].1) && text.contains("(target"))
}

/// fio's jobs of a run, as the script calls them, and what they are among [`RESULTS`].
const JOBS: [(&str, Kind); 5] = [
    ("prepare-file", Kind::Preparing),
    ("seq-write", Kind::Result(0)),
    ("seq-read", Kind::SequentialRead),
    ("rand-4k-write", Kind::Result(1)),
    ("rand-4k-read", Kind::Result(2)),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Preparing,
    SequentialRead,
    Result(usize),
}

/// Whether `text` is another line of the program's, which names no card.
pub(crate) fn is_talk(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&["Raspberry Pi Diagnostics - version"]);
    STARTS.begin(text)
        || text == "Test : SD Card Speed Test"
        || matches!(text, "Test PASS" | "Test FAIL" | "Run 1" | "Run 2" | "Run 3")
}

/// Whether another run begins with `line`.
pub(super) fn is_start(view: &View) -> bool {
    job_in(view.text).is_some_and(|job| job.kind == Kind::Preparing)
        || kind_of(view.text) == Some(0) && is_sign(view)
}

/// One of fio's lines: KiB/s and operations a second, of reads and of writes.
#[derive(Clone, Copy, Debug)]
struct JobLine {
    kind: Kind,
    kib_per_s: f64,
    iops: f64,
}

fn job_in(text: &str) -> Option<JobLine> {
    let mut fields = text.split(';');
    let name = fields.next()?.trim();
    let (_, kind) = JOBS.iter().find(|(job, _)| *job == name)?;
    let mut next = || number(fields.next()?.trim());
    let [read_kib, read_iops, write_kib, write_iops] = [next()?, next()?, next()?, next()?];
    if fields.next().is_some() {
        return None;
    }
    let (kib_per_s, iops) =
        if name.ends_with("read") { (read_kib, read_iops) } else { (write_kib, write_iops) };
    Some(JobLine { kind: *kind, kib_per_s, iops })
}

/// The record of all runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.target.engine = "libaio".into();
    draft.conditions.target.size_bytes = Bytes::mib(256);
    // fio's lines of the run, among which the figures of the sentences must be.
    let mut jobs: Vec<JobLine> = Vec::new();
    let mut has_sentences = false;
    // The results of the run that sentences told.
    let mut said: Vec<usize> = Vec::new();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if let Some(job) = job_in(text) {
            line.claim();
            if has_sentences || job.kind == Kind::Preparing {
                draft.phases.extend(unsaid(&jobs, &said));
                (jobs, said, has_sentences) = (Vec::new(), Vec::new(), false);
            }
            if job.kind == Kind::SequentialRead {
                draft.phases.push(sequential_read(job));
            }
            jobs.push(job);
        } else if let Some(kind) = kind_of(text).filter(|_| is_result(text)) {
            line.claim();
            has_sentences = true;
            said.push(kind);
            let phase = result(line, kind, &jobs, &mut draft)?;
            draft.phases.push(phase);
        } else if is_talk(text) {
            line.claim();
        }
    }
    draft.phases.extend(unsaid(&jobs, &said));
    if draft.phases.is_empty() {
        let expected = format!("'{} …'", RESULTS[0].0);
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// The results of fio's lines whose sentences are not in the text.
fn unsaid(jobs: &[JobLine], said: &[usize]) -> Vec<PhaseDraft> {
    let result = |job: &JobLine| match job.kind {
        Kind::Result(kind) if !said.contains(&kind) => {
            let (name, unit) = RESULTS[kind];
            let value = if kind == 0 { job.kib_per_s } else { job.iops };
            let printed = Printed::new(name, value, unit);
            let printed = if kind == 0 { printed.in_bytes_per_s(1024.0) } else { printed };
            (value > 0.0).then(|| phase(kind, value, printed))
        }
        _ => None,
    };
    jobs.iter().filter_map(result).collect()
}

fn sequential_read(job: JobLine) -> PhaseDraft {
    let printed = Printed::new("seq-read", job.kib_per_s, "KB/sec").in_bytes_per_s(1024.0);
    let draft = PhaseDraft {
        block: Bytes::mib(4),
        span: Bytes::mib(256),
        depth: 32,
        ..PhaseDraft::new(OpName::Read, PatternName::Sequential)
    };
    draft.at(job.kib_per_s * 1024.0, printed)
}

fn result(
    line: &Line,
    kind: usize,
    jobs: &[JobLine],
    draft: &mut RecordDraft,
) -> Result<PhaseDraft, ImportError> {
    let (name, unit) = RESULTS[kind];
    let numbers = quantities(&line.text);
    let [figure, target] = numbers.as_slice() else {
        let expected = format!("'{name} N {unit} (target N) - PASS' or FAIL");
        return Err(ImportError::unexpected(TOOL, line.number, &expected, &line.text));
    };
    let contradiction =
        |what: String| ImportError::Contradiction { tool: TOOL, line: line.number, what };
    let has_passed = line.text.trim_end().ends_with("PASS");
    if has_passed != (figure.value >= target.value) {
        let verdict = if has_passed { "PASS" } else { "no PASS" };
        return Err(contradiction(format!("{} of {} is {verdict}", figure.value, target.value)));
    }
    let job = jobs.iter().rfind(|job| job.kind == Kind::Result(kind));
    let of_fio = job.map(|job| if kind == 0 { job.kib_per_s } else { job.iops });
    let value = match of_fio {
        None => figure.value,
        Some(of_fio) if of_fio == figure.value => of_fio,
        Some(of_fio) if figure.value == 0.0 => {
            let message = "the script's sentences say 0 where fio measured more (a fault of \
                           agnostics 0.15); the figures are fio's";
            draft.warn(WarningCode::Other, message);
            of_fio
        }
        Some(of_fio) => {
            return Err(contradiction(format!("{} is not fio's {of_fio}", figure.value)));
        }
    };
    let printed = Printed::new(name, value, unit);
    let printed = if kind == 0 { printed.in_bytes_per_s(1024.0) } else { printed };
    let mut phase = phase(kind, value, printed);
    if value == 0.0 {
        phase.failed =
            Some("the script printed 0, and fio's own figures are not in the text".to_owned());
    }
    Ok(phase)
}

fn phase(kind: usize, value: f64, figure: Printed) -> PhaseDraft {
    let (op, pattern, block) = match kind {
        0 => (OpName::Write, PatternName::Sequential, Bytes::mib(4)),
        1 => (OpName::Write, PatternName::Random, Bytes::kib(4)),
        _ => (OpName::Read, PatternName::Random, Bytes::kib(4)),
    };
    let draft = PhaseDraft {
        block,
        span: Bytes::mib(256),
        depth: 32,
        sync: if op == OpName::Write { Sync::AtEnd } else { Sync::None },
        ..PhaseDraft::new(op, pattern)
    };
    if kind == 0 {
        return draft.at(value * 1024.0, figure);
    }
    let stated = cardproof_record::Stated { iops: Some(Iops(value)), ..draft.stated };
    PhaseDraft { stated, figures: vec![figure], ..draft }
}
