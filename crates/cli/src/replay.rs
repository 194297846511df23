//! `cardproof replay`: recorded jobs. `run` repeats one on a storage, `record` makes one, `list` and
//! `show` say what there is.

mod list;
pub(crate) mod loading;
mod record;
mod run;
mod show;

use clap::Subcommand;

use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use list::ListArgs;
use record::RecordArgs;
use run::RunArgs;
use show::ShowArgs;

/// What to do with recorded jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum ReplayCommand {
    /// Repeat a recorded job on a storage
    Run(Box<RunArgs>),
    /// Record what a program reads and writes, to replay it later
    Record(RecordArgs),
    /// List the recorded jobs that come with cardproof
    List(ListArgs),
    /// What is in a recorded job
    Show(ShowArgs),
}

impl ReplayCommand {
    /// Whether it ends by itself, in order, soon after a signal.
    pub(crate) const fn looks_for_signals(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Record(_))
    }
}

/// Does what `command` says.
pub(crate) fn perform(command: &ReplayCommand, signals: &Signals) -> Result<Exit, Failure> {
    match command {
        ReplayCommand::Run(args) => run::run(args, signals),
        ReplayCommand::Record(args) => record::run(args, signals),
        ReplayCommand::List(args) => list::run(args),
        ReplayCommand::Show(args) => show::run(args),
    }
}
