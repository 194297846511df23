//! Simulated cards: models of managed flash on a virtual clock, with their faults and fakes.
//!
//! A probe or a verdict can be wrong and look right; it is tested against cards whose truth is
//! known. This crate makes such cards behind [`cardproof_io::Target`], so that whatever drives a
//! real device drives them without knowing.
//!
//! It is pure: it reads no file and no clock, and the same seed gives the same run byte for byte
//! on every machine.

pub mod calibration;
mod catalogue;
mod check;
mod contents;
mod description;
pub mod fault;
pub mod host;
pub mod model;
mod slots;
mod target;
mod timing;

pub use catalogue::{Card, Kind, OpenError, Origin, catalogue, find, open};
pub use check::ModelError;
pub use contents::{Numbers, SECTOR_LEN, ShortStore, Shorthand, Store, StoreError};
pub use description::{DescriptionError, describe};
pub use host::{Host, Line};
pub use model::Model;
pub use target::{Due, Keeping, PacedTarget, Peek, SimulatedTarget, Wear};
