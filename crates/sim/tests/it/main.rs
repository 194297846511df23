//! Simulated cards against the contract, their physics and their faults.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod calibration;
mod contract;
mod determinism;
mod fakes;
mod faults;
mod integrity;
mod of_today;
mod physics;
mod support;
