//! One look at all counters, and the activity between two looks.

use cardproof_record::{Activity, Climate, Pressure};
use cardproof_units::Nanos;

use super::climate::ClimateFiles;
use super::cpu::CpuCounters;
use super::disk::DiskCounters;
use super::kept::Kept;
use super::memory::MemoryCounters;
use super::pressure::Stalls;
use crate::Sysroot;

/// Reads the counters of some devices and of the system, again and again.
#[derive(Debug)]
pub struct Sampler {
    devices: Vec<(String, Kept)>,
    stat: Kept,
    io: Kept,
    memory: Kept,
    cpu: Kept,
    meminfo: Kept,
    vmstat: Kept,
    climate: ClimateFiles,
    page_bytes: u64,
    room: Vec<u8>,
}

/// The counters at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    taken: Nanos,
    devices: Vec<(String, Option<DiskCounters>)>,
    cpu: Option<CpuCounters>,
    io_stalls: Option<Stalls>,
    memory_stalls: Option<Stalls>,
    cpu_stalls: Option<Stalls>,
    memory: Option<MemoryCounters>,
    climate: Climate,
    page_bytes: u64,
}

impl Sampler {
    /// A sampler below `root` of the devices with these names of the kernel; partitions have
    /// counters as well. A device that is not there has none until it appears.
    #[must_use]
    pub fn new(root: &Sysroot, devices: &[String]) -> Self {
        let is_name = |name: &&String| !name.contains('/') && !name.starts_with('.');
        let file = |name: &String| {
            (name.clone(), Kept::new(root, &format!("sys/class/block/{name}/stat")))
        };
        Self {
            devices: devices.iter().filter(is_name).map(file).collect(),
            stat: Kept::new(root, "proc/stat"),
            io: Kept::new(root, "proc/pressure/io"),
            memory: Kept::new(root, "proc/pressure/memory"),
            cpu: Kept::new(root, "proc/pressure/cpu"),
            meminfo: Kept::new(root, "proc/meminfo"),
            vmstat: Kept::new(root, "proc/vmstat"),
            climate: ClimateFiles::new(root),
            page_bytes: rustix::param::page_size() as u64,
            room: Vec::new(),
        }
    }

    /// The counters at `now`, on any clock that only goes forward.
    pub fn sample(&mut self, now: Nanos) -> Counters {
        let room = &mut self.room;
        let mut devices = Vec::with_capacity(self.devices.len());
        for (name, file) in &mut self.devices {
            devices.push((name.clone(), file.read(room).and_then(DiskCounters::parse)));
        }
        let mut stalls = |file: &mut Kept| file.read(room).and_then(Stalls::parse);
        let (io_stalls, memory_stalls, cpu_stalls) =
            (stalls(&mut self.io), stalls(&mut self.memory), stalls(&mut self.cpu));
        let vmstat = self.vmstat.read(room).unwrap_or_default().to_owned();
        Counters {
            taken: now,
            devices,
            cpu: self.stat.read(room).and_then(CpuCounters::parse),
            io_stalls,
            memory_stalls,
            cpu_stalls,
            memory: self
                .meminfo
                .read(room)
                .and_then(|meminfo| MemoryCounters::parse(meminfo, &vmstat)),
            climate: self.climate.read(room),
            page_bytes: self.page_bytes,
        }
    }
}

impl Counters {
    /// When they were taken.
    #[must_use]
    pub const fn taken(&self) -> Nanos {
        self.taken
    }

    /// Lets the heat and the flags of `skipped`, which is not kept, count for these counters.
    pub fn take_in(&mut self, skipped: &Self) {
        let (own, other) = (&mut self.climate, &skipped.climate);
        let hottest = own.temperature_celsius.into_iter().chain(other.temperature_celsius);
        own.temperature_celsius = hottest.reduce(f64::max);
        own.under_voltage = own.under_voltage.max(other.under_voltage);
        own.clock_capped = own.clock_capped.max(other.clock_capped);
        own.throttled = own.throttled.max(other.throttled);
        own.soft_temperature_limit = own.soft_temperature_limit.max(other.soft_temperature_limit);
    }

    /// What happened between `earlier` and these. A device that was not there at both ends is
    /// left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Activity {
        let window = self.taken.saturating_sub(earlier.taken);
        let devices = self.devices.iter().filter_map(|(name, later)| {
            let (_, before) = earlier.devices.iter().find(|(other, _)| other == name)?;
            Some(later.as_ref()?.since(before.as_ref()?, name, window))
        });
        Activity {
            window_ns: window,
            devices: devices.collect(),
            cpu: self
                .cpu
                .as_ref()
                .zip(earlier.cpu.as_ref())
                .and_then(|(now, then)| now.since(then)),
            pressure: self.pressure_since(earlier, window),
            memory: self
                .memory
                .zip(earlier.memory)
                .map(|(now, then)| now.since(&then, self.page_bytes)),
            climate: self.climate_since(earlier),
        }
    }

    fn pressure_since(&self, earlier: &Self, window: Nanos) -> Pressure {
        let since = |now: Option<Stalls>, then: Option<Stalls>| {
            now.zip(then).map_or((None, None), |(now, then)| now.since(&then, window))
        };
        let (io_some, io_full) = since(self.io_stalls, earlier.io_stalls);
        let (memory_some, memory_full) = since(self.memory_stalls, earlier.memory_stalls);
        let (cpu_some, _) = since(self.cpu_stalls, earlier.cpu_stalls);
        Pressure { io_some, io_full, memory_some, memory_full, cpu_some }
    }

    /// The state now, with the flags that were up at either end.
    fn climate_since(&self, earlier: &Self) -> Climate {
        let (now, then) = (&self.climate, &earlier.climate);
        let either = |now: Option<bool>, then: Option<bool>| now.max(then);
        Climate {
            under_voltage: either(now.under_voltage, then.under_voltage),
            clock_capped: either(now.clock_capped, then.clock_capped),
            throttled: either(now.throttled, then.throttled),
            soft_temperature_limit: either(now.soft_temperature_limit, then.soft_temperature_limit),
            ..*now
        }
    }
}
