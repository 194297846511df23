//! fio's JSON, of versions 2 and 3, with or without the warnings that it prints before it.
//!
//! Version 2 has latencies in microseconds under `clat`, version 3 in nanoseconds under `clat_ns`.
//! Percentiles are those of `clat`, from submission to completion. A job that fio reports as failed
//! is kept as not measured.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use cardproof_units::{Bytes, Nanos};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::damaged;
use super::shared::{self as fio, Rates, TOOL};
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::view::{Needle, View};
use crate::{ImportError, MEASUREMENTS_MAX};
use cardproof_record::{Latency, OpName, PatternName, WarningCode};

/// The head of fio's JSON document.
const HEAD: &str = "\"fio version\"";

/// The same, to look for in a line.
const SIGN: Needle = Needle::new(HEAD);

/// The job that sums up those of all clients, which stand before it.
const SUM: &str = "All clients";

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&SIGN)
}

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    time: Option<String>,
    #[serde(rename = "global options", default)]
    global: Options,
    /// With clients each has its own, under another name.
    #[serde(alias = "client_stats")]
    jobs: Jobs,
}

/// The options that are read.
const OPTIONS: [&str; 18] = [
    "blocksize",
    "bs",
    "buffered",
    "direct",
    "end_fsync",
    "fdatasync",
    "filesize",
    "fsync",
    "fsync_on_close",
    "group_reporting",
    "iodepth",
    "ioengine",
    "numjobs",
    "readwrite",
    "rw",
    "rwmixread",
    "size",
    "sync",
];

/// Options as fio repeats them: all are text.
#[derive(Debug, Default)]
struct Options {
    /// Those of [`OPTIONS`].
    read: BTreeMap<&'static str, String>,
    /// Whether there are others.
    has_others: bool,
}

impl Options {
    fn is_empty(&self) -> bool {
        self.read.is_empty() && !self.has_others
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OptionsVisitor)
    }
}

struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = Options;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
        let mut options = Options::default();
        while let Some((Text(name), Text(value))) = map.next_entry()? {
            match OPTIONS.iter().find(|known| **known == name) {
                Some(name) => drop(options.read.insert(name, value.into_owned())),
                None => options.has_others = true,
            }
        }
        Ok(options)
    }
}

/// A text, which is no copy where it stands in the document as it is.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

/// The jobs of a document, and so many of a long one that it is refused for their number.
#[derive(Debug)]
struct Jobs(Vec<JobOutput>);

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(JobsVisitor)
    }
}

struct JobsVisitor;

