//! The tables of iostat, plain and extended, line by line.

use super::{Columns, IostatCpu, IostatError, IostatLog, IostatReport, IostatRow, printable};

/// What the reading of lines stands at.
#[derive(Default)]
struct Reader<'text> {
    log: IostatLog,
    report: IostatReport,
    /// The headings of the rows to come, without the device's own.
    headings: Option<Vec<&'text str>>,
    /// The headings of the processors' line to come.
    cpu_headings: Option<Vec<&'text str>>,
}

/// Reads a log of tables.
pub(super) fn read(text: &str) -> Result<IostatLog, IostatError> {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(number, line)?;
    }
    reader.end_report();
    Ok(reader.log)
}

impl<'text> Reader<'text> {
    fn line(&mut self, number: usize, line: &'text str) -> Result<(), IostatError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["Linux", ..] if self.is_at_start() => self.banner(line),
            ["avg-cpu:", headings @ ..] => {
                self.end_report();
                self.cpu_headings = Some(headings.to_vec());
            }
            ["Device" | "Device:", headings @ ..] => {
                if !self.report.rows.is_empty() {
                    self.end_report();
                }
                self.headings = Some(headings.to_vec());
            }
            figures if self.cpu_headings.is_some() => {
                let headings = self.cpu_headings.take().unwrap_or_default();
                self.report.cpu = Some(cpu(number, &headings, figures)?);
            }
            words if is_time(words) => {}
            [device, figures @ ..] => {
                let row = self.row(number, device, figures)?;
                if self.report.rows.iter().any(|other| other.device == row.device) {
                    self.end_report();
                }
                self.report.rows.push(row);
            }
        }
        Ok(())
    }

    fn is_at_start(&self) -> bool {
        self.log.reports.is_empty() && self.report == IostatReport::default()
    }

    /// iostat's own first line: the kernel, the host's name, the date, the number of processors.
    fn banner(&mut self, line: &str) {
        self.log.first_is_since_boot = true;
        let count = line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(" CPU"));
        self.log.cpus = count.and_then(|(count, _)| count.parse().ok());
    }

    fn row(&self, line: usize, device: &str, words: &[&str]) -> Result<IostatRow, IostatError> {
        let Some(headings) = &self.headings else { return Err(IostatError::NoHeading { line }) };
        let figures = figures(line, headings, words)?;
        let find = |name: &str| {
            // Only %util is asked for without its sign; %rrqm has a namesake in JSON alone.
            let at = headings
                .iter()
                .position(|heading| *heading == name || heading.strip_prefix('%') == Some(name))?;
            figures.get(at).copied()
        };
        Columns { line, find: &find }.row(device)
    }

    fn end_report(&mut self) {
        let report = std::mem::take(&mut self.report);
        if !report.rows.is_empty() {
            self.log.reports.push(report);
        }
    }
}

/// One figure for each heading.
fn figures(line: usize, headings: &[&str], words: &[&str]) -> Result<Vec<f64>, IostatError> {
    if headings.len() != words.len() {
        let (found, wanted) = (words.len() + 1, headings.len() + 1);
        return Err(IostatError::Columns { line, found, wanted });
    }
    let figures = headings.iter().zip(words).map(|(heading, word)| {
        figure(word).ok_or_else(|| IostatError::Figure {
            line,
            column: printable(heading),
            text: printable(word),
        })
    });
    figures.collect()
}

/// A figure with a decimal point, or with the decimal comma of many languages.
fn figure(word: &str) -> Option<f64> {
    let figure: f64 = word.replacen(',', ".", 1).parse().ok()?;
    (figure.is_finite() && figure >= 0.0).then_some(figure)
}

fn cpu(line: usize, headings: &[&str], words: &[&str]) -> Result<IostatCpu, IostatError> {
    let figures = figures(line, headings, words)?;
    let share = |name: &str| {
        let at = headings.iter().position(|heading| heading.strip_prefix('%') == Some(name));
        at.and_then(|at| figures.get(at)).map_or(0.0, |percent| percent / 100.0)
    };
    Ok(IostatCpu {
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
