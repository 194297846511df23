//! `cargo xtask prove lives`: lives of simulated cards of which everything is known, looked at every day by the program's
//! own ledger, signs and outlook. Does it warn in time, and how often for nothing?
//!
//! Time is virtual. How long trouble shows before an end is an assumption (`lives/hidden.rs`), so the table says how
//! soon the program tells what can be seen, and not how many real cards can be seen to fail.

mod computer;
mod hidden;

use std::fmt::Write;

use anyhow::Result;
use cardproof_rating::ledger::{Slower, UsedPercent, outlook};
use cardproof_rating::signs::{HealthVerdict, Signs, Suspect};
use cardproof_units::Seed;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};
use computer::{Computer, KEY};
use hidden::{HORIZON_DAYS, Hidden, KINDS};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "lives",
    shows: "lives and ends of simulated cards in use: warnings in time, and for nothing",
    document: "docs/design/health.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed],
    run,
};

const LIVES: usize = 10_000;
const LIVES_SHORT: usize = 400;

/// A warning comes so many days before the end, or it is late.
const WARNING_DAYS: f64 = 14.0;

/// Of the ends that a computer can see coming, at least so many per cent are warned of in time.
const WARNED_PERCENT: f64 = 80.0;

/// At most so many alarms for nothing come in 100 years of cards.
const FALSE_PERCENT: f64 = 1.0;

/// Intervals of 90 % hold the days left in at least so many per cent.
const HOLD_PERCENT: f64 = 88.0;

/// Days in a year.
const YEAR_DAYS: f64 = 365.0;

/// Parts of the rated life after which the days left are asked for, in per cent.
const STOPS: [u8; 3] = [30, 50, 80];

/// Days left, at least and at most.
type Interval = (Option<f64>, Option<f64>);

/// What the program said in one life.
#[derive(Clone, Debug, Default)]
struct Outcome {
    /// Whether the card ended within the horizon.
    ended: bool,
    /// Whether its trouble began early enough for a warning in time.
    can_be_warned: bool,
    /// How many days before the end the verdict was first *copy your data now*.
    warned_days: Option<f64>,
    /// And watch it, or more.
    watched_days: Option<f64>,
    /// Years in which nothing was wrong, and the alarms in them: copy now, and watch it.
    sound_years: f64,
    false_alarms: u32,
    false_watches: u32,
    /// The alarms while only the reader was at fault, and those of them that name the reader.
    reader_alarms: u32,
    reader_named: u32,
    /// Whether there was nothing to judge by on most days.
    abstained: bool,
    /// Whether the card was said to be slower than when new, rightly or not; `None` where that was not known.
    slower: Option<bool>,
    is_truly_slower: bool,
    /// At each stop: whether the interval has two ends, and whether it holds the days left.
    intervals: Vec<(bool, bool)>,
}

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(LIVES, LIVES_SHORT);
    let seed = asked.seed.unwrap_or(Seed::from_bits(48));
    let lives = for_each(count, |number| Ok(live(number, seed)))?;
    let all = Tally::from_lives(lives.iter());
    let mut text = table(&lives);
    let _ = writeln!(text, "\n{}", all.sentences());
    Ok(Proved { tables: text, holds: all.holds() })
}

/// The life called `number`.
fn live(number: usize, seed: Seed) -> Outcome {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64(seed.derive("lives of cards") ^ number as u64);
    let hidden = Hidden::draw(number, &mut random);
    let horizon = HORIZON_DAYS as f64;
    let last = hidden.end_day.min(horizon) as usize;
    let mut life = Life {
        hidden: &hidden,
        outcome: Outcome {
            ended: hidden.end_day < horizon,
            can_be_warned: hidden
                .trouble_day
                .is_some_and(|begin| begin + WARNING_DAYS + 1.0 <= hidden.end_day),
            ..Outcome::default()
        },
        is_alarmed: false,
        is_watched: false,
        unknown_days: 0,
    };
    let mut computer = Computer::new(&hidden, random);
    let mut asked_at = Vec::new();
    let mut used_up = None;
    for day in 0..last {
        let before = computer.used();
        let signs = computer.pass(day);
        life.take(day, &signs);
        if used_up.is_none() && computer.used() >= 1.0 {
            used_up = Some(day + 1);
        }
        let has_reached = |stop: &&u8| {
            let share = f64::from(**stop) / 100.0;
            before < share && share <= computer.used()
        };
        if hidden.reports_life && STOPS.iter().any(|stop| has_reached(&stop)) {
            let found = outlook(&computer.days, KEY, None);
            asked_at.push((day, found.map(|found| (found.days_left_min, found.days_left_max))));
        }
    }
    life.outcome.abstained = 2 * life.unknown_days > last;
    life.outcome.is_truly_slower = hidden.kind == hidden::Kind::SlowsDown
        && hidden.trouble_day.is_some_and(|it| it < last as f64);
    if let Some(found) = outlook(&computer.days, KEY, None) {
        life.outcome.slower = match found.slower {
            Slower::NotKnown { .. } => None,
            Slower::NotSlower { .. } => Some(false),
            Slower::Slower { .. } => Some(true),
        };
        debug_assert_eq!(hidden.reports_life, matches!(found.used, Some(UsedPercent::Card { .. })));
    }
    life.outcome.intervals = held(asked_at, used_up.unwrap_or_else(|| computer.use_up(last)));
    life.outcome
}

