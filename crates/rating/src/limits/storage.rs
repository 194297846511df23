//! Whether storage or its bus limits, and by which kind of work.

use cardproof_record::{Activity, DeviceActivity, Limit};
use cardproof_units::{Bytes, Iops, Throughput};

use super::{Evidence, Limiting};

/// A device with requests under way for this share of the time is at its limit, if it works on
/// one at a time; iostat(1) warns that an array or an SSD need not be.
pub(super) const BUSY: f64 = 0.8;

/// Tasks that wait for I/O for this share of the time wait for it more than they work. A device that is busy
/// for less explains no such wait.
pub(super) const STALLED: f64 = 0.5;

/// The least share of the waits for I/O that the busy time of a device must explain to be their cause.
const EXPLAINED: f64 = 2.0 / 3.0;

/// With less pressure than this nobody waits, however busy a device is in the background.
const WAITED_LEAST: f64 = 0.1;

/// While tasks that wait share full processors with others that work, all of a processor's tasks wait for less than
/// this share of the time: then a faster device would not let anybody work sooner.
const NOBODY_WORKS: f64 = 0.02;

/// Processors that are busy for less than this share have time in which a task that waits is seen to wait.
const HALF_BUSY: f64 = 0.5;

/// Below this a device does nothing worth waiting for.
const ACTIVE: Iops = Iops(1.0);

/// Requests below this mean size are what cards call random: neither a copy nor a large file,
/// which the kernel's read-ahead and its write-back hand over in 128 KiB and more.
pub(super) const SMALL: Bytes = Bytes::kib(64);

/// Real transfers reach 85 to 92 % of what an SD or eMMC bus could carry by its clock and width;
/// from here on the bus is what is felt.
const BUS_FULL: f64 = 0.8;

/// Flushes below a tenth of the writes change no figure that matters.
const CLEAR: f64 = 0.9;

/// The limit that a device sets in `activity`, if one does.
pub(super) fn limit(
    activity: &Activity,
    ceiling: &dyn Fn(&str) -> Option<Throughput>,
) -> Option<Limiting> {
    let device = waited_for(activity)?;
    let bus = ceiling(&device.name).filter(|bus| device.bytes_per_s().0 >= BUS_FULL * bus.0);
    let work = has_work(device).then(|| Evidence::Work(device.clone()));
    let mut evidence: Vec<Evidence> = work.into_iter().collect();
    evidence
        .extend(bus.map(|bus| Evidence::WorkOfBus { share: device.bytes_per_s().0 / bus.0, bus }));
    evidence.extend(waits(activity, device));
    let limit = if bus.is_some() { Limit::BusCeiling } else { kind(device) };
    Some(Limiting { limit, device: Some(device.name.clone()), evidence })
}

/// The device that programs wait for: the busiest, where its own busy time explains the waits. A pressure or
/// an iowait is of the whole computer, and says nothing of one device.
fn waited_for(activity: &Activity) -> Option<&DeviceActivity> {
    let busiest = activity.devices.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))?;
    let is_active = busiest.transactions_per_s() >= ACTIVE || busiest.utilisation >= BUSY;
    if !is_active || busiest.utilisation < STALLED {
        return None;
    }
    let stalled = stalled(activity);
    if busiest.utilisation >= BUSY {
        // A device that is busy in the background keeps nobody waiting. Pressure shows this; iowait only where
        // processors had time for it, for it counts no time of a busy one; some virtual machines tell none at all.
        let shows_waits = activity.pressure.io_some.is_some()
            || activity.cpu.is_some_and(|cpu| cpu.busy() < HALF_BUSY && cpu.iowait > 0.0);
        let is_waited_for = !shows_waits || stalled.is_none_or(|share| share >= WAITED_LEAST);
        return (is_waited_for && !is_covered_by_work(activity)).then_some(busiest);
    }
    // Work of lowered priority is in nobody's way.
    let cpu_has_time = activity.cpu.is_none_or(|cpu| cpu.busy() - cpu.nice < super::CPU_FULL);
    let wanted = if cpu_has_time { STALLED } else { BUSY };
    let stalled = stalled?;
    (stalled >= wanted && busiest.utilisation >= EXPLAINED * stalled).then_some(busiest)
}

/// Whether work on full processors covers all waits: `full` pressure is the time in which none of a processor's tasks
/// could go on.
fn is_covered_by_work(activity: &Activity) -> bool {
    let is_full = activity.cpu.is_some_and(|cpu| cpu.busy() - cpu.nice >= super::CPU_FULL);
    is_full && activity.pressure.io_full.is_some_and(|share| share < NOBODY_WORKS)
}

