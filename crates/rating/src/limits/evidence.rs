//! What limits, with the figures that show it: values. `words/limits.rs` makes the sentences.

use cardproof_record::{CpuActivity, DeviceActivity, Disturbance, Limit, MemoryActivity};
use cardproof_units::{Iops, Nanos, Throughput};

use super::log_state::StateShare;
use crate::quantity::Rate;

/// What limits, with the figures that show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiting {
    /// What limits.
    pub limit: Limit,
    /// The device meant, for a limit of storage or bus.
    pub device: Option<String>,
    /// The figures that show it, most important first.
    pub evidence: Vec<Evidence>,
}

/// A figure that shows what limits. A share is a part of the time, 0 to 1, where nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// The board reports too low a supply voltage.
    UnderVoltage,
    /// The board reports that it throttles itself.
    Throttled,
    /// The board reports its soft temperature limit.
    SoftTemperatureLimit,
    /// The board reports that it caps its clock.
    ClockCapped,
    /// The temperature in degrees Celsius.
    Temperature(f64),
    /// The clock and what it could be.
    Clock {
        /// Now.
        now_hz: u64,
        /// At the most.
        max_hz: Option<u64>,
    },
    /// All tasks waited for memory.
    AllWaitedForMemory(f64),
    /// Tasks waited for memory.
    WaitedForMemory(f64),
    /// Pages were read and written.
    Swapping(Throughput, Throughput),
    /// Pages were read.
    SwappingIn(Throughput),
    /// How much memory is left.
    MemoryLeft(MemoryActivity),
    /// How busy the processors were, and with what.
    Cpu(CpuActivity),
    /// The same, with what of it was others'.
    CpuBeside(CpuActivity, Disturbance),
    /// One processor of several was busy.
    OneCpu {
        /// The number of processors.
        cpus: u32,
        /// The share of the time, 0 to 1.
        share: f64,
    },
    /// The busiest device, where nothing limits.
    Busiest {
        /// Its name.
        name: String,
        /// The share of the time, 0 to 1.
        share: f64,
        /// Its transactions.
        transactions: Iops,
    },
    /// No counters can be read.
    NoCounters,
    /// What disturbed.
    Disturbed(Disturbance),
    /// A rate beside what the bus carries.
    RateOfBus {
        /// The rate.
        rate: Throughput,
        /// What the bus carries.
        ceiling: Throughput,
        /// The name of the bus.
        link: Option<String>,
    },
    /// What a device did is this part of what its bus carries.
    WorkOfBus {
        /// The part.
        share: f64,
        /// What the bus carries.
        bus: Throughput,
    },
    /// This run used so much of one processor.
    RunUsed(f64),
    /// The job used so much of one processor.
    JobUsed(f64),
    /// The rate, beside another limit.
    RateWas(Rate),
    /// The rate, which the storage set.
    Rate(Rate),
    /// The wait of each operation.
    EachWaited(Nanos),
    /// The job waited for syncs.
    WaitedForSyncs {
        /// The number of syncs.
        count: u64,
        /// The share of the time, 0 to 1.
        share: f64,
    },
    /// The rest of its time the job waited for the storage.
    RestWaited,
    /// What a device did.
    Work(DeviceActivity),
    /// How busy a device was.
    Busy {
        /// The share of the time, 0 to 1.
        share: f64,
        /// Requests at once.
        queue: f64,
    },
    /// Tasks waited for I/O.
    WaitedForIo(f64),
    /// The busiest device does not explain the waits.
    Unexplained {
        /// Its name.
        name: String,
        /// The share of the time, 0 to 1.
        share: f64,
    },
    /// Waiting tasks waited for a network drive.
    WaitedForNetwork {
        /// The number of tasks that waited for it.
        network: u64,
        /// The number of all waiting tasks.
        all: u64,
    },
    /// What a log shows.
    OfLog(OfLog),
}

/// What a log of iostat shows. A share is a part of the working time, 0 to 1, where nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub enum OfLog {
    /// What was mostly done.
    Mostly(StateShare),
    /// What was done, or that nothing ended.
    Did(StateShare),
    /// The storage was busy.
    Busy(f64),
    /// Programs wrote all the time, and the storage finished only so many.
    Slow(Iops),
    /// The processors were full.
    CpuFull(f64),
    /// The processors were full in a share of the reports, and the device had next to nothing to do.
    CpuBesideIdle(f64, String),
    /// Tasks waited for I/O in a share of the reports, and the device had next to nothing to do.
    Elsewhere(f64, String),
    /// The storage was busy in a small share, and the processors had time.
    Spare(f64),
    /// Nothing shows the storage at its limit.
    Undecided,
    /// There was next to nothing to do.
    NothingToDo,
}
