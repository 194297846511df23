//! Runs of profiles, replays and jobs on targets in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod data;
mod decisions;
mod faults;
mod figures;
mod jobs;
mod monitor;
mod repeated;
mod replay;
mod runs;
mod support;
mod undisturbed;
