//! A log of iostat as typed rows, whichever form of it was read.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// A log of iostat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IostatLog {
    /// How many processors the machine had, where the log begins with iostat's own heading.
    pub cpus: Option<u32>,
    /// Whether the first report counts since boot: iostat's own heading stands before it, so the
    /// log was not cut.
    pub first_is_since_boot: bool,
    /// The reports, in order.
    pub reports: Vec<IostatReport>,
}

/// One report: all devices over one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IostatReport {
    /// How the processors spent the time.
    pub cpu: Option<IostatCpu>,
    /// The devices, in the order of the log.
    pub rows: Vec<IostatRow>,
}

/// Shares of all processors' time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IostatCpu {
    /// In programs.
    pub user: f64,
    /// In programs of lowered priority.
    pub nice: f64,
    /// In the kernel.
    pub system: f64,
    /// Idle while a task waited for I/O; part of `idle` where the system does not count it, as macOS and the BSDs.
    pub iowait: Option<f64>,
    /// Taken by the host of a virtual machine.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
}

/// One device in one report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IostatRow {
    /// The kernel's name.
    pub device: String,
    /// The line in the text, from 1; 0 in JSON, which has no lines worth naming.
    pub line: usize,
    /// Reads, writes and discards a second.
    pub transactions_per_s: Iops,
    /// Reads a second; only with `-x`.
    pub reads_per_s: Option<Iops>,
    /// Writes a second; only with `-x`.
    pub writes_per_s: Option<Iops>,
    /// Flushes a second; only with `-x` of sysstat 12.
    pub flushes_per_s: Option<Iops>,
    /// Bytes read a second.
    pub read_per_s: Throughput,
    /// Bytes written a second.
    pub written_per_s: Throughput,
    /// Bytes read and written a second, where a short row (`-s`) has only their sum; the two above are
    /// zero then.
    pub of_both_per_s: Option<Throughput>,
    /// Whether what was written includes what was discarded, as a short row (`-s`) adds them.
    pub includes_discards: bool,
    /// Bytes discarded a second, from sysstat 12 on.
    pub discarded_per_s: Option<Throughput>,
    /// Bytes read in the window; not with `-x`.
    pub read: Option<Bytes>,
    /// Bytes written in the window; not with `-x`.
    pub written: Option<Bytes>,
    /// How long a read took, waiting included; only with `-x`.
    pub read_await: Option<Nanos>,
    /// How long a write took, waiting included; only with `-x`.
    pub write_await: Option<Nanos>,
    /// Requests under way or waiting; only with `-x`.
    pub queue: Option<f64>,
    /// The share of the time in which the device was busy, 0 to 1; only with `-x`.
    pub utilisation: Option<f64>,
}

impl IostatRow {
    /// Bytes moved a second in either direction.
    #[must_use]
    pub fn moved_per_s(&self) -> Throughput {
        self.of_both_per_s.unwrap_or(Throughput(self.read_per_s.0 + self.written_per_s.0))
    }

    /// How long the row's window was, from a total and its rate; `None` where nothing moved or
    /// there are no totals.
    #[must_use]
    pub fn window(&self) -> Option<Nanos> {
        let sides = [(self.read, self.read_per_s), (self.written, self.written_per_s)];
        // The larger total has the smaller error of rounding.
        let (total, rate) = sides
            .into_iter()
            .filter_map(|(total, rate)| Some((total?, rate)))
            .filter(|(total, rate)| *total > Bytes::ZERO && rate.0 > 0.0)
            .max_by_key(|(total, _)| *total)?;
        Some(Nanos::from_secs_f64(total.as_f64() / rate.0))
    }
}
