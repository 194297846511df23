//! Lives of computers with known truth: starts, power cuts, jumps of the clock, counters that begin again, and
//! cards that are swapped. The texts are kept as the program keeps them.

use std::collections::{BTreeMap, HashMap};

use cardproof_units::Bytes;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Looks are so far apart.
const LOOK_EVERY_S: u64 = 600;

/// The state is kept for good so often.
const KEEP_EVERY_S: u64 = 3600;

/// Where a power cut interrupts the keeping of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Before the state was replaced.
    BeforeState,
    /// Between the state and the list of days.
    BetweenBoth,
    /// While the days are appended.
    WithinDays,
}

/// The texts of a computer: those in memory are lost with the power.
#[derive(Clone, Debug, Default)]
struct Texts {
    in_memory: Option<String>,
    state: Option<String>,
    days: String,
}

impl Texts {
    fn open(&self) -> Open {
        let read = |text: &Option<String>| text.as_deref().and_then(Open::read);
        let newest = [read(&self.in_memory), read(&self.state)].into_iter().flatten();
        let mut open = newest.max_by_key(|open| open.looks).unwrap_or_default();
        if open.looks == 0 || !open.over.is_empty() {
            open.forget_kept(&days(&self.days));
        }
        open
    }

    /// Keeps `open` as the program does, up to a cut.
    fn keep(&mut self, mut open: Open, cut: Option<Cut>) {
        open.kept_at_s = open.uptime_s;
        self.in_memory = Some(open.text());
        if cut == Some(Cut::BeforeState) {
            return;
        }
        self.state = Some(open.text());
        if cut == Some(Cut::BetweenBoth) {
            return;
        }
        let more = lines(&open.over);
        if !self.days.is_empty() && !self.days.ends_with('\n') {
            self.days.push('\n');
        }
        let length = if cut == Some(Cut::WithinDays) { more.len() / 2 } else { more.len() };
        self.days.push_str(&more[..length]);
    }

    fn all_days(&self) -> Vec<Day> {
        let mut all = days(&self.days);
        all.extend(self.open().days());
        all
    }
}

/// A card with its true sums in sectors.
#[derive(Clone, Debug, Default)]
struct Card {
    key: CardKey,
    written: u64,
    /// Written since the last look that was kept for good, and lost with the power.
    unkept: u64,
    lost: u64,
    largest_loss: u64,
    /// Written in the longest hour and a look, which bounds a loss.
    counters: CardCounters,
}

fn random(generator: &mut Xoshiro256PlusPlus, below: u64) -> u64 {
    generator.next_u64() % below
}

/// One computer: 1,000 starts, with everything that can happen to it.
fn live(seed: u64) -> (Texts, Vec<Card>, u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut texts = Texts::default();
    let mut cards: Vec<Card> =
        (1..=3).map(|key| Card { key: CardKey(key), ..Card::default() }).collect();
    let (mut inside, mut clock_days) = (0, 0_u64);
    let mut dates: BTreeMap<u64, ()> = BTreeMap::new();
    for boot in 1..=1000_u64 {
        if random(&mut generator, 20) == 0 {
            inside = random(&mut generator, 3) as usize;
        }
        let card = &mut cards[inside];
        card.counters = CardCounters::default();
        // A machine of 32 bits that has run for long, so that its counters begin again soon.
        let offset = if random(&mut generator, 4) == 0 { (1_u64 << 32) - 200_000 } else { 0 };
        let mut found_as = boot * 10;
        let is_cut = random(&mut generator, 2) == 0;
        let looks = 1 + random(&mut generator, 60);
        let mut seconds_of_day = random(&mut generator, 86_400);
        for look in 1..=looks {
            let sectors = random(&mut generator, 40_000);
            card.written += sectors;
            card.unkept += sectors;
            card.counters.sectors_written += sectors;
            card.counters.writes += sectors / 16;
            card.counters.write_ms += sectors / 4;
            card.counters.busy_ms += sectors / 5;
            seconds_of_day += LOOK_EVERY_S;
            if seconds_of_day >= 86_400 {
                (seconds_of_day, clock_days) = (seconds_of_day - 86_400, clock_days + 1);
            }
            match random(&mut generator, 500) {
                // The network tells the time, or a battery is empty.
                0 => clock_days += random(&mut generator, 900),
                1 => clock_days = clock_days.saturating_sub(random(&mut generator, 900)),
                // The card loses contact and is found anew, right after a look.
                2 if look > 1 => {
                    found_as += 1;
                    card.counters = CardCounters {
                        sectors_written: sectors,
                        writes: sectors / 16,
                        ..CardCounters::default()
                    };
                }
                _ => {}
            }
            let seen = CardReading {
                key: card.key,
                found_as,
                counters: wrapped(card.counters, if found_as == boot * 10 { offset } else { 0 }),
                ..CardReading::default()
            };
            dates.insert(clock_days, ());
            let uptime_s = look * LOOK_EVERY_S;
            let mut open = texts.open();
            if look == 1 && offset > 0 {
                // What was counted before the ledger's first look of this boot is the truth as well.
                card.written += offset;
                card.unkept += offset;
            }
            open.add(&Reading {
                boot,
                uptime_s,
                date: date(clock_days),
                is_low_on_power: false,
                cards: vec![seen],
            });
            let is_last = look == looks;
            let is_due = uptime_s >= open.kept_at_s + KEEP_EVERY_S || look == 1;
            let cut = (is_last && is_cut && is_due).then(|| match random(&mut generator, 3) {
                0 => Cut::BeforeState,
                1 => Cut::BetweenBoth,
                _ => Cut::WithinDays,
            });
            if is_due || is_last && !is_cut {
                texts.keep(open, cut);
                if cut != Some(Cut::BeforeState) {
                    card.unkept = 0;
                }
            } else {
                texts.in_memory = Some(open.text());
            }
        }
        texts.in_memory = None;
        card.lost += card.unkept;
        card.largest_loss = card.largest_loss.max(card.unkept);
        card.unkept = 0;
    }
    (texts, cards, dates.len() as u64)
}

