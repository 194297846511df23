//! f3write, f3read and f3probe: sequential speed over files that fill a card, and its true size.
//!
//! Sectors in brackets are exact, and amounts come from them. f3's MB are MiB, its units being powers of
//! 1024 (its source, `adjust_unit`). It writes and reads files of 1 GiB through the page cache, in an order
//! and size of its own choosing, so the phases have no block size. What it finds of the data is in `data`.

mod data;

use cardproof_units::Bytes;

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{Quantity, quantities};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{Finding, FindingKind, OpName, PatternName};
use data::Data;

const TOOL: ForeignTool = ForeignTool::F3;

/// What the last line of a run looks like.
const EXPECTED: &str = "'Average writing speed:', 'Average reading speed:' or 'Probe time:'";

/// How the programs introduce themselves.
const BANNERS: Beginnings = Beginnings::new(&["F3 write ", "F3 read ", "F3 probe "]);

pub(super) fn is_sign(view: &View) -> bool {
    const FIRST_WORDS: Beginnings =
        Beginnings::new(&["F3 ", "Average ", "*Usable* ", "Validating ", "Creating ", "Data "]);
    if !FIRST_WORDS.begin(view.text) {
        return holds_sum(view);
    }
    let text = view.line.trim_start();
    is_of_file(text)
        || is_sum(text)
        || BANNERS.begin(text)
        || speed_of(text).is_some()
        || text.starts_with("*Usable* size:")
}

/// Whether `text` is a line of one of f3's files, which have names of their own.
fn is_of_file(text: &str) -> bool {
    let starts = text.starts_with("Validating file ") || text.starts_with("Creating file ");
    starts && [".h2w ...", ".fff ..."].iter().any(|name| text.contains(name))
}

/// Whether `text` is one of f3read's sums.
fn is_sum(text: &str) -> bool {
    let starts = text.starts_with("Data OK:") || text.starts_with("Data LOST:");
    starts && text.ends_with("sectors)")
}

/// Whether a sentence quotes f3read's sum of lost data, with its sectors.
fn holds_sum(view: &View) -> bool {
    const LOST: Needle = Needle::new("Data LOST:");
    const SECTORS: Needle = Needle::new(" sectors)");
    view.holds(&LOST) && view.holds(&SECTORS)
}

/// Whether another program's output begins with a line.
pub(crate) fn is_start(view: &View) -> bool {
    BANNERS.begin(view.line.trim_start())
}

/// The operation of a line about speed. Old versions write `Average Writing speed`. f3 prints a rate with
/// two decimals; a rounded one is somebody's words.
fn speed_of(text: &str) -> Option<OpName> {
    let rest = text.strip_prefix("Average ")?;
    let (_, rate) = rest.split_once(':')?;
    let rate = rate.trim_start();
    let end = rate.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    let rate = &rate[..end.unwrap_or(rate.len())];
    let is_rounded =
        !rate.is_empty() && rate.rfind(['.', ',']).is_none_or(|at| at + 3 != rate.len());
    if is_rounded {
        return None;
    }
    match rest.split(':').next()? {
        "writing speed" | "Writing speed" => Some(OpName::Write),
        "reading speed" | "Reading speed" => Some(OpName::Read),
        _ => None,
    }
}

