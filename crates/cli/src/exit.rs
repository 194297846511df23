//! How a command ends: its exit status, and what it says when it fails.

use std::fmt::Display;
use std::process::ExitCode;

use cardproof_session::FailureKind;
use cardproof_units::with_causes;

/// The exit statuses, as scripts may rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It could not be completed.
    Incomplete = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Refused: it would not be safe, or this storage cannot be tested.
    Refused = 3,
    /// A `--require` is missed or undecided.
    NotMet = 4,
    /// Stopped by SIGINT.
    Interrupted = 130,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Refused
            | FailureKind::ReadOnly
            | FailureKind::TooLittleSpace
            | FailureKind::Unsupported => Self::Refused,
            FailureKind::Incomplete | FailureKind::NotPermitted => Self::Incomplete,
        }
    }
}

impl From<cardproof_session::Failure> for Failure {
    fn from(failure: cardproof_session::Failure) -> Self {
        Self { exit: failure.kind.into(), message: failure.message }
    }
}

/// Why a command failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status to end with.
    pub(crate) exit: Exit,
    /// What happened, to what, and what to do.
    pub(crate) message: String,
}

impl Failure {
    /// The command line is wrong.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string() }
    }

    /// The part of the program that it needs was left out of this build: the feature `name` of its crate.
    #[cfg(not(all(feature = "serve", feature = "submit")))]
    pub(crate) fn built_without(name: &str) -> Self {
        Self::usage(format!(
            "this cardproof is built without `{name}`; build it with its default features, or install a package"
        ))
    }

    /// It would not be safe.
    pub(crate) fn refused(message: impl Display) -> Self {
        Self { exit: Exit::Refused, message: message.to_string() }
    }

    /// It could not be completed.
    pub(crate) fn incomplete(message: impl Display) -> Self {
        Self { exit: Exit::Incomplete, message: message.to_string() }
    }

    /// What the user named cannot be opened, for `error`.
    pub(crate) fn of_opening(error: &std::io::Error, message: impl Display) -> Self {
        cardproof_session::Failure::of_opening(error, message).into()
    }

    /// For `map_err`: it could not be completed, `what` failed, and the error and its causes say why.
    pub(crate) fn because<E: std::error::Error + 'static>(
        what: impl Display,
    ) -> impl FnOnce(E) -> Self {
        move |error| Self::incomplete(format!("{what}: {}", with_causes(&error)))
    }
}
