//! The options of one fio job that have a meaning here.

use cardproof_io::Calls;
use cardproof_units::{Bytes, Iops, Nanos};

/// What moves the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EngineKind {
    /// One operation after the other, whatever `iodepth` says.
    #[default]
    Synchronous,
    /// As many as `iodepth` says.
    Asynchronous,
}

/// How a file that is only written begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Allocation {
    /// With its space reserved, fio's default.
    #[default]
    Reserved,
    /// Empty.
    None,
    /// Written in full before it is written over.
    LaidOut,
}

/// One job's settings.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) is_random: bool,
    pub(super) read_percent: Option<u8>,
    mix_read_percent: Option<u8>,
    pub(super) block_size: Option<Bytes>,
    pub(super) size: Option<Bytes>,
    io_size: Option<Bytes>,
    pub(super) ops: Option<u64>,
    depth: Option<u16>,
    engine: EngineKind,
    pub(super) direct: bool,
    pub(super) runtime: Option<Nanos>,
    is_time_based: bool,
    pub(super) fsync_every: Option<u32>,
    pub(super) end_fsync: bool,
    pub(super) repeats: bool,
    pub(super) loops: Option<u32>,
    pub(super) waits: bool,
    pub(super) file: Option<String>,
    pub(super) allocation: Allocation,
    pub(super) rate_limit: Option<Iops>,
}

/// Options that change what fio prints, how it draws or what it does beside the operations.
const PASSED_OVER: &[&str] = &[
    "name",
    "description",
    "directory",
    "group_reporting",
    "gtod_reduce",
    "randrepeat",
    "randseed",
    "allrandrepeat",
    "thread",
    "refill_buffers",
    "scramble_buffers",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "disable_bw",
    "lat_percentiles",
    "clat_percentiles",
    "percentile_list",
    "log_avg_msec",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "unlink",
    "create_fsync",
    "cpus_allowed",
    "cpus_allowed_policy",
    "prio",
    "prioclass",
    "nice",
    "iomem",
    "mem",
];

/// Options that may only have the value that is meant here anyway, with why no other.
const FIXED: &[(&str, &str, &str)] = &[
    ("numjobs", "1", "several processes at a time are not run; raise iodepth instead"),
    ("nrfiles", "1", "a job works in one file"),
    ("invalidate", "1", "the page cache is always emptied before a job"),
    (
        "zero_buffers",
        "0",
        "data is always incompressible, or storage that compresses would seem faster",
    ),
    ("buffer_compress_percentage", "0", "data is always incompressible"),
    ("random_distribution", "random", "random addresses are spread evenly"),
    ("fadvise_hint", "1", "random jobs always tell the system so"),
];

/// Options with a better home, and where that is.
const ELSEWHERE: &[(&str, &str)] = &[
    ("verify", "cardproof compares data in profiles of its own; leave it out"),
    ("ramp_time", "every operation counts here, and change within a job is shown; leave it out"),
    ("fdatasync", "only fsync is known; use fsync=N"),
    ("sync", "writes are made durable by fsync=N or end_fsync=1 here"),
    ("rate", "only rate_iops is known"),
    ("offset", "a job works from the start of its file"),
];

