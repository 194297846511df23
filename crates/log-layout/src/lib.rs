//! A log-structured layer over any [`Target`](cardproof_io::Target): whatever is written goes to the
//! end of a log, and a map says where each block lies. So a storage that is slow at small random
//! writes gets none.
//!
//! [`LogLayout`] is such a layer, with the target's own contract. What a power cut leaves of it is
//! found again by [`LogLayout::recover`]: with [`Mode::Barriers`] all that was flushed, with
//! [`Mode::Delayed`] the state after some write, and nothing of the writes after it. The form on the
//! medium and the reasons are in `docs/design/log-layout.md`.
//!
//! It does one request at a time, and it holds 8 bytes of memory for each block of 4 KiB.

mod clean;
mod form;
mod inner;
mod layer;
mod map;
mod recover;
mod target;

pub use layer::{Counts, LogLayout, Mode, Options};

use cardproof_io::{Fault, SubmitError, TargetError};
use cardproof_units::Bytes;

/// The unit of the map.
pub const BLOCK: Bytes = Bytes::kib(4);

/// Why a log cannot be laid out or found.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The target is too small for the log that is wanted.
    #[error(
        "a log for {wanted} needs {needed}, and there are {size}; use more of the target or work in less"
    )]
    TooSmall {
        /// How much data the log should hold.
        wanted: Bytes,
        /// The size of a target on which such a log fits.
        needed: Bytes,
        /// The size of this target.
        size: Bytes,
    },
    /// The target holds no log.
    #[error("there is no log on this target; lay one out first")]
    NoLog,
    /// A log of another version, or of another target.
    #[error("the log on this target does not fit it: {0}")]
    Unfit(&'static str),
    /// The storage failed.
    #[error("the storage failed: {0}")]
    Fault(Fault),
    /// The target refused an operation; the layer made a mistake.
    #[error("the target refused an operation of the log")]
    Refused(#[from] SubmitError),
    /// The engine failed.
    #[error("the engine that drives the target failed")]
    Engine(#[from] TargetError),
}
