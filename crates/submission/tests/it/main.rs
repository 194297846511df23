//! Documents for a hub.
#![allow(clippy::unwrap_used, reason = "tests")]

mod documents;
