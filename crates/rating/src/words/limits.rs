//! What limits, in sentences.

use std::fmt;

use cardproof_record::{
    Activity, CpuActivity, DeviceActivity, JobRun, Limit, LimitedBy, Phase, Record, Requests,
};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::limits::{self, DataWrites, Evidence, Limiting, is_writing};

use super::wording::whole_percent;

/// What limits in `activity`, where `ceiling` tells what the link of a device can carry.
#[must_use]
pub fn limited_now(activity: &Activity, ceiling: &dyn Fn(&str) -> Option<Throughput>) -> LimitedBy {
    limits::limited_now(activity, ceiling).into()
}

/// What limited `phase` of `record`; `None` where it was not measured or nobody looked at the
/// system meanwhile.
#[must_use]
pub fn limit_of_phase(record: &Record, phase: &Phase) -> Option<LimitedBy> {
    limits::limit_of_phase(record, phase).map(Into::into)
}

/// What limited `run` of `record`; `None` where it has no time or nobody looked at the system
/// meanwhile.
#[must_use]
pub fn limit_of_job(record: &Record, run: &JobRun) -> Option<LimitedBy> {
    limits::limit_of_job(record, run).map(Into::into)
}

/// `record` with [`Phase::limited_by`] and [`JobRun::limited_by`](cardproof_record::JobRun::limited_by)
/// set wherever they can be told, for output.
#[must_use]
pub fn with_limits(record: &Record) -> Record {
    let mut told = record.clone();
    for (phase, of) in told.phases.iter_mut().zip(&record.phases) {
        phase.limited_by = limit_of_phase(record, of);
    }
    for (run, of) in told.job_runs.iter_mut().zip(&record.job_runs) {
        run.limited_by = limit_of_job(record, of);
    }
    told
}

/// `limited` in one sentence, such as `Limited by the processor: …`.
#[must_use]
pub fn in_words(limited: &LimitedBy) -> String {
    let evidence = limited.evidence.join("; ");
    let device = limited.device.as_ref().map_or(String::new(), |device| format!(" {device}"));
    match limited.limit {
        Limit::Nothing => format!("No bottleneck: {evidence}."),
        Limit::Unknown => format!("The limit cannot be determined: {evidence}."),
        limit => format!("Limited by {}{device}: {evidence}.", limit.words()),
    }
}

impl From<Limiting> for LimitedBy {
    fn from(limiting: Limiting) -> Self {
        let Limiting { limit, device, evidence } = limiting;
        Self { limit, device, evidence: evidence.iter().map(ToString::to_string).collect() }
    }
}

impl Limiting {
    /// The figures that show it, in a row.
    pub(super) fn evidence_in_words(&self) -> String {
        let evidence: Vec<String> = self.evidence.iter().map(ToString::to_string).collect();
        evidence.join("; ")
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| whole_percent(*share);
        match self {
            Self::UnderVoltage => f.write_str("the board reports too low a supply voltage"),
            Self::Throttled => f.write_str("the board reports that it throttles itself"),
            Self::SoftTemperatureLimit => {
                f.write_str("the board reports its soft temperature limit")
            }
            Self::ClockCapped => f.write_str("the board reports that it caps its clock"),
            Self::Temperature(celsius) => write!(f, "{celsius:.0} °C"),
            Self::Clock { now_hz, max_hz } => {
                let mhz = |hertz: u64| (hertz as f64 / 1e6).round();
                match max_hz {
                    Some(max) => write!(f, "clock at {} of {} MHz", mhz(*now_hz), mhz(*max)),
                    None => write!(f, "clock at {} MHz", mhz(*now_hz)),
                }
            }
            Self::AllWaitedForMemory(share) => {
                write!(f, "all tasks waited for memory {} of the time", percent(share))
            }
            Self::WaitedForMemory(share) => {
                write!(f, "tasks waited for memory {} of the time", percent(share))
            }
            Self::Swapping(read, written) => write!(f, "swapping {read} in and {written} out"),
            Self::SwappingIn(rate) => write!(f, "swapping {rate} in"),
            Self::MemoryLeft(memory) => {
                write!(f, "{} of {} available", memory.available_bytes, memory.total_bytes)
            }
            Self::Cpu(cpu) => f.write_str(&cpu_in_words(cpu)),
            Self::CpuBeside(cpu, others) => write!(f, "{}; {others}", cpu_in_words(cpu)),
            Self::OneCpu { cpus, share } => {
                write!(f, "one of {cpus} processors was {} busy", percent(share))
            }
            Self::Busiest { name, share, transactions } => {
                let rate = per_s(*transactions, "requests");
                write!(f, "{name} {} busy with {rate}", percent(share))
            }
            Self::NoCounters => {
                f.write_str("neither a processor's nor a device's counters can be read")
            }
            Self::Disturbed(disturbance) => disturbance.fmt(f),
            Self::RateOfBus { rate, ceiling, link } => write!(
                f,
                "{rate} is {} of the {ceiling} of its bus{}",
                whole_percent(rate.0 / ceiling.0),
                link.as_ref().map_or(String::new(), |link| format!(" ({link})"))
            ),
            Self::WorkOfBus { share, bus } => {
                write!(f, "that is {} of the {bus} of its bus", percent(share))
            }
            Self::RunUsed(share) => write!(f, "this run used {} of one processor", percent(share)),
            Self::JobUsed(share) => write!(f, "the job used {} of one processor", percent(share)),
            Self::RateWas(rate) => write!(f, "the rate was {rate}"),
            Self::Rate(rate) => rate.fmt(f),
            Self::EachWaited(time) => write!(f, "each operation waited {time}"),
            Self::WaitedForSyncs { count, share } => {
                write!(f, "the job waited for {count} syncs in {} of its time", percent(share))
            }
            Self::RestWaited => f.write_str("the rest of its time the job waited for the storage"),
            Self::Work(device) => f.write_str(&work_in_words(device)),
            Self::Busy { share, queue } => {
                write!(f, "busy {} of the time with {queue:.1} requests at once", percent(share))
            }
            Self::WaitedForIo(share) => {
                write!(f, "tasks waited for I/O {} of the time", percent(share))
            }
            Self::Unexplained { name, share } => write!(
                f,
                "{name}, the busiest device watched, was busy {} of the time, which does not explain it",
                percent(share)
            ),
            Self::WaitedForNetwork { network, all } => {
                write!(f, "{network} of {all} waiting tasks waited for a network drive")
            }
            Self::OfLog(shown) => shown.fmt(f),
        }
    }
}

