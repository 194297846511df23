//! fio's output for people, of versions 2 and 3.
//!
//! A job is announced with what it does (`test: (g=0): rw=randrw, bs=…, ioengine=…, iodepth=…`) and
//! reported under `test: (groupid=0, jobs=1): err= 0`. Version 3 prints `read: IOPS=48.1k,
//! BW=188MiB/s (197MB/s)(23.9MiB/127msec)`, version 2 `read : io=78256KB, bw=2193.4KB/s, iops=548,
//! runt= 35679msec`; its KB are KiB. Figures are printed with three digits or so.

use cardproof_units::{Bytes, Nanos};

use super::ImportError;
use super::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use super::fio::{self, Rates, TOOL};
use super::text::{Line, Quantity, between, last_number, quantities, word_after};
use cardproof_record::{OpName, PatternName};

/// What a job was announced to do.
#[derive(Clone, Debug)]
struct Announced {
    name: String,
    op: OpName,
    pattern: PatternName,
    block: Bytes,
    depth: u16,
}

/// A job's report while it is being read.
struct Report {
    name: String,
    line: usize,
    /// Of how many copies of the job the figures are the sum.
    copies: u16,
    error: i64,
    read: Rates,
    write: Rates,
    duration: Nanos,
}

pub(super) fn is_sign(line: &str) -> bool {
    line.contains(": (groupid=") || line.contains(": (g=") && line.contains("rw=")
}

/// The record of one job or several.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut announced: Vec<Announced> = Vec::new();
    let mut report: Option<Report> = None;
    let mut found: Vec<(String, PhaseDraft)> = Vec::new();
    for line in lines {
        let text = line.text.trim();
        if let Some(version) = text.strip_prefix("fio-").filter(|_| !text.contains(' ')) {
            draft.version = Some(version.to_owned());
        } else if text.contains(": (groupid=") {
            found.extend(finished(report.take(), &announced)?);
            report = Some(begun(line)?);
        } else if text.contains(": (g=") {
            announced.extend(announcement(text));
            if let Some(engine) = between(text, "ioengine=", ",") {
                draft.conditions.target.engine = engine.to_owned();
            }
        } else if let Some(report) = &mut report {
            read_rates(line, report)?;
        }
    }
    found.extend(finished(report, &announced)?);
    draft.phases = with_copies_told(found, &announced);
    let is_whole = lines.iter().any(|line| line.text.starts_with("Run status group"));
    if draft.phases.is_empty() || !is_whole {
        let expected = "the report with 'Run status group'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

fn announcement(text: &str) -> Option<Announced> {
    let (name, _) = text.split_once(": (g=")?;
    let (op, pattern) = fio::shape_of(between(text, "rw=", ",")?)?;
    let sizes = quantities(between(text, "bs=", "ioengine=")?);
    let size = sizes.first().and_then(|size| bytes_of(size));
    Some(Announced {
        name: name.to_owned(),
        op,
        pattern,
        block: size.map_or(Bytes::ZERO, |bytes| Bytes(bytes as u64)),
        depth: fio::depth_of(
            between(text, "ioengine=", ",").unwrap_or_default(),
            word_after(text, "iodepth=").and_then(|depth| depth.parse().ok()).unwrap_or(0),
        ),
    })
}

fn begun(line: &Line) -> Result<Report, ImportError> {
    let (name, rest) = line.text.split_once(": (groupid=").unwrap_or_default();
    let error = between(rest, "err=", ":").and_then(|code| code.parse().ok());
    let error = error.ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "'(groupid=0, jobs=1): err= 0:'", &line.text)
    })?;
    Ok(Report {
        name: name.trim().to_owned(),
        line: line.number,
        copies: between(rest, "jobs=", ")").and_then(|copies| copies.parse().ok()).unwrap_or(1),
        error,
        read: Rates::default(),
        write: Rates::default(),
        duration: Nanos::ZERO,
    })
}