impl<'de> Visitor<'de> for JobsVisitor {
    type Value = Jobs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Jobs, A::Error> {
        let mut jobs = Vec::new();
        while jobs.len() <= MEASUREMENTS_MAX
            && let Some(job) = seq.next_element()?
        {
            jobs.push(job);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Jobs(jobs))
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Job")]
pub(super) struct JobOutput {
    #[serde(rename = "jobname", default)]
    name: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: Options,
    read: Direction,
    write: Direction,
    /// How large a share of operations, in percent, found so many in flight.
    #[serde(rename = "iodepth_level", default)]
    depths: BTreeMap<String, f64>,
}

#[derive(Debug, Default, Deserialize)]
struct Direction {
    #[serde(default)]
    io_bytes: f64,
    #[serde(default)]
    bw: f64,
    #[serde(default)]
    bw_bytes: Option<f64>,
    #[serde(default)]
    iops: f64,
    #[serde(default)]
    runtime: f64,
    #[serde(default)]
    total_ios: u64,
    #[serde(default)]
    clat_ns: Option<Spread>,
    #[serde(default)]
    clat: Option<Spread>,
}

#[derive(Debug, Default, Deserialize)]
struct Spread {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// The record of all JSON documents in `lines`.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let is_head = |index: &usize| is_sign(&View::of(&lines[*index].text));
    let heads: Vec<usize> = (0..lines.len()).filter(is_head).collect();
    let starts: Vec<usize> = heads
        .iter()
        .scan(0, |from, &head| {
            let is_start = |&index: &usize| lines[index].text.trim_start().starts_with('{');
            let start = (*from..=head).rev().find(is_start).unwrap_or(head);
            *from = head + 1;
            Some(start)
        })
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    for (&start, end) in starts.iter().zip(ends) {
        let part = &lines[start..end];
        let (document, is_damaged) = parse(part)?;
        if is_damaged {
            draft.warn(
                WarningCode::Other,
                "fio's JSON is cut off or damaged; only the jobs that stand whole in it were read",
            );
        }
        add(&mut draft, document, part[0].number)?;
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

/// The document at the beginning of `lines`, and whether it is only what is whole of a damaged one.
fn parse(lines: &[Line]) -> Result<(Document, bool), ImportError> {
    let mut document = String::new();
    for line in lines {
        document.push_str(&line.text);
        document.push('\n');
    }
    // The document may begin behind other words of its line.
    let head = document.find(HEAD).unwrap_or(0);
    let text = &document[document[..head].rfind('{').unwrap_or(0)..];
    let skipped = document.len() - text.len();
    let number = lines.first().map_or(1, |line| line.number);
    let claim = |until: usize| {
        let count = document[..skipped + until].lines().count();
        lines.iter().take(count).for_each(Line::claim);
    };
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Document>();
    let error = match values.next() {
        Some(Ok(found)) if !found.jobs.0.is_empty() => {
            claim(values.byte_offset());
            return Ok((found, false));
        }
        Some(Err(error)) => error,
        _ => return Err(ImportError::unexpected(TOOL, number, "at least one job", "none")),
    };
    if let Some((found, until)) = damaged::whole_jobs(text, &error) {
        claim(until);
        return Ok((found, true));
    }
    if error.is_eof() {
        let expected = "the end of the JSON document".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    let line = lines.get(error.line().saturating_sub(1)).map_or(number, |line| line.number);
    Err(ImportError::unexpected(TOOL, line, "fio's JSON with its jobs", &error.to_string()))
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
    let [read, write] = [&job.read, &job.write].map(|direction| rates(direction, is_old));
    for (rates, direction) in [(&read, &job.read), (&write, &job.write)] {
        fio::check(line, rates, direction.runtime / 1000.0, 0.002)?;
    }
    let option = |names: &[&str]| option(job, global, names);
    let asked = option(&["rw", "readwrite"]).and_then(fio::shape_of);
    let (op, pattern) = asked.unwrap_or((fio::op_of(&read, &write), PatternName::Unknown));
    let mut phase = PhaseDraft::new(op, pattern);
    phase.read_percent = match (op, option(&["rwmixread"])) {
        (OpName::Mixed, Some(share)) => share.parse().unwrap_or(50).min(100),
        (OpName::Mixed, None) => fio::read_percent(&read, &write),
        _ => phase.read_percent,
    };
    phase.block = size_of(option(&["bs", "blocksize"]))
        .or_else(|| read.block().or_else(|| write.block()))
        .unwrap_or(Bytes::ZERO);
    phase.span = size_of(option(&["size", "filesize"])).unwrap_or(Bytes::ZERO);
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
    phase.sync = sync_of(&option);
    let is_direct =
        option(&["direct"]).is_some_and(fio::is_on) || option(&["buffered"]) == Some("0");
    let has_options = !(job.options.is_empty() && global.is_empty());
    phase.cache = if is_direct {
        Cache::Bypassed
    } else if has_options {
        Cache::Used("fio's job does not ask for direct I/O")
    } else {
        Cache::Unknown("fio's document does not repeat the job's options")
    };
    phase.duration = Nanos::from_secs_f64(job.read.runtime.max(job.write.runtime) / 1000.0);
    phase.latency = latency(if read.has_run() { &job.read } else { &job.write })
        .filter(|_| !(read.has_run() && write.has_run()));
    fio::state(&mut phase, &read, &write);
    if job.error != 0 {
        phase.failed = Some(format!("fio reports error {} for this job", job.error));
    } else if !read.has_run() && !write.has_run() {
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
    let is_on = |name: &str| matches!(option(&[name]), Some(value) if value != "0");
    match every {
        Some(count) if count > 0 => Sync::Every(count),
        _ if is_on("sync") => Sync::Every(1),
        _ if is_on("end_fsync") || is_on("fsync_on_close") => Sync::AtEnd,
        _ => Sync::None,
    }
}

/// A size as fio's options have them: a number, and powers of 1024 by their letter.
fn size_of(text: Option<&str>) -> Option<Bytes> {
    let text = text?.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    let count: u64 = digits.parse().ok().filter(|count| *count > 0 && *count < 1 << 33)?;
    Some(Bytes(count << power))
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
