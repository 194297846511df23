//! Shares of bad places that a number of good places excludes.

pub use cardproof_facts::CONFIDENCE;

/// The share of bad places that `places` good ones, chosen at random and independently, exclude with
/// [`CONFIDENCE`]: the largest share s with (1 - s)^n above 1 - confidence, for which -ln(a)/n is the
/// usual approximation from above. With no place nothing is excluded, and the share is 1.
#[must_use]
pub fn excluded_share(places: u64) -> f64 {
    if places == 0 {
        return 1.0;
    }
    (-(1.0 - CONFIDENCE).ln() / places as f64).min(1.0)
}

/// How many random places must be good to exclude a bad share above `share` (0 to 1), with
/// [`CONFIDENCE`].
#[must_use]
pub fn places_for_share(share: f64) -> u64 {
    (-(1.0 - CONFIDENCE).ln() / share.clamp(1e-9, 1.0)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_and_its_places_belong_together() {
        for share in [0.5, 0.05, 0.004_5, 0.001] {
            let places = places_for_share(share);
            assert!(excluded_share(places) <= share, "{share}");
            assert!(excluded_share(places - 1) > share, "{share}");
            let missed = (1.0 - share).powf(places as f64);
            assert!(missed <= 1.0 - CONFIDENCE, "{share}: {missed}");
        }
        assert_eq!(excluded_share(0), 1.0);
    }
}
