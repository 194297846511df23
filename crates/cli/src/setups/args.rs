//! The command line of `cardproof compare-setups`.

use std::path::PathBuf;

use cardproof_units::{Bytes, Seed};
use clap::Args;

use super::contest::Task;
use crate::output::Sink;

/// What to compare, and where.
#[derive(Debug, Args)]
pub(crate) struct SetupsArgs {
    /// A directory (an image is made in it and removed), or a block device with --destroy
    #[arg(value_name = "DIR|DEVICE", default_value = ".")]
    pub(crate) target: PathBuf,
    /// Only these, separated by commas, such as ext4,f2fs,sqlite-wal-normal
    ///
    /// File systems: ext4, ext4-commit60, ext4-noatime, ext4-fast_commit, ext4-no-journal, f2fs,
    /// xfs, btrfs, vfat, exfat, nilfs2. Journal modes: sqlite-delete, sqlite-truncate,
    /// sqlite-persist, sqlite-wal-full, sqlite-wal-normal; sqlite-memory and sqlite-off, with which
    /// a crash can destroy a database, only where they are named. What others are compared with,
    /// ext4 and sqlite-delete, always takes part.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// These jobs, separated by commas; fsync-4k and sqlite by default
    ///
    /// There is package-install as well, which writes some 200 MB in each turn of each setup.
    #[arg(long, value_name = "JOBS", value_delimiter = ',', value_parser = task)]
    pub(super) jobs: Vec<Task>,
    /// How often each takes its turn; every second round goes backwards
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=50))]
    pub(crate) rounds: u32,
    /// How large each file system is; XFS needs 300M
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// From which all that is written follows; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// Allow writing to a block device: ALL ITS DATA IS LOST
    ///
    /// It is written to only if its identity is given: --destroy=NAME:SIZE[:SERIAL], as the refusal
    /// shows it.
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "IDENTITY")]
    pub(crate) destroy: Option<Option<String>>,
    /// The figures as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The result as Markdown, for a forum or an issue
    #[arg(long, value_name = "FILE|-")]
    pub(crate) markdown: Option<Sink>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn task(text: &str) -> Result<Task, String> {
    Task::ALL
        .into_iter()
        .find(|task| task.name() == text)
        .ok_or_else(|| format!("there is: {}", Task::ALL.map(Task::name).join(", ")))
}
