//! `cardproof compare-setups`: which file system, with which options, and which way of keeping a
//! database is fastest on the user's own storage, and what that costs in safety.

use std::path::PathBuf;

use cardproof_session::{Choice, Setups, Task};
use cardproof_units::{Bytes, Seed};
use clap::Args;

use crate::args::{AccessArgs, EngineArg, OutputArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, measure};
use crate::signals::Signals;

/// ext4, with which all are compared, fits into no less.
const FILESYSTEM_MIN: Bytes = Bytes::mib(16);

/// What to compare, and where.
#[derive(Debug, Args)]
pub(crate) struct SetupsArgs {
    /// A directory (an image is made in it and removed), or a block device with --destroy
    #[arg(value_name = "DIR|DEVICE", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// Compare only these setups, separated by commas, such as ext4,f2fs,sqlite-wal-normal
    ///
    /// File systems: ext4, ext4-commit60, ext4-noatime, ext4-fast_commit, ext4-no-journal, f2fs,
    /// xfs, btrfs, btrfs-zstd, vfat, exfat, nilfs2. Journal modes: sqlite-delete, sqlite-truncate,
    /// sqlite-persist, sqlite-wal-full, sqlite-wal-normal. sqlite-memory and sqlite-off run only if
    /// you name them: with them, a crash can destroy a database. All file
    /// systems are compared with ext4, and all journal modes with sqlite-delete, so these are always included.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// The jobs to run, separated by commas; fsync-4k and sqlite by default
    ///
    /// Two more jobs are available: browser writes about 100 MB, and package-install about 200 MB, for each
    /// setup in each round.
    #[arg(long, value_name = "JOBS", value_delimiter = ',', value_parser = task)]
    pub(crate) jobs: Vec<Task>,
    /// Number of rounds; every second round uses the reverse order
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = crate::args::number(2..=50_u32))]
    pub(crate) rounds: u32,
    /// Size of each file system; 320M by default. XFS needs at least 300M
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// Seed for all data written; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// Allow writing to a block device: ALL ITS DATA IS LOST. Leave the value out, and cardproof prints it
    ///
    /// Give the device's identity: `--destroy=NAME:BYTES[:SERIAL]`. If the identity is missing or wrong,
    /// cardproof refuses and prints the exact option.
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "NAME:BYTES")]
    pub(crate) destroy: Option<Option<String>>,
    /// A name for what is measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Where the result goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn task(text: &str) -> Result<Task, String> {
    Task::ALL
        .into_iter()
        .find(|task| task.name().eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("choose from: {}", Task::ALL.map(Task::name).join(", ")))
}

/// Compares what `args` name.
pub(crate) fn run(args: &SetupsArgs, signals: &Signals) -> Result<Exit, Failure> {
    if args.size == Some(Bytes::ZERO) {
        return Err(Failure::usage("a size of 0 holds no file system; give --size such as 320M"));
    }
    if args.size.is_some_and(|size| size < FILESYSTEM_MIN) {
        return Err(Failure::usage(format!(
            "--size is too small for a file system; give at least {} (320M for all of them)",
            FILESYSTEM_MIN.as_argument()
        )));
    }
    if args.target.to_string_lossy().starts_with("sim:") {
        return Err(Failure::usage(
            "compare-setups needs a real directory or device, not a simulated card; name a directory",
        ));
    }
    let setups = Setups { choice: Choice::new(&args.only, &args.jobs)?, rounds: args.rounds };
    let access = AccessArgs { destroy: args.destroy.clone(), engine: EngineArg::Auto };
    let request = Request {
        target: &args.target,
        size: args.size,
        seed: args.seed,
        access: &access,
        expect_device: None,
        label: args.label.as_ref(),
        require: &[],
        output: &args.output,
        quiet: args.quiet,
    };
    measure(setups, &request, signals)
}
