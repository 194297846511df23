//! What the days of a card say: how much is written a day, how that changes, and how long the card has.

use cardproof_evidence::health::{UsedAt, Value, days_left};
use cardproof_stats::t_quantile;
use cardproof_units::Bytes;
use serde::Serialize;

use super::counters::ErrorCounts;
use super::day::{CardKey, Day, totals};
use super::slower::{Slower, slower};

/// A day with less time says little of a day.
const SECONDS_MIN: u64 = 3600;

/// So many of the last days are what the card does now.
const RECENT_DAYS: usize = 30;

/// Fewer days give no interval.
const DAYS_MIN: usize = 3;

/// So many seconds has a day.
const DAY_S: f64 = 86_400.0;

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Bytes written in 24 hours of running.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pace {
    /// The mean of the last days.
    pub bytes_a_day: Bytes,
    /// The mean of such days is above this with 95 % confidence; absent with fewer than three days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Bytes>,
    /// And below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Bytes>,
    /// The pace of the last week over that of the weeks before; absent with fewer than fourteen days, and where
    /// chance may have made the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend_ratio: Option<f64>,
}

/// The used life that a card tells, or that follows from the endurance that its maker or the user states.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum UsedPercent {
    /// The card tells it.
    Card {
        /// At most so much is used, in per cent; 110 beyond the rated life.
        used_percent_max: u8,
    },
    /// Bytes written since the ledger began, of those that are stated to be the card's life. What was written
    /// before is not known.
    Stated {
        /// At least so much is used, in per cent.
        used_percent_min: f64,
    },
}

/// What the ledger says of one card.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// The card, as this computer's ledger knows it.
    pub key: CardKey,
    /// How many days tell of it.
    pub days: usize,
    /// The first and the last date.
    pub dates: (String, String),
    /// How long the computer ran with it, in seconds.
    pub seconds: u64,
    /// What was read.
    pub read_bytes: Bytes,
    /// What was written.
    pub written_bytes: Bytes,
    /// Reads and writes that failed.
    pub failed: u64,
    /// Transfers that were repeated.
    pub repeated: u64,
    /// Errors of file systems.
    pub filesystem_errors: u64,
    /// Bytes written a day; absent before an hour was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// The used life; absent where nothing tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<UsedPercent>,
    /// Days left at this pace, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_left_min: Option<f64>,
    /// At most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_left_max: Option<f64>,
    /// Whether it is slower than when it was new.
    pub slower: Slower,
}

/// What `days` say of the card `key`, whose life is stated to be `endurance`; `None` where none tells of it.
#[must_use]
pub fn outlook(days: &[Day], key: CardKey, endurance: Option<Bytes>) -> Option<Outlook> {
    let own: Vec<&Day> = days.iter().filter(|day| day.key == key).collect();
    let (first, last) = (own.first()?, own.last()?);
    let sum = totals(days, key)?;
    let ErrorCounts { failed, repeated, filesystem } = sum.errors;
    let written = Bytes(sum.written_bytes());
    let pace = pace(&own);
    let by_card = life_by_card(&own);
    let stated = endurance.filter(|all| all.get() > 0);
    let used = sum.life_used_percent_max.map_or_else(
        || {
            let share = |all: Bytes| 100.0 * written.as_f64() / all.as_f64();
            stated.map(|all| UsedPercent::Stated { used_percent_min: share(all) })
        },
        |used_percent_max| Some(UsedPercent::Card { used_percent_max }),
    );
    let (days_left_min, days_left_max) = match (used, stated, pace) {
        (Some(UsedPercent::Card { .. }), _, _) => by_card,
        // What was written before the ledger began may be anything: only an upper bound follows.
        (Some(UsedPercent::Stated { .. }), Some(all), Some(pace)) => {
            let left = (all.as_f64() - written.as_f64()).max(0.0);
            let slowest = pace.low.unwrap_or(pace.bytes_a_day).as_f64();
            (None, (slowest > 0.0).then(|| left / slowest))
        }
        _ => (None, None),
    };
    Some(Outlook {
        key,
        days: own.len(),
        dates: (first.date.clone(), last.date.clone()),
        seconds: sum.seconds,
        read_bytes: Bytes(sum.counters.sectors_read.saturating_mul(512)),
        written_bytes: written,
        failed,
        repeated,
        filesystem_errors: filesystem,
        pace,
        used,
        days_left_min,
        days_left_max,
        slower: slower(days, key),
    })
}

/// The days left by the bands of used life that the card told, on the clock of the running computer.
fn life_by_card(days: &[&Day]) -> (Option<f64>, Option<f64>) {
    let mut running_days = 0.0;
    let mut told = Vec::new();
    for day in days {
        running_days += day.seconds as f64 / DAY_S;
        if let Some(percent) = day.life_used_percent_max {
            let value = Value::band("life_used", percent / 10);
            told.extend(UsedAt::of(&value, running_days));
        }
    }
    let left = days_left(&told);
    (left.low, left.high)
}

fn pace(days: &[&Day]) -> Option<Pace> {
    let rate = |day: &&Day| {
        (day.seconds >= SECONDS_MIN)
            .then(|| (day.written_bytes() as f64 / day.seconds as f64 * DAY_S, day.seconds as f64))
    };
    let rates: Vec<(f64, f64)> = days.iter().filter_map(rate).collect();
    let recent = &rates[rates.len().saturating_sub(RECENT_DAYS)..];
    let mean = weighted_mean(recent)?;
    let half = half_width(recent, mean);
    let bytes = |rate: f64| Bytes(rate.max(0.0) as u64);
    Some(Pace {
        bytes_a_day: bytes(mean),
        low: half.map(|half| bytes(mean - half)),
        high: half.map(|half| bytes(mean + half)),
        trend_ratio: trend(recent),
    })
}

fn weighted_mean(rates: &[(f64, f64)]) -> Option<f64> {
    let weight: f64 = rates.iter().map(|(_, weight)| weight).sum();
    (weight > 0.0).then(|| rates.iter().map(|(rate, weight)| rate * weight).sum::<f64>() / weight)
}

/// Half the width of the interval that holds the mean with 95 % confidence, if the days are independent.
fn half_width(rates: &[(f64, f64)], mean: f64) -> Option<f64> {
    let count = rates.len();
    if count < DAYS_MIN {
        return None;
    }
    let squares: f64 = rates.iter().map(|(rate, _)| (rate - mean).powi(2)).sum();
    let deviation = (squares / (count - 1) as f64).sqrt();
    let t = t_quantile((count - 1) as f64, CONFIDENCE)?;
    Some(t * deviation / (count as f64).sqrt())
}

/// The pace of the last seven days over that of those before, where their intervals do not touch.
fn trend(rates: &[(f64, f64)]) -> Option<f64> {
    let cut = rates.len().checked_sub(7).filter(|&before| before >= 7)?;
    let (before, after) = rates.split_at(cut);
    let (then, now) = (weighted_mean(before)?, weighted_mean(after)?);
    let apart = (now - then).abs() > half_width(before, then)? + half_width(after, now)?;
    (apart && then > 0.0).then(|| now / then)
}
