//! What a test saw, in the form of a record.

use cardproof_evidence::capacity::Retried;
use cardproof_probe::capacity::{Outcome, Plan};
use cardproof_record::{CapacityMethod, CapacityRegion, CapacityTest};
use cardproof_units::{Bytes, Nanos};

/// Into how many parts the addresses are cut for the map.
const REGIONS: u64 = 128;

/// `outcome` of `plan` as a record keeps it.
pub(super) fn stored(outcome: &Outcome, plan: &Plan, method: CapacityMethod) -> CapacityTest {
    let evidence = &outcome.evidence;
    let announced = evidence.announced_bytes;
    let mut regions = Regions::new(announced);
    for &(start, bytes, took) in &outcome.readings {
        regions.note(start.get(), bytes.get(), took);
    }
    for place in evidence.observations.iter().filter(|place| !place.is_right()) {
        regions.note_wrong(place.offset_bytes);
    }
    CapacityTest {
        method,
        announced_bytes: Bytes(announced),
        filler_bytes: Bytes(evidence.filler_bytes),
        grid_bytes: Bytes(evidence.grid_bytes),
        spread_pieces: evidence.spread.pieces,
        spread_bytes: Bytes(evidence.spread.bytes),
        shared_again: counts(evidence.shared_again),
        right_at_once: counts(evidence.right_at_once),
        rewritten: counts(evidence.rewritten),
        guessed_period_bytes: evidence.guessed_period.map(Bytes),
        unshared_distances: evidence.unshared_distances.iter().copied().map(Bytes).collect(),
        guessed_modulus_bytes: evidence.guessed_modulus.map(Bytes),
        is_full: evidence.is_full,
        is_cut_short: evidence.is_cut_short,
        is_reconnected: outcome.is_reconnected,
        planned_write_bytes: plan.bytes_to_write(),
        planned_read_bytes: plan.bytes_to_read(),
        regions: regions.0,
        written: evidence
            .writes
            .stretches()
            .map(|(start, length, _)| [Bytes(start), Bytes(length)])
            .collect(),
        places: evidence.observations.iter().map(cardproof_rating::capacity_place).collect(),
        ..CapacityTest::default()
    }
}

const fn counts(retried: Retried) -> [u64; 2] {
    [retried.tried, retried.again]
}

/// The addresses in equal parts.
pub(super) struct Regions(pub(super) Vec<CapacityRegion>, u64);

impl Regions {
    pub(super) fn new(size: u64) -> Self {
        Self(vec![CapacityRegion::default(); REGIONS as usize], size.max(1))
    }

    fn at(&mut self, address: u64) -> &mut CapacityRegion {
        let part = u128::from(address) * u128::from(REGIONS) / u128::from(self.1);
        let last = self.0.len() - 1;
        &mut self.0[(part as usize).min(last)]
    }

    /// Notes that `bytes` at `address` took so long to read.
    pub(super) fn note(&mut self, address: u64, bytes: u64, took: Nanos) {
        let region = self.at(address);
        region.readings += 1;
        region.read_bytes += Bytes(bytes);
        region.read_time_ns += took;
    }

    /// Notes that what was read at `address` was wrong.
    pub(super) fn note_wrong(&mut self, address: u64) {
        self.at(address).wrong += 1;
    }
}