/// Such as `33 writes/s`, with a decimal below ten.
pub(super) fn per_s(rate: Iops, what: &str) -> String {
    format!("{} {what}/s", rate_in_words(rate))
}

/// The figure alone.
fn rate_in_words(rate: Iops) -> String {
    let decimals = usize::from(rate.0 < 9.95);
    format!("{:.decimals$}", rate.0)
}

/// How busy the processors were, and with what.
fn cpu_in_words(cpu: &CpuActivity) -> String {
    let stolen = match cpu.steal {
        steal if steal >= 0.01 => format!(", steal {}", whole_percent(steal)),
        _ => String::new(),
    };
    format!(
        "processors {} busy: programs {}, kernel {}{stolen}",
        whole_percent(cpu.busy()),
        whole_percent(cpu.user + cpu.nice),
        whole_percent(cpu.system + cpu.interrupts)
    )
}

impl DataWrites {
    /// Such as `50 to 100 writes/s of 4.0 KiB to 8.0 KiB`; `None` without any.
    fn in_words(&self, per_s_of_all: Iops) -> Option<String> {
        let size = |count| Some(Bytes(self.mean_bytes(count)?.round() as u64));
        let (smallest, largest) = (size(self.most)?, size(self.least)?);
        let most = per_s(per_s_of_all, "writes");
        if self.is_clear() {
            return Some(format!("{most} of {smallest}"));
        }
        let least = Iops(per_s_of_all.0 * self.least as f64 / self.most as f64);
        Some(format!("{} to {most} of {smallest} to {largest}", rate_in_words(least)))
    }
}

/// What the device did, such as `33 writes/s of 4.0 KiB (0.13 MB/s), mean latency 30.1 ms`.
fn work_in_words(device: &DeviceActivity) -> String {
    let side = |requests: &Requests, work: String| {
        let wait = requests.await_ns.map_or(String::new(), |wait| format!(", mean latency {wait}"));
        format!("{work} ({}){wait}", requests.bytes_per_s)
    };
    let reads = device.reads.mean_bytes().map(|mean| {
        let work = per_s(device.reads.per_s, "reads");
        side(&device.reads, format!("{work} of {}", Bytes(mean.round() as u64)))
    });
    let data = DataWrites::of(device);
    let writes = data.in_words(device.writes.per_s).map(|work| side(&device.writes, work));
    let sides = if is_writing(device) { [writes, reads] } else { [reads, writes] };
    let flushes = (device.flushes.count > 0).then(|| {
        let flushes = per_s(device.flushes.per_s, "flushes");
        let note = if data.is_clear() { "" } else { " (Linux counts some of them as writes)" };
        format!("{flushes}{note}")
    });
    let parts: Vec<String> = sides.into_iter().flatten().chain(flushes).collect();
    parts.join(", ")
}
