//! fio's output for people, of versions 2 and 3.
//!
//! A job is announced with what it does (`test: (g=0): rw=randrw, bs=…, ioengine=…, iodepth=…`) and
//! reported under `test: (groupid=0, jobs=1): err= 0`. Version 3 prints `read: IOPS=48.1k,
//! BW=188MiB/s (197MB/s)(23.9MiB/127msec)`, version 2 `read : io=78256KB, bw=2193.4KB/s, iops=548,
//! runt= 35679msec`; its KB are KiB. Figures are printed with three digits or so.

use std::collections::HashMap;

mod amounts;
mod summary;
mod syncs;

use cardproof_units::{Bytes, Iops, Nanos};

use self::amounts::{bytes_of, version_2, version_3};
use self::syncs::Syncs;
use super::shared::{self as fio, Command, Rates, TOOL};
use crate::ImportError;
use crate::draft::{PhaseDraft, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::refusals::check_count;
use crate::text::{Quantity, between, quantities, word_after};
use crate::view::{Beginnings, Needle, View};
use cardproof_record::{OpName, PatternName, Stated, WarningCode};

/// What a job was announced to do.
#[derive(Clone, Debug)]
struct Announced {
    op: OpName,
    pattern: PatternName,
    block: Bytes,
    depth: u16,
}

/// A job's report while it is being read.
struct Report {
    name: String,
    /// The number of its process, where it is told.
    process: Option<u64>,
    /// Of how many copies of the job the figures are the sum.
    copies: u16,
    error: i64,
    read: Rates,
    write: Rates,
    /// Both together, which `unified_rw_reporting` has in their place or beside them.
    united: Rates,
    duration: Nanos,
    syncs: Syncs,
}

impl Report {
    fn new(name: String, copies: u16, error: i64) -> Self {
        Self {
            name,
            process: None,
            copies,
            error,
            read: Rates::default(),
            write: Rates::default(),
            united: Rates::default(),
            duration: Nanos::ZERO,
            syncs: Syncs::default(),
        }
    }
}

/// What stands behind a job's name above its report.
const REPORT: Needle = Needle::new(": (groupid=");

/// What stands behind a job's name where it is announced.
const ANNOUNCEMENT: Needle = Needle::new(": (g=");

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&REPORT)
        || is_announcement(view)
        || is_bare_rate(view.text)
        || summary::is_sign(view.text)
}

/// Whether `text` holds a job's rates, which no other tool prints so.
fn is_bare_rate(text: &str) -> bool {
    if !text.starts_with(['r', 'w']) {
        return false;
    }
    let has = |start: &str| text.strip_prefix(start).map(str::trim_start);
    let rest = has("read").or_else(|| has("write")).and_then(|rest| rest.strip_prefix(':'));
    rest.map(str::trim_start).is_some_and(|rest| {
        rest.starts_with("IOPS=") && rest.contains("BW=")
            || rest.starts_with("io=") && rest.contains("iops=") && rest.contains("runt=")
    })
}

/// Whether a line announces a job.
pub(super) fn is_announcement(view: &View) -> bool {
    view.holds(&ANNOUNCEMENT) && view.line.contains("rw=")
}

/// What stands behind the name of a file that is made before a job.
const LAYING_OUT: Needle = Needle::new(": Laying out IO file");

/// Whether a line is another one of a report, from which nothing is taken.
fn is_detail(view: &View) -> bool {
    const DISK: Needle = Needle::new(": ios=");
    const STARTS: Beginnings = Beginnings::new(&[
        "slat ",
        "clat ",
        "lat ",
        "bw ",
        "iops ",
        "cpu ",
        "IO depths",
        "submit ",
        "complete ",
        "issued ",
        "latency ",
        "Run status",
        "READ:",
        "WRITE:",
        "MIXED:",
        "Disk stats",
        "| ",
        "Starting ",
        "Jobs:",
        "...",
        "Laying out",
        "sync ",
        "fsync/fdatasync/sync_file_range",
        "sync percentiles",
        "read:",
        "write:",
        "mixed:",
        "ios=",
        "read :",
        "write :",
    ]);
    STARTS.begin(view.text) || view.holds(&DISK) || view.holds(&LAYING_OUT)
}

