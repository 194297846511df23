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
    /// The log waits until all earlier writes are durable
    Barriers,
    /// The log does not wait. After a power cut the newest writes may be missing. If a write is there, all
    /// earlier writes are there too
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
