//! Records as they are stored.
#![allow(clippy::unwrap_used, reason = "tests")]

mod forms;
mod stored;
mod trial;
mod words;
