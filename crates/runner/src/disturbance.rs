//! Disturbances of a phase, from what the monitor saw: facts with figures, each
//! with the threshold below which it changes no figure by more than the phase's own interval.

use cardproof_record::{Activity, Climate, Disturbance, DisturbanceKind, Requests};
use cardproof_units::{Bytes, Nanos};

use crate::monitor::Observation;

/// What others moved matters from this share of our own on: about the width of our intervals.
const OTHERS_SHARE: f64 = 0.05;

/// Less than this of others' is a log, a clock being saved, a journal.
const OTHERS_BYTES_MIN: Bytes = Bytes::mib(1);

/// Requests of others a second that a card feels beside large transfers.
const OTHERS_PER_S: f64 = 5.0;

/// Fewer than this of others' are chance, however short the phase.
const OTHERS_COUNT_MIN: u64 = 20;

/// Operations up to this size are one request each, so that requests can be counted against them.
const ONE_REQUEST: Bytes = Bytes::kib(32);

/// Processors as busy as this have nothing left for us.
const CPU_FULL: f64 = 0.9;

/// Others that have half of all processors leave too little for a fast device.
const CPU_OTHERS: f64 = 0.5;

/// Boards lower their clock for heat from 75 to 85 degrees Celsius on.
const HOT_CELSIUS: f64 = 75.0;

/// What the run itself did in the phase.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    pub(crate) block_size: Bytes,
    pub(crate) ops: u64,
    pub(crate) flushes: u64,
    pub(crate) read: Bytes,
    pub(crate) written: Bytes,
    /// The share of all processors' time that the run used.
    pub(crate) cpu: Option<f64>,
    /// Whether what the run asks for is what reaches the device: no page cache, and no file
    /// system that writes elsewhere or more than it is asked to.
    pub(crate) is_plain: bool,
}

/// The disturbances, most important first.
pub(crate) fn disturbances(seen: &Observation, own: &Own) -> Vec<Disturbance> {
    let climates: Vec<&Climate> =
        seen.windows.iter().chain([&seen.whole]).map(|window| &window.climate).collect();
    let under_voltage = under_voltage(&climates);
    let heat = heat(&climates).filter(|_| under_voltage.is_none());
    let clock = clock(&climates).filter(|_| heat.is_none() && under_voltage.is_none());
    let others = other_io(&seen.whole, own);
    let cpu = cpu_by_others(&seen.whole, own);
    [under_voltage, heat, clock, others, cpu].into_iter().flatten().collect()
}

fn disturbance(kind: DisturbanceKind, message: String) -> Disturbance {
    Disturbance { kind, message }
}

fn under_voltage(climates: &[&Climate]) -> Option<Disturbance> {
    let is_low = climates.iter().any(|climate| climate.under_voltage == Some(true));
    is_low.then(|| {
        let message = "the supply voltage was too low, for which boards lower their clock";
        disturbance(DisturbanceKind::UnderVoltage, message.to_owned())
    })
}

fn heat(climates: &[&Climate]) -> Option<Disturbance> {
    let is_throttled = |climate: &&&Climate| {
        let flags = [climate.throttled, climate.soft_temperature_limit, climate.clock_capped];
        let is_hot = climate.temperature_celsius.is_some_and(|celsius| celsius >= HOT_CELSIUS);
        let is_lowered =
            climate.clock_allowed_hz < climate.clock_max_hz && climate.clock_allowed_hz.is_some();
        flags.contains(&Some(true)) || is_hot && is_lowered
    };
    climates.iter().find(is_throttled).map(|_| {
        let hottest = climates.iter().filter_map(|climate| climate.temperature_celsius);
        let hottest = hottest.reduce(f64::max);
        let degrees = hottest.map_or(String::new(), |celsius| format!(" at {celsius:.0} °C"));
        disturbance(DisturbanceKind::Heat, format!("the board throttled itself{degrees}"))
    })
}

fn clock(climates: &[&Climate]) -> Option<Disturbance> {
    let allowed = || climates.iter().filter_map(|climate| climate.clock_allowed_hz);
    let (lowest, highest) = (allowed().min()?, allowed().max()?);
    (lowest < highest).then(|| {
        let message = format!(
            "the highest clock allowed changed between {} and {} MHz",
            lowest / 1_000_000,
            highest / 1_000_000
        );
        disturbance(DisturbanceKind::ClockChanged, message)
    })
}

