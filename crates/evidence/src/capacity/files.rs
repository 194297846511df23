//! What files that came back right say of the capacity below them.

use super::likelihood::cumulative;
use super::prior;

/// The probability that a device is no fake, once files on the share `tested` (0 to 1) of its announced
/// size came back right, each read after `store_bytes` of other writes.
///
/// A fake passes if its flash holds all that was tested, or if its hidden store is larger. Which
/// addresses the files occupy is unknown: the share of the flash counts, not its place.
#[must_use]
pub fn genuine_after_files(tested: f64, store_bytes: u64) -> f64 {
    let holds_all = 1.0 - cumulative(tested.clamp(0.0, 1.0));
    let passes = holds_all + (1.0 - holds_all) * prior::larger_store(store_bytes);
    let genuine = prior::SOUND + prior::DAMAGED;
    genuine / (genuine + prior::FAKE * passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_say_more() {
        let before = prior::SOUND + prior::DAMAGED;
        assert!((genuine_after_files(0.0, 0) - before).abs() < 0.01);
        let shares = [0.001, 0.01, 0.1, 0.5, 0.9, 1.0];
        let chances = shares.map(|share| genuine_after_files(share, 1 << 34));
        assert!(chances.is_sorted(), "{chances:?}");
        assert!(chances[3] < 0.9 && chances[4] > 0.95, "{chances:?}");
        assert!(genuine_after_files(1.0, 0) < 0.9, "a store may hold all of it");
    }
}
