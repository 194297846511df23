//! What a storage device holds after a power cut, judged against what it had acknowledged.
//!
//! A [`Plan`] decides from a seed which sectors each numbered write covers, so nothing has to be
//! stored about a write but the highest number that was issued and the highest that was promised
//! to be durable ([`Promise`]). Each sector carries a [`Stamp`]: number, address, epoch, seed and
//! checksum. [`classify`] compares every sector that was read with the plan and returns the
//! [`Finding`]s of one cut; a [`Tally`] sums many cuts up and bounds the share of cuts that do harm.
//!
//! The classes follow Zheng, Tucek, Qin and Lillibridge, "Understanding the Robustness of SSDs
//! under Power Fault" (FAST 2013). Their definitions here are in `docs/design/powercut.md`.

mod bound;
mod classify;
mod plan;
mod records;
mod stamp;
mod tally;

pub use bound::{interval, upper_bound};
pub use classify::{CutReport, Finding, Kind, Promise, Sector, classify, gone};
pub use plan::{Plan, PlanError, Request};
pub use records::{Application, SLOTS, classify_records, record, slot_of};
pub use stamp::{SECTOR, Stamp};
pub use tally::{CONFIDENCE, Tally};