/// `counters` of a machine of 32 bits whose written sectors began at `offset`.
fn wrapped(counters: CardCounters, offset: u64) -> CardCounters {
    let sectors_written = (counters.sectors_written + offset) % (1 << 32);
    CardCounters { sectors_written, ..counters }
}

fn date(days: u64) -> String {
    let day: u64 = days % 28 + 1;
    let month = days / 28 % 12 + 1;
    format!("{:04}-{month:02}-{day:02}", 2026 + days / 336)
}

#[test]
fn a_thousand_starts_lose_nothing_but_the_hour_that_was_not_kept() {
    for seed in 0..2 {
        let (texts, cards, dates) = live(seed);
        let mut sums: HashMap<CardKey, u64> = HashMap::new();
        for day in texts.all_days() {
            *sums.entry(day.key).or_default() += day.counters.sectors_written;
        }
        for card in &cards {
            let sum = sums.get(&card.key).copied().unwrap_or_default();
            assert_eq!(sum, card.written - card.lost, "seed {seed}: {card:?}");
        }
        // An hour of looks, and the one that was under way.
        let hour = (KEEP_EVERY_S / LOOK_EVERY_S + 1) * 40_000;
        let with_offset = hour + (1 << 32);
        assert!(cards.iter().all(|card| card.largest_loss <= with_offset), "seed {seed}");
        assert!((texts.days.len() as u64) < 1000 * (dates + 1), "seed {seed}");
        assert!(texts.state.unwrap().len() < 4096, "seed {seed}");
    }
}

/// Numbers as large as a day can have.
fn largest(number: u64) -> Day {
    Day {
        number,
        date: "2026-11-25".to_owned(),
        key: CardKey(u32::MAX),
        seconds: 86_400,
        // A card that is written to without a pause at 300 MB/s in requests of 4 KiB.
        counters: CardCounters {
            reads: 6_000_000_000,
            sectors_read: 50_000_000_000,
            read_ms: 86_400_000_000,
            writes: 6_000_000_000,
            sectors_written: 50_000_000_000,
            write_ms: 86_400_000_000,
            busy_ms: 86_400_000,
            flushes: 86_400_000,
        },
        errors: ErrorCounts { failed: 1_000_000, repeated: 1_000_000, filesystem: 1_000_000 },
        low_power: 1440,
        life_used_percent_max: Some(100),
        partitions: (0..=4).map(|it| (it, (50_000_000_000, 50_000_000_000))).collect(),
    }
}

#[test]
fn the_busiest_day_of_four_cards_has_less_than_a_thousand_bytes() {
    let text = lines(&[largest(99_997), largest(99_998), largest(99_999), largest(100_000)]);
    assert!(text.len() < 1000, "{}", text.len());
    assert_eq!(days(&text).len(), 4, "{text}");
}

#[test]
fn a_day_is_read_as_it_was_written() {
    let day = Day { partitions: [(2, (3, 4))].into(), ..largest(7) };
    assert_eq!(Day::read(&day.line()), Some(day.clone()));
    // Cut at any place it is none.
    let line = day.line();
    for length in 0..line.len() {
        assert_eq!(Day::read(&line[..length]), None, "{length}");
    }
    let newer = line.replace(" .", " q17 .");
    assert_eq!(Day::read(&newer), Some(day), "a field of a later version");
}

#[test]
fn a_state_that_was_cut_is_none() {
    let mut open = Open::default();
    let card = CardReading { key: CardKey(7), found_as: 3, ..CardReading::default() };
    let look = Reading {
        boot: 9,
        uptime_s: 60,
        date: "2026-11-25".to_owned(),
        is_low_on_power: true,
        cards: vec![card],
    };
    open.add(&look);
    open.add(&Reading { uptime_s: 120, date: "2026-11-26".to_owned(), ..look });
    let text = open.text();
    assert_eq!(Open::read(&text).as_ref(), Some(&open));
    for length in 0..text.len() {
        assert_eq!(Open::read(&text[..length]), None, "{length}");
    }
}

