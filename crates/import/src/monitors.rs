//! Which programs use the storage, as iotop and pidstat print it, and logs of other monitors by name.
//!
//! None of them tells what limits the storage, for which iostat's columns are needed.

mod totals;

pub use totals::{Totals, totals};

use cardproof_units::{Bytes, Throughput};

use crate::text::number;

/// A monitor whose output is not iostat's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitor {
    /// iotop: programs with what they read and write.
    Iotop,
    /// `pidstat -d`: the same, of sysstat.
    Pidstat,
    /// vmstat: all storage together.
    Vmstat,
    /// dstat: all storage together.
    Dstat,
    /// sar of sysstat, of processors and of all storage together.
    Sar,
}

impl Monitor {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iotop => "iotop",
            Self::Pidstat => "pidstat",
            Self::Vmstat => "vmstat",
            Self::Dstat => "dstat",
            Self::Sar => "sar",
        }
    }
}

/// What a program wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Written {
    /// On average over all reports.
    PerSecond(Throughput),
    /// Since the monitor began, where it adds up.
    InAll(Bytes),
}

/// A program and what it wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Writer {
    /// Its name, without its arguments.
    pub program: String,
    /// How much.
    pub written: Written,
    /// The device whose journal it writes, of a task of the kernel.
    pub journal_of: Option<String>,
}

/// The monitor that `text` is of; nothing where it is none that is known.
#[must_use]
pub fn monitor(text: &str) -> Option<Monitor> {
    text.lines().find_map(|line| {
        let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
        if has(&["DISK READ", "DISK WRITE", "COMMAND"]) || has(&["Total DISK READ", "DISK WRITE"]) {
            Some(Monitor::Iotop)
        } else if has(&["kB_rd/s", "kB_wr/s", "Command"]) {
            Some(Monitor::Pidstat)
        } else if has(&["swpd", "free", " bi ", " bo "]) {
            Some(Monitor::Vmstat)
        } else if is_of_dstat(line) {
            Some(Monitor::Dstat)
        } else if has(&["CPU", "%user", "%iowait", "%idle"]) || has(&["bread/s", "bwrtn/s"]) {
            Some(Monitor::Sar)
        } else {
            None
        }
    })
}

/// Whether `line` is the first of dstat's heading: groups between dashes, one of them of a disk, whose name may leave
/// no room for dashes.
fn is_of_dstat(line: &str) -> bool {
    let is_disk = |word: &str| word.trim_matches('-').starts_with("dsk/");
    let is_group = |word: &str| word.contains('-') || is_disk(word);
    // People quote what they paste.
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || ">|#".contains(c));
    line.split_whitespace().any(is_disk)
        && line.contains("--")
        && line.split_whitespace().all(is_group)
}

/// What a monitor's rows add up to.
#[derive(Clone, Debug, Default)]
struct Rows {
    /// The sums of rates, or the largest of amounts that the monitor adds up itself, by program.
    of_programs: Vec<(String, f64)>,
    /// Reports with rows of rates.
    reports: u32,
    /// The time that stands before the rows of the newest report.
    time: String,
    is_rate: bool,
}

/// The programs that wrote, the one with the most first.
#[must_use]
pub fn writers(text: &str) -> Vec<Writer> {
    let mut rows = Rows::default();
    let mut form = None;
    for line in text.lines() {
        match (monitor(line), form) {
            (Some(Monitor::Iotop), _) if line.contains("COMMAND") => {
                rows.reports += 1;
                form = Some(Monitor::Iotop);
            }
            (Some(monitor), _) => form = Some(monitor),
            (None, Some(Monitor::Iotop)) => rows.add(iotop_row(line)),
            (None, Some(Monitor::Pidstat)) => rows.add_timed(line),
            (None, _) => {}
        }
    }
    rows.writers()
}

impl Rows {
    fn add(&mut self, row: Option<Row>) {
        let Some(Row { program, written, is_rate }) = row.filter(|row| row.written > 0.0) else {
            return;
        };
        self.is_rate |= is_rate;
        match self.of_programs.iter_mut().find(|(known, _)| *known == program) {
            Some((_, sum)) if is_rate => *sum += written,
            Some((_, most)) => *most = most.max(written),
            None => self.of_programs.push((program, written)),
        }
    }

    /// Adds a row that begins with its report's time.
    fn add_timed(&mut self, line: &str) {
        let time = line.split_whitespace().next().unwrap_or_default();
        let row = pidstat_row(line);
        if row.is_some() && self.time != time {
            time.clone_into(&mut self.time);
            self.reports += 1;
        }
        self.add(row);
    }

    fn writers(self) -> Vec<Writer> {
        let Self { mut of_programs, reports, is_rate, .. } = self;
        of_programs.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let writer = |(program, sum): (String, f64)| {
            let journal_of = journal_of(&program);
            let written = if is_rate {
                Written::PerSecond(Throughput(sum / f64::from(reports.max(1))))
            } else {
                Written::InAll(Bytes(sum as u64))
            };
            Writer { program, written, journal_of }
        };
        of_programs.into_iter().map(writer).collect()
    }
}

/// What a row says of a program.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    program: String,
    /// Bytes, or bytes a second.
    written: f64,
    is_rate: bool,
}

