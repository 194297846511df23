//! Rankings that are shown again for a while: the only page that reads and judges many records.
//!
//! One ranking is made at a time. A ranking of as many models as it may have is shown for ten times as long as it
//! took to make, so that rankings take a bounded share of a processor whatever is asked for. What was withdrawn
//! through this process is in no ranking after it; through another one, after a minute at most.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

/// A ranking is shown for so many times the time that it took.
const REST_FACTOR: u32 = 10;

/// And at most so long.
const REST_MAX: Duration = Duration::from_secs(60);

/// The most rankings that are kept.
const KEPT_MAX: usize = 64;

/// The use, and the way of measuring that is asked for.
pub(super) type Key = (&'static str, Option<String>);

#[derive(Debug)]
struct Shown {
    page: String,
    until: Instant,
    /// How often something had been withdrawn when it was begun.
    withdrawn: u64,
}

/// The rankings of a process.
#[derive(Debug, Default)]
pub struct Rankings {
    shown: Mutex<HashMap<Key, Shown>>,
    withdrawn: AtomicU64,
}

/// The right to make a ranking.
#[derive(Debug)]
pub(super) struct Making<'a> {
    shown: MutexGuard<'a, HashMap<Key, Shown>>,
    start: Instant,
    withdrawn: u64,
}

impl Rankings {
    /// Notes that something was deleted, amended or hidden.
    pub(super) fn withdraw(&self) {
        self.withdrawn.fetch_add(1, Ordering::SeqCst);
    }

    /// The page of `key`, or the right to make it.
    pub(super) async fn find(&self, key: &Key) -> Result<String, Making<'_>> {
        let mut shown = self.shown.lock().await;
        let (start, withdrawn) = (Instant::now(), self.withdrawn.load(Ordering::SeqCst));
        shown.retain(|_, one| start < one.until && one.withdrawn == withdrawn);
        match shown.get(key) {
            Some(one) => Ok(one.page.clone()),
            None => Err(Making { shown, start, withdrawn }),
        }
    }
}

impl Making<'_> {
    /// Keeps the `page` of `key`, which was just made.
    pub(super) fn keep(mut self, key: Key, page: &str) {
        if self.shown.len() < KEPT_MAX {
            let rest = (self.start.elapsed() * REST_FACTOR).min(REST_MAX);
            let until = Instant::now() + rest;
            let page = page.to_owned();
            self.shown.insert(key, Shown { page, until, withdrawn: self.withdrawn });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_ranking_is_shown_until_its_time_or_a_withdrawal() {
        let rankings = Rankings::default();
        let key: Key = ("system", None);
        let made = async |page: &str| {
            let making = rankings.find(&key).await.unwrap_err();
            tokio::time::advance(Duration::from_secs(1)).await;
            making.keep(key.clone(), page);
        };
        made("first").await;
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(rankings.find(&key).await.unwrap(), "first");
        tokio::time::advance(Duration::from_secs(2)).await;
        made("second").await;
        assert_eq!(rankings.find(&key).await.unwrap(), "second");
        rankings.withdraw();
        assert!(rankings.find(&key).await.is_err());
    }
}
