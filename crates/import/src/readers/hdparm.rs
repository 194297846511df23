//! hdparm -t and -T: sequential reads from the device's beginning, with and without --direct.
//!
//! hdparm's MB are MiB: it reads blocks of 2 MiB and divides by 1048576 (its source, `TIMING_BUF_MB`
//! in hdparm.c). The cached reads of -T are those of memory, or of the drive's own cache with
//! --direct; they are kept as the tool's own figures and are no phase. -t reads through the page
//! cache, which it empties first, and the kernel reads ahead for it.

use cardproof_units::{Bytes, Nanos};

use super::dd::cause_of;
use super::failed::io_errors;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::refusals::{Refusals, check_count};
use crate::text::{Quantity, is_near, kernel_name, quantities};
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{ErrorCause, Finding, OpName, PatternName};

const TOOL: ForeignTool = ForeignTool::Hdparm;

/// What follows from the page cache, through which hdparm -t reads after it has emptied it.
pub(crate) const READS_AHEAD: &str = "hdparm -t reads the storage through the page cache, so the kernel reads ahead, \
                                      and the figure may be higher than that of direct reads";

/// What hdparm reads at a time.
const BLOCK: Bytes = Bytes::mib(2);

/// What a timing begins with.
const MARK: &str = "Timing ";

/// What a timing's line looks like.
const EXPECTED: &str = "'Timing … reads: N MB in N seconds = N MB/sec'";

/// What a text holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) phases: Vec<PhaseDraft>,
    pub(super) figures: Vec<Printed>,
    /// The kernel's name of the device.
    pub(super) device: Option<String>,
    /// Reads that failed, with the numbers of their lines.
    failed: Vec<(usize, ErrorCause)>,
}

pub(super) fn is_sign(view: &View) -> bool {
    timing_in(view).is_some()
}

/// The timing in a line, behind the device's name where the two lines have become one. With
/// `--offset` the words go on behind `reads`.
fn timing_in<'l>(view: &View<'l>) -> Option<&'l str> {
    const SIGN: Needle = Needle::new(MARK);
    if !view.holds(&SIGN) {
        return None;
    }
    let line = view.text;
    let at = line.find(MARK)?;
    let before = line[..at].trim();
    let is_alone = before.is_empty() || device_in(before).is_some();
    let (what, _) = line[at..].split_once(':')?;
    (is_alone && (what.ends_with(" reads") || what.contains(" reads (offset ")))
        .then_some(&line[at..])
}

/// Whether a line names the device before its timing.
pub(crate) fn is_of_device(view: &View) -> bool {
    timing_in(view).is_some_and(|timing| !view.text.starts_with(timing))
}

/// The path in a line that names a device, such as `/dev/sda:`.
fn device_in(text: &str) -> Option<&str> {
    text.strip_suffix(':').filter(|path| path.starts_with("/dev/") && !path.contains(' '))
}

/// The record of one or several timings.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut refused = Refusals::default();
    let found = find(lines, &mut |error| refused.add(error));
    let found = found.map_err(|error| refused.first_or(error))?;
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.device.name = found.device;
    (draft.phases, draft.figures, draft.refused) = (found.phases, found.figures, refused);
    for (line, cause) in found.failed {
        draft.is_partial = true;
        let finding = Finding::at(io_errors(OpName::Read, 1, cause), TOOL.name(), line);
        let device = draft.conditions.device.name.clone();
        draft.add_finding(Finding { device, ..finding });
    }
    Ok(draft)
}

