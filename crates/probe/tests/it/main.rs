//! Experiments on simulated storage whose truth is known.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod capacity;
mod confined;
mod elsewhere;
mod endure;
mod integrity;
mod integrity_errors;
mod powercut;
mod wide;
mod wraps;
