//! `sd_bench` of the PX4 autopilot (and of NuttX): sequential writes of small blocks, a run a line.
//!
//! Its KB are 1024 bytes (its source divides by 1024). Each run writes for some seconds into a file and
//! waits for it at the end, or after every block with `sync=1`; there is no page cache on that system.
//! The mean of its runs is the phase; the longest write of each run is kept as the tool's own figure.

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use crate::draft::{PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::SdBench;

pub(super) fn is_sign(view: &View) -> bool {
    const FIRST_WORDS: Beginnings = Beginnings::new(&["INFO", "[sd_bench]", "Testing ", "Run"]);
    if !FIRST_WORDS.begin(view.text) {
        return false;
    }
    let text = without_head(view.line);
    text.starts_with("Testing Sequential ") || run_of(text).is_some()
}

/// Whether another output begins with a line.
pub(super) fn is_start(view: &View) -> bool {
    without_head(view.line).starts_with("Testing Sequential Write Speed")
}

/// Whether a line says what comes and names no card.
pub(crate) fn is_talk(view: &View) -> bool {
    const NAME: Needle = Needle::new("[sd_bench]");
    const STARTS: Beginnings = Beginnings::new(&["INFO", "Using block size", "Avg"]);
    if view.holds(&NAME) {
        return true;
    }
    if !STARTS.begin(view.text) {
        return false;
    }
    let text = without_head(view.text);
    text.starts_with("Using block size") || mean_of(text).is_some()
}

/// `line` without the words `INFO  [sd_bench]` before it.
fn without_head(line: &str) -> &str {
    let text = line.trim_start();
    let text = text.strip_prefix("INFO").unwrap_or(text).trim_start();
    text.strip_prefix("[sd_bench]").unwrap_or(text).trim_start()
}

/// What follows `Run 12:` in a line about a run.
fn run_of(text: &str) -> Option<&str> {
    let (number, figures) = text.strip_prefix("Run")?.split_once(':')?;
    let is_number = number.trim().bytes().all(|byte| byte.is_ascii_digit());
    let is_run = figures.contains("max write time:") || figures.contains("max read/verify time:");
    (is_number && is_run).then_some(figures)
}

/// The record of all runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut shape = (Bytes::ZERO, Sync::AtEnd);
    let mut op = OpName::Write;
    let mut has_mean = false;
    // Where the runs of the present test begin among the phases.
    let mut first = 0;
    for line in lines {
        draft.check_count()?;
        let text = without_head(&line.text);
        if text.starts_with("Using block size") {
            line.claim();
            shape = shape_of(text);
        } else if line.text.trim_end().ends_with("[sd_bench]") {
            line.claim();
        } else if text.starts_with("Testing Sequential") {
            line.claim();
            first = draft.phases.len();
            op = if text.contains("Read") { OpName::Read } else { OpName::Write };
            has_mean = false;
        } else if let Some(figures) = run_of(text) {
            line.claim();
            let rate = figures.split(',').next().unwrap_or_default();
            draft.phases.push(phase(line, rate, "run", op, shape)?);
            draft
                .phases
                .last_mut()
                .into_iter()
                .for_each(|phase| phase.figures.extend(longest(figures)));
        } else if let Some(figures) = mean_of(text).filter(|_| !has_mean) {
            line.claim();
            has_mean = true;
            let rate = figures.split(',').next().unwrap_or_default();
            // The runs were of one kind: their mean stands for them.
            draft.phases.truncate(first);
            draft.phases.push(phase(line, rate, "mean", op, shape)?);
        }
    }
    if draft.phases.is_empty() {
        let expected = "'Run 1: N KB/s, max write time: N ms …'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

fn mean_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Avg")?.trim_start();
    rest.strip_prefix(':').filter(|figures| figures.contains("KB/s"))
}

/// Block size and sync in `Using block size = 4096 bytes, sync=0`.
fn shape_of(text: &str) -> (Bytes, Sync) {
    let numbers = quantities(text);
    let size = numbers.first().map_or(0.0, |size| size.value);
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let is_synced = compact.contains("sync=1") || compact.contains("sync=true");
    let block = Bytes(size as u64);
    (block, if is_synced { Sync::Every(1) } else { Sync::AtEnd })
}

fn longest(figures: &str) -> Option<Printed> {
    let (_, rest) = figures.split_once("time:")?;
    let numbers = quantities(rest);
    let time = numbers.first().filter(|time| time.unit == "ms")?;
    Some(Printed::new("longest operation", time.value, "ms"))
}

fn phase(
    line: &Line,
    rate: &str,
    name: &str,
    op: OpName,
    (block, sync): (Bytes, Sync),
) -> Result<PhaseDraft, ImportError> {
    let numbers = quantities(rate);
    let rate = numbers.first().filter(|rate| rate.unit == "KB/s").ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "a rate such as '338.53 KB/s'", &line.text)
    })?;
    let figure = Printed::new(name, rate.value, rate.unit).in_bytes_per_s(1024.0);
    let sync = if op == OpName::Write { sync } else { Sync::None };
    let draft =
        PhaseDraft { block, depth: 1, sync, ..PhaseDraft::new(op, PatternName::Sequential) };
    Ok(draft.at(rate.value * 1024.0, figure))
}