/// Whether the intervals that were given on their days hold the day on which the rated life was `used_up`.
fn held(given: Vec<(usize, Option<Interval>)>, used_up: usize) -> Vec<(bool, bool)> {
    let judged = given.into_iter().filter_map(|(asked, interval)| {
        let truth = (used_up - asked) as f64;
        let (low, high) = interval?;
        let low = low?;
        // The day itself is not told apart.
        let holds = low <= truth + 1.0 && high.is_none_or(|high| truth <= high + 1.0);
        Some((high.is_some(), holds))
    });
    judged.collect()
}

/// A life while it is looked at.
struct Life<'h> {
    hidden: &'h Hidden,
    outcome: Outcome,
    is_alarmed: bool,
    is_watched: bool,
    unknown_days: usize,
}

impl Life<'_> {
    /// Takes in what was said on `day`.
    fn take(&mut self, day: usize, signs: &Signs) {
        let (day, hidden) = (day as f64, self.hidden);
        let is_alarmed = signs.is_bad();
        let is_watched = is_alarmed || signs.verdict == HealthVerdict::WatchIt;
        self.unknown_days += usize::from(signs.verdict == HealthVerdict::NotKnown);
        let has_trouble = hidden.trouble_day.is_some_and(|begin| begin <= day);
        let has_bad_reader = hidden.bad_reader_day.is_some_and(|begin| begin <= day);
        let left = hidden.end_day - day;
        let outcome = &mut self.outcome;
        if has_trouble {
            if is_alarmed {
                outcome.warned_days.get_or_insert(left);
            }
            if is_watched {
                outcome.watched_days.get_or_insert(left);
            }
        } else if has_bad_reader {
            if is_alarmed && !self.is_alarmed {
                // An alarm is right: data are at risk, whatever is at fault.
                outcome.reader_alarms += 1;
                outcome.reader_named += u32::from(signs.suspects.contains(&Suspect::Reader));
            }
        } else {
            outcome.sound_years += 1.0 / YEAR_DAYS;
            // A card beyond the life that it is rated for is told so, which is no alarm for nothing.
            let is_worn = signs.signs.iter().any(is_of_wear);
            outcome.false_alarms += u32::from(is_alarmed && !self.is_alarmed && !is_worn);
            let is_weak = hidden.is_power_weak;
            outcome.false_watches +=
                u32::from(is_watched && !self.is_watched && !is_worn && !is_weak);
        }
        (self.is_alarmed, self.is_watched) = (is_alarmed, is_watched);
    }
}

fn is_of_wear(sign: &cardproof_rating::signs::Sign) -> bool {
    use cardproof_rating::signs::SignKind::{BeyondLife, NearEndOfLife};
    matches!(sign.kind, BeyondLife | NearEndOfLife)
}

/// Sums over lives.
#[derive(Clone, Debug, Default)]
struct Tally {
    lives: u32,
    ended: u32,
    can_be_warned: u32,
    /// Of those: warned of in time, by copy now, and by watch it or more.
    warned: u32,
    watched: u32,
    /// Days before the end of those that were warned of.
    warned_days: Vec<f64>,
    sound_years: f64,
    false_alarms: u32,
    false_watches: u32,
    reader_alarms: u32,
    reader_named: u32,
    abstained: u32,
    slower_right: u32,
    slower_true: u32,
    slower_wrong: u32,
    slower_false: u32,
    two_ends: u32,
    two_ends_hold: u32,
    intervals: u32,
    intervals_hold: u32,
}

