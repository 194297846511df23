//! What reading places that a test of free space has not written says of the device.

use cardproof_evidence::capacity::{places_to_read, repeats_after};
use cardproof_record::{CapacityTest, CapacityVerdict};
use cardproof_units::Bytes;

use super::{Capacity, CapacityReason};

/// The probability of a false capacity where data appear at places that nobody has written. The test has tried
/// it twice.
const FAKE_BY_REPEATS: f64 = 0.999;

/// `found` with what reading elsewhere has shown.
pub(super) fn judged(mut found: Capacity, test: &CapacityTest) -> Capacity {
    let Some(elsewhere) = &test.elsewhere else { return found };
    if found.verdict == CapacityVerdict::Fake {
        return found;
    }
    if !is_repeating(test) {
        if elsewhere.found > 0 && found.is_sound() {
            let reason = CapacityReason::FoundElsewhere { places: elsewhere.found };
            found.reasons.insert(0, reason);
            return Capacity { reasons: found.reasons, ..Capacity::unknown(found.announced) };
        }
        let excluded = excluded(test);
        if excluded > Bytes::ZERO && found.is_sound() {
            found.reasons.push(CapacityReason::NowhereElse { places: elsewhere.places, excluded });
        }
        return found;
    }
    let most = repeats_after(elsewhere.distances_bytes.iter().map(|distance| distance.get()));
    // A device that holds more than the addresses need to begin again at that distance shares them by another rule,
    // as where one address line in the middle is missing.
    let most = most.map(Bytes).filter(|&most| most >= found.real_size.0);
    let most = most.unwrap_or(found.announced).min(found.announced);
    // What the test of the free space alone excludes is not excluded.
    let reason =
        CapacityReason::ChangesElsewhere { places: elsewhere.places, changed: elsewhere.changed };
    Capacity {
        verdict: CapacityVerdict::Fake,
        kind: "wrap",
        probability: FAKE_BY_REPEATS,
        real_size: (Bytes::ZERO, most),
        holds_front: false,
        is_too_small: false,
        exclusions: Vec::new(),
        excluded_sharing: Bytes::ZERO,
        reasons: vec![reason],
        ..found
    }
}

/// Whether places that the test has not written change when it writes. Single ones may be by chance.
fn is_repeating(test: &CapacityTest) -> bool {
    test.elsewhere.as_ref().is_some_and(|it| it.changed > 0 && it.changed * 2 > it.found)
}

/// A device that really holds as much or less would have been found: it loses what was written at the highest
/// addresses, or shows it at other places too. Zero where nothing of the kind is excluded.
pub(super) fn excluded(test: &CapacityTest) -> Bytes {
    let Some(elsewhere) = &test.elsewhere else { return Bytes::ZERO };
    let Some(disk) = elsewhere.disk_bytes else { return Bytes::ZERO };
    let is_enough = !test.is_cut_short
        && elsewhere.top_bytes > Bytes::ZERO
        && elsewhere.places >= places_to_read(elsewhere.top_bytes.get(), disk.get());
    if is_enough && elsewhere.found == 0 { elsewhere.top_start_bytes } else { Bytes::ZERO }
}
