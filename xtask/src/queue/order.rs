//! In which order the queue runs its tests: the longest first, by the times of the last run.
//!
//! A long test that begins last leaves all processors but one without work. With a seed the order is drawn, so
//! that a test which depends on another one fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cardproof_testkit::Noise;

use super::programs::Test;
use super::worker::Ended;

/// How long tests took, in milliseconds by their full names.
#[derive(Debug, Default)]
pub(super) struct Times(BTreeMap<String, u128>);

impl Times {
    /// Those of the last runs; none where there was no run.
    pub(super) fn read(place: &Path) -> Self {
        let text = fs::read_to_string(file(place)).unwrap_or_default();
        let time = |line: &str| {
            let (time, name) = line.split_once(' ')?;
            Some((name.to_owned(), time.parse().ok()?))
        };
        Self(text.lines().filter_map(time).collect())
    }

    /// Keeps the times of `ended`.
    pub(super) fn note(&mut self, ended: &[Ended]) {
        self.0.extend(ended.iter().map(|ended| (ended.name.clone(), ended.took.as_millis())));
    }

    /// Writes them for the next run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, place: &Path) -> Result<()> {
        let line = |(name, time): (&String, &u128)| format!("{time} {name}\n");
        let text: String = self.0.iter().map(line).collect();
        fs::write(file(place), text).context("cannot write the times of the tests")
    }

    /// How long `test` took. Of one that never ran, the tests of whole programs are taken for longer than
    /// those of single functions.
    fn of(&self, test: &Test<'_>) -> u128 {
        let unknown = if test.program.name.ends_with("::it") { 500 } else { 0 };
        self.0.get(&test.full_name()).copied().unwrap_or(unknown)
    }
}

fn file(place: &Path) -> PathBuf {
    place.join("times")
}

/// Puts the longest first, or draws an order from `seed`.
pub(super) fn sort(tests: &mut [Test<'_>], times: &Times, seed: Option<u64>) {
    match seed {
        None => tests.sort_by_cached_key(|test| std::cmp::Reverse(times.of(test))),
        Some(seed) => shuffle(tests, seed),
    }
}

/// Every order is as likely as any other (Fisher and Yates).
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut noise = Noise::new(seed);
    for end in (1..items.len()).rev() {
        let other = noise.below(end as u64 + 1) as usize;
        items.swap(end, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_an_order_and_loses_no_test() {
        let shuffled = |seed| {
            let mut numbers: Vec<u32> = (0..100).collect();
            shuffle(&mut numbers, seed);
            numbers
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn times_come_back_as_they_were_written() {
        let place = std::env::temp_dir().join(format!("cardproof-times-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let times = Times(BTreeMap::from([("cli::it verify::x".to_owned(), 1500)]));
        times.write(&place).unwrap();
        assert_eq!(Times::read(&place).0, times.0);
        fs::remove_dir_all(&place).unwrap();
    }
}
