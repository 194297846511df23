//! The output of sysstat's iostat as typed rows: the plain table, `-x`, and `-o JSON` of both; of `sar -d`; and
//! of the iostat of macOS, the BSDs and Solaris.
//!
//! Versions from 8 on differ in names and number of columns, so columns are known by their
//! headings and units by the names of the headings (`kB_read/s`, `MB_wrtn/s`, `Blk_read/s`;
//! iostat(1), iostat's kilobyte is 1024 bytes). A row says how long its window was where it holds
//! totals beside rates. What a row does not say is absent. Where a text is no iostat output the
//! error names the line; nothing of it is guessed. Names of hosts are not taken over.

mod bsd;
mod json;
mod table;

pub(crate) use json::document;
pub(crate) use table::{is_heading, table};

pub use cardproof_record::{IostatCpu, IostatLog, IostatReport, IostatRow};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

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
        None => table_log(text),
    }
    .and_then(with_rows)
    .or_else(|error| bsd::log(text).ok_or(error))
}

fn table_log(text: &str) -> Result<IostatLog, IostatError> {
    let mut reports = Vec::new();
    let head = table(text.lines(), |_| {}, |report, _| reports.push(report))?;
    Ok(IostatLog { reports, ..head })
}

fn with_rows(log: IostatLog) -> Result<IostatLog, IostatError> {
    let has_rows = log.reports.iter().any(|report| !report.rows.is_empty());
    if has_rows { Ok(log) } else { Err(IostatError::Empty) }
}

/// What a column says.
#[derive(Clone, Copy, Debug)]
enum Column {
    Transactions,
    Reads,
    Writes,
    Discards,
    Flushes,
    ReadPerS,
    WrittenPerS,
    WrittenOrDiscardedPerS,
    OfBothPerS,
    DiscardedPerS,
    Read,
    Written,
    ReadAwait,
    WriteAwait,
    Await,
    Queue,
    Utilisation,
}

/// How many columns there are.
const COLUMNS: usize = Column::Utilisation as usize + 1;

/// The units of columns in bytes, by the place that [`column`] gives them: those of the plain form and
/// then those of `-x`. Columns without a unit have the first place.
const UNITS: [f64; 6] = [1024.0, 1_048_576.0, 512.0, 1024.0, 1_048_576.0, 512.0];

