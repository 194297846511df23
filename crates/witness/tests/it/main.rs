//! The witness and its journal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod witness;
