//! Levels and their intervals.
#![allow(clippy::unwrap_used, reason = "tests")]

mod levels;
