//! f3write, f3read and f3probe: sequential speed over files that fill a card, and its true size.
//!
//! f3's MB are MiB, its units being powers of 1024 (its source, `adjust_unit`). It writes and reads
//! files of 1 GiB through the page cache, in an order and size of its own choosing, so the phases
//! have no block size. A card that lost data is told of as such: its read speed is no measurement.

use cardproof_units::Bytes;

use super::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use super::text::{Line, Quantity, last_number, quantities};
use super::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, Warning, WarningCode};

const TOOL: ForeignTool = ForeignTool::F3;

/// What the last line of a run looks like.
const EXPECTED: &str = "'Average writing speed:', 'Average reading speed:' or 'Probe time:'";

/// How the programs introduce themselves.
const BANNERS: [&str; 3] = ["F3 write ", "F3 read ", "F3 probe "];

/// What each prints at last.
const ENDS: [&str; 3] = ["Average writing speed:", "Average reading speed:", "Probe time:"];

pub(super) fn is_sign(line: &str) -> bool {
    let text = line.trim_start();
    is_banner(text) || is_end(text) && text.starts_with("Average")
}

fn is_banner(text: &str) -> bool {
    BANNERS.iter().any(|banner| text.starts_with(banner))
}

fn is_end(text: &str) -> bool {
    ENDS.iter().any(|end| text.starts_with(end))
}

/// What f3read found of the data.
#[derive(Clone, Copy, Debug, Default)]
struct Data {
    sound: Option<f64>,
    lost: Option<f64>,
}

/// The record of one run or several, such as f3write and then f3read.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut data = Data::default();
    let mut is_unfinished = false;
    for line in lines {
        let text = line.text.trim();
        if is_banner(text) {
            if is_unfinished {
                return Err(ends(line.number));
            }
            draft.version = text.rsplit_once(' ').map(|(_, version)| version.to_owned());
            is_unfinished = true;
        } else if is_end(text) {
            is_unfinished = false;
        }
        read_line(line, &mut draft, &mut data)?;
    }
    let is_empty = draft.phases.is_empty() && draft.figures.is_empty();
    if is_unfinished || is_empty {
        return Err(ends(last_number(lines)));
    }
    Ok(draft)
}

fn ends(line: usize) -> ImportError {
    ImportError::Ends { tool: TOOL, line, expected: EXPECTED.to_owned() }
}

fn read_line(line: &Line, draft: &mut RecordDraft, data: &mut Data) -> Result<(), ImportError> {
    let Some((what, figures)) = line.text.split_once(':') else { return Ok(()) };
    let numbers = quantities(figures);
    let first = numbers.first();
    match what.trim() {
        "Average writing speed" => {
            let mut phase = at_rate(line, OpName::Write, "average writing speed")?;
            phase.sync = Sync::AtEnd;
            phase.cache = Cache::Used("f3write writes through the page cache");
            draft.phases.push(phase);
        }
        "Average reading speed" => {
            let mut phase = at_rate(line, OpName::Read, "average reading speed")?;
            phase.cache = Cache::Used("f3read reads through the page cache");
            judge_data(*data, &mut phase);
            draft.phases.push(phase);
        }
        "Data OK" => data.sound = first.and_then(amount),
        "Data LOST" => data.lost = first.and_then(amount),
        size @ ("*Usable* size" | "Announced size") => {
            read_size(line, size, &numbers, draft)?;
        }
        _ => {}
    }
    Ok(())
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

/// What was read, and whether it was what had been written.
fn judge_data(Data { sound, lost }: Data, phase: &mut PhaseDraft) {
    let bytes = sound.unwrap_or(0.0) + lost.unwrap_or(0.0);
    phase.bytes = Bytes(bytes as u64);
    phase.span = phase.bytes;
    let mib = |bytes: f64| bytes / 1_048_576.0;
    if let Some(lost) = lost.filter(|lost| *lost > 0.0) {
        phase.warnings.push(Warning {
            code: WarningCode::WrongData,
            message: format!("f3read lost {:.2} of {:.2} MiB", mib(lost), mib(bytes)),
        });
    }
}

/// A size such as `256.00 MB (524288 blocks)`: f3probe's blocks are exact.
fn read_size(
    line: &Line,
    name: &str,
    numbers: &[Quantity<'_>],
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
    } else if draft
        .figures
        .iter()
        .any(|f| f.name == "usable size" && f.unit == blocks.unit && f.value != blocks.value)
    {
        draft.warn(
            WarningCode::WrongData,
            "f3probe found less usable space than the device announces",
        );
    }
    Ok(())
}
