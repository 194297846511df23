//! Which programs use the storage, as iotop and pidstat print it, and logs of other monitors by name.
//!
//! None of them tells what limits the storage, for which iostat's columns are needed.

mod totals;

pub use totals::{Totals, totals};

use cardproof_units::Bytes;

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

/// A program and what it wrote: a second, or in all where the monitor adds up.
#[derive(Clone, Debug, PartialEq)]
pub struct Writer {
    /// Its name, without its arguments.
    pub program: String,
    /// Bytes written.
    pub written: Bytes,
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
        } else if has(&["-dsk/total-"]) {
            Some(Monitor::Dstat)
        } else if has(&["CPU", "%user", "%iowait", "%idle"]) || has(&["bread/s", "bwrtn/s"]) {
            Some(Monitor::Sar)
        } else {
            None
        }
    })
}

/// The programs that wrote, the one with the most first; of several reports the sums.
#[must_use]
pub fn writers(text: &str) -> Vec<Writer> {
    let mut found: Vec<Writer> = Vec::new();
    let mut form = None;
    for line in text.lines() {
        if let Some(monitor) = monitor(line) {
            form = Some((monitor, line.contains("UID")));
            continue;
        }
        let row = match form {
            Some((Monitor::Iotop, _)) => iotop_row(line),
            Some((Monitor::Pidstat, _)) => pidstat_row(line),
            _ => None,
        };
        let Some((program, written)) = row.filter(|(_, written)| *written > 0.0) else { continue };
        let written = Bytes(written as u64);
        match found.iter_mut().find(|known| known.program == program) {
            Some(known) => known.written = Bytes(known.written.0.saturating_add(written.0)),
            None => {
                let journal_of = journal_of(&program);
                found.push(Writer { program, written, journal_of });
            }
        }
    }
    found.sort_by_key(|writer| std::cmp::Reverse(writer.written));
    found
}

/// The program and the bytes in `145 ?sys root  0.00 B  3.03 M  [0.00 % 1.20 %] systemd-journald`.
fn iotop_row(line: &str) -> Option<(String, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [pid, _priority, _user, read, read_unit, written, unit, rest @ ..] = words.as_slice()
    else {
        return None;
    };
    pid.parse::<u32>().ok()?;
    number(read)?;
    scale(read_unit)?;
    let bytes = number(written)? * scale(unit)?;
    // Shares of time stand before the command.
    let mut rest = rest;
    while let [share, "%", tail @ ..] = rest
        && number(share).is_some()
    {
        rest = tail;
    }
    Some((program(rest.first()?), bytes))
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
fn pidstat_row(line: &str) -> Option<(String, f64)> {
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
    Some((program(command), kib * 1024.0))
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

    fn told(text: &str) -> Vec<(String, u64)> {
        writers(text).into_iter().map(|it| (it.program, it.written.0)).collect()
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
            ("systemd-journald".to_owned(), (3.03 * 1_048_576.0) as u64),
            ("jbd2/mmcblk0p2-".to_owned(), 860 * 1024),
            ("rsyslogd".to_owned(), 112 * 1024),
        ];
        assert_eq!(told(iotop), expected);
        assert_eq!(writers(iotop)[1].journal_of.as_deref(), Some("mmcblk0p2"));
        let pidstat = "\
13:39:51      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
13:39:52      102       916      0.00      4.00      0.00       0  rsyslogd
13:39:53      102       916      0.00      8.00      0.00       0  rsyslogd
Average:      102       916      0.00      6.00      0.00       0  rsyslogd
";
        assert_eq!(told(pidstat), [("rsyslogd".to_owned(), 12 * 1024)]);
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
