//! The order of cards by what they are used for.
//!
//! Each use has one figure, by a stated formula:
//!
//! - **A Pi's system card**: the seconds for 32,000 random writes and 13,000 random reads of 4 KiB,
//!   one at a time. Over eight published devices (sd-card-bench.sh, 2018) the time of a desktop
//!   install is 162 s + 31,900 / (4 KiB write IOPS) with a mean error of 8 %, and the start goes
//!   with 13,100 / (4 KiB read IOPS); sequential rates say less of either.
//! - **Video**: the sequential write rate that lasts: of several levels the lowest. A recorder
//!   that must drop frames once the cache is full has no use for the faster one.
//! - **A database**: transactions a second of SQLite with its default journal, from 4 KiB writes
//!   with a flush after each, of which a transaction takes 4.1 (see `meaning`).
//!
//! Cards are ranked only among those measured on the same basis: one whose host is not known stands
//! alone, and one whose figure is in doubt has no place. Those whose intervals overlap, and
//! those without, share no claim to a place: they are said to be not told apart.

use cardproof_record::{OpName, PatternName, Record};
use serde::Serialize;

use super::Contender;
use super::likeness::{basis, in_doubt, shared_basis};
use super::shape::{Measured, Shape};
use crate::meaning::SQLITE_FLUSHES;
use crate::pick::{Finding, is_sequential};

/// What a card is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// To run a system from, as a Raspberry Pi does.
    System,
    /// To record video.
    Video,
    /// To keep a database.
    Database,
}

/// Random writes and reads of 4 KiB in the work of a system card.
const SYSTEM_WRITES: f64 = 32_000.0;
const SYSTEM_READS: f64 = 13_000.0;

/// The order of cards that were measured on one basis.
#[derive(Clone, Debug, Serialize)]
pub struct Ranking {
    /// By what.
    pub by: Use,
    /// How all of them were measured.
    pub basis: String,
    /// Best first, at least one.
    pub cards: Vec<Ranked>,
}

/// One card in an order.
#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// The figure of the use, in [`Use::unit`].
    pub value: f64,
    /// Its interval; absent where a figure has none.
    pub between: Option<[f64; 2]>,
    /// Whether it is surely behind the card before it; true for the first.
    pub is_told_apart: bool,
    /// What it costs.
    pub price: Option<f64>,
    /// How much of the use it gives for its price, as a part of the best that has a price.
    pub value_for_price: Option<f64>,
}

impl Use {
    /// All uses.
    pub const ALL: [Self; 3] = [Self::System, Self::Video, Self::Database];

    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::System => "As a Pi's system card",
            Self::Video => "For video",
            Self::Database => "For a database",
        }
    }

    /// What its figure is, in words.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::System => {
                "seconds for 32,000 random writes and 13,000 random reads of 4 KiB, one at a time"
            }
            Self::Video => "sequential write in MB/s that lasts: of several levels the lowest",
            Self::Database => {
                "SQLite transactions a second: synced 4 KiB writes, 4.1 flushes for each"
            }
        }
    }

    /// The unit of its figure.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::System => "s",
            Self::Video => "MB/s",
            Self::Database => "/s",
        }
    }

    const fn is_better_low(self) -> bool {
        matches!(self, Self::System)
    }

    fn score(self, records: &[&Record]) -> Option<Score> {
        match self {
            Self::System => system(records),
            Self::Video => video(records),
            Self::Database => {
                let shape = Shape { fsync_every: Some(1), ..Shape::random_4k(OpName::Write) };
                let measured = sound(&shape, records)?;
                Some(Score::of(&measured, |iops| iops / SQLITE_FLUSHES))
            }
        }
    }
}

/// A card's figure for a use.
struct Score {
    value: f64,
    between: Option<[f64; 2]>,
    basis: String,
    /// Whether others of the same basis are known to be measured alike.
    can_share: bool,
}

impl Score {
    fn of(measured: &Measured<'_>, of_rate: impl Fn(f64) -> f64) -> Self {
        Self {
            value: of_rate(measured.rate()),
            between: measured.between().map(|ends| ends.map(of_rate)),
            basis: basis(measured),
            can_share: shared_basis(measured).is_some(),
        }
    }
}

