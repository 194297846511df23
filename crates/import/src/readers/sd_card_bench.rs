//! The report of sd-card-bench.sh: the means of three runs of iozone, and timed work.
//!
//! The script runs `iozone -e -I -a -s 100M` with several record sizes and condenses its kB/s to
//! whole IOPS and, from records of 16 MiB, to whole MB/s, which are MiB/s (it divides by 1024). The
//! report ends in iozone's own tables and the installer's talk; the phases here are the means, as
//! people compare them.

use cardproof_units::{Bytes, Iops, Nanos};

use crate::draft::{PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{number, quantities, whole};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError, MEASUREMENTS_MAX};
use cardproof_record::{JobTime, OpName, PatternName};

const TOOL: ForeignTool = ForeignTool::SdCardBench;

const BOOT: &str = "Average time until /etc/rc.local execution:";
const RANDOM: &str = "IOPS read/write:";
const SEQUENTIAL: &str = "Sequential:";

/// The timed jobs: how the report calls them, and what they are.
const JOBS: [(&str, &str); 3] = [
    ("First desktop install:", "desktop-install"),
    ("Desktop removal time:", "desktop-removal"),
    ("Second desktop install:", "desktop-install-again"),
];

/// The file that iozone works in.
const SPAN: Bytes = Bytes::mib(100);

pub(super) fn is_sign(view: &View) -> bool {
    const SIGNS: Beginnings = Beginnings::new(&[BOOT, RANDOM]);
    SIGNS.begin(view.line)
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.settings.governor = Some("performance".to_owned());
    draft.conditions.target.size_bytes = SPAN;
    let mut has_sequential = false;
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if let Some(times) = text.strip_prefix(BOOT) {
            let seconds = seconds(line, times)?;
            draft.jobs.push(job("boot", seconds));
        } else if let Some(rates) = text.strip_prefix(RANDOM) {
            draft.phases.extend(random(line, rates)?);
        } else if let Some(rates) = text.strip_prefix(SEQUENTIAL).filter(|_| !has_sequential) {
            draft.phases.extend(sequential(line, rates)?);
            has_sequential = true;
        } else if let Some((told, name)) = JOBS.iter().find(|(told, _)| text.starts_with(told)) {
            draft.jobs.push(job(name, seconds(line, &text[told.len()..])?));
        }
    }
    if draft.phases.is_empty() && draft.jobs.is_empty() {
        let expected = format!("'{RANDOM}'");
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

fn job(name: &str, seconds: f64) -> JobTime {
    JobTime { name: name.to_owned(), duration_ns: Nanos::from_secs_f64(seconds) }
}

fn seconds(line: &Line, text: &str) -> Result<f64, ImportError> {
    let numbers = quantities(text);
    let time = numbers.first().filter(|time| time.unit == "sec").map(|time| time.value);
    time.ok_or_else(|| ImportError::unexpected(TOOL, line.number, "a time such as '253 sec'", text))
}

/// The rates in `1k: 1854/1032, 4k: 1854/1032, 16k: 1250/732`, in operations a second.
fn random(line: &Line, text: &str) -> Result<Vec<PhaseDraft>, ImportError> {
    let parsed = text.split(',').take(MEASUREMENTS_MAX).map(|group| {
        let (size, rates) = group.trim().split_once(':')?;
        let kib = whole(size.strip_suffix('k')?)?;
        let (read, write) = rates.trim().split_once('/')?;
        Some((kib, number(read)?, number(write)?))
    });
    let groups: Option<Vec<(u64, f64, f64)>> = parsed.collect();
    let is_sane =
        |groups: &Vec<(u64, f64, f64)>| groups.iter().all(|(kib, ..)| (1..1024).contains(kib));
    let groups = groups.filter(is_sane).ok_or_else(|| {
        let expected = "'1k: R/W, 4k: R/W, 16k: R/W'";
        ImportError::unexpected(TOOL, line.number, expected, text)
    })?;
    let phases = groups.into_iter().flat_map(|(kib, read, write)| {
        [(OpName::Read, read, "read"), (OpName::Write, write, "write")].map(|(op, value, name)| {
            let mut phase = pass(op, PatternName::Random, Bytes::kib(kib));
            phase.stated.iops = Some(Iops(value));
            phase.figures.push(Printed::new(name, value, "IOPS"));
            phase
        })
    });
    Ok(phases.collect())
}

/// The rates in `67 MB/s read, 31 MB/s write`.
fn sequential(line: &Line, text: &str) -> Result<Vec<PhaseDraft>, ImportError> {
    let numbers = quantities(text);
    let is_form = text.contains(" read") && text.trim_end().ends_with(" write");
    let ([read, write], true) = (numbers.as_slice(), is_form) else {
        let expected = "'N MB/s read, N MB/s write'";
        return Err(ImportError::unexpected(TOOL, line.number, expected, text));
    };
    let rates = [(OpName::Read, read, "read"), (OpName::Write, write, "write")];
    Ok(rates
        .map(|(op, rate, name)| {
            let figure = Printed::new(name, rate.value, "MB/s").in_bytes_per_s(1_048_576.0);
            pass(op, PatternName::Sequential, Bytes::mib(16)).at(rate.value * 1_048_576.0, figure)
        })
        .into())
}

fn pass(op: OpName, pattern: PatternName, block: Bytes) -> PhaseDraft {
    let sync = if op == OpName::Write { Sync::AtEnd } else { Sync::None };
    PhaseDraft { block, span: SPAN, bytes: SPAN, depth: 1, sync, ..PhaseDraft::new(op, pattern) }
}
