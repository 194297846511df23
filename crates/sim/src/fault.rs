//! Faults and fakes: as layers over any target, and as layers over the place of a card's bytes.
//!
//! Every way of failing is a typed option, its random choices come from a seed, and a layer
//! with no fault in it changes nothing, which the contract suite checks.

mod arranged;
mod capacity;
mod damage;
mod discard;
mod hidden;
mod layered;
mod life;
mod power;
mod queue;
mod rules;
mod volatile;

pub use arranged::{ArrangedStore, Arrangement, Gives, Missing};
pub use capacity::{Beyond, CapacityFake, FakeStore};
pub use damage::{Damage, DamagedBlock, DamagedStore};
pub(crate) use discard::DiscardStore;
pub use discard::{DiscardFault, DiscardHarm, DiscardReads};
pub use hidden::{Forgets, HiddenStore, Keeps};
pub use life::{End, Life, MortalStore};
pub use power::{AtRisk, PowerCutTarget, PowerLoss};
pub(crate) use queue::QueueFaults;
pub use queue::{QueueFault, QueueHarm};
pub use rules::{Effect, FaultRule, FaultyCard, When};
pub use volatile::{Harm, Power, VolatileStore};