/// What the column called `name` says, and the place of its unit. With `-x` units stand in the middle of
/// the names: `rkB/s`, `rMB/s`, `rsec/s`.
fn column(name: &str) -> Option<(Column, usize)> {
    let column = match name {
        "tps" => (Column::Transactions, 0),
        "r/s" => (Column::Reads, 0),
        "w/s" => (Column::Writes, 0),
        "d/s" => (Column::Discards, 0),
        "f/s" => (Column::Flushes, 0),
        "kB_read/s" => (Column::ReadPerS, 0),
        "MB_read/s" => (Column::ReadPerS, 1),
        "Blk_read/s" => (Column::ReadPerS, 2),
        "rkB/s" => (Column::ReadPerS, 3),
        "rMB/s" => (Column::ReadPerS, 4),
        "rsec/s" | "rd_sec/s" => (Column::ReadPerS, 5),
        // FreeBSD and Solaris.
        "kr/s" => (Column::ReadPerS, 3),
        "kw/s" => (Column::WrittenPerS, 3),
        "ms/r" => (Column::ReadAwait, 0),
        "ms/w" => (Column::WriteAwait, 0),
        "svc_t" | "asvc_t" => (Column::Await, 0),
        "qlen" | "actv" => (Column::Queue, 0),
        "%b" => (Column::Utilisation, 0),
        "kB_wrtn/s" => (Column::WrittenPerS, 0),
        "MB_wrtn/s" => (Column::WrittenPerS, 1),
        "Blk_wrtn/s" => (Column::WrittenPerS, 2),
        "wkB/s" => (Column::WrittenPerS, 3),
        "wMB/s" => (Column::WrittenPerS, 4),
        "wsec/s" | "wr_sec/s" => (Column::WrittenPerS, 5),
        "kB_w+d/s" => (Column::WrittenOrDiscardedPerS, 0),
        "MB_w+d/s" => (Column::WrittenOrDiscardedPerS, 1),
        "Blk_w+d/s" => (Column::WrittenOrDiscardedPerS, 2),
        "kB_w+d" => (Column::Written, 0),
        "MB_w+d" => (Column::Written, 1),
        "Blk_w+d" => (Column::Written, 2),
        // The short form (`-s`) has one sum of both directions.
        "kB/s" => (Column::OfBothPerS, 0),
        "MB/s" => (Column::OfBothPerS, 1),
        "Blk/s" => (Column::OfBothPerS, 2),
        "kB_dscd/s" => (Column::DiscardedPerS, 0),
        "MB_dscd/s" => (Column::DiscardedPerS, 1),
        "Blk_dscd/s" => (Column::DiscardedPerS, 2),
        "dkB/s" => (Column::DiscardedPerS, 3),
        "dMB/s" => (Column::DiscardedPerS, 4),
        "dsec/s" => (Column::DiscardedPerS, 5),
        "kB_read" => (Column::Read, 0),
        "MB_read" => (Column::Read, 1),
        "Blk_read" => (Column::Read, 2),
        "kB_wrtn" => (Column::Written, 0),
        "MB_wrtn" => (Column::Written, 1),
        "Blk_wrtn" => (Column::Written, 2),
        "r_await" => (Column::ReadAwait, 0),
        "w_await" => (Column::WriteAwait, 0),
        "await" => (Column::Await, 0),
        "aqu-sz" | "avgqu-sz" => (Column::Queue, 0),
        "util" | "%util" => (Column::Utilisation, 0),
        _ => return None,
    };
    Some(column)
}

/// The figures of one row, each with the place of its unit.
#[derive(Clone, Debug, Default)]
struct Figures([Option<(usize, f64)>; COLUMNS]);

impl Figures {
    /// Adds the figure of a column. Of several in different units that of the first unit counts, and of
    /// several in one unit the first.
    fn add(&mut self, (column, unit): (Column, usize), value: f64) {
        let known = &mut self.0[column as usize];
        if known.is_none_or(|(known, _)| unit < known) {
            *known = Some((unit, value));
        }
    }

    /// The row of `device` at `line`.
    fn row(&self, device: &str, line: usize) -> Result<IostatRow, IostatError> {
        let missing = |missing: &'static str| IostatError::Heading { line, missing };
        let iops = |column: Column| self.plain(column).map(Iops);
        let (reads, writes) = (iops(Column::Reads), iops(Column::Writes));
        let of_kinds = reads.zip(writes).map(|(reads, writes)| {
            Iops(reads.0 + writes.0 + self.plain(Column::Discards).unwrap_or_default())
        });
        let rate = |column: Column| self.bytes(column).map(Throughput);
        let both = rate(Column::OfBothPerS);
        let one = |column: Column| rate(column).or(both.map(|_| Throughput(0.0)));
        let with_discards = rate(Column::WrittenOrDiscardedPerS);
        let written = one(Column::WrittenPerS).or(with_discards);
        let total = |column: Column| self.bytes(column).map(|bytes| Bytes(bytes.round() as u64));
        let wait = |column: Column| {
            let millis = self.plain(column).or(self.plain(Column::Await))?;
            Some(Nanos((millis * 1e6).round() as u64))
        };
        Ok(IostatRow {
            device: printable(device),
            line,
            transactions_per_s: iops(Column::Transactions)
                .or(of_kinds)
                .ok_or_else(|| missing("transactions a second"))?,
            reads_per_s: reads,
            writes_per_s: writes,
            flushes_per_s: iops(Column::Flushes),
            read_per_s: one(Column::ReadPerS).ok_or_else(|| missing("bytes read"))?,
            written_per_s: written.ok_or_else(|| missing("bytes written"))?,
            of_both_per_s: both,
            includes_discards: with_discards.is_some(),
            discarded_per_s: rate(Column::DiscardedPerS),
            read: total(Column::Read),
            written: total(Column::Written),
            read_await: wait(Column::ReadAwait),
            write_await: wait(Column::WriteAwait),
            queue: self.plain(Column::Queue),
            utilisation: self.plain(Column::Utilisation).map(|percent| (percent / 100.0).min(1.0)),
        })
    }

