//! What is asked of a target: profiles, their phases, and the operations and data of each phase.
//!
//! Everything here follows from a seed and from nothing else. This crate does no input or
//! output, reads no clock and knows no particular device.

pub mod application;
mod bounds;
mod catalogue;
mod data;
mod figure;
mod honesty;
pub mod job;
mod mix;
mod peers;
mod permutation;
mod plain_names;
mod profile;
mod spec;
pub mod standard;
mod stream;
pub mod user_profile;

pub use catalogue::{find, names};
pub use data::{DataPattern, Generation, SECTOR, SectorIdentity};
pub use figure::{Aggregate, EarlyEnd, FigureSpec, Minimum, Origin, Quantity, Unit};
pub use permutation::Permutation;
pub use profile::Profile;
pub use spec::{
    Access, Decision, Ends, PhaseSpec, Precision, Repetition, Role, SpecError, TimeLimit,
};
pub use stream::{OpStream, StreamOp};