fn system(records: &[&Record]) -> Option<Score> {
    let read = sound(&Shape::random_4k(OpName::Read), records)?;
    let write = sound(&Shape::random_4k(OpName::Write), records)?;
    let seconds = |write: f64, read: f64| SYSTEM_WRITES / write + SYSTEM_READS / read;
    // An interval that reaches down to no rate at all bounds no time.
    let ends =
        |write: [f64; 2], read: [f64; 2]| [seconds(write[1], read[1]), seconds(write[0], read[0])];
    let between = write.between().zip(read.between()).map(|(write, read)| ends(write, read));
    let between = between.filter(|ends| ends[1].is_finite());
    let basis = match [basis(&write), basis(&read)] {
        [write, read] if write == read => write,
        [write, read] => format!("writes by {write}, reads by {read}"),
    };
    let can_share = [&write, &read].into_iter().all(|one| shared_basis(one).is_some());
    Some(Score { value: seconds(write.rate(), read.rate()), between, basis, can_share })
}

/// What `records` have of `shape`, unless it is in doubt.
fn sound<'r>(shape: &Shape, records: &[&'r Record]) -> Option<Measured<'r>> {
    Measured::of(shape, records).filter(|measured| in_doubt(measured).is_none())
}

/// The longest sequential write; of its levels the lowest, where it has several.
fn video(records: &[&Record]) -> Option<Score> {
    let first = records.first()?;
    let phase = Finding::of(first, |phase| is_sequential(phase, OpName::Write)).measured()?;
    let shape = Shape::of(phase);
    let measured = sound(&shape, records)?;
    debug_assert_eq!(shape.pattern, PatternName::Sequential);
    let mut score = Score::of(&measured, |rate| rate / 1e6);
    let by_rate = |a: &&cardproof_record::Level, b: &&cardproof_record::Level| {
        a.throughput_bytes_per_s.estimate.0.total_cmp(&b.throughput_bytes_per_s.estimate.0)
    };
    if let Some(lowest) = measured.phase.levels.iter().min_by(by_rate) {
        let rate = lowest.throughput_bytes_per_s;
        score.value = rate.estimate.0 / 1e6;
        score.between = Some([rate.low.0 / 1e6, rate.high.0 / 1e6]);
    }
    Some(score)
}

/// The orders of `cards`, one for each use and basis on which at least one was measured.
pub(super) fn rankings(cards: &[Contender<'_>]) -> Vec<Ranking> {
    let mut rankings: Vec<Ranking> = Vec::new();
    for by in Use::ALL {
        for card in cards {
            let Some(score) = by.score(&card.runs) else { continue };
            let Score { value, between, basis, can_share } = score;
            let ranked = Ranked {
                name: card.name.clone(),
                value,
                between,
                is_told_apart: true,
                price: card.price,
                value_for_price: None,
            };
            let is_same =
                |known: &&mut Ranking| can_share && known.by == by && known.basis == basis;
            match rankings.iter_mut().find(is_same) {
                Some(ranking) => ranking.cards.push(ranked),
                None => rankings.push(Ranking { by, basis, cards: vec![ranked] }),
            }
        }
    }
    rankings.iter_mut().for_each(Ranking::sort);
    rankings
}

impl Ranking {
    fn sort(&mut self) {
        let is_better_low = self.by.is_better_low();
        self.cards.sort_by(|a, b| {
            let order = a.value.total_cmp(&b.value);
            if is_better_low { order } else { order.reverse() }
        });
        for index in 1..self.cards.len() {
            let (before, after) = (self.cards[index - 1].between, self.cards[index].between);
            self.cards[index].is_told_apart = matches!(
                (before, after),
                (Some(a), Some(b)) if a[1] < b[0] || b[1] < a[0]
            );
        }
        let for_price = |card: &Ranked| {
            let speed = if is_better_low { 1.0 / card.value } else { card.value };
            card.price.filter(|price| *price > 0.0).map(|price| speed / price)
        };
        let best = self.cards.iter().filter_map(for_price).fold(0.0, f64::max);
        for card in &mut self.cards {
            card.value_for_price = for_price(card).map(|value| value / best);
        }
    }
}
