//! The state between two looks, and what a look adds to it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::counters::{CardCounters, ErrorCounts, growth};
use super::day::{CardKey, Day, LEDGER_FORM};

/// At most so many cards of a day have lines of their own; a line of the others follows.
const CARDS_A_DAY_MAX: usize = 3;

/// At most so many partitions of a card are counted by themselves.
const PARTITIONS_MAX: u32 = 4;

/// A card at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardReading {
    /// The card.
    pub key: CardKey,
    /// A number that changes whenever the kernel finds a card anew (`diskseq`); zero where it does not tell.
    pub found_as: u64,
    /// Its counters.
    pub counters: CardCounters,
    /// Sectors of 512 bytes read and written of each partition, since the kernel found it.
    pub partitions: BTreeMap<u32, (u64, u64)>,
    /// Errors since the computer started.
    pub errors: ErrorCounts,
    /// The upper end of the used life that it tells, in per cent; 110 beyond its life.
    pub life_used_percent_max: Option<u8>,
}

/// A reading of all cards of a computer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// A number that each start of the computer has for itself.
    pub boot: u64,
    /// How long it has run, in seconds.
    pub uptime_s: u64,
    /// The date by its clock, such as `2026-11-25`.
    pub date: String,
    /// Whether the supply is, or was since the last look, too low.
    pub is_low_on_power: bool,
    /// The cards.
    pub cards: Vec<CardReading>,
}

/// The state between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// How many looks there were.
    pub looks: u64,
    /// The boot of the last look.
    pub boot: u64,
    /// Its uptime, in seconds.
    pub uptime_s: u64,
    /// The uptime at which the state was last kept for good, in the same boot.
    pub kept_at_s: u64,
    /// The number that the next day gets.
    next_number: u64,
    /// The cards as they were at the last look.
    cards: Vec<CardReading>,
    /// The days of the current date.
    today: Vec<Day>,
    /// Days that are over and may not yet be in the list of days.
    pub over: Vec<Day>,
}

impl Open {
    /// Adds what happened between the last look and `look`.
    pub fn add(&mut self, look: &Reading) {
        let is_same_boot = self.looks > 0 && self.boot == look.boot;
        let seconds = if is_same_boot {
            look.uptime_s.saturating_sub(self.uptime_s)
        } else {
            self.kept_at_s = 0;
            look.uptime_s
        };
        if self.today.iter().any(|day| day.date != look.date) {
            self.over.append(&mut self.today);
        }
        for card in &look.cards {
            let before = is_same_boot.then(|| self.before(card)).flatten();
            let mut grown = grown(card, before);
            grown.seconds = seconds;
            grown.low_power = u64::from(look.is_low_on_power);
            grown.date.clone_from(&look.date);
            self.add_to_today(&grown);
        }
        self.looks += 1;
        (self.boot, self.uptime_s) = (look.boot, look.uptime_s);
        self.cards.clone_from(&look.cards);
    }

    /// The same card at the last look, if it has remained in its place.
    fn before(&self, card: &CardReading) -> Option<&CardReading> {
        self.cards.iter().find(|it| it.key == card.key && it.found_as == card.found_as)
    }

    fn add_to_today(&mut self, grown: &Day) {
        let has_room = self.today.len() < CARDS_A_DAY_MAX;
        let is_known = self.today.iter().any(|day| day.key == grown.key);
        let key = if has_room || is_known { grown.key } else { CardKey::default() };
        match self.today.iter_mut().find(|day| day.key == key) {
            Some(day) => day.add(grown),
            None => {
                self.today.push(Day { number: self.next_number, key, ..grown.clone() });
                self.next_number += 1;
            }
        }
    }

    /// All days that are not in the list of days yet, the current ones last.
    #[must_use]
    pub fn days(&self) -> Vec<Day> {
        self.over.iter().chain(&self.today).cloned().collect()
    }

    /// Takes out the days of `over` that are in the list of days, by their numbers.
    pub fn forget_kept(&mut self, kept: &[Day]) {
        self.over.retain(|day| kept.iter().all(|other| other.number != day.number));
        let last = kept.iter().map(|day| day.number + 1).max().unwrap_or(0);
        self.next_number = self.next_number.max(last);
    }

