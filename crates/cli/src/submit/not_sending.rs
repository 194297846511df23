//! What stands for the sender in a build without `submit`: no hub can be reached. What would be sent can be shown.

use std::convert::Infallible;

use cardproof_session::submissions::Note;

use super::{Answer, Trouble};
use crate::exit::Failure;

/// A hub; there is none.
pub(super) struct Hub(Infallible);

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