#[test]
fn further_cards_of_a_day_share_a_line_and_lose_nothing() {
    let mut open = Open::default();
    let cards: Vec<CardReading> = (1..=9)
        .map(|key| CardReading {
            key: CardKey(key),
            counters: CardCounters { sectors_written: u64::from(key), ..CardCounters::default() },
            ..CardReading::default()
        })
        .collect();
    open.add(&Reading {
        boot: 1,
        uptime_s: 60,
        date: "2026-11-25".to_owned(),
        cards,
        ..Reading::default()
    });
    let days = open.days();
    assert_eq!(days.len(), 4);
    assert_eq!(days.iter().map(|day| day.counters.sectors_written).sum::<u64>(), 45);
}

/// Days of a card that is busy `ms` for each request, more or less.
fn steady(seed: u64, count: usize, ms: impl Fn(usize) -> f64) -> Vec<Day> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count)
        .map(|index| {
            let spread = 0.6 + 0.8 * (random(&mut generator, 1000) as f64 / 1000.0);
            let busy_ms = (ms(index) * spread * 10_000.0) as u64;
            Day {
                number: index as u64,
                date: date(index as u64),
                key: CardKey(1),
                seconds: 86_400,
                counters: CardCounters {
                    writes: 10_000,
                    sectors_written: 2_000_000,
                    busy_ms,
                    ..CardCounters::default()
                },
                ..Day::default()
            }
        })
        .collect()
}

/// Whoever looks every day of a year is alarmed wrongly for at most one card in a hundred.
#[test]
fn a_card_that_stays_as_it_is_is_seldom_called_slower() {
    let is_alarmed = |seed: &u64| {
        // The first days, and a year of looks; an alarm stays.
        let days = steady(*seed, 14 + 365, |_| 3.0);
        slower::is_alarmed_once(&days, CardKey(1))
    };
    let alarms = (0..400).filter(is_alarmed).count();
    assert!(alarms <= 400 / 100, "{alarms} of 400");
}

#[test]
fn a_card_that_has_become_slower_is_found_in_weeks() {
    for seed in 0..20 {
        let days = steady(seed, 120, |index| if index < 60 { 3.0 } else { 6.0 });
        let found = slower(&days, CardKey(1));
        let Slower::Slower { ratio } = found else { panic!("seed {seed}: {found:?}") };
        assert!((1.3..3.5).contains(&ratio), "{ratio}");
    }
    let few = steady(1, 10, |_| 3.0);
    assert_eq!(slower(&few, CardKey(1)), Slower::NotKnown { days: 10, needed: 15 });
}

#[test]
fn the_pace_is_that_of_the_days_and_days_left_need_a_life() {
    let days = steady(1, 40, |_| 3.0);
    let found = outlook(&days, CardKey(1), None).unwrap();
    let pace = found.pace.unwrap();
    assert_eq!(pace.bytes_a_day, Bytes(2_000_000 * 512));
    assert_eq!((found.days_left_min, found.days_left_max), (None, None), "no life is known");
    let stated = outlook(&days, CardKey(1), Some(Bytes(2_000_000 * 512 * 400))).unwrap();
    assert_eq!(stated.days_left_min, None, "what was written before is not known");
    let at_most = stated.days_left_max.unwrap();
    assert!((360.0..360.0 * 1.4).contains(&at_most), "the pace may change: {at_most}");
    assert_eq!(outlook(&days, CardKey(2), None), None);
    let mut worn = days;
    worn.iter_mut().for_each(|day| day.life_used_percent_max = Some(20));
    worn[30..].iter_mut().for_each(|day| day.life_used_percent_max = Some(30));
    let left = outlook(&worn, CardKey(1), None).unwrap();
    assert_eq!(left.used, Some(UsedPercent::Card { used_percent_max: 30 }));
    assert!(left.days_left_min.unwrap() > 80.0, "{left:?}");
}

/// Wear follows what is written: days without work between two bands do not make a card last longer.
#[test]
fn days_left_follow_from_bytes_and_not_from_time() {
    let of = |idle_days: usize| {
        let mut days = steady(1, 60 + idle_days, |_| 3.0);
        for (index, day) in days.iter_mut().enumerate() {
            let is_idle = (20..20 + idle_days).contains(&index);
            day.counters.sectors_written *= u64::from(!is_idle);
            let worked = if is_idle { 19 } else { index - idle_days * usize::from(index >= 20) };
            day.life_used_percent_max = Some(10 + 10 * (worked / 20) as u8);
        }
        let found = outlook(&days, CardKey(1), None).unwrap();
        (found.days_left_min.unwrap(), found.days_left_max.unwrap())
    };
    let (low, high) = of(0);
    // 20 days for a tenth, and seven tenths are left.
    assert!(low < 140.0 && 140.0 < high && high < 2.0 * low, "{low} to {high}");
    let (other_low, other_high) = of(100);
    let middle = |low: f64, high: f64| (low * high).sqrt();
    let moved = middle(low, high) / middle(other_low, other_high);
    assert!((0.95..1.05).contains(&moved), "{low} to {high}, {other_low} to {other_high}");
    assert!(
        other_low < low && high < other_high,
        "whose pace has changed once may change it again"
    );
}