    /// The state as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{LEDGER_FORM}\nstate {} {} {} {} {}\n",
            self.looks, self.boot, self.uptime_s, self.kept_at_s, self.next_number
        );
        // Writing to a string does not fail.
        for card in &self.cards {
            let counters = card.counters.to_array().into_iter().chain(card.errors.to_array());
            let numbers: Vec<String> = counters.map(|it| it.to_string()).collect();
            let life = card.life_used_percent_max.map_or(0, |life| u64::from(life) + 1);
            let _ = write!(
                text,
                "card {:08x} {} {life} {}",
                card.key.0,
                card.found_as,
                numbers.join(" ")
            );
            for (partition, (read, written)) in &card.partitions {
                let _ = write!(text, " p{partition}:{read}:{written}");
            }
            text.push('\n');
        }
        for (word, days) in [("over", &self.over), ("today", &self.today)] {
            for day in days {
                let _ = writeln!(text, "{word} {}", day.line());
            }
        }
        text.push_str("end\n");
        text
    }

    /// The state that `text` tells; `None` where it is none, or was not written to its end.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix("end\n")?.lines();
        if lines.next() != Some(LEDGER_FORM) {
            return None;
        }
        let numbers: Vec<u64> = numbers(lines.next()?.strip_prefix("state ")?)?;
        let &[looks, boot, uptime_s, kept_at_s, next_number] = numbers.as_slice() else {
            return None;
        };
        let mut open = Self { looks, boot, uptime_s, kept_at_s, next_number, ..Self::default() };
        for line in lines {
            match line.split_once(' ')? {
                ("card", rest) => open.cards.push(card(rest)?),
                ("over", rest) => open.over.push(Day::read(rest)?),
                ("today", rest) => open.today.push(Day::read(rest)?),
                _ => return None,
            }
        }
        Some(open)
    }
}

/// What `card` did since it was `before`; since it was found, where that was not seen.
fn grown(card: &CardReading, before: Option<&CardReading>) -> Day {
    let none = CardReading::default();
    let earlier = before.unwrap_or(&none);
    let mut partitions: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (&partition, &(read, written)) in &card.partitions {
        let (read_then, written_then) =
            earlier.partitions.get(&partition).copied().unwrap_or_default();
        let kept = if partition > PARTITIONS_MAX { 0 } else { partition };
        let sums = partitions.entry(kept).or_default();
        sums.0 += growth(read, read_then).unwrap_or(read);
        sums.1 += growth(written, written_then).unwrap_or(written);
    }
    Day {
        key: card.key,
        counters: card.counters.since(&earlier.counters),
        errors: card.errors.since(&earlier.errors),
        life_used_percent_max: card.life_used_percent_max,
        partitions,
        ..Day::default()
    }
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split(' ').map(|word| word.parse().ok()).collect()
}

fn card(text: &str) -> Option<CardReading> {
    let mut words = text.split(' ');
    let key = CardKey(u32::from_str_radix(words.next()?, 16).ok()?);
    let found_as = words.next()?.parse().ok()?;
    let life: u64 = words.next()?.parse().ok()?;
    let mut counts = [0; 11];
    for count in &mut counts {
        *count = words.next()?.parse().ok()?;
    }
    let [c0, c1, c2, c3, c4, c5, c6, c7, errors @ ..] = counts;
    let mut partitions = BTreeMap::new();
    for word in words {
        let (partition, sums) = word.strip_prefix('p')?.split_once(':')?;
        let (read, written) = sums.split_once(':')?;
        partitions.insert(partition.parse().ok()?, (read.parse().ok()?, written.parse().ok()?));
    }
    Some(CardReading {
        key,
        found_as,
        counters: CardCounters::from_array([c0, c1, c2, c3, c4, c5, c6, c7]),
        partitions,
        errors: ErrorCounts::from_array(errors),
        life_used_percent_max: life.checked_sub(1).and_then(|it| it.try_into().ok()),
    })
}
