//! The log-structured layer: the contract of a target, and crashes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod contract;
mod crash;
