//! Disturbances of a phase, a job or a replay, from the counts that a record holds.
//!
//! Each rule has a threshold below which a disturbance changes no figure by more than the interval of
//! the figure. A session asks the same rules during a run, to repeat a disturbed phase. A record of an
//! older version has no counts; its disturbances are those that it was written with.

use cardproof_record::{
    Activity, ClimateExtremes, Disturbance, DisturbanceFigures, JobRun, OwnActivity, Phase,
    PhaseRun, PhaseSurroundings, Record, Replay, Requests, WarningCode,
};
use cardproof_units::Bytes;

/// The I/O of others matters from this share of our own on: about the width of our intervals.
const OTHERS_SHARE: f64 = 0.05;

/// Less than this of others' is a log, a clock being saved, a journal.
const OTHERS_BYTES_MIN: Bytes = Bytes::mib(1);

/// Requests of others a second that a card feels beside large transfers.
const OTHERS_PER_S: f64 = 5.0;

/// Fewer than this of others' are chance, however short the phase.
const OTHERS_COUNT_MIN: u64 = 20;

/// The same of half a second: a part that may carry a verdict is disturbed by less, but for what the looks at the
/// device and at the run differ by.
const OTHERS_OF_PART: Chance = Chance { bytes: Bytes::kib(64), count: 5 };

/// Operations up to this size are one request each, so that requests can be counted against them.
const ONE_REQUEST: Bytes = Bytes::kib(32);

/// Processors as busy as this have nothing left for us.
const CPU_FULL: f64 = 0.9;

/// Others that have half of all processors leave too little for a fast device.
const CPU_OTHERS: f64 = 0.5;

/// Boards lower their clock for heat from 75 to 85 degrees Celsius on.
const HOT_CELSIUS: f64 = 75.0;

/// Up to which bytes and below which number of requests what others do is chance.
#[derive(Clone, Copy, Debug)]
struct Chance {
    bytes: Bytes,
    count: u64,
}

/// Of a whole phase.
const OTHERS_OF_PHASE: Chance = Chance { bytes: OTHERS_BYTES_MIN, count: OTHERS_COUNT_MIN };

