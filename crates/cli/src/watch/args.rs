//! The arguments of `cardproof watch`.

use std::path::PathBuf;

use cardproof_units::Nanos;
use clap::Args;

/// What stands under the help.
const AFTER_HELP: &str = "Columns:
  r/s, w/s           reads and writes per second
  rd MB/s, wr MB/s   rate of the reads and of the writes
  KiB                mean size of a request
  queue              mean number of requests in flight
  r ms, w ms         mean latency of a read and of a write
  f/s                flushes per second
  util               share of the time in which the device was busy";

/// What to watch, and how to show it.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WatchArgs {
    /// Devices such as mmcblk0 or /dev/sda1, or paths on them; by default all devices with
    /// I/O since boot
    #[arg(value_name = "DEVICE")]
    pub(crate) devices: Vec<String>,
    /// Time between two lines, such as 2s or 500ms; 1s by default
    ///
    /// With --explain, this is the interval of the iostat log. It is needed only if the log does not state
    /// the interval.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) interval: Option<Nanos>,
    /// Stop after N measurements
    #[arg(long, value_name = "N", value_parser = crate::args::from_one)]
    pub(crate) count: Option<u64>,
    /// Measure once, print what limited the storage, and exit
    #[arg(long, conflicts_with = "count")]
    pub(crate) once: bool,
    /// Print each measurement as JSON on one line
    #[arg(long)]
    pub(crate) json: bool,
    /// Also append rows in iostat's format to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Explain a log of iostat: plain, with -x, or in JSON; `-` for standard input
    #[arg(long, value_name = "LOG", conflicts_with_all = ["devices", "count", "once", "log"])]
    pub(crate) explain: Option<PathBuf>,
    /// Tell who writes to one device, by default that of the current directory: by service and program, and what
    /// reached the device
    #[arg(long, conflicts_with_all = ["explain", "count", "once", "log", "interval"])]
    pub(crate) who: bool,
    /// With --who: how long to watch; 60s by default
    #[arg(long, value_name = "TIME", requires = "who", allow_negative_numbers = true)]
    pub(crate) time: Option<Nanos>,
    /// With --who: what changed since an earlier watch, a file of `watch --who --json`
    #[arg(long, value_name = "FILE", requires = "who")]
    pub(crate) against: Option<PathBuf>,
    /// Print errors only, for example while --log collects rows
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}