/// Takes over the rates in `line`, if it is one of rates.
fn read_rates(line: &Line, report: &mut Report) -> Result<(), ImportError> {
    let text = line.text.trim();
    let Some((direction, rest)) = text.split_once(':') else { return Ok(()) };
    let is_rates = rest.contains("IOPS=") || rest.contains("iops=");
    let rates = match direction.trim() {
        "read" if is_rates => &mut report.read,
        "write" if is_rates => &mut report.write,
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

fn version_3(text: &str) -> Option<(Rates, Nanos)> {
    let iops = *quantities(between(text, "IOPS=", ",")?).first()?;
    let rate = *quantities(text.split_once("BW=")?.1).first()?;
    let (_, amounts) = text.rsplit_once('(')?;
    let amounts = quantities(amounts.split_once(')')?.0);
    let [amount, time] = amounts.as_slice() else { return None };
    // `23.9MiB/127msec` reads as an amount in `MiB/` and a time.
    let amount = Quantity { unit: amount.unit.trim_end_matches('/'), ..*amount };
    let bytes = bytes_of(&amount)?;
    Some((rates(&rate, &iops, bytes)?, time_of(time)?))
}

fn version_2(text: &str) -> Option<(Rates, Nanos)> {
    let first = |from: &str, to: &str| Some(*quantities(between(text, from, to)?).first()?);
    let bytes = bytes_of(&first("io=", ",")?)?;
    let (rate, iops) = (first("bw=", ",")?, first("iops=", ",")?);
    let time = time_of(quantities(text.split_once("runt=")?.1).first()?)?;
    Some((rates(&rate, &iops, bytes)?, time))
}

fn rates(rate: &Quantity<'_>, iops: &Quantity<'_>, bytes: f64) -> Option<Rates> {
    let unit_bytes = rate.unit.strip_suffix("/s")?;
    let unit_bytes_per_s = bytes_of(&Quantity { unit: unit_bytes, value: 1.0 })?;
    let (factor, iops_unit) = match iops.unit {
        "" => (1.0, "IOPS"),
        "k" => (1e3, "k IOPS"),
        "M" => (1e6, "M IOPS"),
        _ => return None,
    };
    Some(Rates {
        bytes_per_s: rate.value * unit_bytes_per_s,
        iops: iops.value * factor,
        ops: 0,
        bytes: bytes as u64,
        printed: vec![
            Printed::new("bw", rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s),
            Printed::new("iops", iops.value, iops_unit),
        ],
    })
}

/// Bytes of an amount, in which K, M and G are powers of 1024 however they are written.
fn bytes_of(amount: &Quantity<'_>) -> Option<f64> {
    let power = match amount.unit {
        "B" => 0,
        "K" | "KB" | "KiB" => 1,
        "M" | "MB" | "MiB" => 2,
        "G" | "GB" | "GiB" => 3,
        _ => return None,
    };
    Some(amount.value * 1024_f64.powi(power))
}

fn time_of(time: &Quantity<'_>) -> Option<Nanos> {
    let seconds = match time.unit {
        "usec" => time.value / 1e6,
        "msec" => time.value / 1e3,
        "sec" => time.value,
        _ => return None,
    };
    Some(Nanos::from_secs_f64(seconds))
}

/// The phases in `found`, each under its job's name. fio announces copies of a job once and then
/// reports each of them: those were at work together, and none is a measurement at its own depth.
fn with_copies_told(found: Vec<(String, PhaseDraft)>, announced: &[Announced]) -> Vec<PhaseDraft> {
    let reports = |name: &str| found.iter().filter(|(other, _)| other == name).count();
    let jobs = |name: &str| announced.iter().filter(|job| job.name == name).count();
    let are_copies: Vec<bool> =
        found.iter().map(|(name, _)| reports(name) > jobs(name).max(1)).collect();
    let told = |((_, mut phase), is_copy): ((String, PhaseDraft), bool)| {
        if is_copy {
            phase.depth = fio::depth_of_copies(phase.depth, u16::MAX, false);
        }
        phase
    };
    found.into_iter().zip(are_copies).map(told).collect()
}

/// The phase that a report makes, with what its job was announced to do, under the job's name.
fn finished(
    report: Option<Report>,
    announced: &[Announced],
) -> Result<Option<(String, PhaseDraft)>, ImportError> {
    let Some(Report { name, line, copies, error, read, write, duration }) = report else {
        return Ok(None);
    };
    let job = announced.iter().find(|job| job.name == name);
    let op = job.map_or_else(|| fio::op_of(&read, &write), |job| job.op);
    let pattern = job.map_or(PatternName::Unknown, |job| job.pattern);
    let mut phase = PhaseDraft::new(op, pattern);
    if let Some(job) = job {
        (phase.block, phase.depth) = (job.block, fio::depth_of_copies(job.depth, copies, true));
    }
    if op == OpName::Mixed {
        phase.read_percent = fio::read_percent(&read, &write);
    }
    phase.duration = duration;
    phase.cache =
        Cache::Untold("fio's plain output does not tell whether the page cache was in use");
    fio::state(&mut phase, &read, &write);
    if error != 0 {
        phase.failed = Some(format!("fio reports error {error} for this job"));
    } else if !read.has_run() && !write.has_run() {
        let expected = "the job's 'read:' or 'write:' line with IOPS".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line, expected });
    }
    Ok(Some((name, phase)))
}