impl Settings {
    /// Takes one option.
    pub(super) fn apply(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "rw" | "readwrite" => self.set_pattern(value)?,
            "bs" | "blocksize" => self.block_size = Some(size(value)?),
            "size" | "filesize" => self.size = Some(size(value)?),
            "io_size" => self.io_size = Some(size(value)?),
            "number_ios" => self.ops = Some(number(value)?),
            "iodepth" => self.depth = Some(number(value)?),
            "ioengine" => self.engine = engine(value)?,
            "direct" => self.direct = switch(value)?,
            "buffered" => self.direct = !switch(value)?,
            "runtime" | "timeout" => self.runtime = Some(time(value)?),
            "time_based" => self.is_time_based = switch(value)?,
            "rwmixread" => self.mix_read_percent = Some(percent(value)?),
            "rwmixwrite" => self.mix_read_percent = Some(100 - percent(value)?),
            "fsync" => self.fsync_every = Some(number(value)?).filter(|every| *every > 0),
            "end_fsync" | "fsync_on_close" => self.end_fsync = switch(value)?,
            "norandommap" => self.repeats = switch(value)?,
            "loops" => self.loops = Some(number(value)?),
            "stonewall" | "wait_for_previous" => self.waits = switch(value)?,
            "filename" => self.file = Some(value.to_owned()),
            "fallocate" => self.allocation = allocation(value)?,
            "overwrite" if switch(value)? => self.allocation = Allocation::LaidOut,
            "rate_iops" => self.rate_limit = Some(Iops(f64::from(number::<u32>(value)?))),
            _ => return passed_over(key, value),
        }
        Ok(())
    }

    /// Whether the job can be run at all.
    pub(super) fn check(&self) -> Result<(), String> {
        let missing = |what: &str| Err(what.to_owned());
        if self.read_percent.is_none() {
            return missing("rw= is missing, so its operations are unknown");
        }
        if self.size.is_none() {
            return missing("it has no size=; give it one such as size=256m");
        }
        if self.is_time_based && self.runtime.is_none() {
            return missing("it is time_based and has no runtime=");
        }
        if self.runtime == Some(Nanos::ZERO) || self.loops == Some(0) || self.ops == Some(0) {
            return missing("a runtime, loops or number_ios of 0 measures nothing");
        }
        if self.rate_limit.is_some_and(|rate| rate.0 <= 0.0) {
            return missing("a rate_iops of 0 never does anything");
        }
        Ok(())
    }

    /// Of 100 operations, how many read.
    pub(super) fn reads(&self) -> u8 {
        match self.read_percent {
            Some(MIXED) | None => self.mix_read_percent.unwrap_or(50),
            Some(percent) => percent,
        }
    }

    /// How many operations are in flight.
    pub(super) fn queue_depth(&self) -> u16 {
        match self.engine {
            EngineKind::Synchronous => 1,
            EngineKind::Asynchronous => self.depth.unwrap_or(1).max(1),
        }
    }

    /// How its engine hands operations to the system.
    pub(super) fn calls(&self) -> Calls {
        match self.engine {
            EngineKind::Synchronous => Calls::Plain,
            EngineKind::Asynchronous => Calls::Queued,
        }
    }

    /// After how many bytes it ends.
    pub(super) fn bytes(&self) -> Option<Bytes> {
        if self.is_time_based { None } else { self.io_size.or(self.size) }
    }

    fn set_pattern(&mut self, value: &str) -> Result<(), String> {
        let (is_random, reads) = match value {
            "read" => (false, 100),
            "write" => (false, 0),
            "randread" => (true, 100),
            "randwrite" => (true, 0),
            "rw" | "readwrite" => (false, MIXED),
            "randrw" => (true, MIXED),
            other => {
                return Err(format!(
                    "'{other}' is not known; it can be read, write, randread, randwrite, rw, randrw"
                ));
            }
        };
        (self.is_random, self.read_percent) = (is_random, Some(reads));
        Ok(())
    }
}

/// Stands for a mix, whose share another option gives.
const MIXED: u8 = u8::MAX;

/// An option that sets nothing here: it may be of no account, or have to be refused.
fn passed_over(key: &str, value: &str) -> Result<(), String> {
    if PASSED_OVER.contains(&key) || key == "overwrite" {
        return Ok(());
    }
    if let Some((_, only, why)) = FIXED.iter().find(|(name, _, _)| *name == key) {
        let is_same = value == *only;
        return if is_same { Ok(()) } else { Err(format!("only {key}={only} is known: {why}")) };
    }
    match ELSEWHERE.iter().find(|(name, _)| *name == key) {
        Some((_, instead)) => Err((*instead).to_owned()),
        None => Err("this option has no meaning here; leave it out".to_owned()),
    }
}

/// A size as fio reads it: 4k is 4096, and kb, mb are the same.
fn size(value: &str) -> Result<Bytes, String> {
    let lower = value.to_ascii_lowercase();
    let plain = lower.strip_suffix("ib").or(lower.strip_suffix('b')).unwrap_or(&lower);
    match plain.parse::<Bytes>() {
        Ok(Bytes::ZERO) => Err("a size of 0 measures nothing".to_owned()),
        Ok(size) => Ok(size),
        Err(_) => Err(format!("'{value}' is no single size such as 4k or 256m")),
    }
}

/// A time as fio reads it: seconds, or with a unit.
fn time(value: &str) -> Result<Nanos, String> {
    let days = value.strip_suffix('d').and_then(|days| days.parse::<u64>().ok());
    match days {
        Some(days) => Ok(Nanos::from_secs(days.saturating_mul(86_400))),
        None => value.parse().map_err(|_| format!("'{value}' is no time such as 10 or 500ms")),
    }
}

fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("'{value}' is no number that fits"))
}

fn percent(value: &str) -> Result<u8, String> {
    match number(value)? {
        percent @ 0..=100 => Ok(percent),
        _ => Err("it is of 100".to_owned()),
    }
}

fn switch(value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("'{value}' is neither 0 nor 1")),
    }
}

fn engine(value: &str) -> Result<EngineKind, String> {
    match value {
        "libaio" | "io_uring" | "posixaio" => Ok(EngineKind::Asynchronous),
        "psync" | "sync" | "pvsync" | "pvsync2" | "vsync" => Ok(EngineKind::Synchronous),
        other => Err(format!(
            "'{other}' is not known; libaio, io_uring, posixaio, sync, psync, vsync, pvsync are"
        )),
    }
}

fn allocation(value: &str) -> Result<Allocation, String> {
    match value {
        "none" | "0" | "truncate" => Ok(Allocation::None),
        "native" | "posix" | "1" => Ok(Allocation::Reserved),
        other => Err(format!("'{other}' is not known; none, native and posix are")),
    }
}
