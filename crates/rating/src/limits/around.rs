//! What limits, for somebody who asks about one storage: whether it is that storage, and what limits beside
//! it.
//!
//! The kernel's pressure is of the whole computer, so a device is named only for waits that its own busy time
//! explains, and everything else that holds the computer back at the same time is named with it.

use cardproof_record::{Activity, DeviceActivity, Limit};
use cardproof_units::Throughput;

use super::storage::{self, STALLED};
use super::{Evidence, Limiting, ONE_CPU_FULL, SWAPPING, limited, limited_now};

/// With less than this share of the memory available, the kernel drops pages that are needed.
const LOW: f64 = 0.05;

/// One window of time, as seen by somebody who asks about one storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What limits.
    pub limited_by: Limiting,
    /// Where the storage limits: what held programs back at the same time.
    pub beside: Vec<Limiting>,
    /// Whether the limit is of the storage that was asked about, or of the bus to it.
    pub is_asked: bool,
}

/// What limits in `activity` for the storage whose devices are called `asked`: the device itself, and layers
/// that rest on it. `ceiling` tells what the link of a device carries.
#[must_use]
pub fn limits_around(
    activity: &Activity,
    asked: &[String],
    ceiling: &dyn Fn(&str) -> Option<Throughput>,
) -> Seen {
    let whole = limited_now(activity, ceiling);
    let is_asked = |device: &DeviceActivity| asked.contains(&device.name);
    let comes_first =
        matches!(whole.limit, Limit::Power | Limit::Heat | Limit::MemoryPressure | Limit::Unknown);
    let own = storage::limit(&of_devices(activity, is_asked), ceiling);
    match own.filter(|_| !comes_first) {
        Some(limited_by) => {
            let others = of_devices(activity, |device| !is_asked(device));
            let reads =
                activity.devices.iter().any(|device| is_asked(device) && device.reads.count > 0);
            let beside = [
                storage::limit(&others, ceiling),
                processors(activity),
                memory(activity).or_else(|| low_memory(activity).filter(|_| reads)),
            ];
            Seen { limited_by, beside: beside.into_iter().flatten().collect(), is_asked: true }
        }
        None => Seen { limited_by: whole, beside: Vec::new(), is_asked: false },
    }
}

/// `activity` with those devices only for which `is_meant` holds.
fn of_devices(activity: &Activity, is_meant: impl Fn(&DeviceActivity) -> bool) -> Activity {
    let mut meant = activity.clone();
    meant.devices.retain(is_meant);
    meant
}

/// Processors that have nothing left, or one of them. Work of lowered priority gives way.
fn processors(activity: &Activity) -> Option<Limiting> {
    let cpu = activity.cpu.as_ref()?;
    (cpu.nice < ONE_CPU_FULL / f64::from(cpu.cpus.max(1)))
        .then(|| super::all_cpus(cpu).or_else(|| super::one_cpu(cpu)))?
}

/// Waits for the storage that are waits for memory: pages that had been dropped or swapped out are read again.
fn memory(activity: &Activity) -> Option<Limiting> {
    let waits = activity.pressure.memory_some.filter(|&share| share >= STALLED);
    let swapped_in = activity.memory.as_ref().map(|memory| memory.swapped_in_bytes);
    let rate = swapped_in.and_then(|bytes| Throughput::from_bytes(bytes, activity.window_ns));
    let rate = rate.filter(|&rate| rate >= SWAPPING);
    let waits = waits.map(Evidence::WaitedForMemory);
    let rate = rate.map(Evidence::SwappingIn);
    let evidence: Vec<Evidence> = waits.into_iter().chain(rate).collect();
    (!evidence.is_empty()).then(|| limited(Limit::MemoryPressure, evidence))
}

/// Memory that is nearly used up, where the kernel tells no pressure: programs are then read again, of which no counter
/// tells.
fn low_memory(activity: &Activity) -> Option<Limiting> {
    let memory = activity.memory.filter(|_| activity.pressure.memory_some.is_none())?;
    let is_low = memory.available_bytes.as_f64() < LOW * memory.total_bytes.as_f64();
    is_low.then(|| limited(Limit::MemoryPressure, vec![Evidence::MemoryLeft(memory)]))
}
