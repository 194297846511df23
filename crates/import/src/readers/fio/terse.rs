//! fio's terse output (`--minimal`), versions 3 to 5: one line of fields a job.
//!
//! The fields are those of fio's HOWTO, "Terse output"; counted from 1 and in version 3: 2 fio's
//! version, 3 the job's name, 5 its error, then for reads 6 KiB moved, 7 KiB/s, 8 IOPS, 9 ms, 14 to
//! 17 least, greatest and mean completion latency in µs with its deviation, 18 to 37 percentiles;
//! for writes the same from 47 on, or in version 5, which ends each direction with six fields more,
//! from 53 on (`show_ddir_status_terse` in fio's stat.c). The line tells nothing of pattern, depth or direct I/O.

use cardproof_units::{Bytes, Nanos};

use super::shared::{self as fio, Command, Rates, TOOL};
use crate::ImportError;
use crate::draft::{PhaseDraft, Printed, RecordDraft};
use crate::lines::Line;
use crate::text::number;
use crate::view::View;
use cardproof_record::{Latency, OpName, PatternName, WarningCode};

/// Where the fields of reads begin, counted from 0.
const READ: usize = 5;

/// How many fields a direction has, by the version.
fn direction_fields(version: &str) -> usize {
    if version == "5" { 47 } else { 41 }
}

/// No more of a line's fields are looked at.
const FIELDS_MAX: usize = 256;

pub(super) fn is_sign(view: &View) -> bool {
    if !view.text.starts_with(['3', '4', '5']) {
        return false;
    }
    let mut fields = view.text.split(';');
    let is_version = fields.next().is_some_and(|field| matches!(field, "3" | "4" | "5"));
    is_version && fields.next().is_some_and(|field| field.starts_with("fio-"))
}

/// The record of one line or several.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut command = Command::default();
    for line in lines {
        draft.check_count()?;
        let view = line.view();
        if let Some(said) = Command::of(&view) {
            line.claim();
            command = said;
        }
        if !is_sign(&view) {
            continue;
        }
        line.claim();
        let fields: Vec<&str> = view.text.split(';').take(FIELDS_MAX).collect();
        draft.version = Some(fields[1].trim_start_matches("fio-").to_owned());
        if is_cut(&fields) {
            draft.warn(
                WarningCode::Other,
                "a terse line of fio is cut off; only the rates that stand whole in it were read",
            );
        }
        draft.phases.push(phase(line, &fields, command)?);
    }
    Ok(draft)
}

/// How many fields a line of a version has at least.
fn fields_min(version: &str) -> usize {
    READ + 2 * direction_fields(version)
}

/// Whether fields are missing at the end; the last that is there may be cut, too.
fn is_cut(fields: &[&str]) -> bool {
    fields.len() < fields_min(fields[0])
}

fn phase(line: &Line, fields: &[&str], command: Command) -> Result<PhaseDraft, ImportError> {
    let unexpected =
        |expected: &str, found: &str| ImportError::unexpected(TOOL, line.number, expected, found);
    let write_start = READ + direction_fields(fields[0]);
    let whole = fields.len() - usize::from(is_cut(fields));
    let has_rates = |start: usize| whole > start + 3;
    let rates_at = |start: usize| match has_rates(start) {
        true => rates(line, fields, start),
        false => Ok(Rates::default()),
    };
    let (read, write) = (rates_at(READ)?, rates_at(write_start)?);
    if is_cut(fields) && !(read.has_run() || write.has_run()) {
        let fields_min = fields_min(fields[0]);
        return Err(ImportError::Ends {
            tool: TOOL,
            line: line.number,
            expected: format!("{fields_min} fields of a terse line (it has {})", fields.len()),
        });
    }
    let mut phase =
        PhaseDraft::new(fio::op_of(&read, &write, &Rates::default()), PatternName::Unknown);
    let done = || fio::read_percent(&read, &write);
    let is_mixed = phase.op == OpName::Mixed;
    phase.read_percent = command.read_percent.filter(|_| is_mixed).unwrap_or_else(done);
    phase.block = block(&read).or_else(|| block(&write)).unwrap_or(Bytes::ZERO);
    phase.sync = if write.has_run() { command.sync } else { phase.sync };
    phase.cache =
        command.cache("fio's terse output does not tell whether the page cache was in use");
    let start = if read.has_run() { READ } else { write_start };
    let runtime_ms = |start: usize| field(fields, start + 3).unwrap_or(0.0);
    phase.duration = Nanos::from_secs_f64(runtime_ms(READ).max(runtime_ms(write_start)) / 1000.0);
    let is_mixed = read.has_run() && write.has_run();
    phase.latency = if is_mixed { None } else { latency(&fields[..whole], start) };
    if command.is_limited {
        phase.warnings.push(fio::limited());
    }
    fio::state(&mut phase, [&read, &write, &Rates::default()]);
    let error = fields[4];
    if error != "0" {
        let code: u32 = error.parse().map_err(|_| unexpected("an error's number", error))?;
        fio::fail(&mut phase, code.into());
    } else if !read.has_run() && !write.has_run() {
        phase.failed = Some("fio reports no operation for this job".to_owned());
    }
    Ok(phase)
}

fn field(fields: &[&str], at: usize) -> Option<f64> {
    number(fields.get(at)?)
}

fn rates(line: &Line, fields: &[&str], start: usize) -> Result<Rates, ImportError> {
    let needed = |at: usize| {
        field(fields, at).ok_or_else(|| {
            let expected = format!("a number in field {}", at + 1);
            ImportError::unexpected(TOOL, line.number, &expected, fields.get(at).unwrap_or(&""))
        })
    };
    let bytes = needed(start)? * 1024.0;
    let (kib_per_s, iops) = (needed(start + 1)?, needed(start + 2)?);
    let rates = Rates {
        bytes_per_s: kib_per_s * 1024.0,
        iops,
        ops: 0,
        bytes: bytes as u64,
        printed: vec![
            Printed::new("bw", kib_per_s, "KiB/s").in_bytes_per_s(1024.0),
            Printed::new("iops", iops, "IOPS"),
        ],
    };
    fio::check(line.number, &rates, needed(start + 3)? / 1000.0, 0.002)?;
    Ok(rates)
}

/// The block size, where the rates leave no doubt of it: the power of two within 1 % of their
/// quotient.
fn block(rates: &Rates) -> Option<Bytes> {
    if rates.iops < 100.0 {
        return None;
    }
    let quotient = rates.bytes_per_s / rates.iops;
    let power = quotient.log2().round();
    let is_sure = (9.0..=30.0).contains(&power) && (quotient / power.exp2() - 1.0).abs() < 0.01;
    is_sure.then(|| Bytes(1 << power as u32))
}

fn latency(fields: &[&str], start: usize) -> Option<Latency> {
    let micros = |value: f64| Nanos::from_secs_f64(value / 1e6);
    let percentiles = fields.get(start + 12..start + 32)?;
    let max = field(fields, start + 9)?;
    // A percentile is the end of a bucket and can be above the longest latency, which is exact.
    let at = |percent: f64| {
        let mut pairs = percentiles.iter().filter_map(|field| field.split_once("%="));
        let (_, value) = pairs.find(|(name, _)| number(name) == Some(percent))?;
        number(value).map(|value| micros(value.min(max)))
    };
    Some(Latency {
        min: micros(field(fields, start + 8)?),
        max: micros(max),
        mean: micros(field(fields, start + 10)?),
        p50: at(50.0)?,
        p90: at(90.0)?,
        p99: at(99.0)?,
        p999: at(99.9)?,
    })
}
