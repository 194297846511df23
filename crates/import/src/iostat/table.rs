//! The tables of iostat, plain and extended, line by line.

use std::collections::HashMap;

use super::{Column, Figures, IostatCpu, IostatError, IostatLog, IostatReport, column};

/// Units that `--human` puts behind sizes, in bytes.
const HUMAN_UNITS: [(char, f64); 6] = [
    ('B', 1.0),
    ('k', 1024.0),
    ('M', 1_048_576.0),
    ('G', 1_073_741_824.0),
    ('T', 1_099_511_627_776.0),
    ('%', 1.0),
];

/// Whether `line` names the columns of devices: the device's own comes first, or, with `--pretty`, last.
pub(crate) fn is_heading(line: &str) -> bool {
    let text = line.trim();
    if is_of_sar(text) {
        return true;
    }
    if is_of_bsd(text) {
        return true;
    }
    if !text.contains("Device") {
        return false;
    }
    let is_rate = |word: &str| matches!(word, "tps" | "r/s" | "w/s" | "d/s" | "f/s");
    (text.starts_with("Device") || text.ends_with("Device")) && text.split_whitespace().any(is_rate)
}

/// Whether `text` is the heading of FreeBSD's or Solaris' extended statistics.
fn is_of_bsd(text: &str) -> bool {
    text.contains("device")
        && (text.starts_with("device") || text.ends_with("device"))
        && ["r/s", "kr/s", "%b"]
            .iter()
            .all(|name| text.split_whitespace().any(|word| word == *name))
}

/// Whether `text` is the heading of `sar -d`: a time stands before the device.
fn is_of_sar(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains("DEV")
        && text.split_whitespace().any(|word| word == "DEV")
        && text.split_whitespace().any(|word| word == "tps")
}

/// The headings of a table.
#[derive(Clone, Debug, Default)]
struct Headings<'text> {
    /// Their names, without the device's own.
    names: Vec<&'text str>,
    /// What they say, where that is read.
    columns: Vec<Option<(Column, usize)>>,
    /// Whether the device comes last.
    is_device_last: bool,
    /// How many words of the time stand before the device, as sar prints it.
    time_words: usize,
    /// The tables of the report, this one too, that have its first column: a bit for each.
    with_first: u16,
}

/// `-x --pretty` spreads a report over a few tables; none has more.
const TABLES_MAX: usize = u16::BITS as usize;

/// No report has more devices.
const DEVICES_MAX: usize = 4096;

/// No line of a table has more words.
const WORDS_MAX: usize = 256;

/// So many headings are kept: of more, no line has the figures.
const HEADINGS_MAX: usize = WORDS_MAX + 2;

/// A row in the making, of which each table holds a part.
#[derive(Clone, Debug, Default)]
struct RowDraft {
    line: usize,
    figures: Figures,
    /// The tables of the report in which it stood: a bit for each.
    tables: u16,
}

/// What the reading of lines stands at.
struct Reader<'text, R> {
    /// What the log says beside its reports.
    head: IostatLog,
    /// Takes the reports.
    reports: R,
    has_reports: bool,
    cpu: Option<IostatCpu>,
    /// The devices of the report, in order, and their rows.
    devices: Vec<&'text str>,
    rows: HashMap<&'text str, RowDraft>,
    /// The tables of the report; the last has the rows to come.
    tables: Vec<Headings<'text>>,
    /// Those in which a row stood: a bit for each.
    tables_with_rows: u16,
    /// The headings of the processors' line to come.
    cpu_headings: Option<Vec<&'text str>>,
}

/// Reads a log of tables, wherever it stands among other lines, into `reports`, which is told of each
/// whether it counts since boot; `claim` is told the place of each line that was read, from 0. The log that
/// is returned has no reports.
pub(crate) fn table<'text>(
    lines: impl Iterator<Item = &'text str>,
    mut claim: impl FnMut(usize),
    reports: impl FnMut(IostatReport, bool),
) -> Result<IostatLog, IostatError> {
    let mut reader = Reader {
        head: IostatLog::default(),
        reports,
        has_reports: false,
        cpu: None,
        devices: Vec::new(),
        rows: HashMap::new(),
        tables: Vec::new(),
        tables_with_rows: 0,
        cpu_headings: None,
    };
    for (index, line) in lines.enumerate() {
        if reader.line(index + 1, line)? {
            claim(index);
        }
    }
    reader.end_report()?;
    Ok(reader.head)
}

