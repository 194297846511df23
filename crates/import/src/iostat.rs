//! The output of sysstat's iostat as typed rows: the plain table, `-x`, and `-o JSON` of both.
//!
//! Versions from 8 on differ in names and number of columns, so columns are known by their
//! headings and units by the names of the headings (`kB_read/s`, `MB_wrtn/s`, `Blk_read/s`;
//! iostat(1), iostat's kilobyte is 1024 bytes). A row says how long its window was where it holds
//! totals beside rates. What a row does not say is absent. Where a text is no iostat output the
//! error names the line; nothing of it is guessed. Names of hosts are not taken over.

mod json;
mod table;

pub(crate) use json::document;
pub(crate) use table::{is_heading, table};

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
    /// Idle while a task waited for I/O.
    pub iowait: f64,
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

/// Why a text is not a log of iostat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IostatError {
    /// No row of any device.
    #[error(
        "there is no row of iostat in it; give it the output of `iostat 20`, of `iostat -x 20` or of `iostat -o JSON -x 20`"
    )]
    Empty,
    /// A heading without what any of iostat's forms has.
    #[error(
        "line {line}: the heading names no column with {missing}; it is of no version of iostat that is known"
    )]
    Heading {
        /// The line, from 1.
        line: usize,
        /// What is missing.
        missing: &'static str,
    },
    /// JSON that is not iostat's.
    #[error(
        "not the whole JSON of iostat: {0}; iostat closes its document only when Ctrl-C ends it"
    )]
    Json(String),
}

/// Reads a log of iostat in any of its forms, wherever it stands in `text`. Lines that are none of
/// iostat's are passed over.
///
/// # Errors
/// The text holds none; the error names the line.
pub fn iostat(text: &str) -> Result<IostatLog, IostatError> {
    match text.find("\"sysstat\":") {
        Some(head) => {
            let start = text[..head].rfind('{').unwrap_or(0);
            document(&text[start..]).map(|(log, _)| log)
        }
        None => table(text.lines(), |_| {}),
    }
    .and_then(with_rows)
}

fn with_rows(log: IostatLog) -> Result<IostatLog, IostatError> {
    let has_rows = log.reports.iter().any(|report| !report.rows.is_empty());
    if has_rows { Ok(log) } else { Err(IostatError::Empty) }
}

/// The columns of one row by their headings, in whatever unit these name.
struct Columns<'row> {
    line: usize,
    find: &'row dyn Fn(&str) -> Option<f64>,
}

/// What a heading's first letters say of its unit, in bytes.
const UNITS: [(&str, f64); 3] = [("kB", 1024.0), ("MB", 1_048_576.0), ("Blk", 512.0)];

/// The same in the headings of `-x`: `rkB/s`, `rMB/s`, `rsec/s`.
const EXTENDED_UNITS: [(&str, f64); 3] = [("kB", 1024.0), ("MB", 1_048_576.0), ("sec", 512.0)];

