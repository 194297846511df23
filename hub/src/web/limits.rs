//! How much one client may submit in an hour: counted in memory, and never written anywhere.
//!
//! There is no list of clients. A client is one place in each of a few rows of counters, chosen by a hash whose salt is
//! drawn anew each hour (a count-min sketch: Cormode and Muthukrishnan, Journal of Algorithms 2005). So memory is fixed
//! however many clients come, nothing leads back to an address, and a count may be too high but never too low.
//!
//! Everybody together have a limit too, and only what was kept counts in it. Beyond it a client still has
//! [`SHARE_MIN`], so that no number of others can refuse somebody who submits a few records.
//!
//! Reports of readers count once for each client and record in a day.

use std::collections::HashMap;
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

/// The most records that a client may report in a day.
pub const REPORTS_MAX: u32 = 20;

/// The most reports that are remembered. At the next one all are forgotten, as at the end of a day.
const REMEMBERED_MAX: usize = 1 << 18;

const DAY_MS: i64 = 24 * HOUR_MS;

/// What readers have reported today, as hashes whose salt is drawn anew each day.
#[derive(Debug, Default)]
pub struct Reports {
    day: Mutex<Day>,
}

#[derive(Debug, Default)]
struct Day {
    number: i64,
    salt: RandomState,
    counts: HashMap<u64, u32>,
}

impl Reports {
    /// Counts a report of the record `id` by `client`; whether it is its first today.
    ///
    /// # Errors
    /// The client has reported too many records today.
    pub fn count(&self, client: IpAddr, id: &str) -> Result<bool, Error> {
        self.count_at(client, id, clock::now_ms())
    }

    fn count_at(&self, client: IpAddr, id: &str, now_ms: i64) -> Result<bool, Error> {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        if day.number != now_ms / DAY_MS || day.counts.len() >= REMEMBERED_MAX {
            *day = Day { number: now_ms / DAY_MS, ..Day::default() };
        }
        let of_record = day.salt.hash_one((block(client), id));
        if day.counts.contains_key(&of_record) {
            return Ok(false);
        }
        let of_client = day.salt.hash_one((block(client), ""));
        let count = day.counts.entry(of_client).or_default();
        if *count >= REPORTS_MAX {
            return Err(Error::TooMany);
        }
        *count += 1;
        day.counts.insert(of_record, 1);
        Ok(true)
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
    fn a_client_reports_a_record_once_a_day_and_so_many_records() {
        let reports = Reports::default();
        let count = |number, id: &str, now_ms| reports.count_at(client(number), id, now_ms).ok();
        assert_eq!(count(1, "a", 0), Some(true));
        assert_eq!(count(1, "a", DAY_MS - 1), Some(false));
        assert_eq!(count(2, "a", 0), Some(true), "another reader");
        let others = (1..REPORTS_MAX).filter_map(|at| count(1, &format!("r{at}"), 0));
        assert!(others.eq(std::iter::repeat_n(true, REPORTS_MAX as usize - 1)));
        assert_eq!((count(1, "more", 0), count(1, "a", 0)), (None, Some(false)));
        assert_eq!(count(1, "a", DAY_MS), Some(true), "another day");
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
