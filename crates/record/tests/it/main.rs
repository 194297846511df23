//! Records as they are stored.
#![allow(clippy::unwrap_used, reason = "tests")]

mod stored;
mod trial;
