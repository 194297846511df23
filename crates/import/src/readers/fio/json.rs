//! fio's JSON, of versions 2 and 3, with or without the warnings that it prints before it.
//!
//! Version 2 has latencies in microseconds under `clat`, version 3 in nanoseconds under `clat_ns`.
//! Percentiles are those of `clat`, from submission to completion. A job that fio reports as failed
//! is kept as not measured.

mod document;
mod find;
mod intervals;

use cardproof_units::{Bytes, Nanos};

use super::shared::{self as fio, Rates, TOOL};
use crate::ImportError;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::Line;
use crate::view::{Needle, View};
use cardproof_record::{Latency, OpName, PatternName, WarningCode};
use document::{Direction, Directions, Document, JobOutput, OPTIONS, Options};
use find::Found;

/// The head of fio's JSON document.
const HEAD: &str = "\"fio version\"";

/// The same, to look for in a line.
const SIGN: Needle = Needle::new(HEAD);

/// The job that sums up those of all clients, which stand before it.
const SUM: &str = "All clients";

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&SIGN)
}

/// The record of all JSON documents in `lines`.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let (found, has_others) = intervals::last_of_each_run(find::documents(lines)?);
    if has_others {
        draft.warn(WarningCode::Other, fio::AT_INTERVALS);
    }
    for Found { document, is_damaged, line } in found {
        if is_damaged {
            draft.warn(
                WarningCode::Other,
                "fio's JSON is cut off or damaged; only the jobs that stand whole in it were read",
            );
        }
        add(&mut draft, document, line)?;
    }
    Ok(draft)
}

fn add(draft: &mut RecordDraft, document: Document, line: usize) -> Result<(), ImportError> {
    let version = document.version.trim_start_matches("fio-").to_owned();
    let has_others = document.jobs.0.len() > 1;
    for job in document.jobs.0.iter().filter(|job| !(has_others && job.name == SUM)) {
        draft.check_count()?;
        draft.phases.push(phase(job, &document.global, is_old(&version), line)?);
    }
    let mut engines =
        document.jobs.0.iter().filter_map(|job| option(job, &document.global, &["ioengine"]));
    if let Some(engine) = engines.next_back() {
        draft.conditions.target.engine = engine.into();
    }
    draft.version = Some(version);
    draft.began = draft.began.take().or(document.time);
    Ok(())
}

/// Whether a version may count `io_bytes` in KiB, as all did until 2017.
fn is_old(version: &str) -> bool {
    version.starts_with(['1', '2']) && version[1..].starts_with('.')
}

fn option<'o>(job: &'o JobOutput, global: &'o Options, names: &[&str]) -> Option<&'o str> {
    debug_assert!(names.iter().all(|name| OPTIONS.contains(name)), "{names:?}");
    let in_either = |name: &&str| job.options.read.get(*name).or_else(|| global.read.get(*name));
    names.iter().find_map(in_either).map(String::as_str)
}