/// What the device did beyond what we asked of it.
fn other_io(whole: &Activity, own: &Own) -> Option<Disturbance> {
    if !own.is_plain {
        return None;
    }
    let device = whole.devices.first()?;
    let beyond = |requests: &Requests, own: Bytes| requests.bytes.saturating_sub(own);
    let (read, written) = (beyond(&device.reads, own.read), beyond(&device.writes, own.written));
    let (moved, of_ours) = (read + written, own.read + own.written);
    let is_much = moved >= OTHERS_BYTES_MIN && moved.as_f64() > OTHERS_SHARE * of_ours.as_f64();
    let requests = other_requests(whole, own);
    if !is_much && requests.is_none() {
        return None;
    }
    let requests = requests.map_or(String::new(), |count| format!(" in {count} requests"));
    let message = format!(
        "other programs or the file system also used {}: they read {read} and wrote {written}{requests}",
        device.name
    );
    Some(disturbance(DisturbanceKind::OtherIo, message))
}

/// What others read of the device, where reads of ours are those that the kernel charges to us.
pub(crate) fn reads_by_others(whole: &Activity, own: &Own) -> Option<Disturbance> {
    let device = whole.devices.first()?;
    let read = device.reads.bytes.saturating_sub(own.read);
    let of_ours = (own.read + own.written).as_f64();
    (read >= OTHERS_BYTES_MIN && read.as_f64() > OTHERS_SHARE * of_ours).then(|| {
        let message = format!("other programs read {read} from {}", device.name);
        disturbance(DisturbanceKind::OtherIo, message)
    })
}

/// How many requests were not ours, where they can be told and are enough to matter.
fn other_requests(whole: &Activity, own: &Own) -> Option<u64> {
    let device = whole.devices.first()?;
    let all = device.reads.count + device.writes.count;
    let (count, limit) = if own.flushes > 1 {
        // A flush may make the file system write its journal, which is work of ours.
        return None;
    } else if own.block_size <= ONE_REQUEST {
        (all.saturating_sub(own.ops), OTHERS_SHARE * own.ops as f64)
    } else {
        let other_way = match (own.read, own.written) {
            (_, Bytes::ZERO) => device.writes.count,
            (Bytes::ZERO, _) => device.reads.count,
            _ => return None,
        };
        (other_way, OTHERS_PER_S * whole.window_ns.as_secs_f64())
    };
    (count >= OTHERS_COUNT_MIN && count as f64 > limit).then_some(count)
}

/// Work of lowered priority gives way and does not count.
fn cpu_by_others(whole: &Activity, own: &Own) -> Option<Disturbance> {
    let cpu = whole.cpu.as_ref()?;
    let others = cpu.busy() - cpu.nice - own.cpu?;
    (cpu.busy() >= CPU_FULL && others >= CPU_OTHERS).then(|| {
        let percent = 100.0 * others;
        let message = format!("other programs had {percent:.0} % of the processors' time");
        disturbance(DisturbanceKind::CpuByOthers, message)
    })
}

/// The share of `cpus` processors that `time` is of `window`.
pub(crate) fn cpu_share(time: Nanos, window: Nanos, cpus: u32) -> Option<f64> {
    let all = window.as_secs_f64() * f64::from(cpus);
    (all > 0.0).then(|| (time.as_secs_f64() / all).min(1.0))
}

#[cfg(test)]
mod tests {
    use cardproof_record::{CpuActivity, DeviceActivity};

    use super::*;

    /// A phase of ten seconds of 4k reads, and nothing else on the device.
    fn own() -> Own {
        Own {
            block_size: Bytes::kib(4),
            ops: 10_000,
            read: Bytes::kib(40_000),
            cpu: Some(0.05),
            is_plain: true,
            ..Own::default()
        }
    }

    fn quiet() -> Observation {
        let reads = Requests { count: 10_000, bytes: Bytes::kib(40_000), ..Requests::default() };
        let device = DeviceActivity { name: "mmcblk0".to_owned(), reads, ..Default::default() };
        let cpu = CpuActivity { cpus: 4, user: 0.05, idle: 0.95, ..CpuActivity::default() };
        Observation {
            whole: Activity {
                window_ns: Nanos::from_secs(10),
                devices: vec![device],
                cpu: Some(cpu),
                ..Activity::default()
            },
            windows: Vec::new(),
        }
    }

