//! What cards cost: what submitters have paid within a year, and the speed for the price.

use std::collections::BTreeMap;

use cardproof_hub_standing::median;
use cardproof_rating::compare::Use;

use super::Row;
use crate::index::{Card, Price};

/// How old a price may be, in days.
const AGE_MAX_DAYS: i32 = 365;

/// A clock elsewhere may be a day ahead.
const AHEAD_MAX_DAYS: i32 = 1;

/// What a card costs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CardPrice {
    /// The median of what submitters have paid, each by its latest price.
    pub amount: f64,
    /// The currency.
    pub currency: String,
    /// Of how many submitters.
    pub submitters: usize,
}

impl CardPrice {
    /// What `card` costs on the day `today`, in the currency in which most have paid.
    #[must_use]
    pub fn of(card: &Card, today: i32) -> Option<Self> {
        let is_recent =
            |price: &&Price| (-AHEAD_MAX_DAYS..=AGE_MAX_DAYS).contains(&(today - price.day));
        // The oldest first, so that the latest of each submitter stays.
        let mut by_currency = BTreeMap::<&str, BTreeMap<u64, &Price>>::new();
        for record in &card.records {
            let Some(price) = record.price.as_ref().filter(is_recent) else { continue };
            let latest = by_currency.entry(&price.currency).or_default();
            let kept = latest.entry(record.submitter).or_insert(price);
            if price.day >= kept.day {
                *kept = price;
            }
        }
        let (currency, prices) = by_currency.into_iter().max_by_key(|(_, prices)| prices.len())?;
        let mut amounts: Vec<f64> =
            prices.values().map(|it| it.hundredths as f64 / 100.0).collect();
        let amount = median(&mut amounts)?;
        Some(Self { amount, currency: currency.to_owned(), submitters: amounts.len() })
    }
}

/// Sets what each of `rows` gives for its price. Only prices in the most common currency have a worth.
pub(super) fn value(wanted: Use, rows: &mut [Row]) {
    let mut currencies = BTreeMap::<String, usize>::new();
    for price in rows.iter().filter_map(|row| row.price.as_ref()) {
        *currencies.entry(price.currency.clone()).or_default() += 1;
    }
    let Some((currency, _)) = currencies.into_iter().max_by_key(|(_, count)| *count) else {
        return;
    };
    let worth = |row: &Row| {
        let price = row.price.as_ref().filter(|it| it.currency == currency && it.amount > 0.0)?;
        let speed = if wanted.is_better_low() { 1.0 / row.value } else { row.value };
        Some(speed / price.amount)
    };
    let best = rows.iter().filter_map(worth).fold(0.0, f64::max);
    for row in rows {
        row.worth = worth(row).map(|it| 100.0 * it / best);
    }
}
