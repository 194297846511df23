//! The plain form of the iostat of macOS and of the BSDs: KiB a transfer, transfers a second and MiB a second
//! of each disk, under a line with the disks' names.
//!
//! Reads and writes are one sum. The first report counts since boot.

use cardproof_units::{Iops, Throughput};

use super::{IostatCpu, IostatLog, IostatReport, IostatRow, printable};
use crate::text::number;

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Transfers(usize),
    MibPerS(usize),
    User,
    Nice,
    System,
    Idle,
    Other,
}

/// The disks and the columns of a table.
type Form<'t> = (Vec<&'t str>, Vec<Column>);

/// The log in `text`; `None` where there is none.
pub(super) fn log(text: &str) -> Option<IostatLog> {
    let mut log = IostatLog { first_is_since_boot: true, ..IostatLog::default() };
    let mut above = "";
    let mut form: Option<Form> = None;
    for (line, number) in text.lines().zip(1..) {
        if line.contains("KB/t") && line.contains("MB/s") {
            form = heading(above, line);
        } else if let Some((disks, columns)) = &form
            && let Some(report) = report(disks, columns, line, number)
        {
            log.reports.push(report);
        }
        if !line.trim().is_empty() {
            above = line;
        }
    }
    (!log.reports.is_empty()).then_some(log)
}

/// The disks in the line above, and the columns.
fn heading<'t>(above: &'t str, line: &str) -> Option<Form<'t>> {
    let others = ["tty", "cpu", "load", "average"];
    let disks: Vec<&str> = above.split_whitespace().filter(|word| !others.contains(word)).collect();
    let mut disk = 0;
    let columns: Vec<Column> = line
        .split_whitespace()
        .map(|word| match word {
            "KB/t" => {
                disk += 1;
                Column::Other
            }
            "tps" | "t/s" | "xfrs" if disk > 0 => Column::Transfers(disk - 1),
            "MB/s" if disk > 0 => Column::MibPerS(disk - 1),
            "us" => Column::User,
            "ni" => Column::Nice,
            "sy" => Column::System,
            "id" => Column::Idle,
            _ => Column::Other,
        })
        .collect();
    (disk > 0 && disk == disks.len()).then_some((disks, columns))
}

fn report(
    disks: &[&str],
    columns: &[Column],
    line: &str,
    line_number: usize,
) -> Option<IostatReport> {
    let figures: Vec<f64> = line.split_whitespace().map(number).collect::<Option<_>>()?;
    if figures.len() != columns.len() {
        return None;
    }
    let of = |wanted: Column| {
        let at = columns.iter().position(|column| *column == wanted)?;
        figures.get(at).copied()
    };
    let row = |(at, device): (usize, &&str)| {
        let moved = Throughput(of(Column::MibPerS(at))? * 1_048_576.0);
        Some(IostatRow {
            device: printable(device),
            line: line_number,
            transactions_per_s: Iops(of(Column::Transfers(at))?),
            of_both_per_s: Some(moved),
            ..IostatRow::default()
        })
    };
    let rows: Vec<IostatRow> = disks.iter().enumerate().filter_map(row).collect();
    let share = |column| of(column).map_or(0.0, |percent| percent / 100.0);
    let cpu = of(Column::Idle).map(|_| IostatCpu {
        user: share(Column::User),
        nice: share(Column::Nice),
        system: share(Column::System),
        idle: share(Column::Idle),
        ..IostatCpu::default()
    });
    (!rows.is_empty()).then_some(IostatReport { cpu, rows })
}

#[cfg(test)]
mod tests {
    use super::super::iostat;
    use super::*;

    #[test]
    fn disks_of_macos_and_bsd_are_read_by_the_line_above() {
        let macos = "              disk0               disk2       cpu    load average\n\
            \x20   KB/t  tps  MB/s     KB/t  tps  MB/s  us sy id   1m   5m   15m\n\
            \x20  26.44   12  0.31    64.00   20  1.25   2  3 95  1.61 1.73 1.70\n\
            \x20   0.00    0  0.00    16.00  800 12.50   2  3 95  1.61 1.73 1.70\n";
        let log = iostat(macos).unwrap();
        assert!(log.first_is_since_boot);
        let row = &log.reports[1].rows[1];
        assert_eq!((row.device.as_str(), row.transactions_per_s), ("disk2", Iops(800.0)));
        assert_eq!(row.moved_per_s(), Throughput(12.5 * 1_048_576.0));
        let bsd = "       tty            mmcsd0             cpu\n\
            \x20tin  tout KB/t tps  MB/s  us ni sy in id\n\
            \x20  0    24 18.50   5  0.09   1  0  1  0 98\n";
        let log = iostat(bsd).unwrap();
        assert_eq!(log.reports[0].rows[0].device, "mmcsd0");
        let cpu = log.reports[0].cpu.unwrap();
        assert_eq!((cpu.idle, cpu.iowait), (0.98, None));
        assert!(iostat("    KB/t  tps  MB/s\n   26.44   12  0.31\n").is_err());
    }
}
