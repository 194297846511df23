//! A day of a card as a line of text.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::counters::{CardCounters, ErrorCounts};

/// The first line of a ledger.
pub const LEDGER_FORM: &str = "cardproof.ledger/1";

/// The end of a line that was written whole.
const WHOLE: &str = ".";

/// The longest line, in bytes. Four cards of a day have less than 1000.
pub(super) const LINE_MAX: usize = 245;

/// A card as a ledger knows it: 32 bits of a hash under a local key. Zero stands for all cards of a day beyond
/// those that have lines of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardKey(pub u32);

/// What a card did in a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Day {
    /// A number that no other line of the ledger has.
    pub number: u64,
    /// The date by the computer's clock, such as `2026-11-25`; a label only.
    pub date: String,
    /// The card.
    pub key: CardKey,
    /// How long the computer ran with the card, in seconds.
    pub seconds: u64,
    /// What was read and written.
    pub counters: CardCounters,
    /// What went wrong.
    pub errors: ErrorCounts,
    /// How often the supply was found too low.
    pub low_power: u64,
    /// The upper end of the used life that the card told last, in per cent; 110 beyond its life.
    pub life_used_percent_max: Option<u8>,
    /// Sectors of 512 bytes read and written by the number of the partition; zero for further ones.
    pub partitions: BTreeMap<u32, (u64, u64)>,
}

impl Day {
    /// The line, without a line break.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = self.line_with_partitions();
        if line.len() > LINE_MAX {
            line = Self { partitions: BTreeMap::new(), ..self.clone() }.line_with_partitions();
        }
        line
    }

    fn line_with_partitions(&self) -> String {
        let [reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, flushes] =
            self.counters.to_array();
        let mut line = format!("{} {} {:08x}", self.number, self.date, self.key.0);
        let ErrorCounts { failed, repeated, filesystem } = self.errors;
        let life = self.life_used_percent_max.map(u64::from);
        let fields = [
            ('s', self.seconds),
            ('r', reads),
            ('R', sectors_read),
            ('t', read_ms),
            ('w', writes),
            ('W', sectors_written),
            ('u', write_ms),
            ('b', busy_ms),
            ('f', flushes),
            ('x', failed),
            ('y', repeated),
            ('z', filesystem),
            ('v', self.low_power),
            ('l', life.map_or(0, |life| life + 1)),
        ];
        // Writing to a string does not fail.
        for (name, value) in fields.into_iter().filter(|(_, value)| *value > 0) {
            let _ = write!(line, " {name}{value}");
        }
        for (partition, (read, written)) in &self.partitions {
            let _ = write!(line, " p{partition}:{read}:{written}");
        }
        let _ = write!(line, " {WHOLE}");
        line
    }

    /// The day that `line` tells; `None` where it is none, or was not written to its end.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix(WHOLE)?.strip_suffix(' ')?.split(' ');
        let number = words.next()?.parse().ok()?;
        let date = words.next().filter(|date| is_date(date))?.to_owned();
        let key = CardKey(u32::from_str_radix(words.next()?, 16).ok()?);
        let mut day = Self { number, date, key, ..Self::default() };
        for word in words {
            day.take_in(word)?;
        }
        Some(day)
    }

    /// Takes in a word of the line; an unknown one is of a later version and is left out.
    fn take_in(&mut self, word: &str) -> Option<()> {
        let name = word.chars().next()?;
        let rest = &word[name.len_utf8()..];
        if name == 'p' {
            let mut numbers = rest.split(':').map(|it| it.parse::<u64>().ok());
            let partition = u32::try_from(numbers.next()??).ok()?;
            self.partitions.insert(partition, (numbers.next()??, numbers.next()??));
            return Some(());
        }
        let value: u64 = rest.parse().ok()?;
        let counters = &mut self.counters;
        let place = match name {
            's' => &mut self.seconds,
            'r' => &mut counters.reads,
            'R' => &mut counters.sectors_read,
            't' => &mut counters.read_ms,
            'w' => &mut counters.writes,
            'W' => &mut counters.sectors_written,
            'u' => &mut counters.write_ms,
            'b' => &mut counters.busy_ms,
            'f' => &mut counters.flushes,
            'x' => &mut self.errors.failed,
            'y' => &mut self.errors.repeated,
            'z' => &mut self.errors.filesystem,
            'v' => &mut self.low_power,
            'l' => {
                self.life_used_percent_max = value.checked_sub(1).and_then(|it| it.try_into().ok());
                return Some(());
            }
            _ => return Some(()),
        };
        *place = value;
        Some(())
    }

    /// Adds what `other` did.
    pub(super) fn add(&mut self, other: &Self) {
        let sum = |one: u64, two: u64| one.saturating_add(two);
        let (one, two) = (self.counters.to_array(), other.counters.to_array());
        self.counters = CardCounters::from_array(std::array::from_fn(|at| sum(one[at], two[at])));
        let (one, two) = (self.errors.to_array(), other.errors.to_array());
        self.errors = ErrorCounts::from_array(std::array::from_fn(|at| sum(one[at], two[at])));
        self.seconds = sum(self.seconds, other.seconds);
        self.low_power = sum(self.low_power, other.low_power);
        self.life_used_percent_max = other.life_used_percent_max.or(self.life_used_percent_max);
        for (&partition, &(read, written)) in &other.partitions {
            let own = self.partitions.entry(partition).or_default();
            *own = (sum(own.0, read), sum(own.1, written));
        }
    }

    /// Bytes written.
    #[must_use]
    pub const fn written_bytes(&self) -> u64 {
        self.counters.sectors_written.saturating_mul(512)
    }
}

/// All that `days` tell of the card `key`, as one day with the number and the date of the last; `None` where none does.
/// Sums only grow, as long as the ledger is kept.
#[must_use]
pub fn totals(days: &[Day], key: CardKey) -> Option<Day> {
    let mut own = days.iter().filter(|day| day.key == key);
    let mut sum = own.next()?.clone();
    for day in own {
        sum.add(day);
        sum.number = day.number;
        sum.date.clone_from(&day.date);
    }
    Some(sum)
}

/// Whether `text` has the form of a date: `2026-11-25`, or `2026-11` of a month.
fn is_date(text: &str) -> bool {
    (text.len() == 10 || text.len() == 7)
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The days in the text of a ledger, each number once, in their order. Lines that are none are left out: what was
/// being written when the power was cut.
#[must_use]
pub fn days(text: &str) -> Vec<Day> {
    let mut days: BTreeMap<u64, Day> = BTreeMap::new();
    for day in text.lines().filter_map(Day::read) {
        days.entry(day.number).or_insert(day);
    }
    days.into_values().collect()
}

/// `days` as lines, each with its line break.
#[must_use]
pub fn lines(days: &[Day]) -> String {
    days.iter().map(|day| day.line() + "\n").collect()
}
