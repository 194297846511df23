//! The tables of iostat, plain and extended, line by line.

use std::collections::HashMap;

use super::{Columns, IostatCpu, IostatError, IostatLog, IostatReport};

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
    if !text.contains("Device") {
        return false;
    }
    let has_rates = ["tps", "r/s", "w/s", "d/s", "f/s"]
        .iter()
        .any(|column| text.split_whitespace().any(|word| word == *column));
    has_rates && (text.starts_with("Device") || text.ends_with("Device"))
}

/// The headings of the rows to come.
#[derive(Clone, Debug, Default)]
struct Headings<'text> {
    /// Their names, without the device's own.
    names: Vec<&'text str>,
    /// Whether the device comes last.
    is_device_last: bool,
}

/// A row in the making: `-x --pretty` spreads one over several tables.
#[derive(Clone, Debug, Default)]
struct RowDraft<'text> {
    line: usize,
    figures: Vec<(&'text str, f64)>,
}

/// What the reading of lines stands at.
#[derive(Default)]
struct Reader<'text> {
    log: IostatLog,
    cpu: Option<IostatCpu>,
    /// The devices of the report, in order, and their rows.
    devices: Vec<&'text str>,
    rows: HashMap<&'text str, RowDraft<'text>>,
    headings: Option<Headings<'text>>,
    /// The headings of the processors' line to come.
    cpu_headings: Option<Vec<&'text str>>,
}

/// Reads a log of tables, wherever it stands among other lines; `claim` is told the place of each line
/// that was read, from 0.
pub(crate) fn table<'text>(
    lines: impl Iterator<Item = &'text str>,
    mut claim: impl FnMut(usize),
) -> Result<IostatLog, IostatError> {
    let mut reader = Reader::default();
    for (index, line) in lines.enumerate() {
        if reader.line(index + 1, line)? {
            claim(index);
        }
    }
    reader.end_report()?;
    Ok(reader.log)
}

impl<'text> Reader<'text> {
    /// Reads a line, or says that it is none of iostat's.
    fn line(&mut self, number: usize, line: &'text str) -> Result<bool, IostatError> {
        if is_heading(line) {
            self.heading(line)?;
            return Ok(true);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_read = match words.as_slice() {
            ["Linux", ..] if self.log.reports.is_empty() && self.rows.is_empty() => {
                self.banner(line);
                true
            }
            ["avg-cpu:", headings @ ..] => {
                self.end_report()?;
                self.cpu_headings = Some(headings.to_vec());
                true
            }
            figures if self.cpu_headings.is_some() => {
                let headings = self.cpu_headings.take().unwrap_or_default();
                self.cpu = cpu(&headings, figures);
                self.cpu.is_some()
            }
            words if is_time(words) => true,
            words => self.row(number, words)?,
        };
        Ok(is_read)
    }

    /// iostat's own first line: the kernel, the host's name, the date, the number of processors.
    fn banner(&mut self, line: &str) {
        let count = line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(" CPU"));
        self.log.cpus = count.and_then(|(count, _)| count.parse().ok());
        self.log.first_is_since_boot = self.log.cpus.is_some();
    }

    fn heading(&mut self, line: &'text str) -> Result<(), IostatError> {
        let is_device_last = !line.trim_start().starts_with("Device");
        let names = line.split_whitespace().filter(|word| !matches!(*word, "Device" | "Device:"));
        let names: Vec<&str> = names.collect();
        let is_known =
            |row: &RowDraft| row.figures.iter().any(|(name, _)| names.first() == Some(name));
        // Another table of the same columns is another report.
        if self.rows.values().any(is_known) {
            self.end_report()?;
        }
        self.headings = Some(Headings { names, is_device_last });
        Ok(())
    }

    fn row(&mut self, number: usize, words: &[&'text str]) -> Result<bool, IostatError> {
        let Some(headings) = &self.headings else { return Ok(false) };
        let split = if headings.is_device_last { words.split_last() } else { words.split_first() };
        let Some((device, words)) = split.filter(|(_, words)| words.len() == headings.names.len())
        else {
            return Ok(false);
        };
        let figure = |(name, word): (&&'text str, &&str)| Some((*name, figure(name, word)?));
        let figures: Option<Vec<(&str, f64)>> =
            headings.names.iter().zip(words).map(figure).collect();
        let Some(figures) = figures else { return Ok(false) };
        let first = figures.first().map_or("", |(name, _)| *name);
        let is_again = self
            .rows
            .get(device)
            .is_some_and(|row| row.figures.iter().any(|(name, _)| *name == first));
        if is_again {
            self.end_report()?;
        }
        if !self.rows.contains_key(device) {
            self.devices.push(device);
        }
        let row = self.rows.entry(device).or_default();
        row.line = if row.line == 0 { number } else { row.line };
        row.figures.extend(figures);
        Ok(true)
    }

    fn end_report(&mut self) -> Result<(), IostatError> {
        let mut report = IostatReport { cpu: self.cpu.take(), rows: Vec::new() };
        for device in std::mem::take(&mut self.devices) {
            let Some(row) = self.rows.remove(device) else { continue };
            let find = |name: &str| {
                // Only %util is asked for without its sign; %rrqm has a namesake in JSON alone.
                let is_it =
                    |heading: &str| heading == name || heading.strip_prefix('%') == Some(name);
                row.figures.iter().find(|(heading, _)| is_it(heading)).map(|(_, value)| *value)
            };
            report.rows.push(Columns { line: row.line, find: &find }.row(device)?);
        }
        if !report.rows.is_empty() {
            self.log.reports.push(report);
        } else {
            self.cpu = report.cpu;
        }
        Ok(())
    }
}

/// A figure with a decimal point, with the decimal comma of many languages, or with a unit behind it,
/// in the unit that its heading names.
fn figure(heading: &str, word: &str) -> Option<f64> {
    let plain = |word: &str| {
        let figure: f64 = word.replacen(',', ".", 1).parse().ok()?;
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
        at.and_then(|at| figures.get(at)).map_or(0.0, |percent| percent / 100.0)
    };
    Some(IostatCpu {
        user: share("user"),
        nice: share("nice"),
        system: share("system"),
        iowait: share("iowait"),
        steal: share("steal"),
        idle: share("idle"),
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
        assert!((report.cpu.unwrap().iowait - 0.24).abs() < 1e-12);
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
