//! `cardproof geometry`: the geometry of a card's flash, or why it cannot be seen.

use std::path::PathBuf;

use cardproof_session::GeometryProbe;
use cardproof_units::{Bytes, Seed};
use clap::Args;

use crate::args::{AccessArgs, OutputArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, measure};
use crate::signals::Signals;

/// Where to look.
#[derive(Debug, Args)]
pub(crate) struct GeometryArgs {
    /// A block device (read only without --destroy), a directory or file, or sim:NAME
    #[arg(value_name = "TARGET", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// Size of the range to measure in; by default the whole device, or a test file of 768 MiB in a
    /// directory
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// A name for what is measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How the target may be used.
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Measures what `args` name.
pub(crate) fn run(args: &GeometryArgs, signals: &Signals) -> Result<Exit, Failure> {
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
    measure(GeometryProbe::default(), &request, signals)
}
