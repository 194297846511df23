//! `CrystalDiskMark`'s text, versions 3 to 9.
//!
//! Its MB/s are 10^6 bytes (its own legend), and operations a second stand beside them where the test is
//! at random, from version 7 on everywhere. Its engine opens files past the cache of Windows. Up to
//! version 6 the size of a sequential block is not told, and so not known here. Version 7.0 has lines of
//! the form that `KDiskMark` took over; they are its own only below its banner.

use cardproof_record::{OpName, PatternName};
use cardproof_units::{Bytes, Iops};

use crate::draft::{PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::{Quantity, between, is_near, number, quantities, whole};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Crystaldiskmark;

/// 10^6 bytes.
const MEGABYTE: f64 = 1e6;

/// How the program introduces itself.
const BANNER: Needle = Needle::new("CrystalDiskMark ");

pub(crate) fn is_sign(view: &View) -> bool {
    view.holds(&BANNER) && view.line.contains("(C)") || test_of(view.text, None, false).is_some()
}

/// Whether another report begins with `line`.
pub(crate) fn is_start(view: &View) -> bool {
    view.holds(&BANNER)
}

/// What one line measures.
#[derive(Clone, Copy, Debug)]
struct Test {
    op: OpName,
    read_percent: u8,
    pattern: PatternName,
    block: Bytes,
    depth: u16,
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut section = None;
    // The first phase of the report that is being read.
    let mut first = 0;
    // Whether the lines are those of a report of this tool, as its banner says.
    let mut is_own = false;
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        if text.contains("DiskMark (") {
            (is_own, section) = (false, None);
        }
        let field =
            |name: &str| Some(text.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim());
        if let Some((test, figures)) = test_of(text, section, is_own) {
            line.claim();
            draft.phases.push(phase(line, test, figures)?);
        } else if let Some(found) = section_of(text) {
            line.claim();
            section = Some(found);
        } else if let Some((_, rest)) = text.split_once("CrystalDiskMark ") {
            line.claim();
            is_own |= text.contains("(C)");
            let version = rest.split_whitespace().next().unwrap_or_default();
            draft.version =
                Some(version.to_owned()).filter(|it| it.starts_with(|c: char| c.is_ascii_digit()));
        } else if let Some(test) = field("Test") {
            line.claim();
            read_test(test, &mut draft, &mut first);
        } else if let Some(date) = field("Date") {
            line.claim();
            draft.began = Some(date.to_owned());
        } else if is_talk(text) {
            line.claim();
        }
    }
    if draft.phases.is_empty() {
        let expected = "'SEQ 1MiB (Q= 8, T= 1): N MB/s [ N IOPS] < N us>'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// A heading of version 7 and later: the operation, and of 100 how many read.
fn section_of(text: &str) -> Option<(OpName, u8)> {
    match text {
        "[Read]" => Some((OpName::Read, 100)),
        "[Write]" => Some((OpName::Write, 0)),
        _ => {
            let share = quantities(text.strip_prefix("[Mix]")?).first()?.value;
            (share <= 100.0).then_some((OpName::Mixed, share as u8))
        }
    }
}

/// Whether `text` is one of the last lines of a report.
pub(crate) fn is_end(text: &str) -> bool {
    const STARTS: Beginnings =
        Beginnings::new(&["Test :", "Test:", "Date :", "Date:", "OS :", "OS:"]);
    STARTS.begin(text)
}

/// Whether `text` is a line of a report that holds no figure and names no card.
pub(crate) fn is_part(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&["Test :", "Date :", "Test:", "Date:"]);
    is_talk(text) || STARTS.begin(text)
}

fn is_talk(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&[
        "Crystal Dew World",
        "* MB/s",
        "* KB",
        "Profile:",
        "Mode:",
        "Time:",
        "OS :",
        "OS:",
    ]);
    let is_rule = text.len() > 20 && text.starts_with('-') && text.bytes().all(|byte| byte == b'-');
    is_rule || STARTS.begin(text)
}

