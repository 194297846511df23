//! What is believed of a card before anything was written to it.
//!
//! The figures are assumptions with a source each, not measurements. They decide what to say where
//! the evidence leaves something open: a hidden store larger than the filler, a single bad place.
//! A test of 500 places outweighs any of them by hundreds of orders of magnitude.

/// Fakes of the capacity. An engineer of a large maker estimated in 2019 that about a third of the
/// cards with its logo were fake; one buyer's twelve cheap sticks were all fake.
pub(super) const FAKE: f64 = 0.33;

/// Sound cards with damaged places.
pub(super) const DAMAGED: f64 = 0.05;

/// Sound cards without.
pub(super) const SOUND: f64 = 1.0 - FAKE - DAMAGED;

/// The chance that one place of a sound card fails for a reason that no kind of card explains.
pub(super) const FLUKE: f64 = 1e-9;

/// Fakes whose real size is so near the announced one that the lie earns nothing.
pub(super) const FAKE_NEAR_FULL: f64 = 0.001;

/// From this share of the announced size up a real size is "near full".
pub(super) const NEAR_FULL: f64 = 0.98;

/// Hidden stores: (bytes, chance that a fake's store is larger). Stores of 8 KB, 1, 3, 4, 31, 63 MB
/// and 128 MiB were found in fakes; stores above 2 GiB were suspected, never shown.
const LARGER_STORE: [(f64, f64); 8] = [
    (1.0, 0.5),
    (8192.0, 0.45),
    (1_048_576.0, 0.4),
    (33_554_432.0, 0.25),
    (67_108_864.0, 0.12),
    (134_217_728.0, 0.04),
    (1_073_741_824.0, 0.008),
    (1_099_511_627_776.0, 0.000_1),
];

/// The chance that a fake has a hidden store of more than `bytes`, interpolated between the known
/// ones in the logarithms.
pub(super) fn larger_store(bytes: u64) -> f64 {
    let bytes = (bytes as f64).max(1.0);
    let (mut before, last) = (LARGER_STORE[0], LARGER_STORE[LARGER_STORE.len() - 1]);
    for next in LARGER_STORE {
        if bytes <= next.0 {
            let span = (next.0 / before.0).ln();
            let part = if span > 0.0 { (bytes / before.0).ln() / span } else { 0.0 };
            return before.1 * (next.1 / before.1).powf(part);
        }
        before = next;
    }
    last.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_stores_are_less_likely() {
        let chances: Vec<f64> = (0..44).map(|power| larger_store(1 << power)).collect();
        assert!(chances.windows(2).all(|pair| pair[1] <= pair[0]), "{chances:?}");
        assert!((larger_store(0) - 0.5).abs() < 1e-12);
        assert!((larger_store(1 << 27) - 0.04).abs() < 1e-12);
    }
}
