//! Pure inference: from observations of a storage device to hypotheses with probabilities.
//!
//! An experiment writes, reads and times (the crate `probe` does that). This crate takes what was
//! observed and says what it means. It does no input or output, reads no clock and prints nothing,
//! so that every conclusion can be tested with observations written by hand.

pub mod capacity;
pub mod geometry;
pub mod health;
pub mod integrity;
pub mod life;
pub mod powercut;
