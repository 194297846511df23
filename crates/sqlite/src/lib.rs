//! A real SQLite on the user's storage: how many transactions a second in each journal mode.
//!
//! A database is the file-system job that most programs do all day, and its cost is nearly all in
//! the flushes that its journal asks for. A model of it would have to be kept true to each version
//! of SQLite; so the library itself is driven, as programs drive it: one row in one transaction
//! after another, in a table of a realistic size.
//!
//! The caller gives an empty directory of his own, a clock and a flag to stop by. Nothing is
//! written outside of that directory, nothing is printed, and a fault of the storage is a cause,
//! never a figure.

#![cfg_attr(not(feature = "bundled"), allow(dead_code, reason = "what SQLite would use"))]

#[cfg(not(feature = "bundled"))]
mod absent;
#[cfg(feature = "bundled")]
mod code;
#[cfg(feature = "bundled")]
mod commit;
#[cfg(feature = "bundled")]
mod database;
mod fault;
mod measure;
#[cfg(feature = "bundled")]
mod numbered;
#[cfg(feature = "bundled")]
mod place;
#[cfg(feature = "bundled")]
mod row;
mod setting;

#[cfg(not(feature = "bundled"))]
pub use absent::{Database, Numbered, version};
#[cfg(feature = "bundled")]
pub use database::Database;
pub use fault::DatabaseError;
pub use measure::{End, Limits, Run};
#[cfg(feature = "bundled")]
pub use numbered::Numbered;
pub use setting::{Journal, Setting, Synchronous};

/// Whether there is an SQLite in this build.
pub const IS_BUILT_IN: bool = cfg!(feature = "bundled");

/// How many rows the table has at first: some 10 MiB with its index, more than SQLite keeps in its
/// own cache of 2 MB, and little beside any card.
pub const ROWS: u32 = 20_000;

/// The version of the SQLite that is driven, such as `3.50.2`.
#[cfg(feature = "bundled")]
#[must_use]
pub fn version() -> &'static str {
    rusqlite::version()
}
