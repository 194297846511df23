//! The words of this crate: sentences and other English, made from the values that the files beside it decide.
//!
//! A change of wording touches this folder alone. What is decided here is only how something is said: which
//! figure is named first, one or many, a comparison in a clause. No verdict, limit or grade comes from here.

mod bus;
mod claims;
mod defect;
pub mod findings;
mod kernel_log;
mod phases;
mod queue_and_cache;
mod reason;
mod recording;
mod scope;
mod verdicts;
pub mod wording;

pub use claims::claims;
pub use recording::recording_classes;
pub(crate) use scope::OF_A_FILE;
pub use scope::scope;
pub use verdicts::{comparison_only, limiting_bus};
