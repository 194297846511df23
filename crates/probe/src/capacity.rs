//! Whether a device holds what it announces: writes test places and filler, reads them back, and
//! looks closer where something is wrong.
//!
//! The order is what makes the test sure. All places are written first; then a stretch of filler at
//! the end of the addresses; then the places are read. So every place is read after more bytes than
//! the largest hidden store that is to be excluded. The filler has no gaps and the places of a grid
//! lie no further apart than the filler is long, so that every wrap-around, whatever its modulus,
//! puts a place under the filler. Some places are read early ("looks"), so that a plain fake is seen
//! after a few MiB.
//!
//! What this refuses to do: it never decides the verdict, it does not save what it overwrites (that
//! is the caller's work, by a target that does), and it never writes more than its plan announces
//! unless places failed.

mod again;
mod elsewhere;
mod experiment;
mod layout;
mod pace;
mod plan;
mod read_back;
mod refine;
mod run;
pub mod shorthand;
mod stretches;

pub use elsewhere::{Elsewhere, Looked, Strayed, look_elsewhere};
pub use experiment::{Outcome, Progress, Stage, Watch};
pub(crate) use layout::shuffle;
pub use pace::Estimate;
pub use plan::{Plan, PlanError, Wish};
pub use run::run;
