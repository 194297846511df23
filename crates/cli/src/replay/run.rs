//! `cardproof replay run`: a recorded job done again on a storage.

use std::path::PathBuf;
use std::str::FromStr;

use cardproof_session::{LogWish, TraceReplay};
use cardproof_trace::TraceReader;
use cardproof_units::{Bytes, Seed};
use clap::Args;

use super::loading;
use crate::args::{AccessArgs, LayoutArg, LogModeArg, OutputArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, measure};
use crate::signals::Signals;

/// What to replay, and where.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A name of `cardproof replay list`, or a trace file
    pub(crate) trace: String,
    /// A directory (cardproof writes a file there and removes it), a file, a block device, or sim:NAME
    #[arg(value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// What to do with the job's own pauses: keep them, leave them out (none), or multiply them by a factor
    /// such as 3
    ///
    /// The trace holds the pauses of the computer on which it was recorded. A slower computer has longer
    /// pauses.
    #[arg(long, value_name = "keep|none|FACTOR", default_value = "keep")]
    pub(crate) pauses: Pauses,
    /// Maximum number of requests in flight
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = crate::args::number(1..=256_u16))]
    pub(crate) queue_depth: u16,
    /// Where writes go on the storage. `log` replays the job in pairs and compares the times: once with every
    /// write at its recorded address, once with all writes in sequence
    #[arg(long, value_enum, default_value = "plain")]
    pub(crate) layout: LayoutArg,
    /// What the log does at a flush
    #[arg(long, value_enum, default_value = "barriers")]
    pub(crate) log_mode: LogModeArg,
    /// With --layout log: the number of pairs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = crate::args::number(2..=100_u32))]
    pub(crate) pairs: u32,
    /// Size of the range to write and read in; by default the address range of the trace
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// Seed for the data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How the target may be used.
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// A name for what is measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Where the result goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Keep the name of the trace in the record; by default, a trace of yours is named by a digest
    #[arg(long)]
    pub(crate) keep_names: bool,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What the job's own pauses are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pauses(pub(crate) f64);

impl FromStr for Pauses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse()) {
            ("keep", _) => Ok(Self(1.0)),
            ("none", _) => Ok(Self(0.0)),
            (_, Ok(factor)) if (0.0..=1000.0).contains(&factor) => Ok(Self(factor)),
            _ => Err("say keep, none, or a factor from 0 to 1000".to_owned()),
        }
    }
}

/// Replays what `args` name.
pub(crate) fn run(args: &RunArgs, signals: &Signals) -> Result<Exit, Failure> {
    let bytes = loading::load(&args.trace)?;
    let trace = TraceReader::new(&bytes).map_err(|error| loading::broken(&args.trace, &error))?;
    let trace = if args.keep_names || loading::is_shipped(&args.trace) {
        trace
    } else {
        let name = format!("trace-{:08x}", cardproof_session::digest(&bytes) as u32);
        trace.with_name(&name)
    };
    let replay = TraceReplay::new(trace, args.pauses.0, args.queue_depth)
        .map_err(|error| Failure::usage(format!("{}: {error}", args.trace)))?;
    let replay = match args.layout {
        LayoutArg::Plain => replay,
        LayoutArg::Log => {
            replay.beside_log(LogWish { mode: args.log_mode.into(), pairs: args.pairs })
        }
    };
    let request = Request {
        target: &args.target,
        label: args.label.as_ref(),
        size: args.size,
        seed: args.seed,
        access: &args.access,
        expect_device: None,
        require: &[],
        output: &args.output,
        quiet: args.quiet,
    };
    measure(replay, &request, signals)
}
