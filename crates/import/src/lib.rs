//! Other tools' outputs read into records, so that years of figures compare with today's.
//!
//! Text comes in and a record goes out; nothing is opened and no clock is read here. Every figure
//! is one of the text's, converted from the tool's own unit and nothing more: none of these tools
//! prints an interval, so rates are [`cardproof_record::Stated`] and never an estimate. A text that is cut
//! short, is of two tools, contradicts itself or is not of the tool at all is refused with the
//! line, since half of an output looks as sound as all of it. What identifies a person or a card
//! (serial numbers, host names, paths) is never taken over.

mod agnostics;
mod dd;
mod draft;
mod error;
mod f3;
mod fio;
mod fio_human;
mod fio_json;
mod fio_terse;
mod flashbench;
mod hdparm;
mod ioping;
pub mod iostat;
mod iozone;
mod kdiskmark;
mod microsd_benchmarks;
mod pibenchmarks;
mod pibenchmarks_system;
mod recognise;
mod sd_card_bench;
mod text;
mod watched;

pub use error::ImportError;
pub use pibenchmarks::{PibenchmarksFigures, pibenchmarks_score};
pub use recognise::recognise;

use std::fmt;
use std::str::FromStr;

use draft::RecordDraft;
use text::{Line, lines};

use cardproof_record::Record;

/// A tool whose output can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignTool {
    /// Raspberry Pi's SD Card Speed Test.
    Agnostics,
    /// dd of the GNU core utilities, busybox, or a BSD.
    Dd,
    /// f3write, f3read and f3probe.
    F3,
    /// fio: JSON, terse or plain output.
    Fio,
    /// flashbench: `-a`, `--open-au`, `--find-fat`.
    Flashbench,
    /// hdparm -t, -T, with and without --direct.
    Hdparm,
    /// ioping.
    Ioping,
    /// iostat, as a log of what a system did.
    Iostat,
    /// iozone's table.
    Iozone,
    /// `KDiskMark`'s report.
    Kdiskmark,
    /// microsd-benchmarks.sh.
    MicrosdBenchmarks,
    /// Storage.sh of `PiBenchmarks`.
    Pibenchmarks,
    /// The report of sd-card-bench.sh.
    SdCardBench,
}

impl ForeignTool {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 13] = [
        Self::Agnostics,
        Self::Dd,
        Self::F3,
        Self::Fio,
        Self::Flashbench,
        Self::Hdparm,
        Self::Ioping,
        Self::Iostat,
        Self::Iozone,
        Self::Kdiskmark,
        Self::MicrosdBenchmarks,
        Self::Pibenchmarks,
        Self::SdCardBench,
    ];

    /// Its name, as in a record and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agnostics => "agnostics",
            Self::Dd => "dd",
            Self::F3 => "f3",
            Self::Fio => "fio",
            Self::Flashbench => "flashbench",
            Self::Hdparm => "hdparm",
            Self::Ioping => "ioping",
            Self::Iostat => "iostat",
            Self::Iozone => "iozone",
            Self::Kdiskmark => "kdiskmark",
            Self::MicrosdBenchmarks => "microsd-benchmarks",
            Self::Pibenchmarks => "pibenchmarks",
            Self::SdCardBench => "sd-card-bench",
        }
    }

    /// The names of all, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    fn read(self, text: &str, lines: &[Line]) -> Result<RecordDraft, ImportError> {
        match self {
            Self::Agnostics => agnostics::read(lines),
            Self::Dd => dd::read(lines),
            Self::F3 => f3::read(lines),
            Self::Fio => fio::read(text, lines),
            Self::Flashbench => flashbench::read(lines),
            Self::Hdparm => hdparm::read(lines),
            Self::Ioping => ioping::read(lines),
            Self::Iostat => watched::read(lines),
            Self::Iozone => iozone::read(lines),
            Self::Kdiskmark => kdiskmark::read(lines),
            Self::MicrosdBenchmarks => microsd_benchmarks::read(lines),
            Self::Pibenchmarks => pibenchmarks::read(lines),
            Self::SdCardBench => sd_card_bench::read(lines),
        }
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
        let is_named = |tool: &Self| tool.name().eq_ignore_ascii_case(name);
        Self::ALL
            .into_iter()
            .find(is_named)
            .ok_or_else(|| ImportError::NoSuchTool { name: name.to_owned() })
    }
}

/// What a record needs and no tool's output holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The record's name, which no other record has.
    pub id: String,
    /// When the output was read, RFC 3339, in UTC.
    pub read_at: String,
}

/// The record that `text` holds, the output of `tool`, or of the tool that it is recognised as.
///
/// # Errors
/// The text is of no known tool, of several, cut short, or not what the tool prints; the message
/// names the line and what was expected there.
pub fn import(
    text: &str,
    tool: Option<ForeignTool>,
    origin: &Origin,
) -> Result<Record, ImportError> {
    let lines = lines(text);
    let tool = tool.map_or_else(|| recognise::of_lines(&lines), Ok)?;
    Ok(tool.read(text, &lines)?.finish(origin))
}
