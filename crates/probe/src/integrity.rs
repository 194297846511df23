//! Does a command queue, or a discard, harm data? What is written, discarded and read, and in which order.
//!
//! A queue is tested with checksummed pieces at places all over the span: many requests under way, writes
//! and reads mixed, flushes between. A discard is tested with live data on either side of every range that
//! is discarded. What the observations mean is said elsewhere.

mod discard;
mod exerciser;
mod far;
mod patient;
mod pieces;
mod queue;
mod speed;
mod trial;

use cardproof_evidence::integrity::WrongKind;
use cardproof_units::{Bytes, Nanos};

pub use discard::{DiscardOutcome, DiscardPlan, DiscardWrong, PlaceKind, run_discards};
pub use queue::{End, QueueOutcome, QueuePlan, run_queue};
pub use speed::{SpeedOutcome, SpeedPlan, run_speed};

/// Why a test cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is too little room.
    #[error("there is room for {size}, and this test needs at least {needed}")]
    TooSmall {
        /// The room.
        size: Bytes,
        /// What is needed.
        needed: Bytes,
    },
}

/// What was done, and how much of it went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Writes whose data were read again, after a later flush.
    pub writes: u64,
    /// Reads whose data were compared.
    pub reads: u64,
    /// Flushes after which all that was written since the one before was read.
    pub flushes: u64,
    /// Pieces that were found wrong, each time that they were.
    pub wrong: u64,
    /// The time that it took.
    pub time: Nanos,
}

/// A piece of data that was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongPiece {
    /// What came back.
    pub kind: WrongKind,
    /// Where the first wrong byte lies.
    pub address_bytes: u64,
    /// How many bytes were wrong.
    pub length_bytes: u64,
    /// The address whose data came back, if another's did.
    pub from_bytes: Option<u64>,
    /// How many requests were under way when the read was handed over, itself included.
    pub depth: u16,
    /// Read again alone, it was wrong again; else only the first read was.
    pub is_stored: bool,
    /// The same data had been read rightly before.
    pub was_right: bool,
}

/// Hears how far a test is, and says whether to go on.
pub trait Progress {
    /// So much of it is `done`, from 0 to 1, in the step `deed`.
    fn step(&mut self, deed: &'static str, done: f64) -> bool;
}

impl<F: FnMut(&'static str, f64) -> bool> Progress for F {
    fn step(&mut self, deed: &'static str, done: f64) -> bool {
        self(deed, done)
    }
}
