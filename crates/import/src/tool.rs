//! The tools whose outputs can be read, by name.

use std::fmt;
use std::str::FromStr;

use super::ImportError;

/// Declares the tools once: variant, name, and what is read of it.
macro_rules! tools {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A tool whose output can be read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ForeignTool {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ForeignTool {
            /// All of them, in the order of their names.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name, as in a record and on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

tools! {
    /// A1 SD Bench of Android, as people type it.
    A1SdBench = "a1-sd-bench",
    /// Raspberry Pi's SD Card Speed Test.
    Agnostics = "agnostics",
    /// `AmorphousDiskMark`'s window, as people copy it.
    AmorphousDiskMark = "amorphousdiskmark",
    /// `AndroBench`'s window, as people type it.
    Androbench = "androbench",
    /// AS SSD Benchmark's text.
    AsSsd = "as-ssd",
    /// badblocks' last line.
    Badblocks = "badblocks",
    /// Blackmagic Disk Speed Test, as people type it.
    Blackmagic = "blackmagic",
    /// bonnie++.
    Bonnie = "bonnie++",
    /// `CrystalDiskMark`'s text.
    Crystaldiskmark = "crystaldiskmark",
    /// dd of the GNU core utilities, busybox, or a BSD.
    Dd = "dd",
    /// GNU ddrescue's screen.
    Ddrescue = "ddrescue",
    /// disk-benchmark.sh: fio and iozone in one.
    DiskBenchmark = "disk-benchmark",
    /// `DiskSpd`'s text.
    Diskspd = "diskspd",
    /// e2fsck's messages of blocks that could not be read or written.
    E2fsck = "e2fsck",
    /// f3write, f3read and f3probe.
    F3 = "f3",
    /// cp, tar, rsync and their like, where reading or writing failed.
    FileTools = "file-tools",
    /// fio: JSON, terse or plain output.
    Fio = "fio",
    /// flashbench: `-a`, `--open-au`, `--find-fat`.
    Flashbench = "flashbench",
    /// The benchmark of GNOME Disks.
    GnomeDisks = "gnome-disks",
    /// h2testw's text.
    H2testw = "h2testw",
    /// hdparm -t, -T, with and without --direct.
    Hdparm = "hdparm",
    /// ioping.
    Ioping = "ioping",
    /// iostat, as a log of what a system did.
    Iostat = "iostat",
    /// iozone's table.
    Iozone = "iozone",
    /// Linux's messages about storage: `dmesg`, `journalctl -k`, `syslog`.
    KernelLog = "kernel-log",
    /// `KDiskMark`'s report.
    Kdiskmark = "kdiskmark",
    /// microsd-benchmarks.sh.
    MicrosdBenchmarks = "microsd-benchmarks",
    /// `nvme smart-log`: the health of an NVMe drive.
    Nvme = "nvme",
    /// Storage.sh of `PiBenchmarks`.
    Pibenchmarks = "pibenchmarks",
    /// rpi-benchmark: hdparm and dd.
    RpiBenchmark = "rpi-benchmark",
    /// Raspberry Pi Imager's export of its figures.
    RpiImager = "rpi-imager",
    /// sbc-bench's lines about storage.
    SbcBench = "sbc-bench",
    /// `sd_bench` of the PX4 autopilot.
    SdBench = "sd_bench",
    /// The report of sd-card-bench.sh.
    SdCardBench = "sd-card-bench",
    /// smartctl: the health of a drive.
    Smartctl = "smartctl",
    /// sysbench's test of files.
    Sysbench = "sysbench",
    /// Tables of results that people typed: Markdown, CSV, columns.
    Table = "table",
    /// `TDEDiskMark`'s text.
    TdeDiskMark = "tdediskmark",
    /// `winsat disk` of Windows.
    Winsat = "winsat",
    /// YABS's tables "fio Disk Speed Tests".
    Yabs = "yabs",
}

impl ForeignTool {
    /// The names of all, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for ForeignTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ForeignTool {
    type Err = ImportError;

    fn from_str(name: &str) -> Result<Self, ImportError> {
        let is_named = |tool: &&Self| tool.name().eq_ignore_ascii_case(name);
        Self::ALL
            .iter()
            .find(is_named)
            .copied()
            .ok_or_else(|| ImportError::NoSuchTool { name: name.to_owned() })
    }
}
