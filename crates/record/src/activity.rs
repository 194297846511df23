//! What storage and system did in a window of time: rates from the kernel's counters, as iostat
//! and vmstat define them, and the state of heat, clock and power at the window's end.
//!
//! Every figure that the system does not give is absent, never zero. Names of devices are the
//! kernel's; there is no process, path or serial number here.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::{Deserialize, Serialize};

/// What happened in one window of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Activity {
    /// How long the window was.
    pub window_ns: Nanos,
    /// The devices that were looked at, in the order asked for.
    #[serde(default)]
    pub devices: Vec<DeviceActivity>,
    /// How the processors spent the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuActivity>,
    /// How long tasks waited for a resource.
    #[serde(default)]
    pub pressure: Pressure,
    /// Memory and swapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryActivity>,
    /// Heat, clock and power.
    #[serde(default)]
    pub climate: Climate,
}

/// What one block device did, by the fields of the kernel's `Documentation/admin-guide/iostats.rst`
/// and by the definitions of iostat(1) of sysstat 12.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceActivity {
    /// The kernel's name, such as `mmcblk0`.
    pub name: String,
    /// Reads: iostat's `r/s`, `rkB/s`, `rrqm/s`, `rareq-sz`, `r_await`.
    pub reads: Requests,
    /// Writes: iostat's `w/s`, `wkB/s`, `wrqm/s`, `wareq-sz`, `w_await`.
    pub writes: Requests,
    /// Discards: iostat's `d/s`, `dkB/s`, `drqm/s`, `dareq-sz`, `d_await`.
    #[serde(default)]
    pub discards: Requests,
    /// Flushes of the device's cache: iostat's `f/s` and `f_await`. They move no bytes.
    #[serde(default)]
    pub flushes: Requests,
    /// The mean number of requests under way or waiting: iostat's `aqu-sz`.
    pub queue: f64,
    /// The share of the time in which any request was under way, 0 to 1: iostat's `%util`. For a
    /// device that works on several requests at a time, 1 does not mean that it could do no more.
    pub utilisation: f64,
}

/// Requests of one kind that were completed in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Requests {
    /// How many were completed.
    pub count: u64,
    /// How many more were merged into them before.
    #[serde(default)]
    pub merged: u64,
    /// The bytes that they moved.
    pub bytes: Bytes,
    /// Requests a second.
    pub per_s: Iops,
    /// Bytes a second.
    pub bytes_per_s: Throughput,
    /// From issue to completion, waiting included, on average; absent without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub await_ns: Option<Nanos>,
}

/// How the processors spent a window. Shares are of all processors' time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuActivity {
    /// How many processors are online.
    pub cpus: u32,
    /// In programs.
    pub user: f64,
    /// In programs of lowered priority.
    pub nice: f64,
    /// In the kernel.
    pub system: f64,
    /// In interrupts, hard and soft; iostat counts it as system.
    pub interrupts: f64,
    /// Idle while a task of that processor waited for I/O.
    pub iowait: f64,
    /// Taken by the host of a virtual machine.
    pub steal: f64,
    /// Idle otherwise.
    pub idle: f64,
    /// The share in which the busiest single processor was busy.
    pub busiest: f64,
}

impl CpuActivity {
    /// The share in which processors worked or were taken away: all but waiting and idling.
    #[must_use]
    pub fn busy(&self) -> f64 {
        (1.0 - self.idle - self.iowait).clamp(0.0, 1.0)
    }
}

/// The shares of a window in which tasks stalled, 0 to 1: `some`, at least one of them; `full`,
/// all that could have run. From the totals of `/proc/pressure` (kernel 4.20, CONFIG_PSI).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pressure {
    /// Some task waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_some: Option<f64>,
    /// All tasks waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_full: Option<f64>,
    /// Some task waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_some: Option<f64>,
    /// All tasks waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_full: Option<f64>,
    /// Some task waited for a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_some: Option<f64>,
}

/// Memory at a window's end, and swapping in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryActivity {
    /// All memory.
    pub total_bytes: Bytes,
    /// What programs could still have without swapping, by the kernel's estimate.
    pub available_bytes: Bytes,
    /// Read back from swap.
    pub swapped_in_bytes: Bytes,
    /// Written to swap.
    pub swapped_out_bytes: Bytes,
}

/// Heat, clock and power at a window's end; power flags also if they were set in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Climate {
    /// The hottest thermal zone, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// The highest clock of any processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<u64>,
    /// The highest clock that is allowed at the time, which heat lowers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_allowed_hz: Option<u64>,
    /// The highest clock that the processors can have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_max_hz: Option<u64>,
    /// The supply voltage is too low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_voltage: Option<bool>,
    /// The firmware caps the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_capped: Option<bool>,
    /// The firmware throttles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<bool>,
    /// The soft temperature limit is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_temperature_limit: Option<bool>,
}

impl Requests {
    /// The mean size of a request in bytes; `None` without requests or where they move nothing.
    #[must_use]
    pub fn mean_bytes(&self) -> Option<f64> {
        (self.count > 0 && self.bytes > Bytes::ZERO)
            .then(|| self.bytes.as_f64() / self.count as f64)
    }

    /// The time that all of them took together.
    #[must_use]
    pub fn time(&self) -> Nanos {
        Nanos(self.await_ns.unwrap_or_default().get().saturating_mul(self.count))
    }
}

impl DeviceActivity {
    /// Reads, writes and discards a second: iostat's `tps`. Flushes are not in it.
    #[must_use]
    pub fn transactions_per_s(&self) -> Iops {
        Iops(self.reads.per_s.0 + self.writes.per_s.0 + self.discards.per_s.0)
    }

    /// Bytes read and written a second.
    #[must_use]
    pub fn bytes_per_s(&self) -> Throughput {
        Throughput(self.reads.bytes_per_s.0 + self.writes.bytes_per_s.0)
    }
}