/// Whether a line is one of an output and names no card.
pub(super) fn is_of_output(view: &View) -> bool {
    is_detail(view) || is_prelude(view)
}

/// Whether a line stands between what a job was announced to do and its report.
fn is_prelude(view: &View) -> bool {
    const STARTS: Beginnings =
        Beginnings::new(&["...", "Jobs: ", "Starting ", "note: both iodepth", "fio-"]);
    if view.holds(&LAYING_OUT) {
        return true;
    }
    let text = view.text;
    if !STARTS.begin(text) {
        return false;
    }
    text == "..."
        || text.starts_with("Jobs: ")
        || text.starts_with("Starting ") && (text.contains("process") || text.contains("thread"))
        || text.starts_with("note: both iodepth")
        || version_in(text).is_some()
}

/// The version in a line that holds nothing else.
fn version_in(text: &str) -> Option<&str> {
    let version = text.strip_prefix("fio-").filter(|_| !text.contains(' '))?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// The record of one job or several.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut announced: HashMap<String, (Announced, usize)> = HashMap::new();
    let mut report: Option<Report> = None;
    let mut found = Found::default();
    let mut command = Command::default();
    let mut summaries = Vec::new();
    for line in lines {
        check_count(found.phases.len())?;
        let view = line.view();
        let text = view.text;
        if let Some(said) = Command::of(&view) {
            line.claim();
            found.take(report.take(), &announced, command)?;
            command = said;
            found.of_run.clear();
        } else if let Some(version) = version_in(text) {
            line.claim();
            draft.version = Some(version.to_owned());
        } else if view.holds(&REPORT) {
            line.claim();
            found.take(report.take(), &announced, command)?;
            draft.began = draft.began.take().or_else(|| printed_at(&line.text));
            report = Some(begun(line)?);
        } else if view.holds(&ANNOUNCEMENT) {
            line.claim();
            if report.is_some() {
                // Another run, of whose command nothing is known.
                found.take(report.take(), &announced, command)?;
                command = Command::default();
            }
            found.of_run.clear();
            if let Some((name, job)) = announcement(text) {
                announced.entry(name).or_insert((job, 0)).1 += 1;
            }
            if let Some(engine) = between(text, "ioengine=", ",") {
                draft.conditions.target.engine = engine.into();
            }
        } else if let Some(report) = &mut report {
            if is_detail(&view) {
                line.claim();
            }
            read_rates(line, report)?;
            report.syncs.read(text);
        } else if is_bare_rate(text) {
            // Only these lines of an output were kept, and what the job did is not known.
            line.claim();
            let mut bare = Report::new(String::new(), 0, 0);
            read_rates(line, &mut bare)?;
            found.take(Some(bare), &announced, command)?;
        } else if summary::is_sign(text) {
            line.claim();
            summaries.push(line);
        } else if is_prelude(&view) || !summaries.is_empty() && is_detail(&view) {
            line.claim();
        }
    }
    found.take(report, &announced, command)?;
    if found.phases.is_empty() {
        summary::read(&summaries, lines, &mut draft)?;
    }
    if found.has_others {
        draft.warn(WarningCode::Other, fio::AT_INTERVALS);
    }
    draft.phases.extend(with_copies_told(found.phases, &announced));
    if draft.phases.is_empty() {
        let expected = "'read: IOPS=…' or 'write: IOPS=…' below the job's name".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// The phases found by now, each under its job's name.
#[derive(Default)]
struct Found {
    phases: Vec<(String, PhaseDraft)>,
    /// Which of them are of the present run, by name and process.
    of_run: HashMap<(String, u64), usize>,
    /// Whether one took the place of an earlier report of the same job (`--status-interval`).
    has_others: bool,
}

impl Found {
    /// Adds what `report` makes, in the place of what it continues.
    fn take(
        &mut self,
        report: Option<Report>,
        announced: &HashMap<String, (Announced, usize)>,
        command: Command,
    ) -> Result<(), ImportError> {
        let process = report.as_ref().and_then(|report| report.process);
        let Some(one) = finished(report, announced, command)? else { return Ok(()) };
        let index = self.phases.len();
        if let Some(process) = process {
            let place = self.of_run.entry((one.0.clone(), process)).or_insert(index);
            if let Some(before) = self.phases.get_mut(*place)
                && before.1.duration < one.1.duration
            {
                *before = one;
                self.has_others = true;
                return Ok(());
            }
            *place = index;
        }
        self.phases.push(one);
        Ok(())
    }
}

/// A job's name, and what it was announced to do.
fn announcement(text: &str) -> Option<(String, Announced)> {
    let (name, _) = text.split_once(": (g=")?;
    let (op, pattern) = fio::shape_of(between(text, "rw=", ",")?)?;
    let sizes = quantities(between(text, "bs=", "ioengine=")?);
    let job = Announced {
        op,
        pattern,
        block: block_of(op, &sizes).unwrap_or(Bytes::ZERO),
        depth: fio::depth_of(
            between(text, "ioengine=", ",").unwrap_or_default(),
            word_after(text, "iodepth=").and_then(|depth| depth.parse().ok()).unwrap_or(0),
        ),
    };
    Some((name.to_owned(), job))
}

/// The block size of `op`, of least and greatest sizes of reads and then of writes; nothing where they
/// differ.
fn block_of(op: OpName, sizes: &[Quantity<'_>]) -> Option<Bytes> {
    // Version 2 puts a slash between reads and writes.
    let bytes = |size: &Quantity<'_>| {
        bytes_of(&Quantity { unit: size.unit.trim_end_matches('/'), ..*size })
    };
    let all: Option<Vec<f64>> = sizes.iter().map(bytes).collect();
    let all = all.filter(|all| !all.is_empty())?;
    let own = match op {
        OpName::Write => all.get(2..4).or_else(|| all.get(..2)),
        OpName::Mixed => all.get(..4).or_else(|| all.get(..2)),
        _ => all.get(..2),
    };
    let own = own.unwrap_or(&all);
    own.iter().all(|size| *size == own[0]).then(|| Bytes(own[0] as u64))
}

/// When a job's report was printed, which stands behind the number of its process.
fn printed_at(line: &str) -> Option<String> {
    let (_, time) = line.split_once(" pid=")?.1.split_once(':')?;
    Some(time.trim().to_owned()).filter(|time| !time.is_empty())
}

fn begun(line: &Line) -> Result<Report, ImportError> {
    let (name, rest) = line.text.split_once(": (groupid=").unwrap_or_default();
    // Behind the number of an error stands where it arose: `err= 5 (file:io_u.c:1787, …):`.
    let error = rest
        .split_once("err=")
        .and_then(|(_, code)| code.split([':', '(']).next()?.trim().parse().ok());
    let error = error.ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "'(groupid=0, jobs=1): err= 0:'", &line.text)
    })?;
    let copies = between(rest, "jobs=", ")").and_then(|copies| copies.parse().ok()).unwrap_or(1);
    let process = between(rest, "pid=", ":").and_then(|process| process.parse().ok());
    Ok(Report { process, ..Report::new(name.trim().to_owned(), copies, error) })
}

