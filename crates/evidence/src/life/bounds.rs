//! Bounds that need no model, and the arithmetic from cycles to days.

use super::weibull::CardLife;

/// The largest share of a model's cards that fails before what all of `cards` have lasted, at 95 %:
/// the exact form of the rule of three.
#[must_use]
pub fn share_of_cards_max(cards: usize) -> f64 {
    if cards == 0 {
        return 1.0;
    }
    1.0 - (1.0 - super::CONFIDENCE).powf(1.0 / cards as f64)
}

/// The cycles that half of a model's cards reach, at 95 %, without any model of the lives: the order
/// statistic of `cards` that five heads in a row leave; 0 for fewer than five cards.
pub(super) fn median_low(cards: &[CardLife]) -> f64 {
    let mut lives: Vec<f64> = cards.iter().map(|card| card.cycles).collect();
    lives.sort_by(f64::total_cmp);
    // The median lies above the shortest of n lives but for the chance 2^-n.
    if lives.len() < 5 { 0.0 } else { lives[0] }
}

/// Bytes that a host can write in `cycles` of a card of `capacity_bytes`, if the card writes
/// `amplification` bytes for each of them, in units of 10^12.
#[must_use]
pub fn terabytes_written(cycles: f64, capacity_bytes: f64, amplification: f64) -> f64 {
    cycles * capacity_bytes / amplification.max(1.0) / 1e12
}

/// Days until `cycles` are used by a host that writes `bytes_a_day`.
#[must_use]
pub fn days(cycles: f64, capacity_bytes: f64, bytes_a_day: f64, amplification: f64) -> f64 {
    terabytes_written(cycles, capacity_bytes, amplification) * 1e12 / bytes_a_day.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_from_cycles_and_bytes() {
        // 128 GB, 1,000 cycles, a write amplification of 4: 32 TB; 10 GB a day last 3,200 days.
        assert!((terabytes_written(1000.0, 128e9, 4.0) - 32.0).abs() < 1e-9);
        assert!((days(1000.0, 128e9, 10e9, 4.0) - 3200.0).abs() < 1e-6);
    }

    #[test]
    fn the_rule_of_three_is_exact() {
        assert!((share_of_cards_max(1) - 0.95).abs() < 1e-12);
        assert!((share_of_cards_max(100) - 0.029_513_049_6).abs() < 1e-9);
    }
}