/// The record of one run or several, such as f3write and then f3read.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut data = Data::default();
    let mut usable = Vec::new();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if BANNERS.begin(text) {
            line.claim();
            draft.version = text.rsplit_once(' ').map(|(_, version)| version.to_owned());
            std::mem::take(&mut data).settle(&mut draft);
        } else if let Some(op) = speed_of(text) {
            line.claim();
            read_speed(line, op, &data, &mut draft)?;
            data.note_speed();
            std::mem::take(&mut data).settle(&mut draft);
        } else if is_talk(text) || holds_sum(&line.view()) {
            line.claim();
            data.read(line);
            read_verdict(line, &mut draft);
            read_size_of(line, &mut usable, &mut draft)?;
        }
    }
    data.settle(&mut draft);
    leave_out_bare_verdicts(&mut draft.findings);
    if !draft.has_content() {
        let expected = EXPECTED.to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// Whether `text` is a line of one of the programs.
pub(crate) fn is_talk(text: &str) -> bool {
    const TIMES: Beginnings = Beginnings::new(&["Read:", "Write:", "Reset:"]);
    const STARTS: Beginnings = Beginnings::new(&[
        "Copyright (C)",
        "This is free software",
        "Free space:",
        "Creating file",
        "Removing old file",
        "Validating file",
        "SECTORS",
        "Data OK:",
        "Data LOST:",
        "Corrupted:",
        "Slightly changed:",
        "Overwritten:",
        "WARNING:",
        "Good news:",
        "Bad news:",
        "Device geometry:",
        "*Usable* size:",
        "Announced size:",
        "Module:",
        "Approximate cache size:",
        "Physical block size:",
        "Probe time:",
        "Probe finished",
        "f3fix",
        "You can \"fix\"",
        "You can 'fix'",
        "Missing file",
        "it can take longer",
        "Operation: total time",
        "The write error above may be due to",
        "under constant, maximum write rate",
        "touching your memory card",
        "again, once your card has cooled down",
        "to limit the maximum write rate",
    ]);
    STARTS.begin(text) || TIMES.begin(text) && text.contains(" / ") && text.contains('=')
}

fn read_speed(
    line: &Line,
    op: OpName,
    data: &Data<'_, '_>,
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    // A file system that was full before anything was written has no speed.
    if quantities(&line.text).is_empty() {
        return Ok(());
    }
    let is_write = op == OpName::Write;
    let name = if is_write { "average writing speed" } else { "average reading speed" };
    let mut phase = at_rate(line, op, name)?;
    phase.sync = if is_write { Sync::AtEnd } else { Sync::None };
    phase.cache = Cache::Used(if is_write {
        "f3write writes through the page cache, so the figure may be higher than that of direct writes"
    } else {
        "f3read reads through the page cache, so the figure may be higher than that of direct reads"
    });
    if !is_write {
        (phase.bytes, phase.span) = (data.tested(), data.tested());
        phase.right = data.is_right().then(|| data.tested());
    }
    draft.phases.push(phase);
    Ok(())
}

/// Takes over what f3probe says of the device: its type, and that it is damaged.
fn read_verdict(line: &Line, draft: &mut RecordDraft) {
    let text = line.shown();
    if !text.starts_with("Bad news:") {
        return;
    }
    let is_damaged = text.trim_end_matches('.').ends_with("damaged");
    let nothing = FindingKind::Counterfeit { usable_bytes: None, announced_bytes: None };
    draft.find(line, if is_damaged { FindingKind::Damaged } else { nothing });
}

/// Leaves out a verdict of f3probe without figures where one with figures stands beside it.
fn leave_out_bare_verdicts(findings: &mut Vec<Finding>) {
    let is_counterfeit = |finding: &Finding, has_figures: bool| {
        matches!(&finding.what, FindingKind::Counterfeit { usable_bytes, .. }
            if usable_bytes.is_some() == has_figures)
    };
    if findings.iter().any(|finding| is_counterfeit(finding, true)) {
        findings.retain(|finding| !is_counterfeit(finding, false));
    }
}

/// Takes over the sizes that f3probe prints, and notes those that it calls usable.
fn read_size_of<'l>(
    line: &'l Line,
    usable: &mut Vec<Quantity<'l>>,
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    let Some((name, figures)) = line.text.split_once(':') else { return Ok(()) };
    match name.trim() {
        name @ ("*Usable* size" | "Announced size") => {
            read_size(line, name, &quantities(figures), usable, draft)
        }
        _ => Ok(()),
    }
}

/// A phase at the speed that `line` tells.
fn at_rate(line: &Line, op: OpName, name: &str) -> Result<PhaseDraft, ImportError> {
    let unexpected =
        || ImportError::unexpected(TOOL, line.number, "a speed such as '12.34 MB/s'", &line.text);
    let (_, figures) = line.text.split_once(':').ok_or_else(unexpected)?;
    let numbers = quantities(figures);
    let [rate] = numbers.as_slice() else { return Err(unexpected()) };
    let per_s = rate.unit.strip_suffix("/s").ok_or_else(unexpected)?;
    let bytes = |value| amount(&Quantity { unit: per_s, value }).ok_or_else(unexpected);
    let figure = Printed::new(name, rate.value, rate.unit).in_bytes_per_s(bytes(1.0)?);
    Ok(PhaseDraft::new(op, PatternName::Sequential).at(bytes(rate.value)?, figure))
}

/// Bytes of an amount in f3's units.
fn amount(amount: &Quantity<'_>) -> Option<f64> {
    let power = match amount.unit {
        "Byte" | "B" => 0,
        "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        _ => return None,
    };
    Some(amount.value * 1024_f64.powi(power))
}

/// A size such as `256.00 MB (524288 blocks)`: f3probe's blocks are exact.
fn read_size<'l>(
    line: &Line,
    name: &str,
    numbers: &[Quantity<'l>],
    usable: &mut Vec<Quantity<'l>>,
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    let [size, blocks] = numbers else {
        let expected = "a size such as '29.81 GB (62521344 blocks)'";
        return Err(ImportError::unexpected(TOOL, line.number, expected, &line.text));
    };
    let name = name.trim_matches('*').replace('*', "").to_lowercase();
    draft.figures.push(Printed::new(&name, size.value, size.unit));
    draft.figures.push(Printed::new(&name, blocks.value, blocks.unit));
    if name.starts_with("usable") {
        let bytes = amount(size).unwrap_or(0.0);
        let is_of_512 = (bytes - blocks.value * 512.0).abs() <= bytes * 0.01;
        let exact = if is_of_512 { blocks.value * 512.0 } else { bytes };
        draft.conditions.target.size_bytes = Bytes(exact as u64);
        if !usable.contains(blocks) {
            usable.push(*blocks);
        }
    } else if usable.iter().any(|it| it.unit == blocks.unit && it.value != blocks.value) {
        let bytes = |count: f64| Some(Bytes((count * 512.0) as u64));
        let usable_bytes = usable.first().and_then(|it| bytes(it.value));
        let announced_bytes = bytes(blocks.value);
        draft.find(line, FindingKind::Counterfeit { usable_bytes, announced_bytes });
    }
    Ok(())
}