/// The test in `text`, and its figures; of version 7 and later the `section` tells the operation. Lines
/// in the form of version 7.0 are tests only where they are known to be of this tool.
fn test_of(text: &str, section: Option<(OpName, u8)>, is_own: bool) -> Option<(Test, &str)> {
    const FIRST_WORDS: Beginnings = Beginnings::new(&["SEQ", "Sequential", "RND", "Random"]);
    if !FIRST_WORDS.begin(text) {
        return None;
    }
    let pattern = match text.split_whitespace().next()? {
        "SEQ" | "Sequential" => PatternName::Sequential,
        "RND" | "Random" => PatternName::Random,
        _ => return None,
    };
    let (shape, figures) = text.split_once(':')?;
    if !figures.contains("MB/s") {
        return None;
    }
    let is_new = text.starts_with("SEQ") || text.starts_with("RND");
    if !is_printed(shape, figures) {
        return None;
    }
    // KDiskMark's lines have this form as well, but not these words.
    let (op, read_percent) = match (is_new, shape) {
        (true, _) => section.unwrap_or((OpName::Unknown, 0)),
        (false, shape) if shape.contains(" Read") => (OpName::Read, 100),
        (false, shape) if shape.contains(" Write") => (OpName::Write, 0),
        (false, shape) if is_own && shape.contains("(Q=") => section?,
        _ => return None,
    };
    let sizes = quantities(shape);
    let block = sizes.iter().find_map(block_of).unwrap_or(Bytes::ZERO);
    let queues = between(shape, "Q=", ",").and_then(whole);
    let threads = between(shape, "T=", ")").and_then(whole);
    let old_depth = between(shape, "QD=", ")").and_then(whole);
    let depth = queues.zip(threads).map_or(Some(old_depth.unwrap_or(1)), |(q, t)| q.checked_mul(t));
    let depth = u16::try_from(depth?).ok()?;
    Some((Test { op, read_percent, pattern, block, depth }, figures))
}

/// Whether a line has the form in which the program prints a result, and is no line of a data sheet
/// (`Sequential Read: 180 MB/s`): its rates have three decimals, and what may be thousands as well is one
/// only beside the program's own marks.
fn is_printed(shape: &str, figures: &str) -> bool {
    let rate = figures.trim_start();
    let end = rate.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    let rate = &rate[..end.unwrap_or(rate.len())];
    let decimals = rate.len() - rate.rfind(['.', ',']).map_or(rate.len(), |at| at + 1);
    let has_size = shape.contains(|c: char| c.is_ascii_digit());
    let is_spaced = shape.ends_with(' ');
    // Zero is printed for a test that was not run.
    (decimals == 3 || number(rate) == Some(0.0))
        && (has_size || is_spaced || figures.contains("IOPS]") || rate.contains('.'))
}

/// A block size: old versions write powers of 1024 as KB.
fn block_of(size: &Quantity<'_>) -> Option<Bytes> {
    let count = Some(size.value).filter(|it| it.fract() == 0.0 && (1.0..1048576.0).contains(it))?;
    match size.unit {
        "KiB" | "KB" => Some(Bytes::kib(count as u64)),
        "MiB" | "MB" => Some(Bytes::mib(count as u64)),
        _ => None,
    }
}

fn phase(line: &Line, test: Test, figures: &str) -> Result<PhaseDraft, ImportError> {
    let numbers = quantities(figures);
    let rate = numbers.first().filter(|rate| rate.unit == "MB/s").ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "a rate such as '95.12 MB/s'", &line.text)
    })?;
    let iops = numbers.iter().find(|it| it.unit == "IOPS").map(|it| it.value);
    let latency = numbers.iter().find(|it| it.unit == "us").map(|it| it.value);
    let mut phase = PhaseDraft {
        read_percent: test.read_percent,
        block: test.block,
        depth: test.depth,
        ..PhaseDraft::new(test.op, test.pattern)
    };
    if rate.value == 0.0 && iops.unwrap_or(0.0) == 0.0 {
        phase.failed = Some("CrystalDiskMark shows no result for this test".to_owned());
        return Ok(phase);
    }
    let bytes_per_s = rate.value * MEGABYTE;
    if let Some(iops) = iops {
        let block = test.block.as_f64();
        if block > 0.0 && !is_near(iops * block, bytes_per_s, 0.006, 0.06 * block + 1500.0) {
            let what =
                format!("{iops} operations of {} a second are not {} MB/s", test.block, rate.value);
            return Err(ImportError::Contradiction { tool: TOOL, line: line.number, what });
        }
        phase.stated.iops = Some(Iops(iops));
    }
    let mut phase =
        phase.at(bytes_per_s, Printed::new("rate", rate.value, "MB/s").in_bytes_per_s(MEGABYTE));
    phase.figures.extend(iops.map(|iops| Printed::new("iops", iops, "IOPS")));
    phase.figures.extend(latency.map(|latency| Printed::new("latency", latency, "us")));
    Ok(phase)
}

/// The size of the test's file in `1 GiB (x5) [E: …]` or `1000 MB [E: …] (x5)`.
fn read_test(test: &str, draft: &mut RecordDraft, first: &mut usize) {
    let numbers = quantities(test);
    let Some(size) = numbers.first() else { return };
    let unit = match size.unit {
        "GiB" => 1_073_741_824.0,
        "MiB" | "MB" => 1_048_576.0,
        _ => return,
    };
    let span = Bytes((size.value * unit) as u64);
    draft.conditions.target.size_bytes = span;
    draft.phases.iter_mut().skip(*first).for_each(|phase| phase.span = span);
    *first = draft.phases.len();
}
