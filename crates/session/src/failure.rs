//! Why a session fails, and what to do about it.

use std::error::Error;
use std::fmt::{self, Display};

use cardproof_units::with_causes;

/// What kind of failure it is: a program maps it to an exit status, a service to its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// What was asked for is wrong or does not exist.
    Usage,
    /// It would not be safe.
    Refused,
    /// The target may not be written to.
    ReadOnly,
    /// This user may not write to the target.
    NotPermitted,
    /// There is too little free space.
    TooLittleSpace,
    /// The file system cannot do it.
    Unsupported,
    /// It could not be completed.
    Incomplete,
}

impl FailureKind {
    /// Why something is missing in a record, which holds no path and so no message.
    #[must_use]
    pub const fn in_record(self) -> &'static str {
        match self {
            Self::Usage => "the place is not there, or cannot be used so",
            Self::Refused => "it would not be safe there",
            Self::ReadOnly => "the place may not be written to",
            Self::NotPermitted => "this user may not write to the place",
            Self::TooLittleSpace => "there is too little free space",
            Self::Unsupported => "the file system there cannot do it",
            Self::Incomplete => "it could not be completed",
        }
    }
}

/// A session that could not be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, to what, and what to do.
    pub message: String,
}

impl Failure {
    /// What was asked for is wrong or does not exist.
    pub fn usage(message: impl Display) -> Self {
        Self { kind: FailureKind::Usage, message: message.to_string() }
    }

    /// It would not be safe.
    pub fn refused(message: impl Display) -> Self {
        Self { kind: FailureKind::Refused, message: message.to_string() }
    }

    /// It cannot be done there, for a reason that a program may want to know.
    pub fn of_place(kind: FailureKind, message: impl Display) -> Self {
        Self { kind, message: message.to_string() }
    }

    /// It could not be completed.
    pub fn incomplete(message: impl Display) -> Self {
        Self { kind: FailureKind::Incomplete, message: message.to_string() }
    }

    /// What the user named cannot be opened, for `error`: a wrong name is a mistake, missing permission is
    /// not.
    pub fn of_opening(error: &std::io::Error, message: impl Display) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::incomplete(message),
            _ => Self::usage(message),
        }
    }

    /// For `map_err`: it could not be completed, `what` failed, and the error and its causes say why.
    pub fn because<E: Error + 'static>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::incomplete(format!("{what}: {}", with_causes(&error)))
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}
