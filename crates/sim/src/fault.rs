//! Faults and fakes as layers over any target.
//!
//! Every way of failing is a typed option, its random choices come from a seed, and a layer
//! with no fault in it changes nothing, which the contract suite checks.

mod beyond;
mod capacity;
mod layered;
mod power;
mod rules;

pub use capacity::{Beyond, CapacityFake, FakeTarget};
pub use power::{AtRisk, PowerCutTarget, PowerLoss};
pub use rules::{Effect, FaultRule, FaultyCard, When};
