//! What `cardproof identify` can be asked.

use std::path::PathBuf;

use clap::Args;

use crate::output::Sink;

/// What to identify, and how to tell it.
#[derive(Debug, Args)]
pub(crate) struct IdentifyArgs {
    /// A device, or a directory on it; by default the device that holds the current
    /// directory
    ///
    /// You can write mmcblk0 instead of /dev/mmcblk0.
    #[arg(value_name = "DEVICE|DIR", value_parser = crate::target::parser())]
    pub(crate) place: Option<PathBuf>,
    /// Show all storage of this computer
    #[arg(long, conflicts_with = "place")]
    pub(crate) all: bool,
    /// The facts as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Show the card's serial number
    #[arg(long)]
    pub(crate) show_serial: bool,
    /// Instead of this computer, examine a file written by --dump, or a directory with a copy of /sys and
    /// /proc
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) sysroot: Option<PathBuf>,
    /// Write all facts to a file that others can read with --sysroot
    ///
    /// The dump contains no serial numbers, host names, user names, volume names or paths. It is
    /// text: read it before you send it.
    #[arg(long, value_name = "FILE|-", conflicts_with = "json")]
    pub(crate) dump: Option<Sink>,
    /// Decode registers: hex text, a file, or `-` for standard input
    ///
    /// Accepts the registers of a card (CID, CSD, SCR, SSR, OCR, EXT_CSD) and the output of
    /// `mmc extcsd read`. One text may contain several registers. Labels such as `cid:` are optional.
    /// Registers of several cards are shown card by card.
    #[arg(long, value_name = "HEX|FILE|-", conflicts_with_all = ["place", "all", "sysroot", "dump"])]
    pub(crate) raw: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