/// Takes over the rates in `line`, if it is one of rates.
fn read_rates(line: &Line, report: &mut Report) -> Result<(), ImportError> {
    let text = line.shown();
    let Some((direction, rest)) = text.split_once(':') else { return Ok(()) };
    // Version 3.33 prints an empty line of both directions where they are told apart as well.
    let is_empty = direction.trim() == "mixed" && rest.contains("IOPS=0,") && rest.contains("(0B/");
    let is_rates = !is_empty && (rest.contains("IOPS=") || rest.contains("iops="));
    let rates = match direction.trim() {
        "read" if is_rates => &mut report.read,
        "write" if is_rates => &mut report.write,
        "mixed" if is_rates => &mut report.united,
        _ => return Ok(()),
    };
    let parsed = if rest.contains("IOPS=") { version_3(rest) } else { version_2(rest) };
    let (found, duration) = parsed.ok_or_else(|| {
        let expected = "'IOPS=N, BW=NMiB/s (NMB/s)(NMiB/Nmsec)' or 'io=NKB, bw=NKB/s, iops=N, \
                        runt=Nmsec'";
        ImportError::unexpected(TOOL, line.number, expected, text)
    })?;
    fio::check(line.number, &found, duration.as_secs_f64(), 0.002)?;
    *rates = found;
    report.duration = report.duration.max(duration);
    Ok(())
}

