//! How writes are laid out: each at its own address, or in a log.

use cardproof_log_layout::Mode;
use clap::ValueEnum;

/// How the job's writes are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutArg {
    /// Each write at its own address
    Plain,
    /// All writes one after another, at the end of a log
    Log,
}

/// What a flush means to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogModeArg {
    /// It waits until all earlier writes are durable
    Barriers,
    /// It does not wait; after a power cut the last writes may be missing, but never an earlier one
    Delayed,
}

impl From<LogModeArg> for Mode {
    fn from(mode: LogModeArg) -> Self {
        match mode {
            LogModeArg::Barriers => Self::Barriers,
            LogModeArg::Delayed => Self::Delayed,
        }
    }
}
