//! What the kernel said of storage and power since it booted.
//!
//! The running system's log is read from `/dev/kmsg` without waiting; kernels that keep it to
//! root refuse, and that is told. Other roots have a text: `dmesg` in a dump, or a log file, of
//! which only what follows the last boot counts. Only messages about storage and power that are known are kept;
//! names of volumes, serial numbers and host names are in none of them.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use cardproof_kernel_log::{EventKind, event, without_host};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::Sysroot;
use crate::dump::{Entry, KERNEL_LOG};

/// The log files of a root that is no running system, the likeliest first.
const FILES: [&str; 4] = [KERNEL_LOG, "kmsg", "var/log/kern.log", "var/log/dmesg"];

/// The longest record of `/dev/kmsg`: the kernel's PRINTK_MESSAGE_MAX is 2048.
const RECORD_LENGTH_MAX: usize = 8192;

/// More records than the largest buffer of a kernel holds.
const RECORDS_MAX: usize = 1 << 18;

/// Whether the file called `name` is a text of the kernel log.
pub(crate) fn is_log_file(name: &str) -> bool {
    FILES.iter().any(|path| path.rsplit('/').next() == Some(name))
}

/// The lines of a log file that may be kept in a dump: those about storage and power since the last
/// boot, without the host's name that a log daemon puts before them.
pub(crate) fn public_lines(text: &[u8]) -> Vec<String> {
    since_boot(text).iter().map(|line| without_host(line)).collect()
}

/// Whether a line is about storage or power. The line of the kernel's start names who built it.
fn is_kept(line: &str) -> bool {
    event(line).is_some_and(|event| event.kind != EventKind::Boot)
}

/// `line` without what it says of programs: the kernel prints the name of the one that met the error.
fn without_program(line: &str) -> &str {
    line.split_once(" comm ").map_or(line, |(before, _)| before.trim_end_matches(':'))
}

/// The lines of a crash log that are kept, of all starts that it tells of.
pub(crate) fn kept_lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let kept = text.lines().filter(|line| is_kept(line));
    kept.map(|line| without_host(without_program(line))).collect()
}

/// The lines about storage and power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KernelLog {
    /// It was read.
    Lines(Vec<String>),
    /// It may not be read by this user, or could not be by who made the dump.
    NotPermitted,
    /// There is none.
    Absent,
}

impl KernelLog {
    /// Reads the log of `root`.
    pub(crate) fn read(root: &Sysroot) -> Self {
        if root.is_running_system() {
            let live = Self::from_lines(live_lines());
            let path = Path::new(KERNEL_LOG);
            match &live {
                Self::Lines(lines) => {
                    root.note(path, || Entry::File((lines.join("\n") + "\n").into_bytes()));
                }
                Self::NotPermitted => root.note(path, || Entry::Denied),
                Self::Absent => {}
            }
            return live;
        }
        let texts = FILES
            .iter()
            .map(|path| Self::from_lines(root.bytes(path).map(|text| since_boot(&text))));
        texts
            .reduce(|best, next| match (&best, &next) {
                (Self::Lines(_), _) | (_, Self::Absent) => best,
                _ => next,
            })
            .unwrap_or(Self::Absent)
    }

    fn from_lines(lines: io::Result<Vec<String>>) -> Self {
        match lines {
            Ok(lines) => Self::Lines(lines),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Self::NotPermitted,
            Err(_) => Self::Absent,
        }
    }

    /// The lines, if it could be read.
    pub(crate) fn lines(&self) -> Option<&[String]> {
        match self {
            Self::Lines(lines) => Some(lines),
            _ => None,
        }
    }

    /// The last line of `host`, such as `mmc0`, with `phrase` in it, from the host's name on.
    pub(crate) fn last_of_host(&self, host: &str, phrase: &str) -> Option<&str> {
        self.last_of_host_with(host, &[phrase])
    }

    /// The last line of `host` with any of `phrases` in it, from the host's name on.
    pub(crate) fn last_of_host_with(&self, host: &str, phrases: &[&str]) -> Option<&str> {
        let start = format!("{host}: ");
        let mut lines = self.lines()?.iter().rev();
        lines.find_map(|line| {
            let of_host = line.get(line.find(&start)?..)?;
            phrases.iter().any(|phrase| of_host.contains(phrase)).then_some(of_host)
        })
    }
}

/// The kept lines of a log file after the last boot that it tells of.
fn since_boot(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.contains("Linux version ") {
            kept.clear();
        }
        if is_kept(line) {
            kept.push(without_program(line).to_owned());
        }
    }
    kept
}

/// The kept lines of the running kernel's buffer. Each read gives one record, of the form
/// `PRIORITY,SEQUENCE,TIME,FLAGS;MESSAGE` (kernel documentation, ABI/testing/dev-kmsg).
fn live_lines() -> io::Result<Vec<String>> {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = File::options().read(true).custom_flags(nonblocking).open("/dev/kmsg")?;
    let mut record = vec![0; RECORD_LENGTH_MAX];
    let mut kept = Vec::new();
    for _ in 0..RECORDS_MAX {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(length) => kept.extend(record.get(..length).and_then(message)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            // The oldest records were overwritten between two reads.
            Err(error) if error.raw_os_error() == Some(Errno::PIPE.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(kept)
}

/// The message of a record behind its time, as `dmesg` prints them, if it is kept.
fn message(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let (head, body) = text.split_once(';')?;
    let message = body.lines().next().filter(|message| is_kept(message))?;
    let time_us: u64 = head.split(',').nth(2)?.parse().ok()?;
    let (seconds, micros) = (time_us / 1_000_000, time_us % 1_000_000);
    Some(format!("[{seconds:5}.{micros:06}] {}", without_program(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_cut_to_its_message() {
        let record =
            b"6,339,5140900,-;mmc0: new high speed SDHC card at address aaaa\n SUBSYSTEM=mmc\n";
        let line = message(record).unwrap();
        assert_eq!(line, "[    5.140900] mmc0: new high speed SDHC card at address aaaa");
        assert_eq!(message(b"6,1,1,-;usb 1-1: SerialNumber: 4C53\n"), None);
        assert_eq!(message(b"garbage"), None);
    }

    #[test]
    fn no_program_host_or_builder_is_named() {
        let text =
            b"Mar  4 10:00:00 secret kernel: [    0.0] Linux version 6.1 (secret@secret) #1\n\
                     Mar  4 10:11:12 secret kernel: [   12.5] EXT4-fs error (device mmcblk0p2): \
                     ext4_lookup:1700: inode #123: comm secret: deleted inode referenced: 5\n";
        let lines = public_lines(text);
        let expected = "Mar  4 10:11:12 - kernel: EXT4-fs error (device mmcblk0p2): ext4_lookup:1700: inode #123";
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn only_the_last_boot_counts() {
        let text =
            b"[ 1.0] Linux version 6.1\n[ 2.0] mmc0: new high speed SDHC card at address 1\n\
                     [ 1.0] Linux version 6.12\n[ 2.0] mmc1: new SD card at address 2\n";
        let log = KernelLog::Lines(since_boot(text));
        assert_eq!(log.last_of_host("mmc0", "new "), None);
        assert_eq!(log.last_of_host("mmc1", "new "), Some("mmc1: new SD card at address 2"));
        assert_eq!(log.last_of_host("mmc", "new "), None);
    }

    #[test]
    fn the_live_log_is_read_without_waiting() {
        let log = KernelLog::read(&Sysroot::default());
        if log == KernelLog::Absent || log == KernelLog::NotPermitted {
            cardproof_testkit::skip("the_live_log_is_read_without_waiting", "no kernel log here");
        }
    }
}
