//! The limits and disturbances of a measurement or a system.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::Activity;

/// What limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The storage, by random writes: of a run, which knows where it wrote.
    StorageRandomWrite,
    /// The storage, by random reads: of a run, which knows where it read.
    StorageRandomRead,
    /// The storage, by its small writes. Counters do not tell whether they were in order.
    StorageSmallWrite,
    /// The storage, by its small reads. Counters do not tell whether they were in order.
    StorageSmallRead,
    /// The storage, by its writes, of which counters do not tell how large they were: flushes are among them.
    StorageWrite,
    /// The storage, by large transfers.
    StorageSequential,
    /// The storage, which answered nothing.
    StorageStall,
    /// The bus between host and storage.
    BusCeiling,
    /// The processors.
    Cpu,
    /// Too little memory.
    MemoryPressure,
    /// The temperature.
    Heat,
    /// The power supply.
    Power,
    /// Something else that programs wait for: none of the devices that were watched explains the waits.
    Elsewhere,
    /// Nothing: there is little to do.
    Nothing,
    /// It cannot be told from what is known, or is a limit of a later version.
    #[serde(other)]
    Unknown,
}

impl Limit {
    /// Whether the storage itself limits, and not the way to it.
    #[must_use]
    pub const fn is_of_storage(self) -> bool {
        match self {
            Self::StorageRandomWrite
            | Self::StorageRandomRead
            | Self::StorageSmallWrite
            | Self::StorageSmallRead
            | Self::StorageWrite
            | Self::StorageSequential
            | Self::StorageStall => true,
            Self::BusCeiling
            | Self::Cpu
            | Self::MemoryPressure
            | Self::Heat
            | Self::Power
            | Self::Elsewhere
            | Self::Nothing
            | Self::Unknown => false,
        }
    }

    /// Its name in words, such as `random writes of the storage`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::StorageRandomWrite => "random writes of the storage",
            Self::StorageRandomRead => "random reads of the storage",
            Self::StorageSmallWrite => "small writes of the storage",
            Self::StorageSmallRead => "small reads of the storage",
            Self::StorageWrite => "writes of the storage",
            Self::StorageSequential => "large transfers of the storage",
            Self::StorageStall => "a standstill of the storage",
            Self::BusCeiling => "the bus to the storage",
            Self::Cpu => "the processor",
            Self::MemoryPressure => "too little memory",
            Self::Heat => "heat",
            Self::Power => "the power supply",
            Self::Elsewhere => "waits for something other than the watched devices",
            Self::Nothing => "nothing",
            Self::Unknown => "it cannot be told",
        }
    }
}

/// What limits, with the figures that show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitedBy {
    /// What limits.
    pub limit: Limit,
    /// The device meant, for a limit of storage or bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The figures that show it, in words, most important first.
    pub evidence: Vec<String>,
}

/// The system at one moment of a phase: a point of its time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// When the window that it stands for ended, from the phase's start.
    pub end_ns: Nanos,
    /// The share of all processors' time that was worked, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_busy: Option<f64>,
    /// The hottest thermal zone, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// The highest clock of any processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<u64>,
}

/// What the system did while a phase ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseSurroundings {
    /// The phase's whole time.
    pub activity: Activity,
    /// What this run asked the device to move in it: all else is of others or the file system's.
    pub own_bytes: Bytes,
    /// The share of all processors' time that this run itself used, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cpu: Option<f64>,
    /// What this run itself did in it; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnActivity>,
    /// How long threads of this run, and those of the kernel on the way to the storage, were ready to run while
    /// others had the processors, all added: without others the phase would have been shorter by this at most. Absent
    /// where the kernel does not tell, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_wait_ns: Option<Nanos>,
    /// The extremes of heat, clock and power in it; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climate: Option<ClimateExtremes>,
    /// The time series, at most a hundred points however long the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
}

/// What the run itself did while the system was monitored. The difference to the device's activity is
/// of other programs or of the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnActivity {
    /// The size of each operation, or of the largest.
    pub block_size_bytes: Bytes,
    /// Operations completed, without flushes.
    pub ops: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: Bytes,
    /// Bytes written.
    pub written_bytes: Bytes,
    /// Whether each operation went to the device or its file system past the page cache.
    pub direct: bool,
    /// Whether `read_bytes` is what the kernel fetched from storage for this run, not what the run
    /// read through the page cache.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fetched: bool,
}

/// For serde, which hands a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
}

/// The extremes of heat, clock and power over the windows of a phase, its whole time counted as one
/// window more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClimateExtremes {
    /// Windows with too low a supply voltage.
    pub under_voltage_windows: u64,
    /// Windows in which the firmware throttled, capped the clock, or reached its soft temperature limit.
    pub throttled_windows: u64,
    /// The highest temperature, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_max_celsius: Option<f64>,
    /// The highest temperature in windows whose allowed clock was below the processors' maximum, in
    /// degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_max_slowed_celsius: Option<f64>,
    /// The lowest of the highest clocks that were allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_allowed_min_hz: Option<u64>,
    /// The highest clock that was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_allowed_max_hz: Option<u64>,
}

/// What the monitor beside a run saw in all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitorSummary {
    /// How often it looked.
    pub samples: u64,
    /// The processor time of its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<Nanos>,
    /// The time that it watched.
    #[serde(default)]
    pub watched_ns: Nanos,
    /// The highest temperature in a phase, in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_max_celsius: Option<f64>,
    /// The lowest clock in a phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_min_hz: Option<u64>,
    /// The highest clock in a phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_max_hz: Option<u64>,
    /// How many phases were disturbed, repeated ones and their first tries counted once each.
    #[serde(default)]
    pub disturbed_phases: u32,
    /// How many were repeated for it.
    #[serde(default)]
    pub repeated_phases: u32,
}
