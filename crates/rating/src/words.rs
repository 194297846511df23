//! The words of this crate: sentences and other English, made from the values that the files beside it decide.
//!
//! A change of wording touches this folder alone. What is decided here is only how something is said: which
//! figure is named first, one or many, a comparison in a clause. No verdict, limit or grade comes from here.

mod advice;
mod bus;
mod capacity;
mod claims;
mod columns;
pub mod data;
mod defect;
pub mod diagnosis;
mod doubts;
pub mod findings;
mod geometry;
mod indications;
mod integrity;
mod kernel_log;
pub mod life;
mod likeness;
pub mod limits;
pub mod log;
mod meaning;
mod origin;
mod pauses;
mod phases;
mod position;
mod prediction;
mod queue_and_cache;
mod reason;
mod recording;
mod replayed;
mod scope;
mod sd_queue;
mod setups;
mod told;
pub mod tuning;
mod uses;
mod verdicts;
pub mod wear;
pub mod wording;

pub use advice::{SPEED_TELLS_NO_FAKE, next_steps};
pub use claims::claims;
pub use doubts::plausibility;
pub use geometry::{geometry_in_short, geometry_in_words};
pub use indications::{indications, telling_indications};
pub use meaning::{Meaning, meaning};
pub use phases::range_too_small;
pub use recording::recording_classes;
pub use replayed::standing;
pub use scope::scope;
pub use setups::{ratio_in_words, setup_advice};
pub use verdicts::{comparison_only, limiting_bus};
