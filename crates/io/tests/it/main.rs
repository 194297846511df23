//! The engines, the scratch directory and its sweeper, on real files and devices.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod arrange;
#[cfg(feature = "contract")]
mod contract;
mod scratch;
mod scratch_kill;