    fn plain(&self, column: Column) -> Option<f64> {
        self.0[column as usize].map(|(_, value)| value)
    }

    fn bytes(&self, column: Column) -> Option<f64> {
        self.0[column as usize].map(|(unit, count)| count * UNITS[unit])
    }
}

/// A word of the log without what could steer a terminal on which it is shown.
fn printable(word: &str) -> String {
    word.chars().filter(|c| !crate::lines::steers(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_device_steers_nothing() {
        assert_eq!(printable("s\u{1b}d\u{9b}a\u{2066}\u{202e}\u{61c}\u{2028}1"), "sda1");
    }

    #[test]
    fn sar_s_reports_of_devices_are_those_of_iostat() {
        let head = "Linux 6.1.18 (host) \t03/22/2023 \t_x86_64_\t(4 CPU)\n\n";
        let rows = "06:24:52 PM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n\
            06:24:54 PM       sda     24.50      0.00      0.00      0.00      0.00      0.00      0.10      2.20\n\
            06:24:54 PM   mmcblk0    196.00    652.00  11760.00      0.00     63.33      9.37     42.77    101.75\n\
            06:24:56 PM       sda     24.50      0.00      0.00      0.00      0.00      0.00      0.10      2.20\n\
            Average:          sda     24.50      0.00      0.00      0.00      0.00      0.00      0.10      2.20\n";
        let log = iostat(&format!("{head}{rows}")).unwrap();
        assert!(!log.first_is_since_boot);
        assert_eq!(log.reports.len(), 2);
        let row = &log.reports[0].rows[1];
        assert_eq!((row.device.as_str(), row.transactions_per_s), ("mmcblk0", Iops(196.0)));
        assert_eq!(row.written_per_s, Throughput(11_760.0 * 1024.0));
        assert_eq!((row.queue, row.write_await), (Some(9.37), Some(Nanos(42_770_000))));
        let old = "12:00:01          DEV       tps  rd_sec/s  wr_sec/s\n12:00:02       mmcblk0  2.0  8.0  16.0\n";
        assert_eq!(iostat(old).unwrap().reports[0].rows[0].read_per_s, Throughput(4096.0));
    }

    #[test]
    fn freebsd_s_and_solaris_columns_are_those_of_iostat() {
        let text = "                        extended device statistics  \n\
            device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b  \n\
            mmcsd0         2      20     96.8    342.7     1     4     0     4    0   2 \n\
            \x20                       extended device statistics  \n\
            device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b  \n\
            mmcsd0         0      35      0.0    280.0     0   412     0   412    8 100 \n";
        let log = iostat(text).unwrap();
        assert!(log.first_is_since_boot);
        let row = &log.reports[1].rows[0];
        assert_eq!((row.device.as_str(), row.transactions_per_s), ("mmcsd0", Iops(35.0)));
        assert_eq!(row.written_per_s, Throughput(280.0 * 1024.0));
        assert_eq!((row.write_await, row.queue), (Some(Nanos::from_millis(412)), Some(8.0)));
        assert_eq!(row.utilisation, Some(1.0));
        let solaris = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n\
            \x20   0.5   14.0    4.0  112.0  0.0  0.9    0.0   62.0   0  88 c1t0d0\n";
        let row = &iostat(solaris).unwrap().reports[0].rows[0];
        assert_eq!((row.device.as_str(), row.utilisation), ("c1t0d0", Some(0.88)));
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