impl Columns<'_> {
    /// The row of `device`.
    fn row(&self, device: &str) -> Result<IostatRow, IostatError> {
        let (reads, writes) = (self.iops("r/s"), self.iops("w/s"));
        let of_kinds = reads.zip(writes).map(|(reads, writes)| {
            Iops(reads.0 + writes.0 + self.iops("d/s").unwrap_or_default().0)
        });
        // The short form (`-s`) has one sum of both directions.
        let both = UNITS.iter().find_map(|(name, unit)| self.scaled(&format!("{name}/s"), *unit));
        let both = both.map(Throughput);
        let one = |rate: Option<Throughput>| rate.or(both.map(|_| Throughput(0.0)));
        Ok(IostatRow {
            device: printable(device),
            line: self.line,
            transactions_per_s: self
                .iops("tps")
                .or(of_kinds)
                .ok_or_else(|| self.missing("transactions a second"))?,
            reads_per_s: reads,
            writes_per_s: writes,
            flushes_per_s: self.iops("f/s"),
            read_per_s: one(self.rate("read", "r")).ok_or_else(|| self.missing("bytes read"))?,
            written_per_s: one(self.rate("wrtn", "w"))
                .ok_or_else(|| self.missing("bytes written"))?,
            of_both_per_s: both,
            discarded_per_s: self.rate("dscd", "d"),
            read: self.total("read"),
            written: self.total("wrtn"),
            read_await: self.millis(&["r_await", "await"]),
            write_await: self.millis(&["w_await", "await"]),
            queue: (self.find)("aqu-sz").or_else(|| (self.find)("avgqu-sz")),
            utilisation: (self.find)("util").map(|percent| (percent / 100.0).min(1.0)),
        })
    }

    fn missing(&self, missing: &'static str) -> IostatError {
        IostatError::Heading { line: self.line, missing }
    }

    fn iops(&self, name: &str) -> Option<Iops> {
        (self.find)(name).map(Iops)
    }

    /// Bytes a second: `kB_read/s` of the plain form, `rkB/s` of the extended.
    fn rate(&self, plain: &str, extended: &str) -> Option<Throughput> {
        let plain =
            UNITS.iter().find_map(|(name, unit)| self.scaled(&format!("{name}_{plain}/s"), *unit));
        let extended = || {
            EXTENDED_UNITS
                .iter()
                .find_map(|(name, unit)| self.scaled(&format!("{extended}{name}/s"), *unit))
        };
        plain.or_else(extended).map(Throughput)
    }

    /// Bytes in the window: `kB_read`.
    fn total(&self, name: &str) -> Option<Bytes> {
        let total =
            UNITS.iter().find_map(|(unit, size)| self.scaled(&format!("{unit}_{name}"), *size));
        total.map(|bytes| Bytes(bytes.round() as u64))
    }

    fn scaled(&self, name: &str, unit: f64) -> Option<f64> {
        (self.find)(name).map(|count| count * unit)
    }

    fn millis(&self, names: &[&str]) -> Option<Nanos> {
        let millis = names.iter().find_map(|name| (self.find)(name))?;
        Some(Nanos((millis * 1e6).round() as u64))
    }
}

/// A word of the log without what could steer a terminal on which it is shown.
fn printable(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_window() {
        let row = IostatRow {
            read: Some(Bytes::kib(132_409)),
            read_per_s: Throughput(10_296.19 * 1024.0),
            written: Some(Bytes::kib(896)),
            written_per_s: Throughput(69.67 * 1024.0),
            ..IostatRow::default()
        };
        let window = row.window().unwrap();
        assert!((window.as_secs_f64() - 12.86).abs() < 0.01, "{window}");
        assert_eq!(IostatRow::default().window(), None);
    }

    #[test]
    fn a_log_cannot_steer_a_terminal() {
        let log = iostat("Device tps kB_read/s kB_wrtn/s\n\x1b[2Jsda 1 2 3\n").unwrap();
        assert_eq!(log.reports[0].rows[0].device, "[2Jsda");
    }

    #[test]
    fn what_is_no_row_is_passed_over_and_a_text_without_rows_is_refused() {
        let empty = ["", "Device tps kB_read/s kB_wrtn/s\n", "sda 1 2 3\n"];
        for text in empty {
            assert_eq!(iostat(text), Err(IostatError::Empty), "{text}");
        }
        let heading = "Device: tps kB_read/s kB_wrtn/s\n";
        let rows = "sda 1.00 2.00\nsda 1.00 2.00x 3\nsda 1.00 -2 3\nsda 1.00 2.00 3.00\n";
        let log = iostat(&format!("$ iostat 1\n{heading}{rows}bye\n")).unwrap();
        let kept: Vec<usize> =
            log.reports.iter().flat_map(|report| &report.rows).map(|row| row.line).collect();
        assert_eq!(kept, [6]);
        let error = IostatError::Heading { line: 2, missing: "bytes read" };
        assert_eq!(iostat("Device tps\nsda 1.00\n"), Err(error));
        assert!(matches!(iostat("{\"sysstat\": 1}"), Err(IostatError::Json(_))));
        assert!(matches!(iostat("{\"sysstat\": {\"hosts\": ["), Err(IostatError::Json(_))));
    }
}
