//! Writes a card again and again until it fails: cycles of writing verifiable data, reading them back
//! and comparing.
//!
//! Every sector carries its address, the run and the cycle ([`Stamp`]), so that what comes back tells
//! how the card fails: an error, older data, other data. A page that lost data once is bad from then
//! on and not written again.
//!
//! An error is the card's only if it stays at its place: a failed piece is tried again at once, and
//! again at the end of the pass. Where many pieces in a row fail, the run pauses and looks whether the
//! whole device fails, and for how long. What is over by then was the host's, the reader's or the
//! cable's.
//!
//! The run can stop between two pieces and go on from a [`State`] later. What this refuses to do: it
//! saves nothing itself, and it does not know what a life is worth.
//!
//! [`Stamp`]: cardproof_evidence::capacity::stamp::Stamp

mod autopsy;
mod bad;
mod passes;
mod patience;
mod plan;
mod resume;
mod run;
mod state;

pub use bad::BadPages;
pub use plan::{Pattern, Plan, PlanError, Wish};
pub use resume::{Marks, marks};
pub use run::{Progress, Watch, Why, is_met, run};
pub use state::{Cycle, End, MILESTONES, Pass, Position, State, Tally};