impl<'text, R: FnMut(IostatReport, bool)> Reader<'text, R> {
    /// Reads a line, or says that it is none of iostat's.
    fn line(&mut self, number: usize, line: &'text str) -> Result<bool, IostatError> {
        if is_heading(line) {
            self.heading(line)?;
            return Ok(true);
        }
        let first = line.split_whitespace().next();
        let is_read = match first {
            None => self.cpu_figures(&[]),
            Some("Linux") if !self.has_reports && self.rows.is_empty() => {
                self.banner(line);
                true
            }
            Some("avg-cpu:") => {
                self.end_report()?;
                let headings = line.split_whitespace().skip(1).take(HEADINGS_MAX);
                self.cpu_headings = Some(headings.collect());
                true
            }
            // Before the first heading no row is read.
            Some(_) if self.tables.is_empty() && self.cpu_headings.is_none() => {
                is_time(&words(line))
            }
            Some(_) => {
                let words = words(line);
                if self.cpu_headings.is_some() {
                    self.cpu_figures(&words)
                } else {
                    is_time(&words) || self.row(number, &words)?
                }
            }
        };
        Ok(is_read)
    }

    /// Reads the figures of the processors, where their headings stood above.
    fn cpu_figures(&mut self, words: &[&str]) -> bool {
        let Some(headings) = self.cpu_headings.take() else { return false };
        self.cpu = cpu(&headings, words);
        self.cpu.is_some()
    }

