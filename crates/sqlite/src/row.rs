//! The rows that are written: those of a program that keeps states of many devices.
//!
//! The shape is that of what runs on small computers day and night (home automation, loggers,
//! chats): a number, a device, a time, a state of a few hundred bytes, and an index by device and
//! time. A new row goes to the end of the table and somewhere into the index; a changed one lies
//! anywhere. States are random bytes, so that nothing below can make them smaller.

use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The table and its index.
pub(crate) const SCHEMA: &str = "
    CREATE TABLE states (
        id INTEGER PRIMARY KEY,
        device INTEGER NOT NULL,
        changed_at INTEGER NOT NULL,
        state BLOB NOT NULL
    );
    CREATE INDEX states_by_device ON states (device, changed_at);
";

/// Adds a row.
pub(crate) const INSERT: &str =
    "INSERT INTO states (id, device, changed_at, state) VALUES (?1, ?2, ?3, ?4)";

/// Changes the state of a row.
pub(crate) const UPDATE: &str = "UPDATE states SET state = ?2 WHERE id = ?1";

/// How many devices there are.
const DEVICES: u64 = 200;

/// States are from so many bytes to so many, evenly.
const STATE_LENGTHS: (usize, usize) = (200, 600);

/// Rows in the order in which they are written, all from one seed.
#[derive(Debug)]
pub(crate) struct Rows {
    random: Xoshiro256PlusPlus,
    next: i64,
    state: [u8; STATE_LENGTHS.1],
}

/// A row to be added.
pub(crate) struct New<'a> {
    pub(crate) id: i64,
    pub(crate) device: i64,
    pub(crate) changed_at: i64,
    pub(crate) state: &'a [u8],
}

impl Rows {
    pub(crate) fn new(seed: Seed) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("sqlite-rows"));
        Self { random, next: 1, state: [0; STATE_LENGTHS.1] }
    }

    /// The row after the last one.
    pub(crate) fn add(&mut self) -> New<'_> {
        let id = self.next;
        self.next += 1;
        let device = self.below(DEVICES);
        New { id, device, changed_at: id, state: self.state() }
    }

    /// Some row that is there, and its new state.
    pub(crate) fn change(&mut self) -> (i64, &[u8]) {
        let count = u64::try_from(self.next - 1).unwrap_or(1).max(1);
        (1 + self.below(count), self.state())
    }

    /// A number from 0 up to `end`, which is small beside 2^64.
    fn below(&mut self, end: u64) -> i64 {
        i64::try_from(self.random.next_u64() % end).unwrap_or(0)
    }

    fn state(&mut self) -> &[u8] {
        let (least, most) = STATE_LENGTHS;
        let length = least + (self.random.next_u64() % (most - least + 1) as u64) as usize;
        let state = &mut self.state[..length];
        self.random.fill_bytes(state);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_order_of_rows() {
        let ids = |seed| {
            let mut rows = Rows::new(Seed::from_bits(seed));
            let added: Vec<_> = (0..50).map(|_| rows.add().device).collect();
            let changed: Vec<_> = (0..50).map(|_| rows.change().0).collect();
            assert!(changed.iter().all(|id| (1..=50).contains(id)));
            (added, changed)
        };
        assert_eq!(ids(1), ids(1));
        assert_ne!(ids(1), ids(2));
    }

    #[test]
    fn states_have_their_lengths() {
        let mut rows = Rows::new(Seed::from_bits(3));
        let lengths: Vec<_> = (0..2000).map(|_| rows.add().state.len()).collect();
        assert!(lengths.iter().all(|length| (200..=600).contains(length)));
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!((390..=410).contains(&mean), "{mean}");
    }
}
