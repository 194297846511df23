//! `cargo xtask prove verdicts`: how often verdicts on A1 and A2 are wrong, on made-up cards
//! whose truth is known, and after how long they come; beside it what other tools would say.
//!
//! Simulated time only; the same number of cards gives the same tables everywhere.

mod card;
mod class;
mod dice;
mod rules;
mod strata;
mod tally;

use std::sync::mpsc;
use std::thread;

use anyhow::Result;
use cardproof_units::{Bytes, Seed};

use super::{Asked, DependsOn, Proof, Proved, Takes};
use card::Card;
use class::{CLASSES, Class};
use dice::Dice;
use rules::{Answer, Long};
use strata::{BEHAVIOURS, LIMITS, STRATA, behaviours, worst};
use tally::{Tally, table};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "verdicts",
    shows: "how often verdicts on A1 and A2 are wrong on made-up cards of known truth",
    document: "docs/design/statistics.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count],
    run,
};

const CARDS: usize = 12_000;
const CARDS_SHORT: usize = 600;

/// The simpler rules are tried on every so many cards: they take long, and err often enough.
const OTHERS_EVERY: usize = 4;

/// After so many cards what was found until then is told.
const SHOWN_EVERY: usize = 1000;

/// What is asked: the worst stratum's wrong verdicts in percent, medians at these ratios, bytes.
const WRONG_PERCENT_MAX: f64 = 1.0;
const MEDIANS_MAX: [(&str, [&str; 2], f64); 3] = [
    ("2 times", ["2", "0.5"], 7.0),
    ("1.5 times", ["1.5", "1 / 1.5"], 12.0),
    ("1.2 times", ["1.2", "1 / 1.2"], 40.0),
];
const EXTRA_WRITTEN_MAX: Bytes = Bytes::mib(64);

/// The rules that are compared.
const RULES: [&str; 4] =
    ["cardproof", "naive interval", "Raspberry Pi's test (agnostics)", "mfst's rule"];

/// Tries the rules on every card.
fn run(asked: &Asked) -> Result<Proved> {
    let trials = trials(asked.count_or(CARDS, CARDS_SHORT))?;
    Ok(Proved { tables: tables(&trials)?, holds: shortfalls(&trials).is_empty() })
}

/// What the rules said of one card.
struct Trial {
    class: &'static Class,
    stratum: usize,
    limit: usize,
    meets: bool,
    behaviours: [bool; 4],
    /// By rule; absent where it was not tried.
    answers: [Option<Answer>; 4],
}

/// One trial for each of `cards`, on all processors, in the order in which they end; what was found
/// until then is told now and again.
fn trials(cards: usize) -> Result<Vec<Trial>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (ended, all) = mpsc::channel();
    thread::scope(|scope| {
        for first in 0..threads {
            let ended = ended.clone();
            let share = (first..cards).step_by(threads);
            // Nobody listens any more once a trial has failed.
            scope.spawn(move || share.map(trial).all(|trial| ended.send(trial).is_ok()));
        }
        drop(ended);
        let mut trials = Vec::with_capacity(cards);
        for trial in all {
            trials.push(trial?);
            if trials.len().is_multiple_of(SHOWN_EVERY) {
                let own = tally(&trials, 0, |_| true);
                eprintln!("{} of {cards} cards: {} wrong", trials.len(), own.wrong);
            }
        }
        Ok(trials)
    })
}

/// The trial with the card of that number.
fn trial(number: usize) -> Result<Trial> {
    let class = &CLASSES[number % 2];
    let stratum = number / 2 % STRATA.len();
    let critical = number / 2 / STRATA.len() % 3;
    let seed = Seed::from_bits(number as u64);
    let (_, low, high) = STRATA[stratum];
    let ratio = Dice::new(seed, "worst rate").log_between(low, high);
    let card = Card::draw(class, critical, ratio, seed);
    let (limit, ratio) = worst(&card, class);
    let mut answers = [Some(rules::cardproof(&card, class)?), None, None, None];
    if (number / 2 / STRATA.len() / 3).is_multiple_of(OTHERS_EVERY) {
        let long = Long::measure(&card, class)?;
        answers[1..].copy_from_slice(
            &[long.naive(class), long.agnostics(class), long.mfst(class)].map(Some),
        );
    }
    // A card that cannot be made as slow as that elsewhere belongs where its truth is.
    let is_as_drawn = (ratio / low).min(high / ratio) > 0.999;
    let stratum = if is_as_drawn { stratum } else { of_range(ratio) };
    let behaviours = behaviours(&card.traits);
    Ok(Trial { class, stratum, limit, meets: ratio >= 1.0, behaviours, answers })
}

/// The range in which `ratio` lies.
fn of_range(ratio: f64) -> usize {
    let holds = |&(_, low, high): &(&str, f64, f64)| low < high && (low..high).contains(&ratio);
    STRATA.iter().position(holds).unwrap_or(if ratio < 1.0 { 0 } else { STRATA.len() - 2 })
}

/// The tally of one rule over the trials for which `fits` holds.
fn tally(trials: &[Trial], rule: usize, fits: impl Fn(&Trial) -> bool) -> Tally {
    let mut tally = Tally::default();
    for trial in trials.iter().filter(|trial| fits(trial)) {
        if let Some(answer) = &trial.answers[rule] {
            tally.add(answer, trial.meets);
        }
    }
    tally
}