    /// iostat's own first line: the kernel, the host's name, the date, the number of processors.
    fn banner(&mut self, line: &str) {
        let count = line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(" CPU"));
        self.head.cpus = count.and_then(|(count, _)| count.parse().ok());
        self.head.first_is_since_boot = self.head.cpus.is_some();
    }

    fn heading(&mut self, line: &'text str) -> Result<(), IostatError> {
        let of_sar = is_of_sar(line.trim());
        let time_words = if of_sar {
            // sar's first report is none since boot.
            self.head.first_is_since_boot = false;
            line.split_whitespace().take_while(|word| *word != "DEV").count()
        } else {
            0
        };
        if is_of_bsd(line.trim()) && !self.has_reports && self.rows.is_empty() {
            self.head.first_is_since_boot = true;
        }
        let begins = ["Device", "device"].iter().any(|name| line.trim_start().starts_with(name));
        let is_device_last = !of_sar && !begins;
        let names = line.split_whitespace().skip(time_words);
        let names = names.filter(|word| !matches!(*word, "Device" | "Device:" | "DEV" | "device"));
        let names: Vec<&str> = names.take(HEADINGS_MAX).collect();
        // Another table of the same columns is another report.
        if self.tables_with(names.first()) & self.tables_with_rows != 0
            || self.tables.len() == TABLES_MAX
        {
            self.end_report()?;
            self.tables.clear();
        }
        let with_first = self.tables_with(names.first()) | 1 << self.tables.len();
        let columns = names.iter().map(|name| column(name)).collect();
        let headings = Headings { names, columns, is_device_last, time_words, with_first };
        self.tables.push(headings);
        Ok(())
    }

    /// The tables of the report that have a column called `name`: a bit for each.
    fn tables_with(&self, name: Option<&&str>) -> u16 {
        let Some(name) = name else { return 0 };
        let bit = |(at, table): (usize, &Headings)| u16::from(table.names.contains(name)) << at;
        self.tables.iter().enumerate().map(bit).fold(0, |all, one| all | one)
    }

    fn row(&mut self, number: usize, words: &[&'text str]) -> Result<bool, IostatError> {
        let Some(headings) = self.tables.last() else { return Ok(false) };
        let Some((time, words)) = words.split_at_checked(headings.time_words) else {
            return Ok(false);
        };
        // sar ends with means, behind a word.
        if time.first().is_some_and(|word| !word.starts_with(|c: char| c.is_ascii_digit())) {
            return Ok(false);
        }
        let split = if headings.is_device_last { words.split_last() } else { words.split_first() };
        let Some((device, words)) = split.filter(|(_, words)| words.len() == headings.names.len())
        else {
            return Ok(false);
        };
        let mut figures = Vec::with_capacity(words.len());
        for (name, word) in headings.names.iter().zip(words) {
            let Some(figure) = figure(name, word) else { return Ok(false) };
            figures.push(figure);
        }
        let is_again =
            self.rows.get(device).is_some_and(|row| row.tables & headings.with_first != 0);
        if is_again || self.devices.len() == DEVICES_MAX {
            self.end_report()?;
        }
        let Some(headings) = self.tables.last() else { return Ok(false) };
        let place = 1 << (self.tables.len() - 1);
        let row = self.rows.entry(device).or_insert_with(|| {
            self.devices.push(device);
            RowDraft { line: number, ..RowDraft::default() }
        });
        row.tables |= place;
        self.tables_with_rows |= place;
        for (column, figure) in headings.columns.iter().zip(figures) {
            column.iter().for_each(|column| row.figures.add(*column, figure));
        }
        Ok(true)
    }

    /// Ends a report; the table that is being read goes on in the next one.
    fn end_report(&mut self) -> Result<(), IostatError> {
        let mut report = IostatReport { cpu: self.cpu.take(), rows: Vec::new() };
        for device in self.devices.drain(..) {
            let Some(row) = self.rows.remove(device) else { continue };
            report.rows.push(row.figures.row(device, row.line)?);
        }
        self.tables.drain(..self.tables.len().saturating_sub(1));
        self.tables.iter_mut().for_each(|table| table.with_first = 1);
        self.tables_with_rows = 0;
        if !report.rows.is_empty() {
            let is_since_boot = self.head.first_is_since_boot && !self.has_reports;
            self.has_reports = true;
            (self.reports)(report, is_since_boot);
        } else {
            self.cpu = report.cpu;
        }
        Ok(())
    }
}

/// The words of a line, or one too many for any table.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().take(WORDS_MAX + 1).collect()
}

/// A figure with a decimal point, with the decimal comma of many languages, or with a unit behind it,
/// in the unit that its heading names.
fn figure(heading: &str, word: &str) -> Option<f64> {
    let plain = |word: &str| {
        let figure: f64 = match word.contains(',') {
            true => word.replacen(',', ".", 1).parse().ok()?,
            false => word.parse().ok()?,
        };
        (figure.is_finite() && figure >= 0.0).then_some(figure)
    };
    let is_digits = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    if is_digits {
        return plain(word);
    }
    let (unit, bytes) = HUMAN_UNITS.into_iter().find(|(unit, _)| word.ends_with(*unit))?;
    let value = plain(word.strip_suffix(unit)?)?;
    let of_heading = if unit == '%' {
        1.0
    } else if heading.contains("kB") || heading.ends_with("req-sz") || heading == "areq-sz" {
        1024.0
    } else if heading.contains("MB") {
        1_048_576.0
    } else {
        return None;
    };
    Some(value * bytes / of_heading)
}

fn cpu(headings: &[&str], words: &[&str]) -> Option<IostatCpu> {
    let figures: Option<Vec<f64>> = words.iter().map(|word| figure("", word)).collect();
    let figures = figures.filter(|figures| figures.len() == headings.len())?;
    let share = |name: &str| {
        let at = headings.iter().position(|heading| heading.strip_prefix('%') == Some(name));
        at.and_then(|at| figures.get(at)).map(|percent| percent / 100.0)
    };
    let share_or_none = |name: &str| share(name).unwrap_or_default();
    Some(IostatCpu {
        user: share_or_none("user"),
        nice: share_or_none("nice"),
        system: share_or_none("system"),
        iowait: share("iowait"),
        steal: share_or_none("steal"),
        idle: share_or_none("idle"),
    })
}

