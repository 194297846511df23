//! The reader of each tool, and the lines by which its output is recognised.
//!
//! A sign is a line that no other tool prints. Scripts that run other tools come first, because
//! theirs hold the outputs of those.

pub(super) mod agnostics;
pub(super) mod as_ssd;
mod badblocks;
mod bonnie;
pub(super) mod crystaldiskmark;
pub(super) mod dd;
mod ddrescue;
mod disk_benchmark;
mod diskspd;
mod e2fsck;
pub(super) mod f3;
pub(super) mod failed;
mod file_tools;
pub(super) mod fio;
mod flashbench;
pub(super) mod h2testw;
pub(super) mod hdparm;
pub(super) mod ioping;
pub(super) mod iozone;
mod iozone_throughput;
pub(super) mod kdiskmark;
mod microsd_benchmarks;
pub(super) mod pibenchmarks;
mod pibenchmarks_system;
pub(super) mod pibenchmarks_table;
mod rpi_benchmark;
pub(super) mod sbc_bench;
pub(super) mod sd_bench;
mod sd_card_bench;
mod sysbench;
mod tdediskmark;
mod watched;
mod winsat;
mod yabs;

use super::draft::RecordDraft;
use super::lines::Line;
use super::view::View;
use super::{ForeignTool, ImportError};

/// One tool's reader.
pub(super) struct Reader {
    pub(super) tool: ForeignTool,
    /// Whether the tool is a script that runs others, whose outputs are then part of its own.
    pub(super) is_script: bool,
    /// Whether a line is one that only this tool prints.
    pub(super) is_sign: fn(&View) -> bool,
    /// Whether an output of the tool can begin with a line, which need not be a sign. Where that
    /// cannot be told, none does, and two outputs in a row are taken for one.
    pub(super) is_start: fn(&View) -> bool,
    /// Reads all outputs in some lines, which may hold other things too, and claims what it reads.
    pub(super) read: fn(&[Line]) -> Result<RecordDraft, ImportError>,
}

const fn never(_: &View) -> bool {
    false
}

macro_rules! reader {
    (script $tool:ident, $module:ident) => {
        Reader {
            tool: ForeignTool::$tool,
            is_script: true,
            is_sign: $module::is_sign,
            is_start: never,
            read: $module::read,
        }
    };
    ($tool:ident, $module:ident, $start:expr) => {
        Reader {
            tool: ForeignTool::$tool,
            is_script: false,
            is_sign: $module::is_sign,
            is_start: $start,
            read: $module::read,
        }
    };
}

/// All readers; scripts first.
pub(super) static READERS: [Reader; 32] = [
    reader!(script SdCardBench, sd_card_bench),
    reader!(script Pibenchmarks, pibenchmarks),
    reader!(script MicrosdBenchmarks, microsd_benchmarks),
    reader!(script DiskBenchmark, disk_benchmark),
    reader!(script RpiBenchmark, rpi_benchmark),
    reader!(Agnostics, agnostics, agnostics::is_start),
    reader!(Kdiskmark, kdiskmark, kdiskmark::is_sign),
    reader!(Crystaldiskmark, crystaldiskmark, crystaldiskmark::is_start),
    reader!(TdeDiskMark, tdediskmark, tdediskmark::is_sign),
    reader!(Yabs, yabs, yabs::is_start),
    reader!(SdBench, sd_bench, sd_bench::is_start),
    reader!(H2testw, h2testw, h2testw::is_start),
    reader!(Iozone, iozone, iozone::is_sign),
    reader!(Fio, fio, fio::is_start),
    reader!(Flashbench, flashbench, flashbench::is_sign),
    reader!(Hdparm, hdparm, hdparm::is_sign),
    reader!(Dd, dd, dd::is_sign),
    reader!(F3, f3, f3::is_start),
    reader!(Ioping, ioping, ioping::is_start),
    reader!(Iostat, watched, never),
    reader!(SbcBench, sbc_bench, never),
    reader!(Bonnie, bonnie, never),
    reader!(Sysbench, sysbench, never),
    reader!(AsSsd, as_ssd, as_ssd::is_sign),
    reader!(Winsat, winsat, never),
    reader!(Diskspd, diskspd, never),
    reader!(Iozone, iozone_throughput, never),
    reader!(Badblocks, badblocks, never),
    reader!(Ddrescue, ddrescue, never),
    reader!(E2fsck, e2fsck, never),
    reader!(FileTools, file_tools, never),
    reader!(Pibenchmarks, pibenchmarks_table, pibenchmarks_table::is_start),
];

/// No sign is shorter, in bytes: `1+0a`.
const SIGN_MIN: usize = 4;

/// Which readers recognise a line: one bit for each, in the order of [`READERS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u32);

impl Marks {
    /// The readers that recognise `line`; only that of `tool`, where one is named.
    pub(super) fn of(line: &Line, tool: Option<ForeignTool>) -> Self {
        if line.text.len() < SIGN_MIN {
            return Self::default();
        }
        let view = line.view();
        let asked = |reader: &Reader| tool.is_none_or(|tool| tool == reader.tool);
        let bit = |(index, reader): (usize, &Reader)| {
            u32::from(asked(reader) && (reader.is_sign)(&view)) << index
        };
        Self(READERS.iter().enumerate().map(bit).fold(0, |all, one| all | one))
    }

    /// Those of either.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no reader recognises anything.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The readers to ask: one script alone, or all others.
    pub(super) fn readers(self) -> impl Iterator<Item = &'static Reader> {
        let script = self.all().find(|reader| reader.is_script);
        let others = self.all().filter(move |_| script.is_none());
        script.into_iter().chain(others)
    }

    /// Whether the readers to ask are a script's.
    pub(super) fn are_of_script(self) -> bool {
        self.all().any(|reader| reader.is_script)
    }

    fn all(self) -> impl Iterator<Item = &'static Reader> {
        let is_marked = move |(index, _): &(usize, &Reader)| self.0 & (1 << index) != 0;
        READERS.iter().enumerate().filter(is_marked).map(|(_, reader)| reader)
    }
}
