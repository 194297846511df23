//! A kind of card with its weight, and the hidden stores that are weighed.

use super::kind::{Kind, Size};
use super::likelihood::StoreRange;
use super::observation::{Evidence, Observation};
use super::prior;

/// A kind of card with the best parameters of its kind.
#[derive(Clone, Debug)]
pub(super) struct Weighed {
    pub(super) kind: Kind,
    pub(super) ln_weight: f64,
    /// Where the real size lies, if this kind is right.
    pub(super) size: Size,
    pub(super) modulus: Option<u64>,
    pub(super) damaged: u64,
}

/// The hidden stores worth weighing with their prior chances: none, and powers of two up to what
/// was written, each sharp or blurred to the next ones.
pub(super) fn stores(evidence: &Evidence) -> Vec<(StoreRange, f64)> {
    let mut stores = vec![(StoreRange::NONE, 0.5)];
    let Some((least, of_most)) = lost_after(evidence) else { return stores };
    let most = evidence.observations.iter().map(Observation::distance_bytes).max().unwrap_or(0);
    let mut low = 4096_u64;
    while low <= most {
        let chance = prior::larger_store(low / 2) - prior::larger_store(low);
        // A store that the evidence cannot tell from the next smaller one is not weighed again.
        for blur in [1, 4, 16] {
            let high = low.saturating_mul(blur);
            if high >= least / 4 {
                stores.push((StoreRange { low, high }, (chance / 3.0).max(1e-6)));
            }
        }
        low *= 2;
    }
    // The store that loses every place that was lost; and the one that does so but for a few, which
    // are damaged.
    for first in [least, of_most] {
        let size = first.saturating_sub(1);
        stores.push((StoreRange { low: size, high: size }, chance_of_store(size)));
    }
    stores
}

/// A few of the same, for models that are weighed at a cost.
pub(super) fn few_stores(evidence: &Evidence) -> Vec<(StoreRange, f64)> {
    let mut stores = vec![(StoreRange::NONE, 0.5)];
    let Some((least, of_most)) = lost_after(evidence) else { return stores };
    for first in [least, of_most] {
        let low = first.saturating_sub(1);
        // A store that counts only some of the writes seems blurred.
        for high in [low, low / 2 * 3, low * 4] {
            stores.push((StoreRange { low, high }, chance_of_store(low) / 3.0));
        }
    }
    stores
}

fn chance_of_store(size: u64) -> f64 {
    (prior::larger_store(size / 2) - prior::larger_store(size)).max(1e-6)
}

/// After how many bytes the first place was lost, and after how many all but a twentieth of those that
/// were; `None` where none was.
fn lost_after(evidence: &Evidence) -> Option<(u64, u64)> {
    let lost = evidence.observations.iter().filter(|place| !place.is_right());
    let mut distances: Vec<u64> = lost.map(Observation::distance_bytes).collect();
    distances.sort_unstable();
    Some((*distances.first()?, distances[distances.len() / 20]))
}
