//! Experiments that prove something about storage: what to write and read, in which order.
//!
//! Everything goes through [`cardproof_io::Target`], so that the same experiment runs on a device, a
//! file and a simulated card. What the observations mean is computed by `cardproof_evidence`; this
//! crate prints nothing, judges nothing, and asks nobody.

pub mod capacity;
mod drive;
pub mod endure;
pub mod geometry;
pub mod integrity;
pub mod layout;
pub mod powercut;

pub use drive::{Drive, DriveError};
