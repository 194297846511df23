//! DiskSpd's text: one run, its parameters above its totals of reads and writes.
//!
//! Bytes and operations of the totals are held against the printed rates. Its MB/s of versions before 2.0.18
//! are MiB/s, as bytes and time show.

use cardproof_record::{OpName, PatternName, Stated};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::{is_near, number, quantities, whole};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Diskspd;

pub(super) fn is_sign(view: &View) -> bool {
    const FIRST: Beginnings = Beginnings::new(&[
        "number of outstanding I/O operations",
        "Results for timespan ",
        "total:",
    ]);
    FIRST.begin(view.text) && (!view.text.starts_with("total:") || total(view.text).is_some())
}

/// Which totals come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Total,
    Read,
    Write,
}

/// What stands in the row of a section's totals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Total {
    bytes: u64,
    operations: u64,
    mib_per_s: f64,
    per_s: f64,
}

/// The row `total: BYTES | I/Os | MiB/s | I/O per s | …`.
fn total(text: &str) -> Option<Total> {
    let mut cells = text.strip_prefix("total:")?.split('|').map(str::trim);
    Some(Total {
        bytes: whole(cells.next()?)?,
        operations: whole(cells.next()?)?,
        mib_per_s: number(cells.next()?)?,
        per_s: number(cells.next()?)?,
    })
}

/// What the parameters say.
#[derive(Clone, Copy, Debug, Default)]
struct Parameters {
    block: Bytes,
    outstanding: u16,
    threads: u16,
    pattern: Option<PatternName>,
    is_cached: Option<bool>,
    seconds: f64,
}

/// The record of all runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut parameters = Parameters::default();
    let mut section = Section::default();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if let Some(found) = section_of(text) {
            line.claim();
            section = found;
        } else if let Some(total) = total(text) {
            line.claim();
            if total.operations > 0 {
                add(line, total, section, &parameters, &mut draft)?;
            }
        } else if parameters.note(text) {
            line.claim();
        }
    }
    if draft.phases.is_empty() {
        let expected = "'total: BYTES | I/Os | MiB/s | I/O per s'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// A block's size: bytes, or with one of the units that versions from 2.1 on print; `None` with any other.
fn block_size(text: &str) -> Option<Bytes> {
    let size = *quantities(text).first()?;
    let unit = match size.unit {
        "" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    Some(Bytes((size.value * unit) as u64))
}

fn section_of(text: &str) -> Option<Section> {
    match text {
        "Total IO" => Some(Section::Total),
        "Read IO" => Some(Section::Read),
        "Write IO" => Some(Section::Write),
        _ => None,
    }
}

impl Parameters {
    /// Takes over a line about what is asked for.
    fn note(&mut self, text: &str) -> bool {
        let count = |name: &str| {
            text.strip_prefix(name).map(|rest| quantities(rest).first().map_or(0.0, |it| it.value))
        };
        if let Some(size) = text.strip_prefix("block size:") {
            self.block = block_size(size).unwrap_or_default();
        } else if let Some(depth) = count("number of outstanding I/O operations:")
            .or_else(|| count("number of outstanding I/O operations per thread:"))
        {
            self.outstanding = depth.min(4096.0) as u16;
        } else if let Some(threads) = count("threads per file:") {
            self.threads = threads.min(4096.0) as u16;
        } else if let Some(seconds) = count("actual test time:").or_else(|| count("test time:")) {
            self.seconds = seconds;
        } else if text.starts_with("using random I/O") {
            self.pattern = Some(PatternName::Random);
        } else if text.starts_with("using sequential I/O")
            || text.starts_with("using interlocked sequential I/O")
        {
            self.pattern = Some(PatternName::Sequential);
        } else if text == "using software cache" {
            self.is_cached = Some(true);
        } else if text.starts_with("software cache disabled")
            || text.starts_with("software and hardware write cache disabled")
            || text == "using O_DIRECT"
        {
            self.is_cached = Some(false);
        } else {
            return false;
        }
        true
    }
}

fn add(
    line: &Line,
    total: Total,
    section: Section,
    parameters: &Parameters,
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    let op = match section {
        Section::Read => OpName::Read,
        Section::Write => OpName::Write,
        // The totals of both are told by the sections below.
        Section::Total | Section::None => return Ok(()),
    };
    check(line, total, parameters)?;
    let mut phase = PhaseDraft::new(op, parameters.pattern.unwrap_or(PatternName::Unknown));
    phase.block = parameters.block;
    phase.depth = parameters.outstanding.saturating_mul(parameters.threads);
    (phase.bytes, phase.ops) = (Bytes(total.bytes), total.operations);
    phase.duration = Nanos::from_secs_f64(parameters.seconds);
    phase.cache = match parameters.is_cached {
        Some(true) => Cache::Used(
            "DiskSpd used the cache of the system, so its figures may be those of memory",
        ),
        Some(false) => Cache::Bypassed,
        None => Cache::Unknown("the lines about DiskSpd's cache are missing"),
    };
    let rate = total.mib_per_s * 1_048_576.0;
    phase.stated = Stated {
        iops: Some(Iops(total.per_s)),
        throughput_bytes_per_s: Some(Throughput(rate)),
        ..Stated::default()
    };
    phase
        .figures
        .push(Printed::new("throughput", total.mib_per_s, "MiB/s").in_bytes_per_s(1_048_576.0));
    phase.figures.push(Printed::new("I/O per s", total.per_s, "/s"));
    draft.phases.push(phase);
    Ok(())
}

/// Holds bytes, operations, rates and time against each other.
fn check(line: &Line, total: Total, parameters: &Parameters) -> Result<(), ImportError> {
    let per_operation = total.bytes as f64 / total.operations as f64;
    let rate = total.mib_per_s * 1_048_576.0;
    let is_right = is_near(rate, total.per_s * per_operation, 0.02, 0.02 * 1_048_576.0)
        && (parameters.seconds == 0.0
            || is_near(total.bytes as f64 / parameters.seconds, rate, 0.03, 0.02 * 1_048_576.0));
    if is_right {
        return Ok(());
    }
    let what = format!(
        "{} bytes in {} operations are not {} MiB/s and {} operations a second",
        total.bytes, total.operations, total.mib_per_s, total.per_s
    );
    Err(ImportError::Contradiction { tool: TOOL, line: line.number, what })
}
