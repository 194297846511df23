//! vmstat, dstat and `sar -u`: how long the processors waited for storage, and what all storage moved.
//!
//! They do not tell which device, nor how it was asked, so what limits it stays open.

use cardproof_units::Throughput;

use super::{Monitor, monitor};
use crate::text::number;

/// What a monitor tells of all storage together. The first report of vmstat and dstat counts since boot and
/// is left out where others follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Reports that count.
    pub reports: u64,
    /// The mean share of the processors' time in which they waited for storage, 0 to 1.
    pub iowait: Option<f64>,
    /// The largest of them.
    pub iowait_max: Option<f64>,
    /// The most tasks that waited at once.
    pub blocked_max: Option<f64>,
    /// Bytes read a second on average.
    pub read_per_s: Option<Throughput>,
    /// Bytes written a second on average.
    pub written_per_s: Option<Throughput>,
}

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Blocked,
    /// In bytes of this many a unit.
    Read(u32),
    Written(u32),
    Wait,
    Other,
}

/// One report.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    blocked: Option<f64>,
    read: Option<f64>,
    written: Option<f64>,
    wait: Option<f64>,
}

/// The totals in `text`, of vmstat, dstat or sar; `None` where there is no report of them.
#[must_use]
pub fn totals(text: &str) -> Option<Totals> {
    let mut reports: Vec<Report> = Vec::new();
    let mut form: Option<(Monitor, Vec<Column>)> = None;
    let mut groups = "";
    for line in text.lines() {
        if monitor(line) == Some(Monitor::Dstat) {
            groups = line;
            continue;
        }
        if let Some(found) = heading(line, groups) {
            form = Some(found);
            continue;
        }
        let Some((monitor, columns)) = &form else { continue };
        reports.extend(row(*monitor, columns, line));
    }
    let has_first_since_boot = form.is_some_and(|(monitor, _)| monitor != Monitor::Sar);
    if has_first_since_boot && reports.len() > 1 {
        reports.remove(0);
    }
    sum(&reports)
}

/// The columns that a heading names.
fn heading(line: &str, groups: &str) -> Option<(Monitor, Vec<Column>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let column = match monitor(line) {
        Some(Monitor::Vmstat) => |word: &str| match word {
            "b" => Column::Blocked,
            "bi" => Column::Read(1024),
            "bo" => Column::Written(1024),
            "wa" => Column::Wait,
            _ => Column::Other,
        },
        Some(Monitor::Sar) => |word: &str| match word {
            "%iowait" => Column::Wait,
            "bread/s" => Column::Read(512),
            "bwrtn/s" => Column::Written(512),
            _ => Column::Other,
        },
        _ => return dstat_heading(line, groups),
    };
    let monitor = monitor(line)?;
    let start = if monitor == Monitor::Sar { time_words(&words) } else { 0 };
    Some((monitor, words[start..].iter().map(|word| column(word)).collect()))
}

/// The second line of dstat's heading; its first names the groups between the same bars.
fn dstat_heading(line: &str, groups: &str) -> Option<(Monitor, Vec<Column>)> {
    let is_it = !groups.is_empty() && line.contains('|') && line.contains("writ");
    let mut names = groups.split_whitespace().filter(|word| word.contains(['-', '/']));
    let total = names.position(|group| group.contains("dsk/total"));
    is_it.then(|| {
        let mut columns = Vec::new();
        for (group, names) in line.split('|').enumerate() {
            let is_total = total.is_none_or(|at| at == group);
            columns.extend(names.split_whitespace().map(|word| match word {
                "wai" => Column::Wait,
                "read" if is_total => Column::Read(1),
                "writ" if is_total => Column::Written(1),
                _ => Column::Other,
            }));
        }
        (Monitor::Dstat, columns)
    })
}

/// How many words of a time stand before sar's columns.
fn time_words(words: &[&str]) -> usize {
    let has_half = words.get(1).is_some_and(|word| matches!(*word, "AM" | "PM"));
    let is_time = words
        .first()
        .is_some_and(|word| word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()));
    usize::from(is_time) + usize::from(is_time && has_half)
}

fn row(monitor: Monitor, columns: &[Column], line: &str) -> Option<Report> {
    let bare = line.replace('|', " ");
    let mut words: Vec<&str> = bare.split_whitespace().collect();
    if monitor == Monitor::Sar {
        let start = time_words(&words);
        // The means at the end, and the single processors, repeat the rest.
        if start == 0
            || words.get(start).is_some_and(|word| number(word).is_none() && *word != "all")
        {
            return None;
        }
        words.drain(..start);
    }
    if words.len() != columns.len() {
        return None;
    }
    let mut report = Report::default();
    for (column, word) in columns.iter().zip(&words) {
        if *column == Column::Other {
            continue;
        }
        let value = amount(word)?;
        match column {
            Column::Blocked => report.blocked = Some(value),
            Column::Read(unit) => report.read = Some(value * f64::from(*unit)),
            Column::Written(unit) => report.written = Some(value * f64::from(*unit)),
            Column::Wait => report.wait = Some(value / 100.0),
            Column::Other => {}
        }
    }
    Some(report)
}

