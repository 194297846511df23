//! Simulated cards served as files and as block devices.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod requests;
mod serve;