/// Whether a line is the time that `-t` prints: a date and a time, or one of ISO 8601.
fn is_time(words: &[&str]) -> bool {
    let starts_with_digit = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    match words {
        [one] => starts_with_digit(one) && one.contains(':'),
        [date, time, rest @ ..] => {
            rest.len() <= 1
                && starts_with_digit(date)
                && date.contains(['/', '-', '.'])
                && time.contains(':')
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::{Bytes, Iops, Nanos, Throughput};

    use crate::iostat::iostat;

    #[test]
    fn rows_under_one_heading_are_reports_of_their_own() {
        let text = "Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n\
                    mmcblk0          25.00       600.00       500.00      12000      10000\n\
                    mmcblk0           8.00         0.00      3000.00          0      60000\n";
        let log = iostat(text).unwrap();
        assert_eq!(log.reports.len(), 2);
        assert!(!log.first_is_since_boot);
        let row = &log.reports[1].rows[0];
        assert_eq!((row.line, row.device.as_str()), (3, "mmcblk0"));
        assert_eq!(row.transactions_per_s, Iops(8.0));
        assert_eq!(row.written_per_s, Throughput(3000.0 * 1024.0));
        assert_eq!(row.written, Some(Bytes(60_000 * 1024)));
        assert_eq!(row.window(), Some(Nanos::from_secs(20)));
        assert_eq!(row.utilisation, None);
    }

    #[test]
    fn the_extended_form_tells_waits_and_the_processors() {
        let text = "Linux 6.1.0-rpi7 (somebody) \t11/21/26 \t_aarch64_\t(4 CPU)\n\n\
            11/21/26 13:52:43\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
            \x20          1,50    0,00    2,50   24,00    0,00   72,00\n\n\
            Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   \
            wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     \
            f/s f_await  aqu-sz  %util\n\
            mmcblk0 2,00 8,00 0 0 1,50 4,00 30,00 120,00 0 0 31,25 4,00 1,00 64,00 0 0 2 64 3,00 \
            40,00 0,95 98,50\n";
        let log = iostat(text).unwrap();
        assert_eq!((log.cpus, log.first_is_since_boot), (Some(4), true));
        let report = &log.reports[0];
        assert!((report.cpu.unwrap().iowait.unwrap() - 0.24).abs() < 1e-12);
        let row = &report.rows[0];
        assert_eq!(row.transactions_per_s, Iops(33.0));
        assert_eq!(row.writes_per_s, Some(Iops(30.0)));
        assert_eq!(row.flushes_per_s, Some(Iops(3.0)));
        assert_eq!(row.write_await, Some(Nanos(31_250_000)));
        assert_eq!(row.discarded_per_s, Some(Throughput(65_536.0)));
        assert_eq!(row.utilisation, Some(0.985));
        assert!(!format!("{log:?}").contains("somebody"));
    }

    #[test]
    fn old_columns_and_other_units_are_known() {
        let text = "Device: rrqm/s wrqm/s r/s w/s rMB/s wMB/s avgrq-sz avgqu-sz await svctm %util\n\
                    sda 0.00 1.00 2.00 3.00 0.50 1.00 8.00 0.10 12.00 3.00 1.50\n";
        let row = &iostat(text).unwrap().reports[0].rows[0];
        assert_eq!(row.read_per_s, Throughput(524_288.0));
        assert_eq!(row.read_await, Some(Nanos::from_millis(12)));
        assert_eq!(row.queue, Some(0.1));
        let text = "Device: tps Blk_read/s Blk_wrtn/s Blk_read Blk_wrtn\nhda 1 2 4 20 40\n";
        let row = &iostat(text).unwrap().reports[0].rows[0];
        assert_eq!(row.written_per_s, Throughput(2048.0));
        assert_eq!(row.written, Some(Bytes(20_480)));
    }
}
