//! What a record means: verdicts, plausibility, daily use, advice.
//!
//! Everything here is a pure function of a record, so that old records can be judged again by
//! better rules. This crate measures nothing, reads no file and prints nothing, and it never
//! calls a card certified: it says whether limits were met as measured on one host. What was
//! not measured is named as such, with its cause; it never counts as zero and never as passed.

mod advice;
mod ceilings;
mod classes;
mod doubts;
mod filesystems;
mod judge;
pub mod limits;
mod meaning;
mod pauses;
mod pick;
mod published;
mod transports;
pub mod wording;

pub use advice::next_steps;
pub use classes::{CLASSES, Class, Limit, Quantity, Rate};
pub use doubts::{Doubt, doubts, plausibility};
pub use judge::judge;
pub use meaning::{Grade, Meaning, meaning};
pub use pauses::{FELT_PAUSE, Pause, longest_wait, pauses_in};
pub use pick::{Figure, Finding};
pub use published::{PUBLISHED_CARDS, PUBLISHED_SOURCE, PublishedCard};
