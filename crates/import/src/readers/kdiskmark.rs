//! `KDiskMark`'s text report.
//!
//! It says `MB/s = 1,000,000 bytes/s`, and yet divides fio's KiB/s by 1000, so that its MB/s are
//! 2.4 % too low; some versions may not. The operations a second beside each figure tell which:
//! they are right in any case, and times the block size they are the bytes a second. So rates come
//! from them, and MB/s that agree neither as such nor as KiB/1000 are refused.

use cardproof_units::{Bytes, Iops};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{between, is_near, number, quantities, whole};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, WarningCode};

const TOOL: ForeignTool = ForeignTool::Kdiskmark;

/// What a result looks like.
const EXPECTED: &str = "'Sequential 1 MiB (Q= 8, T= 1): N MB/s [ N IOPS] < N us>'";

/// A block of results: what its operations do, and how many of a hundred read.
type Section = (OpName, u8);

pub(crate) fn is_sign(view: &View) -> bool {
    const START: Beginnings = Beginnings::new(&["KDiskMark ("]);
    START.begin(view.text)
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    read_as(TOOL, lines)
}

/// The record of a report in this form, of `tool`.
pub(super) fn read_as(tool: ForeignTool, lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(tool);
    let mut section: Option<Section> = None;
    // The first phase of the report that is being read.
    let mut first = 0;
    for line in lines {
        draft.check_count()?;
        let view = line.view();
        let text = view.text;
        if is_part(&view) {
            line.claim();
        }
        if view.holds(&BANNER) {
            draft.version = between(text, "(", ")").map(str::to_owned);
        } else if text.starts_with('[') {
            section = section_of(line);
        } else if view.holds(&RESULT) {
            let (op, read_percent) = section.ok_or_else(|| {
                ImportError::unexpected(TOOL, line.number, "[Read], [Write] or [Mix] first", text)
            })?;
            let phase = phase(line, op, read_percent, &mut draft)?;
            draft.phases.push(phase);
        } else if let Some(test) = text.strip_prefix("Test:") {
            read_test(line, test, &mut draft, &mut first)?;
        } else if let Some(date) = text.strip_prefix("Date:") {
            draft.began = Some(date.trim().to_owned());
        } else if let Some(system) = text.strip_prefix("OS:") {
            draft.conditions.host.kernel = kernel_of(system);
        }
    }
    if draft.phases.is_empty() {
        let expected = EXPECTED.to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// How a program of this form introduces itself.
const BANNER: Needle = Needle::new("DiskMark (");

/// What stands in the lines of results.
const RESULT: Needle = Needle::new("(Q=");

/// Whether a line is one of the report.
pub(crate) fn is_part(view: &View) -> bool {
    const STARTS: Beginnings = Beginnings::new(&[
        "Flexible I/O Tester",
        "* MB/s",
        "* KB",
        "[Read]",
        "[Write]",
        "[Mix]",
        "Profile:",
        "Test:",
        "Date:",
        "Target:",
        "OS:",
    ]);
    let text = view.text;
    let is_rule = text.len() > 20 && text.starts_with('-') && text.bytes().all(|byte| byte == b'-');
    is_rule || view.holds(&BANNER) || view.holds(&RESULT) || STARTS.begin(text)
}

fn section_of(line: &Line) -> Option<Section> {
    let text = line.shown();
    if text.starts_with("[Mix]") {
        let share = quantities(text).first().map(|share| share.value);
        if let Some(share) = share.filter(|share| *share <= 100.0) {
            return Some((OpName::Mixed, share as u8));
        }
    }
    match text {
        "[Read]" => Some((OpName::Read, 100)),
        "[Write]" => Some((OpName::Write, 0)),
        _ => None,
    }
}

fn phase(
    line: &Line,
    op: OpName,
    read_percent: u8,
    draft: &mut RecordDraft,
) -> Result<PhaseDraft, ImportError> {
    let parsed = parse(line.shown());
    let result =
        parsed.ok_or_else(|| ImportError::unexpected(TOOL, line.number, EXPECTED, &line.text))?;
    let mut phase = PhaseDraft {
        read_percent,
        block: result.block,
        depth: result.depth,
        sync: if op == OpName::Read { Sync::None } else { Sync::AtEnd },
        cache: Cache::Unknown(
            "KDiskMark's report does not tell whether it passed the page cache by",
        ),
        figures: vec![
            Printed::new("iops", result.iops, "IOPS"),
            Printed::new("latency", result.latency_us, "us"),
        ],
        ..PhaseDraft::new(op, result.pattern)
    };
    if result.iops == 0.0 && result.mb_per_s == 0.0 {
        phase.failed = Some("KDiskMark shows no result for this test".to_owned());
        return Ok(phase);
    }
    phase.stated.iops = Some(Iops(result.iops));
    match megabyte_of(&result) {
        Some(unit) => {
            phase
                .figures
                .insert(0, Printed::new("rate", result.mb_per_s, "MB/s").in_bytes_per_s(unit));
            if unit > MEGABYTE {
                note_wrong_unit(draft);
            }
        }
        None => {
            let what = format!(
                "{} operations of {} a second are not {} MB/s",
                result.iops, result.block, result.mb_per_s
            );
            return Err(ImportError::Contradiction { tool: TOOL, line: line.number, what });
        }
    }
    Ok(phase)
}

struct Outcome {
    pattern: PatternName,
    block: Bytes,
    depth: u16,
    mb_per_s: f64,
    iops: f64,
    latency_us: f64,
}

fn parse(text: &str) -> Option<Outcome> {
    let pattern = match text.split_whitespace().next()? {
        "Sequential" => PatternName::Sequential,
        "Random" => PatternName::Random,
        _ => return None,
    };
    let (shape, figures) = text.split_once(':')?;
    let size = *quantities(shape.split_once('(')?.0).first()?;
    let block = size_of(size.value, size.unit)?;
    let queues = whole(between(shape, "Q=", ",")?)?;
    let threads = whole(between(shape, "T=", ")")?)?;
    let [rate, iops, latency]: [_; 3] = quantities(figures).try_into().ok()?;
    let is_form = rate.unit == "MB/s" && iops.unit == "IOPS" && latency.unit == "us";
    is_form.then_some(Outcome {
        pattern,
        block,
        depth: queues.checked_mul(threads)?.try_into().ok()?,
        mb_per_s: rate.value,
        iops: iops.value,
        latency_us: latency.value,
    })
}

fn size_of(value: f64, unit: &str) -> Option<Bytes> {
    let size = value as u64;
    let is_sane = value.fract() == 0.0 && (1..1 << 30).contains(&size);
    match unit {
        "KiB" if is_sane => Some(Bytes::kib(size)),
        "MiB" if is_sane => Some(Bytes::mib(size)),
        "GiB" if is_sane => Some(Bytes::gib(size)),
        _ => None,
    }
}

/// 10^6 bytes, as `MB` of a report is meant, and the 1000 KiB that it may be.
const MEGABYTE: f64 = 1e6;
const KIB_PER_1000: f64 = 1_024_000.0;

/// Which megabyte makes the MB/s agree with the operations; nothing where none does. Where the
/// figures are too small to tell, the unit is not in doubt by more than their rounding.
fn megabyte_of(result: &Outcome) -> Option<f64> {
    let bytes_per_s = result.iops * result.block.as_f64();
    let rounding = 0.06 * result.block.as_f64() + 1536.0;
    let agrees = |unit: &f64| is_near(result.mb_per_s * unit, bytes_per_s, 0.006, rounding);
    [MEGABYTE, KIB_PER_1000].into_iter().find(agrees)
}

fn note_wrong_unit(draft: &mut RecordDraft) {
    let message = "KDiskMark's MB/s are 1000 KiB/s here, 2.4 % too low; the rates are those of its \
                   operations a second";
    draft.warn(WarningCode::Other, message);
}

/// The size of the test's file, in `1 GiB (x5) [Measure: 5 sec / Interval: 5 sec]`.
fn read_test(
    line: &Line,
    test: &str,
    draft: &mut RecordDraft,
    from: &mut usize,
) -> Result<(), ImportError> {
    let first = test.split_once('(').map_or(test, |(size, _)| size);
    let size = quantities(first).first().and_then(|size| size_of(size.value, size.unit));
    let size = size.ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "the size of the test's file", test)
    })?;
    draft.conditions.target.size_bytes = size;
    draft.phases.iter_mut().skip(*from).for_each(|phase| phase.span = size);
    *from = draft.phases.len();
    let loops = between(test, "(x", ")").and_then(number);
    draft.figures.extend(loops.map(|loops| Printed::new("loops", loops, "")));
    Ok(())
}

/// The kernel in `debian 12 [linux 6.1.0-18-amd64]`.
fn kernel_of(system: &str) -> Option<String> {
    let inside = between(system, "[", "]")?;
    let version = inside.strip_prefix("linux ")?;
    Some(format!("Linux {version}"))
}