/// Waits for I/O that no device in `activity` explains, with the figures.
pub(super) fn elsewhere(activity: &Activity) -> Option<Limiting> {
    let share = stalled(activity).filter(|&share| share >= STALLED)?;
    let busiest = activity.devices.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    let mut evidence = vec![Evidence::WaitedForIo(share)];
    evidence.extend(busiest.map(|device| Evidence::Unexplained {
        name: device.name.clone(),
        share: device.utilisation,
    }));
    Some(super::limited(Limit::Elsewhere, evidence))
}

/// The share of the time in which a task waited for I/O: by pressure, or else by iowait. Both are
/// means over processors, and a task that waits is on one of them: of iowait over all, of
/// pressure over those that have tasks at all.
fn stalled(activity: &Activity) -> Option<f64> {
    let cpu = activity.cpu.unwrap_or_default();
    let cpus = f64::from(cpu.cpus.max(1));
    let by_pressure = activity.pressure.io_some.map(|share| share * (cpus * cpu.nice).max(1.0));
    let by_iowait = || activity.cpu.map(|cpu| cpu.iowait * cpus);
    by_pressure.or_else(by_iowait).map(|share| share.min(1.0))
}

/// By which work `device` limits: the direction that took its time, and the size of its requests.
pub(super) fn kind(device: &DeviceActivity) -> Limit {
    let is_small = |mean: Option<f64>| mean.is_none_or(|mean| mean < SMALL.as_f64());
    let data = DataWrites::of(device);
    let of_writes = [is_small(data.mean_bytes(data.least)), is_small(data.mean_bytes(data.most))];
    match (is_writing(device), is_small(device.reads.mean_bytes()), of_writes) {
        (true, _, _) if data.are_only_flushes() => Limit::StorageWrite,
        (true, _, [true, true]) => Limit::StorageSmallWrite,
        (true, _, [false, true]) => Limit::StorageWrite,
        (false, true, _) => Limit::StorageSmallRead,
        _ => Limit::StorageSequential,
    }
}

/// How many of the writes of a device carried data. Linux counts a flush without data as a write of nothing, beside the
/// flush itself (`blk_account_io_done` in `block/blk-mq.c`); a flush that comes with a write is no other write. Which of
/// both a flush was, no counter tells.
pub(crate) struct DataWrites {
    pub(crate) least: u64,
    pub(crate) most: u64,
    bytes: Bytes,
    has_flushes: bool,
}

impl DataWrites {
    pub(crate) fn of(device: &DeviceActivity) -> Self {
        let DeviceActivity { writes, flushes, .. } = device;
        let has_data = u64::from(writes.bytes > Bytes::ZERO);
        let least = writes.count.saturating_sub(flushes.count).max(has_data);
        let most = has_data * writes.count;
        Self { least, most, bytes: writes.bytes, has_flushes: flushes.count > 0 }
    }

    const fn are_only_flushes(&self) -> bool {
        self.most == 0 && self.has_flushes
    }

    /// Whether there are too few flushes to matter.
    pub(crate) fn is_clear(&self) -> bool {
        self.least as f64 >= CLEAR * self.most as f64
    }

    /// The mean size where there were `count`.
    pub(crate) fn mean_bytes(&self, count: u64) -> Option<f64> {
        (count > 0 && self.bytes > Bytes::ZERO).then(|| self.bytes.as_f64() / count as f64)
    }
}

/// Whether there is anything to tell of what `device` did.
pub(super) fn has_work(device: &DeviceActivity) -> bool {
    let data = DataWrites::of(device);
    let has_writes = data.mean_bytes(data.most).is_some() && data.mean_bytes(data.least).is_some();
    device.reads.mean_bytes().is_some() || has_writes || device.flushes.count > 0
}

/// Whether writes, with discards, took more of the device's time than reads. A flush is part of the time of the write
/// that it came with or was counted as.
pub(crate) fn is_writing(device: &DeviceActivity) -> bool {
    let DeviceActivity { reads, writes, discards, .. } = device;
    let writing = writes.time().saturating_add(discards.time());
    match reads.time().cmp(&writing) {
        std::cmp::Ordering::Equal => writes.bytes > reads.bytes,
        order => order == std::cmp::Ordering::Less,
    }
}

/// How long was waited.
fn waits(activity: &Activity, device: &DeviceActivity) -> Vec<Evidence> {
    let busy = Evidence::Busy { share: device.utilisation, queue: device.queue };
    let stalled = activity.pressure.io_some.map(Evidence::WaitedForIo);
    let cpu = activity.cpu.map(Evidence::Cpu);
    [Some(busy), stalled, cpu].into_iter().flatten().collect()
}
