//! What `cardproof identify` can be asked.

use std::path::PathBuf;

use clap::Args;

use crate::output::Sink;

/// What to identify, and how to tell it.
#[derive(Debug, Args)]
pub(crate) struct IdentifyArgs {
    /// A device, or a directory on it; by default the storage under the current directory
    ///
    /// A name such as mmcblk0 will do for /dev/mmcblk0.
    #[arg(value_name = "DEVICE|DIR")]
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
    /// Read this directory or dump instead of the running system
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) sysroot: Option<PathBuf>,
    /// Write all facts to a file that others can read with --sysroot
    ///
    /// Without serial numbers, names of the host, of users and volumes, and paths. It is text: read
    /// it before you send it.
    #[arg(long, value_name = "FILE|-", conflicts_with = "json")]
    pub(crate) dump: Option<Sink>,
    /// Decode registers: hex text, a file, or `-` for standard input
    ///
    /// Takes what people paste: CID, CSD, SCR, SSR, OCR and EXT_CSD, several in one text, with or
    /// without labels such as `cid:`, and the text of `mmc extcsd read`. Registers of several cards
    /// are shown card by card.
    #[arg(long, value_name = "HEX|FILE|-", conflicts_with_all = ["place", "all", "sysroot", "dump"])]
    pub(crate) raw: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