fn in_strata(trial: &Trial, names: &[&str]) -> bool {
    names.contains(&STRATA[trial.stratum].0)
}

/// Everything that is counted of cardproof's own rule: name and tally.
fn own(trials: &[Trial]) -> Vec<(String, Tally)> {
    let mut rows = Vec::new();
    for class in &CLASSES {
        for (index, (name, ..)) in STRATA.iter().enumerate() {
            let of = |trial: &Trial| trial.class.name == class.name && trial.stratum == index;
            rows.push((format!("{}, {name}", class.name), tally(trials, 0, of)));
        }
    }
    for (index, name) in LIMITS.iter().enumerate() {
        rows.push((format!("worst at {name}"), tally(trials, 0, |trial| trial.limit == index)));
    }
    for (index, name) in BEHAVIOURS.iter().enumerate() {
        rows.push(((*name).to_owned(), tally(trials, 0, |trial| trial.behaviours[index])));
    }
    rows
}

fn tables(trials: &[Trial]) -> Result<String> {
    let own = own(trials);
    let mut out = table("worst rate / limit", own.iter().map(|(name, tally)| (&**name, tally)))?;
    out.push('\n');
    let mut rules = Vec::new();
    for (rule, name) in RULES.iter().enumerate() {
        let tried = |trial: &Trial| trial.answers[1].is_some();
        rules.push((format!("{name}: all"), tally(trials, rule, tried)));
        for (label, low, high) in [("within 5 %", 0.95, 1.05), ("within 2 %", 0.98, 1.02)] {
            let near = |trial: &Trial| {
                let (_, from, to) = STRATA[trial.stratum];
                tried(trial) && from >= low && to <= high
            };
            rules.push((format!("{name}: {label}"), tally(trials, rule, near)));
        }
        for (label, names, _) in MEDIANS_MAX {
            let at = |trial: &Trial| tried(trial) && in_strata(trial, &names);
            rules.push((format!("{name}: {label} off"), tally(trials, rule, at)));
        }
    }
    out += &table("rule, cards", rules.iter().map(|(name, tally)| (&**name, tally)))?;
    out.push('\n');
    let most = tally(trials, 0, |_| true).extra_written_max();
    out += &format!("Written on top of the laid-out range: at most {most}.\n");
    for shortfall in shortfalls(trials) {
        out += &format!("\nNot reached: {shortfall}.\n");
    }
    Ok(out)
}

/// What is asked and not reached, in words.
fn shortfalls(trials: &[Trial]) -> Vec<String> {
    let mut short: Vec<String> = own(trials)
        .iter()
        .filter(|(_, tally)| tally.wrong_percent() > WRONG_PERCENT_MAX)
        .map(|(name, tally)| format!("{name}: {:.2} % wrong", tally.wrong_percent()))
        .collect();
    for (label, names, most_s) in MEDIANS_MAX {
        let median = tally(trials, 0, |trial| in_strata(trial, &names)).deciding_median_s();
        if median > most_s {
            short.push(format!("{label} off: a median of {median:.1} s, {most_s} s asked"));
        }
    }
    let most = tally(trials, 0, |_| true).extra_written_max();
    if most > EXTRA_WRITTEN_MAX {
        short.push(format!("{most} written, {EXTRA_WRITTEN_MAX} asked"));
    }
    short
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use cardproof_testkit::{few_or_all, some_of};

    use super::*;

    #[test]
    fn a_few_hundred_cards_are_judged_rightly_in_time_and_with_little_wear() {
        // One card more than one percent may be wrong in a stratum of so few.
        let trials = trials(CLASSES.len() * STRATA.len() * 3 * few_or_all(1, 4)).unwrap();
        let all = tally(&trials, 0, |_| true);
        assert!(all.wrong <= 2, "{} of {} wrong", all.wrong, all.cards);
        let other: Vec<String> =
            shortfalls(&trials).into_iter().filter(|short| !short.contains("wrong")).collect();
        assert!(other.is_empty(), "{other:?}");
    }

    #[test]
    fn the_truth_is_what_a_long_run_shows() {
        for number in some_of(0..60, 7) {
            let class = &CLASSES[number % 2];
            let card = Card::draw(class, number % 3, 1.1, Seed::from_bits(number as u64));
            if card.traits.slc.is_some_and(|(size, _)| size > 128.0 * 1_048_576.0) {
                // The cliff is in the middle of what a long run sees.
                continue;
            }
            let errors = Long::measure(&card, class).unwrap().errors(&card);
            // The shortest window, of 10 s, may hold a quarter of a swing more or less.
            let swing = card.traits.drift.map_or(0.0, |(swing, period_s)| swing * period_s / 40.0);
            // Of the sequential write a second holds some twenty operations, not always whole.
            for (error, counting) in errors.into_iter().zip([0.01, 0.01, 0.02]) {
                let is_near = error.abs() < counting + swing;
                assert!(is_near, "card {number}: {errors:?}, {:?}", card.traits);
            }
        }
    }
}
