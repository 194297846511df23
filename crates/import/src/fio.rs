//! fio's three outputs, and what they have in common: JSON, terse, and the one for people.
//!
//! fio's KB/s are KiB/s in all of them (its `kb_base` is 1024 unless told otherwise). JSON tells
//! the most, with the job's options; terse tells rates and latencies but not what the job did; the
//! plain output tells what it did but not whether it passed the page cache by.

use cardproof_units::{Bytes, Iops, Throughput};

use super::draft::{PhaseDraft, Printed, RecordDraft};
use super::text::{Line, is_near};
use super::{ForeignTool, ImportError, fio_human, fio_json, fio_terse};
use cardproof_record::{OpName, PatternName, Stated};

pub(super) const TOOL: ForeignTool = ForeignTool::Fio;

/// Engines that have one operation in flight whatever depth is asked for.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];

pub(super) fn is_sign(line: &str) -> bool {
    fio_json::is_sign(line) || fio_terse::is_sign(line) || fio_human::is_sign(line)
}

/// The record of a run in any of its forms.
pub(super) fn read(text: &str, lines: &[Line]) -> Result<RecordDraft, ImportError> {
    if lines.iter().any(|line| fio_json::is_sign(&line.text)) {
        fio_json::read(text, lines)
    } else if lines.iter().any(|line| fio_terse::is_sign(&line.text)) {
        fio_terse::read(lines)
    } else {
        fio_human::read(lines)
    }
}

/// What a job's `rw` asks for; with a number after a colon fio skips or repeats, which has no like
/// here.
pub(super) fn shape_of(rw: &str) -> Option<(OpName, PatternName)> {
    let shape = match rw {
        "read" => (OpName::Read, PatternName::Sequential),
        "write" => (OpName::Write, PatternName::Sequential),
        "rw" | "readwrite" => (OpName::Mixed, PatternName::Sequential),
        "randread" => (OpName::Read, PatternName::Random),
        "randwrite" => (OpName::Write, PatternName::Random),
        "randrw" => (OpName::Mixed, PatternName::Random),
        _ => return None,
    };
    Some(shape)
}

/// How many operations `engine` keeps in flight when asked for `depth`.
pub(super) fn depth_of(engine: &str, depth: u16) -> u16 {
    if SYNCHRONOUS.contains(&engine) { 1 } else { depth }
}

/// How many operations are in flight behind the figures of a job with `copies` of `depth` each. Where
/// the figures are those of one copy among others that ran beside it, there is no depth with which
/// they could be compared: 0, not known.
pub(super) const fn depth_of_copies(depth: u16, copies: u16, are_summed: bool) -> u16 {
    match (copies, are_summed) {
        (0 | 1, _) => depth,
        (_, true) => depth.saturating_mul(copies),
        (_, false) => 0,
    }
}

/// One direction's figures, in bytes and operations a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) bytes_per_s: f64,
    pub(super) iops: f64,
    pub(super) ops: u64,
    pub(super) bytes: u64,
    /// Throughput and operations a second as printed.
    pub(super) printed: Vec<Printed>,
}

impl Rates {
    pub(super) fn has_run(&self) -> bool {
        self.bytes > 0 || self.bytes_per_s > 0.0
    }

    /// The block size that makes the operations the bytes, where there is a whole one.
    pub(super) fn block(&self) -> Option<Bytes> {
        let is_whole = self.ops > 0 && self.bytes.is_multiple_of(self.ops);
        is_whole.then(|| Bytes(self.bytes / self.ops))
    }
}

/// Sets a phase's figures from what was read and written.
pub(super) fn state(phase: &mut PhaseDraft, read: &Rates, write: &Rates) {
    let both = [read, write];
    let sum = |of: fn(&Rates) -> f64| both.into_iter().map(of).sum::<f64>();
    let is_mixed = read.has_run() && write.has_run();
    phase.stated = Stated {
        iops: Some(Iops(sum(|rates| rates.iops))),
        throughput_bytes_per_s: Some(Throughput(sum(|rates| rates.bytes_per_s))),
        read_iops: is_mixed.then_some(Iops(read.iops)),
        write_iops: is_mixed.then_some(Iops(write.iops)),
    };
    phase.ops = read.ops.saturating_add(write.ops);
    phase.bytes = Bytes(read.bytes.saturating_add(write.bytes));
    phase.written_of_mixed = Bytes(write.bytes);
    for (name, rates) in [("read", read), ("write", write)] {
        if rates.has_run() {
            let named =
                |it: &Printed| Printed { name: format!("{name} {}", it.name), ..it.clone() };
            phase.figures.extend(rates.printed.iter().map(named));
        }
    }
}

/// The share of reads nearest to what was done, where the job does not tell.
pub(super) fn read_percent(read: &Rates, write: &Rates) -> u8 {
    let all = read.iops + write.iops;
    if all > 0.0 { (read.iops / all * 100.0).round() as u8 } else { 0 }
}

/// The operation that rates speak of.
pub(super) fn op_of(read: &Rates, write: &Rates) -> OpName {
    match (read.has_run(), write.has_run()) {
        (true, false) => OpName::Read,
        (false, true) => OpName::Write,
        _ => OpName::Mixed,
    }
}

/// Refuses a rate that is not that of its bytes in `seconds`, which is exact to `tick` seconds.
pub(super) fn check(
    line: usize,
    rates: &Rates,
    seconds: f64,
    tick: f64,
) -> Result<(), ImportError> {
    if seconds <= 0.0 {
        return Ok(());
    }
    let share = 0.02 + tick / seconds;
    if is_near(rates.bytes_per_s, rates.bytes as f64 / seconds, share, 4096.0) {
        return Ok(());
    }
    let what = format!(
        "{} bytes in {seconds} s are not {:.0} bytes a second",
        rates.bytes, rates.bytes_per_s
    );
    Err(ImportError::Contradiction { tool: TOOL, line, what })
}