/// The phases in `found`, each under its job's name. fio announces copies of a job once and then
/// reports each of them: those were at work together, and none is a measurement at its own depth.
fn with_copies_told(
    found: Vec<(String, PhaseDraft)>,
    announced: &HashMap<String, (Announced, usize)>,
) -> Vec<PhaseDraft> {
    let mut reports: HashMap<String, usize> = HashMap::new();
    for (name, _) in &found {
        *reports.entry(name.clone()).or_default() += 1;
    }
    let told = |(name, mut phase): (String, PhaseDraft)| {
        let jobs = announced.get(&name).map_or(1, |(_, count)| *count);
        if reports.get(&name).is_some_and(|count| *count > jobs) {
            phase.depth = fio::depth_of_copies(phase.depth, u16::MAX, false);
        }
        phase
    };
    found.into_iter().map(told).collect()
}

/// The phase that a report makes, with what its job was announced to do, under the job's name.
fn finished(
    report: Option<Report>,
    announced: &HashMap<String, (Announced, usize)>,
    command: Command,
) -> Result<Option<(String, PhaseDraft)>, ImportError> {
    let Some(report) = report else { return Ok(None) };
    let Report { name, copies, error, mut read, mut write, mut united, duration, syncs, .. } =
        report;
    let asked = command.shape.map(|(op, pattern)| Announced {
        op,
        pattern,
        block: command.block,
        depth: command.depth,
    });
    // Rates without a job's name may be of any of several runs.
    let asked = asked.filter(|_| !name.is_empty());
    let job = announced.get(&name).map(|(job, _)| job.clone()).or(asked);
    if read.has_run() || write.has_run() {
        united = Rates::default();
    }
    match job.as_ref().map(|job| job.op) {
        Some(OpName::Read) if united.has_run() => read = std::mem::take(&mut united),
        Some(OpName::Write) if united.has_run() => write = std::mem::take(&mut united),
        _ => {}
    }
    // Of both together without their shares it is not known what was measured.
    let told = job.as_ref().map(|job| job.op).filter(|_| !united.has_run());
    let op = told.unwrap_or_else(|| fio::op_of(&read, &write, &united));
    let pattern = job.as_ref().map_or(PatternName::Unknown, |job| job.pattern);
    let mut phase = PhaseDraft::new(op, pattern);
    if let Some(job) = job {
        (phase.block, phase.depth) = (job.block, fio::depth_of_copies(job.depth, copies, true));
    }
    let is_half_told = op == OpName::Mixed && read.has_run() != write.has_run();
    if op == OpName::Mixed {
        // The share that was asked for; of one direction alone, fio's own.
        let done = || match is_half_told {
            true => fio::DEFAULT_MIX,
            false => fio::read_percent(&read, &write),
        };
        phase.read_percent = command.read_percent.unwrap_or_else(done);
    }
    phase.duration = duration;
    let is_reading = !write.has_run() && !united.has_run();
    phase.sync = match syncs.sync() {
        _ if is_reading => phase.sync,
        Sync::None => command.sync,
        counted => counted,
    };
    if command.is_limited {
        phase.warnings.push(fio::limited());
    }
    phase.cache =
        command.cache("fio's plain output does not tell whether the page cache was in use");
    fio::state(&mut phase, [&read, &write, &united]);
    if is_half_told {
        let told = |rates: &Rates| rates.has_run().then_some(Iops(rates.iops));
        let (read_iops, write_iops) = (told(&read), told(&write));
        phase.stated = Stated { read_iops, write_iops, ..Stated::default() };
    }
    phase.figures.extend(syncs.figures());
    if error != 0 {
        fio::fail(&mut phase, error.unsigned_abs());
    } else if !(read.has_run() || write.has_run() || united.has_run()) {
        return Ok(None);
    }
    Ok(Some((name, phase)))
}
