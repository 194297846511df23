//! What is asked of a target: profiles, their phases, and the operations and data of each phase.
//!
//! Everything here follows from a seed and from nothing else. This crate does no input or
//! output, reads no clock and knows no particular device.

pub mod application;
pub mod calls;
mod data;
mod figure;
pub mod job;
pub mod jobs;
mod mix;
pub mod own;
mod packed;
mod peers;
mod permutation;
mod profile;
mod seconds;
mod spec;
pub mod standard;
mod stream;
pub mod trace;

pub use data::{DataPattern, Generation, SECTOR, SectorIdentity};
pub use figure::{Aggregate, EarlyEnd, FigureSpec, Limit, Origin, Quantity, Unit};
pub use permutation::Permutation;
pub use profile::{Profile, find, names};
pub use spec::{
    Access, Decision, Ends, PhaseSpec, Precision, Repetition, Role, SpecError, TimeLimit,
};
pub use stream::{OpStream, StreamOp};
