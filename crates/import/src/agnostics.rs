//! Raspberry Pi's SD Card Speed Test (the package agnostics): up to three runs, three figures each.
//!
//! The test runs fio over 256 MiB with 32 operations in flight, direct, with a flush at the end: a
//! sequential write in blocks of 4 MiB, random writes and random reads of 4 KiB. Its KB/sec are
//! fio's KiB/s. Its script prints PASS also where fio printed nothing, so a line without a number,
//! or with a verdict that its number does not give, is refused.

use cardproof_units::{Bytes, Iops};

use super::draft::{PhaseDraft, Printed, RecordDraft, Sync};
use super::text::{Line, last_number, quantities};
use super::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName};

const TOOL: ForeignTool = ForeignTool::Agnostics;

/// The lines of a run: how each begins, and the unit of its figure.
const RESULTS: [(&str, &str); 3] = [
    ("Sequential write speed", "KB/sec"),
    ("Random write speed", "IOPS"),
    ("Random read speed", "IOPS"),
];

pub(super) fn is_sign(line: &str) -> bool {
    kind_of(line).is_some_and(|kind| line.contains(RESULTS[kind].1) && line.contains("(target"))
}

fn kind_of(line: &str) -> Option<usize> {
    RESULTS.iter().position(|(start, _)| line.trim_start().starts_with(start))
}

/// The record of all runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.target.engine = "libaio".to_owned();
    draft.conditions.target.size_bytes = Bytes::mib(256);
    // The figures of the run's fio lines, among which those of the sentences must be.
    let mut raw: Vec<f64> = Vec::new();
    let mut expected_kind = 0;
    for line in lines {
        let text = line.text.trim();
        if text.contains(';') {
            raw.extend(text.split(';').filter_map(|field| field.trim().parse::<f64>().ok()));
        } else if let Some(kind) = kind_of(text).filter(|_| is_sign(text)) {
            if kind != expected_kind {
                let expected = format!("'{} …'", RESULTS[expected_kind].0);
                return Err(ImportError::unexpected(TOOL, line.number, &expected, text));
            }
            draft.phases.push(result(line, kind, &raw)?);
            expected_kind = (kind + 1) % RESULTS.len();
            if expected_kind == 0 {
                raw.clear();
            }
        }
    }
    if expected_kind != 0 || draft.phases.is_empty() {
        let expected = format!("'{} …'", RESULTS[expected_kind].0);
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

fn result(line: &Line, kind: usize, raw: &[f64]) -> Result<PhaseDraft, ImportError> {
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
    if !raw.is_empty() && !raw.contains(&figure.value) {
        return Err(contradiction(format!("{} is not among the run's figures", figure.value)));
    }
    let printed = Printed::new(name, figure.value, unit);
    let printed = if kind == 0 { printed.in_bytes_per_s(1024.0) } else { printed };
    Ok(phase(kind, figure.value, printed))
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