fn phase(
    job: &JobOutput,
    global: &Options,
    is_old: bool,
    line: usize,
) -> Result<PhaseDraft, ImportError> {
    let option = |names: &[&str]| option(job, global, names);
    let asked = option(&["rw", "readwrite"]).and_then(fio::shape_of);
    let none = Direction::default();
    let directions = job.directions().unwrap_or(Directions::Apart(&none, &none));
    let by_direction = match (directions, asked) {
        (Directions::Apart(read, write), _) => [read, write, &none],
        (Directions::United(all), Some((OpName::Read, _))) => [all, &none, &none],
        (Directions::United(all), Some((OpName::Write, _))) => [&none, all, &none],
        (Directions::United(all), _) => [&none, &none, all],
    };
    let [read, write, united] = by_direction.map(|direction| rates(direction, is_old));
    for (rates, direction) in [&read, &write, &united].into_iter().zip(by_direction) {
        fio::check(line, rates, direction.runtime / 1000.0, 0.002)?;
    }
    let untold = || (fio::op_of(&read, &write, &united), PatternName::Unknown);
    let (op, pattern) = asked.unwrap_or_else(untold);
    let mut phase = PhaseDraft::new(op, pattern);
    if pattern == PatternName::Unknown {
        // Its name is all that tells it from others.
        phase.note = fio::note_of(&job.name).into();
    }
    if op == OpName::Mixed {
        let of_writes = option(&["rwmixwrite"]).and_then(fio::mix);
        let asked = option(&["rwmixread"]).and_then(fio::mix);
        // Where it does not tell the directions apart, fio's default counts.
        let default = united.has_run().then_some(fio::DEFAULT_MIX);
        phase.read_percent = asked
            .or(of_writes.map(|writes| 100 - writes))
            .or(default)
            .unwrap_or_else(|| fio::read_percent(&read, &write));
    }
    phase.block = fio::size_of(option(&["bs", "blocksize"]))
        .or_else(|| [&read, &write, &united].into_iter().find_map(Rates::block))
        .unwrap_or(Bytes::ZERO);
    phase.span = fio::size_of(option(&["size", "filesize"])).unwrap_or(Bytes::ZERO);
    let depth = option(&["iodepth"]).map_or(Some(1), |depth| depth.parse().ok());
    let depth = match option(&["ioengine"]) {
        Some(engine) => fio::depth_of(engine, depth.unwrap_or(0)),
        // fio's default engine is another on each system; most have one operation in flight.
        None if job.depths.get("1").is_some_and(|percent| *percent >= 99.95) => 1,
        None if job.depths.is_empty() => depth.filter(|depth| *depth == 1).unwrap_or(0),
        None => depth.unwrap_or(0),
    };
    let copies = option(&["numjobs"]).map_or(Some(1), |copies| copies.parse().ok());
    let are_summed = option(&["group_reporting"]).is_some_and(|value| value != "0");
    let is_known = !(job.options.is_empty() && global.is_empty());
    let depth = if is_known { depth } else { 0 };
    phase.depth = fio::depth_of_copies(depth, copies.unwrap_or(u16::MAX), are_summed);
    // A job that reads may have the option from all others.
    let is_reading = !write.has_run() && !united.has_run();
    phase.sync = if is_reading { Sync::None } else { sync_of(&option) };
    let is_direct =
        option(&["direct"]).is_some_and(fio::is_on) || option(&["buffered"]) == Some("0");
    let has_options = !(job.options.is_empty() && global.is_empty());
    phase.cache = if is_direct {
        Cache::Bypassed
    } else if has_options {
        Cache::Used("fio's job does not ask for direct I/O, so its figures may be those of memory")
    } else {
        Cache::Unknown("fio's document does not repeat the job's options")
    };
    if fio::LIMITS.iter().any(|name| option(&[name]).is_some()) {
        phase.warnings.push(fio::limited());
    }
    let runtime_ms = by_direction.iter().map(|direction| direction.runtime).fold(0.0, f64::max);
    phase.duration = Nanos::from_secs_f64(runtime_ms / 1000.0);
    let have_run = [&read, &write, &united].map(Rates::has_run);
    // Two directions apart have two latencies, and a phase has one.
    phase.latency = match have_run.map(usize::from).iter().sum() {
        1 => by_direction.iter().zip(have_run).find(|(_, has_run)| *has_run),
        _ => None,
    }
    .and_then(|(direction, _)| latency(direction));
    fio::state(&mut phase, [&read, &write, &united]);
    if job.error != 0 {
        fio::fail(&mut phase, job.error.unsigned_abs());
    } else if have_run == [false; 3] {
        phase.failed = Some("fio reports no operation for this job".to_owned());
    }
    Ok(phase)
}

fn rates(direction: &Direction, is_old: bool) -> Rates {
    let bytes_per_s = direction.bw_bytes.unwrap_or(direction.bw * 1024.0).max(0.0);
    let moved = direction.io_bytes.max(0.0);
    let by_time = bytes_per_s * direction.runtime / 1000.0;
    let is_kib = is_old && (moved * 1024.0 - by_time).abs() < (moved - by_time).abs();
    Rates {
        bytes_per_s,
        iops: direction.iops.max(0.0),
        ops: direction.total_ios,
        bytes: (if is_kib { moved * 1024.0 } else { moved }) as u64,
        printed: vec![
            Printed::new("bw", direction.bw, "KiB/s").in_bytes_per_s(1024.0),
            Printed::new("iops", direction.iops, "IOPS"),
        ],
    }
}

fn sync_of<'o>(option: &impl Fn(&[&str]) -> Option<&'o str>) -> Sync {
    let every = option(&["fsync", "fdatasync"]).and_then(|count| count.parse::<u64>().ok());
    let is_on = |name: &str| option(&[name]).is_some_and(fio::is_on);
    match every {
        Some(count) if count > 0 => Sync::Every(count),
        _ if is_on("sync") => Sync::Every(1),
        _ if is_on("end_fsync") || is_on("fsync_on_close") => Sync::AtEnd,
        _ => Sync::None,
    }
}

fn latency(direction: &Direction) -> Option<Latency> {
    let (spread, unit_ns) = match (&direction.clat_ns, &direction.clat) {
        (Some(spread), _) => (spread, 1.0),
        (None, Some(spread)) => (spread, 1000.0),
        (None, None) => return None,
    };
    let nanos = |value: f64| Nanos::from_secs_f64(value * unit_ns / 1e9);
    // A percentile is the end of a bucket and can be above the longest latency, which is exact.
    let at = |percent: f64| {
        let is_it = |name: &String| name.parse::<f64>().is_ok_and(|p| (p - percent).abs() < 1e-9);
        let (_, value) = spread.percentile.iter().find(|(name, _)| is_it(name))?;
        Some(nanos(value.min(spread.max)))
    };
    Some(Latency {
        min: nanos(spread.min),
        mean: nanos(spread.mean),
        p50: at(50.0)?,
        p90: at(90.0)?,
        p99: at(99.0)?,
        p999: at(99.9)?,
        max: nanos(spread.max),
    })
}
