//! What limits: from rates to a word, with the figures that show it.
//!
//! The rules are asked in the order of how surely each forbids all later ones: a supply that is
//! too low slows everything, a processor that waits for the storage cannot be what holds it back.
//! Each threshold says where it comes from. What no rule can show is "nothing" where the system
//! had time to spare, and never a guess.

mod around;
mod document;
mod evidence;
mod job;
mod log;
mod log_state;
mod phase;
mod storage;

pub use around::{Seen, limits_around};
pub use document::{WATCH_SCHEMA, WatchDocument};
pub use evidence::{Evidence, Limiting, OfLog};
pub use job::limit_of_job;
pub use log::{LogExplanation, explain_log};
pub use log_state::{LogState, StateShare};
pub use phase::limit_of_phase;
pub(crate) use storage::{DataWrites, is_writing};

use cardproof_record::{Activity, Climate, CpuActivity, Limit};
use cardproof_units::Throughput;

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
pub fn limited_now(activity: &Activity, ceiling: &dyn Fn(&str) -> Option<Throughput>) -> Limiting {
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

fn limited(limit: Limit, evidence: Vec<Evidence>) -> Limiting {
    Limiting { limit, device: None, evidence }
}

fn power(climate: &Climate) -> Option<Limiting> {
    (climate.under_voltage == Some(true)).then(|| {
        let mut evidence = vec![Evidence::UnderVoltage];
        evidence.extend(clock(climate));
        limited(Limit::Power, evidence)
    })
}

/// The firmware says so, or a hot board's clock has been lowered.
fn heat(climate: &Climate) -> Option<Limiting> {
    let flags = [
        (climate.throttled, Evidence::Throttled),
        (climate.soft_temperature_limit, Evidence::SoftTemperatureLimit),
        (climate.clock_capped, Evidence::ClockCapped),
    ];
    let flag = flags.into_iter().find(|(flag, _)| *flag == Some(true)).map(|(_, what)| what);
    let is_hot = climate.temperature_celsius.is_some_and(|celsius| celsius >= HOT_CELSIUS);
    let is_lowered = climate
        .clock_allowed_hz
        .zip(climate.clock_max_hz)
        .is_some_and(|(allowed, max)| (allowed as f64) < CLOCK_LOWERED * max as f64);
    (flag.is_some() || is_hot && is_lowered).then(|| {
        let mut evidence: Vec<Evidence> = flag.into_iter().collect();
        evidence.extend(climate.temperature_celsius.map(Evidence::Temperature));
        evidence.extend(clock(climate));
        limited(Limit::Heat, evidence)
    })
}

/// The clock and what it could be.
fn clock(climate: &Climate) -> Option<Evidence> {
    Some(Evidence::Clock { now_hz: climate.clock_hz?, max_hz: climate.clock_max_hz })
}

fn memory(activity: &Activity) -> Option<Limiting> {
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
    evidence.extend(stalled.map(Evidence::AllWaitedForMemory));
    evidence.extend(swapping.map(|(read, written)| Evidence::Swapping(read, written)));
    evidence.extend(memory.copied().map(Evidence::MemoryLeft));
    Some(limited(Limit::MemoryPressure, evidence))
}

/// The processors, if they have nothing left for anybody.
fn all_cpus(cpu: &CpuActivity) -> Option<Limiting> {
    (cpu.busy() >= CPU_FULL).then(|| limited(Limit::Cpu, vec![Evidence::Cpu(*cpu)]))
}

/// One processor, if it has nothing left for what runs on it. Where tasks wait for I/O most of the time, that slows
/// them first.
fn one_cpu(cpu: &CpuActivity) -> Option<Limiting> {
    (cpu.busiest >= ONE_CPU_FULL).then(|| {
        let one = Evidence::OneCpu { cpus: cpu.cpus, share: cpu.busiest };
        limited(Limit::Cpu, vec![one, Evidence::Cpu(*cpu)])
    })
}

fn nothing(activity: &Activity) -> Limiting {
    let mut evidence: Vec<Evidence> = activity.cpu.into_iter().map(Evidence::Cpu).collect();
    let busiest = activity.devices.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    evidence.extend(busiest.map(|device| Evidence::Busiest {
        name: device.name.clone(),
        share: device.utilisation,
        transactions: device.transactions_per_s(),
    }));
    if evidence.is_empty() {
        return limited(Limit::Unknown, vec![Evidence::NoCounters]);
    }
    limited(Limit::Nothing, evidence)
}