/// A number with one of dstat's units, which count by 1024.
fn amount(word: &str) -> Option<f64> {
    let (digits, scale) = match word.as_bytes().last()? {
        b'B' => (&word[..word.len() - 1], 1.0),
        b'k' => (&word[..word.len() - 1], 1024.0),
        b'M' => (&word[..word.len() - 1], 1_048_576.0),
        b'G' => (&word[..word.len() - 1], 1_073_741_824.0),
        _ => (word, 1.0),
    };
    Some(number(digits)? * scale)
}

fn sum(reports: &[Report]) -> Option<Totals> {
    let mean = |of: fn(&Report) -> Option<f64>| {
        let told: Vec<f64> = reports.iter().filter_map(of).collect();
        (!told.is_empty()).then(|| told.iter().sum::<f64>() / told.len() as f64)
    };
    let most = |of: fn(&Report) -> Option<f64>| reports.iter().filter_map(of).reduce(f64::max);
    let found = Totals {
        reports: reports.len() as u64,
        iowait: mean(|report| report.wait).map(|share| share.min(1.0)),
        iowait_max: most(|report| report.wait).map(|share| share.min(1.0)),
        blocked_max: most(|report| report.blocked),
        read_per_s: mean(|report| report.read).map(Throughput),
        written_per_s: mean(|report| report.written).map(Throughput),
    };
    (found != Totals { reports: found.reports, ..Totals::default() }).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vmstat_tells_waits_and_amounts_without_the_report_since_boot() {
        let text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n\
            \x20r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n\
            \x201  0      0 200000  10000 300000    0    0   900   800  100  200  9  1 80 10  0\n\
            \x200  4      0 200000  10000 300000    0    0    16  2048  100  200  1  1 40 58  0\n\
            \x200  2      0 200000  10000 300000    0    0     0  1024  100  200  1  1 60 38  0\n";
        let found = totals(text).unwrap();
        assert_eq!((found.reports, found.blocked_max), (2, Some(4.0)));
        assert_eq!((found.iowait, found.iowait_max), (Some(0.48), Some(0.58)));
        assert_eq!(found.written_per_s, Some(Throughput(1536.0 * 1024.0)));
    }

    #[test]
    fn dstat_s_groups_are_told_apart() {
        let text = "----total-cpu-usage---- -dsk/total- -net/total- ---paging-- ---system--\n\
            usr sys idl wai hiq siq| read  writ| recv  send|  in   out | int   csw \n\
            \x20 1   1  98   0   0   0|  12k   34k|   0     0 |   0     0 | 100   200 \n\
            \x20 2   3  35  60   0   0|   0  2048k|  66B  722B|   0     0 | 100   200 \n";
        let found = totals(text).unwrap();
        assert_eq!((found.reports, found.iowait), (1, Some(0.6)));
        assert_eq!(found.written_per_s, Some(Throughput(2048.0 * 1024.0)));
        assert_eq!(found.read_per_s, Some(Throughput(0.0)));
    }

    #[test]
    fn a_disk_whose_name_fills_its_columns_is_read() {
        let text = "----total-usage---- dsk/mmcblk0 ---system--\n\
            usr sys idl wai stl| read  writ| int   csw\n\
            \x20 4   3  12  81   0|   0  1640k| 812  1422\n\
            \x20 3   2  10  85   0|   0  1720k| 790  1390\n";
        let found = totals(text).unwrap();
        assert_eq!(found.written_per_s, Some(Throughput(1720.0 * 1024.0)));
    }

    #[test]
    fn sar_s_processors_and_amounts_are_read() {
        let text = "Linux 6.1.21 (host) \t03/12/24 \t_aarch64_\t(4 CPU)\n\n\
            12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
            12:10:01        all      2.00      0.00      2.00     46.00      0.00     50.00\n\
            12:20:01        all      2.00      0.00      2.00     26.00      0.00     70.00\n\
            Average:        all      2.00      0.00      2.00     36.00      0.00     60.00\n";
        let found = totals(text).unwrap();
        assert_eq!((found.reports, found.iowait, found.iowait_max), (2, Some(0.36), Some(0.46)));
        let amounts = "12:00:01 AM       tps      rtps      wtps   bread/s   bwrtn/s\n\
            12:10:01 AM     20.00      1.00     19.00      8.00    800.00\n";
        let found = totals(amounts).unwrap();
        assert_eq!(found.written_per_s, Some(Throughput(409_600.0)));
        assert_eq!(totals("Device tps kB_read/s kB_wrtn/s\nsda 1 2 3\n"), None);
    }
}
