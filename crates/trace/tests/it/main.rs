//! Traces: their forms, and what reads them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod import;
mod trace;
