//! Jobs as streams of operations on files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod jobs;
