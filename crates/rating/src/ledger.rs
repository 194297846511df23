//! The ledger of a computer's storage: what each card read and wrote day by day, with errors, times and wear,
//! from looks at the kernel's counters that may be minutes or days apart.
//!
//! The state is two texts. [`Open`] holds the counters of the last look, what the current day has summed up, and
//! days that are over but not yet known to be in the other text; it is small and is replaced as a whole. The
//! other is a list of [`Day`] lines that only grows. Whoever keeps them writes `Open` first and appends then, so
//! that a cut at any moment loses nothing: a day that is in both texts is told by its number.
//!
//! Sums rest on the kernel's counters and its uptime alone. The calendar only labels them, so a clock that jumps
//! puts a label on the wrong day and loses no byte. No serial number is in a ledger: a card is known by a hash of
//! its register under a key that never leaves the computer.

mod counters;
mod day;
mod document;
mod open;
mod outlook;
mod slower;
#[cfg(test)]
mod tests;

pub use counters::{CardCounters, ErrorCounts};
pub use day::{CardKey, Day, LEDGER_FORM, days, lines, totals};
pub use document::{LEDGER_SCHEMA, LedgerCard, LedgerDocument};
pub use open::{CardReading, Open, Reading};
pub use outlook::{Outlook, Pace, UsedPercent, outlook};
pub use slower::{Slower, slower};