impl Tally {
    fn from_lives<'o>(lives: impl Iterator<Item = &'o Outcome>) -> Self {
        let mut tally = Self::default();
        lives.for_each(|life| tally.take(life));
        tally.warned_days.sort_by(f64::total_cmp);
        tally
    }

    fn take(&mut self, life: &Outcome) {
        let in_time = |days: Option<f64>| u32::from(days.is_some_and(|days| days >= WARNING_DAYS));
        self.lives += 1;
        self.ended += u32::from(life.ended);
        self.abstained += u32::from(life.abstained);
        if life.ended && life.can_be_warned && !life.abstained {
            self.can_be_warned += 1;
            self.warned += in_time(life.warned_days);
            self.watched += in_time(life.watched_days);
            self.warned_days.extend(life.warned_days);
        }
        self.sound_years += life.sound_years;
        self.false_alarms += life.false_alarms;
        self.false_watches += life.false_watches;
        self.reader_alarms += life.reader_alarms;
        self.reader_named += life.reader_named;
        match (life.is_truly_slower, life.slower) {
            (_, None) => {}
            (true, Some(is_said)) => {
                self.slower_true += 1;
                self.slower_right += u32::from(is_said);
            }
            (false, Some(is_said)) => {
                self.slower_false += 1;
                self.slower_wrong += u32::from(is_said);
            }
        }
        for (has_two_ends, holds) in &life.intervals {
            self.intervals += 1;
            self.intervals_hold += u32::from(*holds);
            self.two_ends += u32::from(*has_two_ends);
            self.two_ends_hold += u32::from(*has_two_ends && *holds);
        }
    }

    fn false_percent(&self) -> f64 {
        100.0 * f64::from(self.false_alarms) / self.sound_years.max(1.0)
    }

    fn holds(&self) -> bool {
        reaches(self.warned, self.can_be_warned, WARNED_PERCENT)
            && reaches(self.two_ends_hold, self.two_ends, HOLD_PERCENT)
            && self.false_percent() <= FALSE_PERCENT
    }

    fn sentences(&self) -> String {
        let mut text = format!(
            "Alarms (*copy now*) for nothing: {} in {:.0} years of sound cards, {:.2} % a card and year; *watch it* for \
             nothing: {}, which is one in {:.1} years. ",
            self.false_alarms,
            self.sound_years,
            self.false_percent(),
            self.false_watches,
            self.sound_years / f64::from(self.false_watches.max(1)),
        );
        let _ = write!(
            text,
            "Alarms while the reader alone was at fault: {}, of which {} name it. No answer on most days, where the \
             log may not be read: {:.1} % of cards.",
            self.reader_alarms,
            self.reader_named,
            percent(self.abstained, self.lives),
        );
        let _ = write!(
            text,
            "\n\nSlower than when new, at the end of the life: said of {} of {} that are, and of {} of {} that are not \
             ({:.1} %). ",
            self.slower_right,
            self.slower_true,
            self.slower_wrong,
            self.slower_false,
            percent(self.slower_wrong, self.slower_false),
        );
        let _ = write!(
            text,
            "Days left at 30, 50 and 80 % of the life that a card reports: {} bounds, of which {:.1} % hold; {} with \
             two ends, of which {:.1} % hold.",
            self.intervals,
            percent(self.intervals_hold, self.intervals),
            self.two_ends,
            percent(self.two_ends_hold, self.two_ends),
        );
        text
    }
}

/// Whether `part` of `all` is at least `wanted` per cent, as far as chance allows to say (two standard errors).
fn reaches(part: u32, all: u32, wanted: f64) -> bool {
    let share = f64::from(part) / f64::from(all.max(1));
    let error = (share * (1.0 - share) / f64::from(all.max(1))).sqrt();
    100.0 * (share + 2.0 * error) >= wanted
}

fn percent(part: u32, all: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(all.max(1))
}

/// A row for each kind of end, and one for all.
fn table(lives: &[Outcome]) -> String {
    let mut text = String::from(
        "| end | cards | ended in four years | trouble shows 15 days before, log readable | *copy now* 14 days before | \
         *watch it* or more | median days of warning |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let of_kind = |index: usize| lives.iter().skip(index).step_by(KINDS.len());
    let rows = KINDS
        .iter()
        .enumerate()
        .map(|(index, (_, name))| (*name, Tally::from_lives(of_kind(index))));
    for (name, tally) in rows.chain([("**all**", Tally::from_lives(lives.iter()))]) {
        let share = |part: u32| match tally.can_be_warned {
            0 => "-".to_owned(),
            all => format!("{part} ({:.1} %)", percent(part, all)),
        };
        let median = tally.warned_days.get(tally.warned_days.len() / 2);
        let median = median.map_or_else(|| "-".to_owned(), |days| format!("{days:.0}"));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {median} |",
            tally.lives,
            tally.ended,
            tally.can_be_warned,
            share(tally.warned),
            share(tally.watched),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::few_or_all;

    use super::*;

    #[test]
    fn a_few_hundred_lives_are_warned_in_time_and_seldom_for_nothing() {
        let lives: Vec<Outcome> =
            (0..few_or_all(60, 200)).map(|number| live(number, Seed::from_bits(48))).collect();
        let all = Tally::from_lives(lives.iter());
        assert!(all.can_be_warned > few_or_all(8, 30), "{all:?}");
        assert!(all.holds(), "{all:?}");
    }
}