/// All timings in `lines`, which may hold other things too. A line that contradicts itself is left out
/// where `refuse` allows it.
pub(super) fn find(
    lines: &[Line],
    refuse: &mut dyn FnMut(ImportError) -> Result<(), ImportError>,
) -> Result<Found, ImportError> {
    let mut found = Found::default();
    for line in lines {
        check_count(found.phases.len() + found.figures.len())?;
        let view = line.view();
        if let Some(cause) = failure_in(&view) {
            line.claim();
            found.failed.push((line.number, cause));
        } else if let Some(timings) = timing_in(&view) {
            match timings_of(line, &view, timings) {
                Ok(own) => found.extend(own),
                Err(error) => refuse(error)?,
            }
        } else if let Some(path) = device_in(view.text) {
            line.claim();
            found.device = found.device.take().or_else(|| kernel_name(path));
        }
    }
    if found.phases.is_empty() && found.figures.is_empty() && found.failed.is_empty() {
        let expected = EXPECTED.to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(found)
}

impl Found {
    /// Adds what further lines hold.
    fn extend(&mut self, next: Self) {
        self.device = self.device.take().or(next.device);
        self.phases.extend(next.phases);
        self.figures.extend(next.figures);
        self.failed.extend(next.failed);
    }
}

/// The cause of a read that failed, in the words of the C library.
fn failure_in(view: &View) -> Option<ErrorCause> {
    const FAILED: Needle = Needle::new("read() failed: ");
    if !view.holds(&FAILED) {
        return None;
    }
    let (_, why) = view.text.split_once("read() failed: ")?;
    Some(cause_of(why).unwrap_or(ErrorCause::Unknown))
}

/// What one line holds, in which `timings` begin.
fn timings_of(line: &Line, view: &View, timings: &str) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let path = device_in(view.text.strip_suffix(timings).unwrap_or_default().trim());
    found.device = path.and_then(kernel_name);
    for (at, mark) in timings.match_indices(MARK) {
        let rest = &timings[at + mark.len()..];
        let end = rest.find(MARK).map_or(timings.len(), |end| at + mark.len() + end);
        check_count(found.phases.len() + found.figures.len())?;
        read_timing(line, &timings[at..end], &mut found)?;
    }
    Ok(found)
}

/// Reads a timing. One that is cut, or whose units are none of hdparm's, is left out.
fn read_timing(line: &Line, timing: &str, found: &mut Found) -> Result<(), ImportError> {
    let Some((what, figures)) = timing.split_once(':') else { return Ok(()) };
    let numbers = quantities(figures);
    let [moved, seconds, rate] = numbers.as_slice() else { return Ok(()) };
    let unit_bytes_per_s = match rate.unit {
        "MB/sec" => 1_048_576.0,
        "kB/sec" => 1024.0,
        _ => return Ok(()),
    };
    let rate_bytes_per_s = rate.value * unit_bytes_per_s;
    if moved.unit != "MB" || seconds.unit != "seconds" {
        return Ok(());
    }
    line.claim();
    check(line, moved, seconds, rate, rate_bytes_per_s)?;
    let what = what.trim().trim_start_matches(MARK).trim();
    let figure = Printed::new(what, rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s);
    // Before version 5 the reads of -T are called those of the buffer cache.
    if what.contains("cached") || what.contains("buffer-cache") {
        found.figures.push(figure);
        return Ok(());
    }
    let bytes = Bytes((moved.value * 1_048_576.0) as u64);
    let cache = if what.contains("O_DIRECT") { Cache::Bypassed } else { Cache::Used(READS_AHEAD) };
    let draft = PhaseDraft {
        block: BLOCK,
        span: bytes,
        bytes,
        depth: 1,
        duration: Nanos::from_secs_f64(seconds.value),
        cache,
        ..PhaseDraft::new(OpName::Read, PatternName::Sequential)
    };
    found.phases.push(draft.at(rate_bytes_per_s, figure));
    Ok(())
}

/// Whether the rate is that of the amount and the time, which are printed with less precision.
fn check(
    line: &Line,
    moved: &Quantity<'_>,
    seconds: &Quantity<'_>,
    rate: &Quantity<'_>,
    rate_bytes_per_s: f64,
) -> Result<(), ImportError> {
    let expected_mib = rate_bytes_per_s / 1_048_576.0 * seconds.value;
    let rounding_mib = rate_bytes_per_s / 1_048_576.0 * 0.011 + 1.0;
    if is_near(expected_mib, moved.value, 0.02, rounding_mib) {
        return Ok(());
    }
    let what =
        format!("{} MB in {} s are not {} {}", moved.value, seconds.value, rate.value, rate.unit);
    Err(ImportError::Contradiction { tool: TOOL, line: line.number, what })
}
