//! Transactions of a real SQLite.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[cfg(feature = "bundled")]
mod transactions;
