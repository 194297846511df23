//! The rows that `iostat N` prints, added to a file as they come.
//!
//! The form is that of sysstat 12.6, byte for byte, so that whatever reads iostat's logs reads
//! these. iostat's first report, since boot, and its first line, which names the host, are left
//! out. Each report is handed to the kernel at once and never synced: a log that waits for the
//! card would be part of what it logs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardproof_record::{Activity, CpuActivity, DeviceActivity};

use cardproof_units::in_words;

use crate::exit::Failure;
use crate::output::{self, Sink};

/// A log that is being written.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    /// The log at `path`: what is in it stays.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        output::check(&Sink::File(path.to_owned()))?;
        let file = open_for_adding(path).map_err(|error| {
            Failure::of_opening(
                &error,
                format!(
                    "cannot log to {}: {error}; name another file",
                    path.display(),
                    error = in_words(&error)
                ),
            )
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds the report of `activity`.
    pub(super) fn write(&mut self, activity: &Activity) -> Result<(), Failure> {
        self.file.write_all(report(activity).as_bytes()).map_err(|error| {
            Failure::incomplete(format!(
                "cannot log to {}: {error}; make room or name another file",
                self.path.display(),
                error = in_words(&error)
            ))
        })
    }
}

/// Opens `path` to add to it; a pipe that nobody reads is not waited for.
fn open_for_adding(path: &Path) -> io::Result<File> {
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().append(true).create(true).custom_flags(no_wait).open(path)
}

fn report(activity: &Activity) -> String {
    let mut text = activity.cpu.as_ref().map_or_else(String::new, cpu);
    text.push_str(
        "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n",
    );
    for device in &activity.devices {
        text.push_str(&row(device));
    }
    text.push('\n');
    text
}

/// The processors' lines, in per cent; interrupts are part of the system's.
fn cpu(cpu: &CpuActivity) -> String {
    let shares = [cpu.user, cpu.nice, cpu.system + cpu.interrupts, cpu.iowait, cpu.steal, cpu.idle];
    let mut text = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n       ".to_owned();
    for share in shares {
        // Writing to a string does not fail.
        let _ = write!(text, " {:7.2}", 100.0 * share);
    }
    text + "\n\n"
}

fn row(device: &DeviceActivity) -> String {
    let DeviceActivity { name, reads, writes, discards, .. } = device;
    let kinds = [reads, writes, discards];
    let mut text = format!("{name:<13} {:8.2}", device.transactions_per_s().0);
    for kind in kinds {
        let _ = write!(text, " {:12.2}", kind.bytes_per_s.0 / 1024.0);
    }
    for kind in kinds {
        let _ = write!(text, " {:10}", kind.bytes.get() / 1024);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use cardproof_import::iostat::iostat;
    use cardproof_record::Requests;
    use cardproof_units::{Bytes, Iops, Nanos, Throughput};

    use super::*;

    fn activity() -> Activity {
        let requests = |count: u64, bytes: Bytes| Requests {
            count,
            bytes,
            per_s: Iops(count as f64 / 2.0),
            bytes_per_s: Throughput(bytes.as_f64() / 2.0),
            ..Requests::default()
        };
        Activity {
            window_ns: Nanos::from_secs(2),
            cpu: Some(CpuActivity {
                cpus: 2,
                user: 0.1845,
                nice: 0.208,
                system: 0.1,
                interrupts: 0.0274,
                iowait: 0.0617,
                steal: 0.0017,
                idle: 0.4167,
                busiest: 0.5,
            }),
            devices: vec![DeviceActivity {
                name: "loop0".to_owned(),
                reads: requests(55_722, Bytes::kib(222_888)),
                ..DeviceActivity::default()
            }],
            ..Activity::default()
        }
    }

    /// The lines are copied from sysstat 12.6.1.
    #[test]
    fn rows_are_those_of_iostat() {
        let wanted = "\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          18.45   20.80   12.74    6.17    0.17   41.67

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
loop0         27861.00    111444.00         0.00         0.00     222888          0          0

";
        assert_eq!(report(&activity()), wanted);
    }

    #[test]
    fn our_own_reader_reads_them() {
        let log = iostat(&(report(&activity()) + &report(&activity()))).unwrap();
        assert_eq!(log.reports.len(), 2);
        assert_eq!(log.reports[1].rows[0].window(), Some(Nanos::from_secs(2)));
    }
}
