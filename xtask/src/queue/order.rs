//! In which order the queue runs its tests: the longest of those that are there first, by the times of the last run.
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

/// The longest tests by their full names, the longest first, for a machine that has not run them yet. Those that wait
/// stand before those that compute.
pub(super) const LONG: &[&str] = &[
    "cli::it checking::only_what_could_not_be_tested_at_all_is_a_failure",
    "cli::it checking::a_directory_keeps_its_files_and_gets_its_space_back",
    "cli::it faults::a_file_system_that_fills_up_in_mid_run",
    "cli::it old_systems::a_kernel_without_a_newer_call_still_measures",
    "cli::it verify::a_second_verify_is_refused_while_a_journal_is_in_use",
    "hub::it browser::a_newcomer_submits_finds_compares_and_deletes",
    "cli::it requirements::a_slow_device_does_not_meet_a1_and_the_status_says_so",
    "cli::it requirements::memory_beneath_a_loop_device_is_no_storage_where_the_path_of_its_image_is_hidden",
    "cli::it verify_integrity::a_device_is_tested_with_leave_to_destroy_alone",
    "cli::it pages::every_page_fits_every_screen_and_axe_finds_nothing",
    "cli::it pages::a_report_of_a_card_is_three_screens_long_before_anything_is_unfolded",
    "report::it every_field::no_text_of_a_record_leaves_its_place_in_any_output",
    "cli::it collections::charts_come_whole_or_not_at_all",
    "cli::it defects::a_fake_is_never_recommended",
    "cli::it schemas::every_document_is_of_its_published_form",
    "cli::it pages::a_bad_page_is_faulted",
    "cli::it output::the_same_seed_writes_the_same_operations",
    "lab::cardproof-lab prove::verdicts::tests::a_few_hundred_cards_are_judged_rightly_in_time_and_with_little_wear",
    "hub::it hostile::bad_bodies_have_clear_answers::on_sqlite",
    "hub::it hostile::bad_bodies_have_clear_answers::on_postgres",
    "cli::it output::quiet_says_nothing",
    "cli::it output::colour_is_asked_for_and_refused_by_the_usual_variables",
    "cli::it defects::the_label_of_a_check_names_one_answer",
    "cli::it verify::a_kill_at_any_moment_loses_nothing_of_what_was_there",
    "cli::it comparing::a_comparison_shows_the_rates_and_intervals_of_the_report",
    "cli::it verify_swapped::a_file_that_takes_a_name_of_ours_at_any_call_stays",
];

/// How long tests took, in milliseconds by their full names.
#[derive(Clone, Debug, Default)]
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

    /// How long `test` took.
    fn of(&self, test: &Test) -> u128 {
        let name = test.full_name();
        self.0.get(&name).copied().unwrap_or_else(|| expected(&name))
    }
}

/// How long the test `name` is taken to be, which never ran here: the tests of whole programs longer than those of
/// single functions.
fn expected(name: &str) -> u128 {
    const MINUTE: u128 = 60_000;
    match LONG.iter().position(|long| *long == name) {
        Some(place) => MINUTE - place as u128,
        None if name.contains("::it ") => 500,
        None => 0,
    }
}

fn file(place: &Path) -> PathBuf {
    place.join("times")
}

/// The order of a run.
#[derive(Debug)]
pub(super) struct Order {
    times: Times,
    seed: Option<u64>,
}

impl Order {
    /// The longest first by `times`, or an order that is drawn from `seed`.
    pub(super) const fn new(times: Times, seed: Option<u64>) -> Self {
        Self { times, seed }
    }

    /// Whether it is drawn.
    pub(super) const fn is_drawn(&self) -> bool {
        self.seed.is_some()
    }

    /// Puts the test that comes first last, where it can be taken away.
    pub(super) fn sort(&self, tests: &mut [Test]) {
        match self.seed {
            None => tests.sort_by_cached_key(|test| self.times.of(test)),
            Some(seed) => {
                tests.sort_by_cached_key(Test::full_name);
                shuffle(tests, seed);
            }
        }
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
    fn a_test_that_never_ran_here_is_as_long_as_it_is_known_to_be() {
        assert!(expected(LONG[0]) > expected(LONG[1]));
        assert!(expected(LONG[LONG.len() - 1]) > expected("cli::it verify::x"));
        assert!(expected("cli::it verify::x") > expected("cli x"));
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
