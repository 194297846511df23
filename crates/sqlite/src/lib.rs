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

mod database;
mod fault;
mod measure;
mod numbered;
mod place;
mod row;
mod setting;

pub use database::{Database, ROWS};
pub use fault::DatabaseError;
pub use measure::{End, Limits, Run};
pub use numbered::Numbered;
pub use setting::{Journal, Setting, Synchronous};

/// The version of the SQLite that is driven, such as `3.50.2`.
#[must_use]
pub fn version() -> &'static str {
    rusqlite::version()
}