    fn kinds(seen: &Observation, own: &Own) -> Vec<DisturbanceKind> {
        disturbances(seen, own).iter().map(|disturbance| disturbance.kind).collect()
    }

    /// A window with this climate between others.
    fn with_climate(climate: Climate) -> Observation {
        let window = Activity { climate, ..Activity::default() };
        let before = Activity {
            climate: Climate { clock_allowed_hz: Some(1_500_000_000), ..Climate::default() },
            ..Activity::default()
        };
        Observation { windows: vec![before, window], ..quiet() }
    }

    #[test]
    fn a_quiet_system_disturbs_nothing() {
        assert_eq!(kinds(&quiet(), &own()), []);
        assert_eq!(kinds(&Observation::default(), &own()), []);
    }

    #[test]
    fn what_others_move_is_told_from_what_we_move() {
        let mut seen = quiet();
        seen.whole.devices[0].writes =
            Requests { count: 3, bytes: Bytes::mib(3), ..Requests::default() };
        assert_eq!(kinds(&seen, &own()), [DisturbanceKind::OtherIo]);
        let message = &disturbances(&seen, &own())[0].message;
        assert!(message.contains("read 0 bytes and wrote 3 MiB"), "{message}");
        seen.whole.devices[0].writes.bytes = Bytes::kib(100);
        assert_eq!(kinds(&seen, &own()), [], "a journal");
        seen.whole.devices[0].writes.count = 800;
        assert_eq!(kinds(&seen, &own()), [DisturbanceKind::OtherIo], "many small ones");
        let unplain = Own { is_plain: false, ..own() };
        assert_eq!(kinds(&seen, &unplain), [], "a file system that writes what it likes");
    }

    #[test]
    fn what_others_read_is_what_the_kernel_charges_to_nobody_of_ours() {
        let seen = quiet();
        let message = |read| reads_by_others(&seen.whole, &Own { read, ..own() });
        assert_eq!(message(Bytes::kib(40_000)), None);
        assert_eq!(message(Bytes::kib(39_500)), None, "a log");
        let others = message(Bytes::kib(20_000)).unwrap();
        assert_eq!(others.message, "other programs read 19.5 MiB from mmcblk0");
    }

    #[test]
    fn small_writes_beside_large_reads_are_counted() {
        let mut seen = quiet();
        seen.whole.devices[0].writes =
            Requests { count: 60, bytes: Bytes::kib(240), ..Requests::default() };
        let large = Own { block_size: Bytes::mib(1), ops: 39, ..own() };
        assert_eq!(kinds(&seen, &large), [DisturbanceKind::OtherIo]);
        seen.whole.devices[0].writes.count = 40;
        assert_eq!(kinds(&seen, &large), []);
    }

    #[test]
    fn full_processors_disturb_where_others_fill_them() {
        let mut seen = quiet();
        let full = CpuActivity { cpus: 4, user: 0.97, idle: 0.03, ..CpuActivity::default() };
        seen.whole.cpu = Some(full);
        assert_eq!(kinds(&seen, &own()), [DisturbanceKind::CpuByOthers]);
        let ours = Own { cpu: Some(0.9), ..own() };
        assert_eq!(kinds(&seen, &ours), [], "it was ourselves");
        seen.whole.cpu = Some(CpuActivity { user: 0.07, nice: 0.9, ..full });
        assert_eq!(kinds(&seen, &own()), [], "work of lowered priority gives way");
    }

    #[test]
    fn heat_power_and_clock_are_told_apart() {
        let climate = |climate| kinds(&with_climate(climate), &own());
        let low =
            Climate { under_voltage: Some(true), clock_capped: Some(true), ..Climate::default() };
        assert_eq!(climate(low), [DisturbanceKind::UnderVoltage]);
        let hot = Climate {
            temperature_celsius: Some(81.0),
            clock_allowed_hz: Some(600_000_000),
            clock_max_hz: Some(1_500_000_000),
            ..Climate::default()
        };
        assert_eq!(climate(hot), [DisturbanceKind::Heat]);
        let changed = Climate { temperature_celsius: Some(50.0), ..hot };
        assert_eq!(climate(changed), [DisturbanceKind::ClockChanged]);
    }
}