/// File systems that write data where they are told and little else. Others copy on write, pack
/// or log, and the device does more than the run asks for.
const PLAIN_FILESYSTEMS: [&str; 7] = ["ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "msdos"];

/// The disturbances that `seen` shows, most important first; none where it holds no counts of the run
/// itself. `filesystem` is the file system of the target, as the kernel calls it; `None` on a device.
#[must_use]
pub fn disturbances(seen: &PhaseSurroundings, filesystem: Option<&str>) -> Vec<Disturbance> {
    disturbances_beyond(OTHERS_OF_PHASE, seen, filesystem)
}

/// Whether half a second of a phase was disturbed, of which `seen` tells. What was not disturbed by this rule may
/// carry a verdict of its own, so less counts as chance.
#[must_use]
pub fn is_part_disturbed(seen: &PhaseSurroundings, filesystem: Option<&str>) -> bool {
    // An operation may have ended for the device and not yet for the run.
    let one_block = seen.own.map_or(Bytes::ZERO, |own| own.block_size_bytes + Bytes(1));
    let chance = Chance { bytes: OTHERS_OF_PART.bytes.max(one_block), ..OTHERS_OF_PART };
    !disturbances_beyond(chance, seen, filesystem).is_empty()
}

fn disturbances_beyond(
    chance: Chance,
    seen: &PhaseSurroundings,
    filesystem: Option<&str>,
) -> Vec<Disturbance> {
    let Some(own) = &seen.own else { return Vec::new() };
    let climate = seen.climate.unwrap_or_default();
    let under_voltage = under_voltage(&climate);
    let heat = heat(&climate).filter(|_| under_voltage.is_none());
    let clock = clock(&climate).filter(|_| heat.is_none() && under_voltage.is_none());
    let is_plain = filesystem.is_none_or(|kind| PLAIN_FILESYSTEMS.contains(&kind));
    let others = if own.direct { other_io(&seen.activity, own, chance) } else { None };
    let reads = if own.fetched { reads_by_others(&seen.activity, own, chance) } else { None };
    let others = others.filter(|_| is_plain);
    let reads = reads.filter(|_| is_plain && others.is_none());
    let cpu = cpu_by_others(seen);
    [under_voltage, heat, clock, others, cpu, reads].into_iter().flatten().collect()
}

/// The disturbances of `phase` of `record`: of each kind the first in any of its runs.
#[must_use]
pub fn of_phase(record: &Record, phase: &Phase) -> Vec<Disturbance> {
    if !is_judged_anew(phase) {
        return phase.disturbances.clone();
    }
    let filesystem = filesystem(record);
    let Some(runs) = counted_runs(phase) else {
        let seen = phase.surroundings.as_deref();
        return seen.map_or(Vec::new(), |seen| disturbances(seen, filesystem));
    };
    let mut all: Vec<Disturbance> = Vec::new();
    let seen = runs.filter_map(|run| run.surroundings.as_deref());
    for disturbance in seen.flat_map(|seen| disturbances(seen, filesystem)) {
        if all.iter().all(|known| known.kind != disturbance.kind) {
            all.push(disturbance);
        }
    }
    all
}

/// Whether something else than the storage may have slowed `phase` of `record`.
#[must_use]
pub fn is_disturbed(record: &Record, phase: &Phase) -> bool {
    let is_noted = phase.warnings.iter().any(|it| it.code == WarningCode::Disturbed);
    is_noted || !of_phase(record, phase).is_empty()
}

/// The disturbances of `run`, a job of `record`.
#[must_use]
pub fn of_job(record: &Record, run: &JobRun) -> Vec<Disturbance> {
    of(record, run.surroundings.as_deref(), &run.disturbances)
}

/// The disturbances of `replay`, one of `record`.
#[must_use]
pub fn of_replay(record: &Record, replay: &Replay) -> Vec<Disturbance> {
    of(record, replay.surroundings.as_deref(), &replay.disturbances)
}

fn of(
    record: &Record,
    seen: Option<&PhaseSurroundings>,
    stored: &[Disturbance],
) -> Vec<Disturbance> {
    match seen.filter(|seen| seen.own.is_some()) {
        Some(seen) => disturbances(seen, filesystem(record)),
        None => stored.to_vec(),
    }
}

/// Whether the record holds the counts of `phase`, or of each of its runs that counts.
fn is_judged_anew(phase: &Phase) -> bool {
    let has_counts = |seen: Option<&PhaseSurroundings>| seen.is_some_and(|seen| seen.own.is_some());
    match counted_runs(phase) {
        Some(mut runs) => runs.all(|run| has_counts(run.surroundings.as_deref())),
        None => has_counts(phase.surroundings.as_deref()),
    }
}

/// The runs that the figures of `phase` are from: those that count, or all where none does; `None` for
/// a phase that was run once.
fn counted_runs(phase: &Phase) -> Option<impl Iterator<Item = &PhaseRun>> {
    let has_counted = phase.runs.iter().any(|run| run.counts);
    let runs = phase.runs.iter().filter(move |run| run.counts || !has_counted);
    (!phase.runs.is_empty()).then_some(runs)
}

fn filesystem(record: &Record) -> Option<&str> {
    record.conditions.filesystem.as_ref().map(|filesystem| &*filesystem.kind)
}

fn under_voltage(climate: &ClimateExtremes) -> Option<Disturbance> {
    (climate.under_voltage_windows > 0).then(|| DisturbanceFigures::UnderVoltage.into())
}

fn heat(climate: &ClimateExtremes) -> Option<Disturbance> {
    let slowed = climate.temperature_max_slowed_celsius;
    let is_throttled =
        climate.throttled_windows > 0 || slowed.is_some_and(|celsius| celsius >= HOT_CELSIUS);
    let celsius = climate.temperature_max_celsius;
    is_throttled.then(|| DisturbanceFigures::Heat { celsius }.into())
}

fn clock(climate: &ClimateExtremes) -> Option<Disturbance> {
    let (lowest_hz, highest_hz) = (climate.clock_allowed_min_hz?, climate.clock_allowed_max_hz?);
    (lowest_hz < highest_hz).then(|| DisturbanceFigures::Clock { lowest_hz, highest_hz }.into())
}

/// What the device did beyond what we asked of it.
fn other_io(whole: &Activity, own: &OwnActivity, chance: Chance) -> Option<Disturbance> {
    let device = whole.devices.first()?;
    let beyond = |requests: &Requests, own: Bytes| requests.bytes.saturating_sub(own);
    let read = beyond(&device.reads, own.read_bytes);
    let written = beyond(&device.writes, own.written_bytes);
    let (moved, of_ours) = (read + written, own.read_bytes + own.written_bytes);
    let is_much = moved >= chance.bytes && moved.as_f64() > OTHERS_SHARE * of_ours.as_f64();
    let requests = other_requests(whole, own, chance);
    if !is_much && requests.is_none() {
        return None;
    }
    let (device, read_bytes, written_bytes) = (device.name.clone(), read, written);
    Some(DisturbanceFigures::Used { device, read_bytes, written_bytes, requests }.into())
}

/// What others read of the device, where reads of ours are those that the kernel charges to us.
fn reads_by_others(whole: &Activity, own: &OwnActivity, chance: Chance) -> Option<Disturbance> {
    let device = whole.devices.first()?;
    let read = device.reads.bytes.saturating_sub(own.read_bytes);
    let of_ours = (own.read_bytes + own.written_bytes).as_f64();
    (read >= chance.bytes && read.as_f64() > OTHERS_SHARE * of_ours)
        .then(|| DisturbanceFigures::Read { device: device.name.clone(), read_bytes: read }.into())
}

/// How many requests were not ours, where they can be told and are enough to matter.
fn other_requests(whole: &Activity, own: &OwnActivity, chance: Chance) -> Option<u64> {
    let device = whole.devices.first()?;
    let all = device.reads.count.saturating_add(device.writes.count);
    let (count, limit) = if own.flushes > 1 {
        // A flush may make the file system write its journal, which is work of ours.
        return None;
    } else if own.block_size_bytes <= ONE_REQUEST {
        (all.saturating_sub(own.ops), OTHERS_SHARE * own.ops as f64)
    } else {
        let other_way = match (own.read_bytes, own.written_bytes) {
            (_, Bytes::ZERO) => device.writes.count,
            (Bytes::ZERO, _) => device.reads.count,
            _ => return None,
        };
        (other_way, OTHERS_PER_S * whole.window_ns.as_secs_f64())
    };
    (count >= chance.count && count as f64 > limit).then_some(count)
}

/// Work of lowered priority gives way and does not count.
fn cpu_by_others(seen: &PhaseSurroundings) -> Option<Disturbance> {
    let cpu = seen.activity.cpu.as_ref()?;
    let others = cpu.busy() - cpu.nice - seen.own_cpu?;
    (cpu.busy() >= CPU_FULL && others >= CPU_OTHERS)
        .then(|| DisturbanceFigures::Processors { share: others }.into())
}
