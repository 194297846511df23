//! Is a card slower than when it was new? A comparison of a card with itself that may be looked at every day.
//!
//! The figure of a day is how long the card was busy for each request. While a card stays as it is and its work
//! alike, the days are exchangeable: each order of them is as likely as any other. The share of the days so far
//! that were as slow as the latest is then a p-value, and bets against small ones make a product that in the long
//! run stays small: it passes 1/α with a probability of at most α (conformal test martingale; Vovk, Gammerman,
//! Shafer, Algorithmic Learning in a Random World, chapter 8; Ville's inequality). So whoever looks each day for a
//! year is alarmed wrongly with a probability of at most α. The bet is a mixture of ε·p^(ε−1) over ε, which needs
//! no choice of how large the change will be.

use serde::Serialize;

use super::day::{CardKey, Day};

/// The probability of a wrong alarm for a card and year.
const ALPHA: f64 = 0.01;

/// Days with fewer requests say nothing.
const REQUESTS_MIN: u64 = 1000;

/// So many days are what it was when new.
const NEW_DAYS: usize = 14;

/// So many days after them are looked at before the comparison begins anew, for its promise is of a year.
const YEAR_DAYS: usize = 365;

/// So many values of ε are mixed.
const MIXTURE: u32 = 50;

/// What the days of a card say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Slower {
    /// There are too few days to tell.
    NotKnown {
        /// Days with enough requests.
        days: usize,
        /// So many are needed.
        needed: usize,
    },
    /// No sign that it is slower.
    NotSlower {
        /// Time for a request in the last days over that in the first days.
        ratio: f64,
    },
    /// It is slower than when it was new; wrong for at most one card in a hundred and year.
    Slower {
        /// Time for a request in the last days over that in the first days.
        ratio: f64,
    },
}

/// Whether the card `key` of `days` is slower than when it was new.
#[must_use]
pub fn slower(days: &[Day], key: CardKey) -> Slower {
    let times: Vec<f64> = days.iter().filter(|day| day.key == key).filter_map(time).collect();
    let needed = NEW_DAYS + 1;
    if times.len() < needed {
        return Slower::NotKnown { days: times.len(), needed };
    }
    let ratio = median(&times[times.len() - NEW_DAYS.min(times.len() - NEW_DAYS)..])
        / median(&times[..NEW_DAYS]);
    if is_alarmed(&times) && ratio > 1.0 {
        Slower::Slower { ratio }
    } else {
        Slower::NotSlower { ratio }
    }
}

/// Whether the comparison was alarmed in the year of the last of `days`.
#[cfg(test)]
pub(super) fn is_alarmed_once(days: &[Day], key: CardKey) -> bool {
    let times: Vec<f64> = days.iter().filter(|day| day.key == key).filter_map(time).collect();
    is_alarmed(&times)
}

/// How long the card was busy for a request, in milliseconds; `None` for a day with few.
fn time(day: &Day) -> Option<f64> {
    let requests = day.counters.reads + day.counters.writes;
    (requests >= REQUESTS_MIN).then(|| day.counters.busy_ms as f64 / requests as f64)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 0 => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
        length => sorted[length / 2],
    }
}

/// Whether the bets of the year that the last of `times` is in have passed 1/α.
fn is_alarmed(times: &[f64]) -> bool {
    let exponents: Vec<f64> =
        (1..=MIXTURE).map(|step| f64::from(step) / f64::from(MIXTURE + 1)).collect();
    let mut capital = vec![1.0; exponents.len()];
    let mut is_alarmed = false;
    for (index, &latest) in times.iter().enumerate().skip(NEW_DAYS) {
        if (index - NEW_DAYS).is_multiple_of(YEAR_DAYS) {
            capital.fill(1.0);
            is_alarmed = false;
        }
        let so_far = &times[..=index];
        // Ties count as slower, which makes the value larger and the bet smaller.
        let as_slow = so_far.iter().filter(|&&time| time >= latest).count();
        let p = as_slow as f64 / so_far.len() as f64;
        for (capital, exponent) in capital.iter_mut().zip(&exponents) {
            *capital *= exponent * p.powf(exponent - 1.0);
        }
        let mean = capital.iter().sum::<f64>() / capital.len() as f64;
        is_alarmed |= mean >= 1.0 / ALPHA;
    }
    is_alarmed
}
