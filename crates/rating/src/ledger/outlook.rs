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

/// The quantile of the normal distribution for intervals of 90 % with two ends, and for those of [`CONFIDENCE`].
const Z_90: f64 = 1.645;
const Z_95: f64 = 1.96;

/// How far the pace of the coming time lies from that of the last days, for a year to come, before the ledger tells: the
/// standard deviation of the logarithm. An assumption, which counts as much as a year of the ledger.
const DRIFT_A_YEAR: f64 = 0.1;
const DRIFT_MONTHS: f64 = 12.0;

/// Months of so many days are compared.
const MONTH_DAYS: usize = 30;

/// The same for the present pace, where there are too few days for an interval.
const SPREAD_UNKNOWN: f64 = 0.5;

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
    /// Bytes that the ledger has counted, from the computer's start before its first look on, of those that are
    /// stated to be the card's life. What was written before is not known.
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
    /// Days left at the present pace; absent where they are not known.
    #[serde(skip)]
    pub days_left: Option<f64>,
    /// Days left, at least: the lower end of an interval that holds with 90 % by the model of the documentation.
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
    let rates = rates(&own);
    let pace = pace(&rates);
    let drift = drift_a_year(&rates);
    let by_card = life_by_card(&own, pace.as_ref(), drift);
    let stated = endurance.filter(|all| all.get() > 0);
    let used = sum.life_used_percent_max.map_or_else(
        || {
            let share = |all: Bytes| 100.0 * written.as_f64() / all.as_f64();
            stated.map(|all| UsedPercent::Stated { used_percent_min: share(all) })
        },
        |used_percent_max| Some(UsedPercent::Card { used_percent_max }),
    );
    let (days_left, days_left_min, days_left_max) = match (used, stated, pace) {
        (Some(UsedPercent::Card { .. }), _, _) => by_card,
        // What was written before the ledger began may be anything: only an upper bound follows.
        (Some(UsedPercent::Stated { .. }), Some(all), Some(pace)) => {
            let left = (all.as_f64() - written.as_f64()).max(0.0);
            let rate = pace.bytes_a_day.as_f64();
            let days = (rate > 0.0).then(|| left / rate);
            (days, None, days.map(|days| days * widening(&pace, days, drift)))
        }
        _ => (None, None, None),
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
        days_left,
        days_left_min,
        days_left_max,
        slower: slower(days, key),
    })
}

/// The days left by the bands of used life that the card told. Wear follows what is written and not time, so the bands
/// are laid over the bytes, told as days of the present pace; how that pace may change widens the interval.
fn life_by_card(
    days: &[&Day],
    pace: Option<&Pace>,
    drift: f64,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let bytes_a_day = pace.map_or(0.0, |pace| pace.bytes_a_day.as_f64());
    let mut written = 0.0;
    let mut told = Vec::new();
    for day in days {
        written += day.written_bytes() as f64;
        if let Some(percent) = day.life_used_percent_max {
            let value = Value::band("life_used", percent / 10);
            let paced = if bytes_a_day > 0.0 { written / bytes_a_day } else { 0.0 };
            told.extend(UsedAt::from_value(&value, paced));
        }
    }
    let left = days_left(&told);
    let likely = left.estimate.or(left.high).or(left.low).unwrap_or(0.0);
    let wider = pace.map_or(1.0, |pace| widening(pace, likely, drift));
    (left.estimate, left.low.map(|low| low / wider), left.high.map(|high| high * wider))
}

/// By which factor the time until so many bytes are written may differ from `days` at the present `pace`, for an
/// interval of 90 %; `drift` is that of [`drift_a_year`].
fn widening(pace: &Pace, days: f64, drift: f64) -> f64 {
    let ends = pace.low.zip(pace.high).filter(|(low, _)| low.get() > 0);
    let now = ends
        .map_or(SPREAD_UNKNOWN, |(low, high)| (high.as_f64() / low.as_f64()).ln() / (2.0 * Z_95));
    let later = drift * (days / 365.0).max(0.0).sqrt();
    (Z_90 * now.hypot(later)).exp()
}

/// How far the pace moves in a year beyond chance: by what months of the ledger differ from the next ones, and by an
/// assumption where there are few of them. The standard deviation of the logarithm.
fn drift_a_year(rates: &[(f64, f64)]) -> f64 {
    let month = |days: &[(f64, f64)]| {
        let mean = weighted_mean(days).filter(|mean| *mean > 0.0)?;
        let chance = half_width(days, mean)? / mean / Z_95;
        Some((mean.ln(), chance * chance))
    };
    let months: Vec<(f64, f64)> = rates.chunks_exact(MONTH_DAYS).filter_map(month).collect();
    let beyond_chance = months.windows(2).map(|pair| match pair {
        [(one, chance), (next, other_chance)] => (next - one).powi(2) - chance - other_chance,
        _ => 0.0,
    });
    let count = months.len().saturating_sub(1) as f64;
    let months_a_year = 365.0 / MONTH_DAYS as f64;
    let assumed = DRIFT_MONTHS * DRIFT_A_YEAR.powi(2);
    let sum = beyond_chance.sum::<f64>() * months_a_year + assumed;
    (sum / (count + DRIFT_MONTHS)).max(0.0).sqrt()
}

/// Bytes written in 24 hours of running on each day that ran for an hour, with its seconds.
fn rates(days: &[&Day]) -> Vec<(f64, f64)> {
    let rate = |day: &&Day| {
        (day.seconds >= SECONDS_MIN)
            .then(|| (day.written_bytes() as f64 / day.seconds as f64 * DAY_S, day.seconds as f64))
    };
    days.iter().filter_map(rate).collect()
}

fn pace(rates: &[(f64, f64)]) -> Option<Pace> {
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
