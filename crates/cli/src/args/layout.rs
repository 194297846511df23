//! How writes are laid out: each at its own address, or in a log.

use cardproof_log_layout::Mode;
use clap::ValueEnum;

/// How the job's writes are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutArg {
    /// Each write at its own address
    Plain,
    /// Each write at the end of a log
    Log,
}

/// What a flush means to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogModeArg {
    /// It waits until all before it is durable
    Barriers,
    /// It is acknowledged at once; a power cut leaves the state after some write
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