/// The program and the bytes in `145 ?sys root  0.00 B  3.03 M  [0.00 % 1.20 %] systemd-journald`.
fn iotop_row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [pid, _priority, _user, read, read_unit, written, unit, rest @ ..] = words.as_slice()
    else {
        return None;
    };
    pid.parse::<u32>().ok()?;
    number(read)?;
    scale(read_unit)?;
    let written = number(written)? * scale(unit)?;
    let is_rate = unit.ends_with("/s");
    // Shares of time stand before the command.
    let mut rest = rest;
    while let [share, "%", tail @ ..] = rest
        && number(share).is_some()
    {
        rest = tail;
    }
    Some(Row { program: program(rest.first()?), written, is_rate })
}

/// What one of iotop's units is in bytes.
fn scale(unit: &str) -> Option<f64> {
    match unit.trim_end_matches("/s") {
        "B" => Some(1.0),
        "K" => Some(1024.0),
        "M" => Some(1_048_576.0),
        "G" => Some(1_073_741_824.0),
        _ => None,
    }
}

/// The program and the bytes a second in a row of `pidstat -d`: time, UID, PID, three rates, a delay, a command.
fn pidstat_row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = words.iter().position(|word| word.parse::<u32>().is_ok())?;
    // The means at the end repeat the rest.
    if time == 0 || !words[0].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let [_uid, _pid, read, written, cancelled, rest @ ..] = words.get(time..)? else { return None };
    number(read)?;
    number(cancelled)?;
    let kib = number(written)?;
    let command = rest.iter().find(|word| number(word).is_none())?;
    Some(Row { program: program(command), written: kib * 1024.0, is_rate: true })
}

/// A program's name, without its path and without the brackets of a task of the kernel.
fn program(word: &str) -> String {
    let bare = word.trim_matches(['[', ']']);
    let is_task = bare.contains('/') && word.starts_with('[') || bare.starts_with("jbd2/");
    let name = if is_task { bare } else { bare.rsplit('/').next().unwrap_or(bare) };
    name.chars().filter(|c| !crate::lines::steers(*c)).take(40).collect()
}

/// The device of a journal's task, such as `mmcblk0p2` of `jbd2/mmcblk0p2-8`.
fn journal_of(program: &str) -> Option<String> {
    let device = program.strip_prefix("jbd2/")?.split('-').next()?;
    cardproof_kernel_log::whole_device(device).map(|_| device.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(String, Written)> {
        writers(text).into_iter().map(|it| (it.program, it.written)).collect()
    }

    fn a_second(program: &str, kib: f64) -> (String, Written) {
        (program.to_owned(), Written::PerSecond(Throughput(kib * 1024.0)))
    }

    #[test]
    fn programs_are_told_by_what_they_wrote() {
        let iotop = "\
Total DISK READ:         0.00 B/s | Total DISK WRITE:       191.31 B/s
    PID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
     95 ?sys root          0.00 B    860.00 K              [jbd2/mmcblk0p2-]
    145 ?sys root          0.00 B      3.03 M  0.00 %  1.20 % /usr/lib/systemd/systemd-journald
    412 ?sys root          0.00 B    112.00 K              rsyslogd -n -iNONE
";
        let expected = [
            ("systemd-journald".to_owned(), Written::InAll(Bytes((3.03 * 1_048_576.0) as u64))),
            ("jbd2/mmcblk0p2-".to_owned(), Written::InAll(Bytes::kib(860))),
            ("rsyslogd".to_owned(), Written::InAll(Bytes::kib(112))),
        ];
        assert_eq!(told(iotop), expected);
        assert_eq!(writers(iotop)[1].journal_of.as_deref(), Some("mmcblk0p2"));
        let pidstat = "\
13:39:51      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
13:39:52      102       916      0.00      4.00      0.00       0  rsyslogd
13:39:53      102       916      0.00      8.00      0.00       0  rsyslogd
13:39:53      103       917      0.00      2.00      0.00       0  cron
Average:      102       916      0.00      6.00      0.00       0  rsyslogd
";
        assert_eq!(told(pidstat), [a_second("rsyslogd", 6.0), a_second("cron", 1.0)]);
        let twice = "\
    TID  PRIO  USER     DISK READ DISK WRITE>  COMMAND
    812 be/4 mysql       0.00 B/s  512.00 K/s mariadbd
    TID  PRIO  USER     DISK READ DISK WRITE>  COMMAND
    812 be/4 mysql       0.00 B/s  256.00 K/s mariadbd
";
        assert_eq!(told(twice), [a_second("mariadbd", 384.0)]);
        let sums = "\
    TID  PRIO  USER     DISK READ DISK WRITE>  COMMAND
    812 be/4 mysql       0.00 B    512.00 K    mariadbd
    TID  PRIO  USER     DISK READ DISK WRITE>  COMMAND
    812 be/4 mysql       0.00 B    768.00 K    mariadbd
";
        assert_eq!(told(sums), [("mariadbd".to_owned(), Written::InAll(Bytes::kib(768)))]);
    }

    #[test]
    fn other_monitors_are_known_by_name() {
        for (text, expected) in [
            (
                "procs\n r  b   swpd   free   buff  cache   si   so    bi    bo   in\n",
                Monitor::Vmstat,
            ),
            ("----total-cpu-usage---- -dsk/total- -net/total-\n", Monitor::Dstat),
            (
                "12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n",
                Monitor::Sar,
            ),
        ] {
            assert_eq!(monitor(text), Some(expected), "{text}");
        }
        assert_eq!(monitor("Device tps kB_read/s kB_wrtn/s\n"), None);
    }
}
