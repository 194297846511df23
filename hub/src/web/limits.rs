//! How much one client may submit in an hour: counted in memory, and never written anywhere.
//!
//! There is no list of clients. A client is one place in each of a few rows of counters, chosen by a hash whose salt is
//! drawn anew each hour (a count-min sketch: Cormode and Muthukrishnan, Journal of Algorithms 2005). So memory is fixed
//! however many clients come, nothing leads back to an address, and a count may be too high but never too low.
//!
//! Everybody together have a limit too, and only what was kept counts in it. Beyond it a client still has
//! [`SHARE_MIN`], so that no number of others can refuse somebody who submits a few records.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::clock;
use crate::error::Error;
use crate::network::{Block, block};

const HOUR_MS: i64 = 3_600_000;

/// Rows of counters, and counters of a row. With 100,000 clients in an hour, one in a hundred shares all its places.
const ROWS: usize = 4;
const PLACES: usize = 1 << 18;

/// Everybody together may submit so many times as much as one client.
const EVERYBODY: u32 = 100;

/// What a client may submit in an hour whatever others do.
pub const SHARE_MIN: u32 = 10;

/// The counts of this process.
#[derive(Debug)]
pub struct Attempts {
    /// The most of one client in an hour; 0 is no limit.
    per_client: u32,
    hour: Mutex<Hour>,
}

#[derive(Debug)]
struct Hour {
    number: i64,
    salts: [RandomState; ROWS],
    counters: Vec<Vec<u32>>,
    kept: u32,
}

impl Hour {
    fn new(number: i64) -> Self {
        let counters = vec![vec![0; PLACES]; ROWS];
        Self { number, salts: std::array::from_fn(|_| RandomState::new()), counters, kept: 0 }
    }

    /// How often `client` has tried, this try included.
    fn count(&mut self, client: Block) -> u32 {
        let places = self.salts.each_ref().map(|salt| salt.hash_one(client) as usize % PLACES);
        let of_client = || self.counters.iter().zip(places).map(|(row, place)| row[place]);
        let count = of_client().min().unwrap_or(0).saturating_add(1);
        for (row, place) in self.counters.iter_mut().zip(places) {
            row[place] = row[place].max(count);
        }
        count
    }
}

impl Attempts {
    /// With `per_client` submissions an hour for each client; 0 is no limit.
    #[must_use]
    pub fn new(per_client: u32) -> Self {
        Self { per_client, hour: Mutex::new(Hour::new(0)) }
    }

    /// Counts an attempt of `client`.
    ///
    /// # Errors
    /// The client has tried too often in this hour.
    pub fn count(&self, client: IpAddr) -> Result<(), Error> {
        self.count_at(client, clock::now_ms())
    }

    fn count_at(&self, client: IpAddr, now_ms: i64) -> Result<(), Error> {
        if self.per_client == 0 {
            return Ok(());
        }
        let mut hour = self.hour.lock().unwrap_or_else(PoisonError::into_inner);
        if hour.number != now_ms / HOUR_MS {
            *hour = Hour::new(now_ms / HOUR_MS);
        }
        let everybody = self.per_client.saturating_mul(EVERYBODY);
        // The owner of a desk's own hub is not held up.
        let own = match (client.is_loopback(), hour.kept < everybody) {
            (true, _) => everybody,
            (false, true) => self.per_client,
            (false, false) => self.per_client.min(SHARE_MIN),
        };
        let count = hour.count(block(client));
        if count > own { Err(Error::TooMany) } else { Ok(()) }
    }

    /// Notes that a submission was kept.
    pub fn kept(&self) {
        let mut hour = self.hour.lock().unwrap_or_else(PoisonError::into_inner);
        hour.kept = hour.kept.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u32) -> IpAddr {
        IpAddr::from(std::net::Ipv4Addr::from(0xc633_0000 + number))
    }

    fn taken(attempts: &Attempts, client: IpAddr, now_ms: i64, tries: u32) -> u32 {
        (0..tries).filter(|_| attempts.count_at(client, now_ms).is_ok()).count() as u32
    }

    #[test]
    fn refused_attempts_of_one_client_count_against_nobody_else() {
        let attempts = Attempts::new(240);
        assert_eq!(taken(&attempts, client(0), 0, 30_000), 240);
        assert_eq!(taken(&attempts, client(1), 0, 1), 1);
        assert_eq!(taken(&attempts, client(0), HOUR_MS, 300), 240, "the next hour is another");
    }

    #[test]
    fn many_clients_at_their_limits_refuse_nobody() {
        let attempts = Attempts::new(240);
        for number in 1..=10_000 {
            assert_eq!(taken(&attempts, client(number), 0, 300), 240);
        }
        let honest = (20_000..21_000).filter(|it| taken(&attempts, client(*it), 0, 1) == 1);
        assert_eq!(honest.count(), 1_000);
    }

    #[test]
    fn beyond_everybodys_limit_each_client_has_its_share() {
        let attempts = Attempts::new(20);
        (0..20 * EVERYBODY).for_each(|_| attempts.kept());
        // An hour that begins forgets what was kept in the one before.
        assert_eq!(taken(&attempts, client(0), HOUR_MS, 30), 20);
        (0..20 * EVERYBODY).for_each(|_| attempts.kept());
        assert_eq!(taken(&attempts, client(1), HOUR_MS, 30), SHARE_MIN);
        assert_eq!(taken(&attempts, IpAddr::from([127, 0, 0, 1]), HOUR_MS, 30), 30);
    }
}
