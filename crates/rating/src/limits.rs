//! What limits: from rates to a word, with the figures that show it.
//!
//! The rules are asked in the order of how surely each forbids all later ones: a supply that is
//! too low slows everything, a processor that waits for the storage cannot be what holds it back.
//! Each threshold says where it comes from. What no rule can show is "nothing" where the system
//! had time to spare, and never a guess.

mod around;
mod document;
mod job;
mod log;
mod phase;
mod storage;

pub use around::{Seen, limits_around};
pub use document::{WATCH_SCHEMA, WatchDocument};
pub use job::limit_of_job;
pub use log::{LogExplanation, LogState, StateShare, explain_log};
pub use phase::{limit_of_phase, with_limits};

use cardproof_record::{Activity, Climate, CpuActivity, Limit, LimitedBy, MemoryActivity};
use cardproof_units::{Iops, Throughput};

use crate::wording::whole_percent;

/// Processors that are busy for this share have nothing left for anybody.
const CPU_FULL: f64 = 0.9;

/// One processor that is busy for this share holds back a program that runs on it alone.
const ONE_CPU_FULL: f64 = 0.95;

/// All tasks stalled for memory for this share: the machine is thrashing
/// (`Documentation/accounting/psi.rst`: `full` is time in which nothing productive happens).
const MEMORY_STALLED: f64 = 0.1;

/// Swapping at this rate both ways at once is no tidying up.
const SWAPPING: Throughput = Throughput::from_mb_per_s(1.0);

/// Boards lower their clock from here on: a Raspberry Pi from 80 degrees Celsius, others at 75
/// to 85.
const HOT_CELSIUS: f64 = 75.0;

/// A clock allowed to go no higher than this share of its best has been lowered.
const CLOCK_LOWERED: f64 = 0.95;

/// What limits in `activity`, where `ceiling` tells what the link of a device can carry.
#[must_use]
pub fn limited_now(activity: &Activity, ceiling: &dyn Fn(&str) -> Option<Throughput>) -> LimitedBy {
    let climate = &activity.climate;
    power(climate)
        .or_else(|| heat(climate))
        .or_else(|| memory(activity))
        .or_else(|| storage::limit(activity, ceiling))
        .or_else(|| all_cpus(activity.cpu.as_ref()?))
        .or_else(|| storage::elsewhere(activity))
        .or_else(|| one_cpu(activity.cpu.as_ref()?))
        .unwrap_or_else(|| nothing(activity))
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

fn limited(limit: Limit, evidence: Vec<String>) -> LimitedBy {
    LimitedBy { limit, device: None, evidence }
}

/// Such as `33 writes/s`, with a decimal below ten.
pub(crate) fn per_s(rate: Iops, what: &str) -> String {
    format!("{} {what}/s", rate_in_words(rate))
}

/// The figure alone.
fn rate_in_words(rate: Iops) -> String {
    let decimals = usize::from(rate.0 < 9.95);
    format!("{:.decimals$}", rate.0)
}

fn power(climate: &Climate) -> Option<LimitedBy> {
    (climate.under_voltage == Some(true)).then(|| {
        let mut evidence = vec!["the board reports too low a supply voltage".to_owned()];
        evidence.extend(clock(climate));
        limited(Limit::Power, evidence)
    })
}

/// The firmware says so, or a hot board's clock has been lowered.
fn heat(climate: &Climate) -> Option<LimitedBy> {
    let flags = [
        (climate.throttled, "the board reports that it throttles itself"),
        (climate.soft_temperature_limit, "the board reports its soft temperature limit"),
        (climate.clock_capped, "the board reports that it caps its clock"),
    ];
    let flag = flags.iter().find(|(flag, _)| *flag == Some(true)).map(|(_, words)| *words);
    let is_hot = climate.temperature_celsius.is_some_and(|celsius| celsius >= HOT_CELSIUS);
    let is_lowered = climate
        .clock_allowed_hz
        .zip(climate.clock_max_hz)
        .is_some_and(|(allowed, max)| (allowed as f64) < CLOCK_LOWERED * max as f64);
    (flag.is_some() || is_hot && is_lowered).then(|| {
        let mut evidence: Vec<String> = flag.map(str::to_owned).into_iter().collect();
        evidence.extend(climate.temperature_celsius.map(|celsius| format!("{celsius:.0} °C")));
        evidence.extend(clock(climate));
        limited(Limit::Heat, evidence)
    })
}

/// The clock and what it could be.
fn clock(climate: &Climate) -> Option<String> {
    let mhz = |hertz: u64| (hertz as f64 / 1e6).round();
    let now = climate.clock_hz?;
    Some(match climate.clock_max_hz {
        Some(max) => format!("clock at {} of {} MHz", mhz(now), mhz(max)),
        None => format!("clock at {} MHz", mhz(now)),
    })
}

fn memory(activity: &Activity) -> Option<LimitedBy> {
    let memory = activity.memory.as_ref();
    let rate = |bytes| Throughput::from_bytes(bytes, activity.window_ns).unwrap_or_default();
    let swapping = memory
        .map(|memory| (rate(memory.swapped_in_bytes), rate(memory.swapped_out_bytes)))
        .filter(|(read, written)| *read >= SWAPPING && *written >= SWAPPING);
    let stalled = activity.pressure.memory_full.filter(|&share| share >= MEMORY_STALLED);
    if swapping.is_none() && stalled.is_none() {
        return None;
    }
    let mut evidence = Vec::new();
    evidence.extend(
        stalled.map(|share| {
            format!("all tasks waited for memory {} of the time", whole_percent(share))
        }),
    );
    evidence
        .extend(swapping.map(|(read, written)| format!("swapping {read} in and {written} out")));
    evidence.extend(memory.map(memory_left));
    Some(limited(Limit::MemoryPressure, evidence))
}

fn memory_left(memory: &MemoryActivity) -> String {
    format!("{} of {} available", memory.available_bytes, memory.total_bytes)
}

/// The processors, if they have nothing left for anybody.
fn all_cpus(cpu: &CpuActivity) -> Option<LimitedBy> {
    (cpu.busy() >= CPU_FULL).then(|| limited(Limit::Cpu, vec![cpu_in_words(cpu)]))
}

/// One processor, if it has nothing left for what runs on it. Where tasks wait for I/O most of the time, that slows
/// them first.
fn one_cpu(cpu: &CpuActivity) -> Option<LimitedBy> {
    (cpu.busiest >= ONE_CPU_FULL).then(|| {
        let one = format!("one of {} processors was {} busy", cpu.cpus, whole_percent(cpu.busiest));
        limited(Limit::Cpu, vec![one, cpu_in_words(cpu)])
    })
}

/// How busy the processors were, and with what.
pub(crate) fn cpu_in_words(cpu: &CpuActivity) -> String {
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

fn nothing(activity: &Activity) -> LimitedBy {
    let mut evidence: Vec<String> = activity.cpu.iter().map(cpu_in_words).collect();
    let busiest = activity.devices.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    evidence.extend(busiest.map(|device| {
        let rate = per_s(device.transactions_per_s(), "transactions");
        format!("{} {} busy with {rate}", device.name, whole_percent(device.utilisation))
    }));
    if evidence.is_empty() {
        return limited(
            Limit::Unknown,
            vec!["neither a processor's nor a device's counters can be read".to_owned()],
        );
    }
    limited(Limit::Nothing, evidence)
}
