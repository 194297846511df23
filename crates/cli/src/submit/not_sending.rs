//! What stands for the sender in a build without `submit`: no hub can be reached. What would be sent can be shown.

use std::convert::Infallible;

use super::notes::Note;
use crate::exit::Failure;

/// A hub; there is none.
pub(super) struct Hub(Infallible);

/// What a hub gives for a submission.
#[derive(Debug)]
pub(super) struct Answer {
    /// The permanent address.
    pub(super) url: String,
    /// What amends and deletes it.
    pub(super) token: String,
}

/// Why a submission was not taken.
#[derive(Debug)]
pub(super) struct Trouble {
    /// What happened, and what to do.
    pub(super) message: String,
    /// Whether it may be taken later.
    pub(super) may_pass: bool,
}

impl Hub {
    /// No hub.
    pub(super) fn at(_address: &str) -> Result<Self, Failure> {
        Err(Failure::built_without("submit"))
    }

    /// As the real one; it is never called.
    pub(super) fn address(&self) -> &str {
        match self.0 {}
    }

    /// As the real one; it is never called.
    pub(super) fn send(&self, _note: &Note) -> Result<Answer, Trouble> {
        match self.0 {}
    }
}
