//! Weighs every kind of card against the evidence.

use super::bounds::excluded_share;
use super::finding::{Draft, Finding, Kind, Size};
use super::likelihood::{Edge, Places, StoreRange, ln_damaged, ln_sound, ln_sum};
use super::lost::{Damage, Lost};
use super::modulus::candidates;
use super::observation::{Evidence, Observation};
use super::prior;

/// How much of the posterior of the real size its bounds hold.
const SIZE_CONFIDENCE: f64 = 0.999;

/// The prior chance of one modulus among all that a card may have.
const MODULUS_CHANCE: f64 = 1e-9;

/// A kind of card with the best parameters of its kind.
#[derive(Clone, Debug)]
struct Weighed {
    kind: Kind,
    ln_weight: f64,
    /// Where the real size lies, if this kind is right.
    size: Size,
    modulus: Option<u64>,
    damaged: u64,
}

/// What the evidence says of the card.
#[must_use]
pub fn infer(evidence: &Evidence) -> Finding {
    let mut weighed = genuine_kinds(evidence);
    weighed.extend(fakes_without_modulus(evidence));
    for modulus in candidates(evidence) {
        weighed.extend(fakes_with_modulus(evidence, modulus));
    }
    let total = weighed.iter().fold(f64::NEG_INFINITY, |sum, each| ln_sum(sum, each.ln_weight));
    let mut hypotheses: Vec<(Kind, f64)> = Vec::new();
    for each in &weighed {
        let chance = (each.ln_weight - total).exp();
        match hypotheses.iter_mut().find(|(kind, _)| *kind == each.kind) {
            Some((_, sum)) => *sum += chance,
            None => hypotheses.push((each.kind, chance)),
        }
    }
    hypotheses.sort_by(|a, b| b.1.total_cmp(&a.1));
    let best = weighed.iter().max_by(|a, b| a.ln_weight.total_cmp(&b.ln_weight));
    let draft = best.map_or_else(Draft::default, |best| Draft {
        kind: best.kind,
        size: best.size,
        modulus: best.modulus,
        damaged_places: best.damaged,
        excluded_store_bytes: excluded_store(evidence),
        excluded_bad_share: excluded_bad_share(evidence),
    });
    Finding::new(evidence, hypotheses, draft)
}

/// Sound, damaged, and a fake whose store is larger than everything that was written.
fn genuine_kinds(evidence: &Evidence) -> Vec<Weighed> {
    let wrong = evidence.observations.iter().filter(|place| !place.is_right()).count() as u64;
    let mut damage = Damage::default();
    evidence.observations.iter().for_each(|place| damage.add(place.found));
    let flukes = ln_sound(wrong) + damage.ln_of_flukes();
    let size = Size { low: evidence.announced_bytes, high: evidence.announced_bytes };
    let of = |kind, chance: f64, ln_places: f64| Weighed {
        kind,
        ln_weight: chance.ln() + ln_places,
        size,
        modulus: None,
        damaged: wrong,
    };
    let stored = prior::FAKE * prior::larger_store(excluded_store(evidence));
    let cannot_hide = evidence.is_full && excluded_store(evidence) >= evidence.announced_bytes / 2;
    let hidden = Weighed {
        size: Size { low: 0, high: evidence.announced_bytes },
        ..of(Kind::HiddenStore, stored * if cannot_hide { 1e-3 } else { 1.0 }, flukes)
    };
    vec![
        of(Kind::Sound, prior::SOUND, flukes),
        of(Kind::Damaged, prior::DAMAGED, ln_damaged(evidence)),
        hidden,
    ]
}

fn fakes_without_modulus(evidence: &Evidence) -> Vec<Weighed> {
    let places = Places::new(evidence, None);
    let kind = |lost| match lost {
        // Most give zeros or ones.
        Lost::DropConstant => (Kind::Drop, 0.15),
        Lost::DropGarbled => (Kind::Drop, 0.075),
        Lost::DropOld => (Kind::Drop, 0.025),
        Lost::Limbo => (Kind::Limbo, 0.2),
        Lost::LastBlock => (Kind::LastBlock, 0.1),
    };
    Lost::ALL
        .into_iter()
        .filter_map(|lost| {
            let (kind, share) = kind(lost);
            with_edge(evidence, &places, lost, kind, prior::FAKE * share, None)
        })
        .collect()
}

fn fakes_with_modulus(evidence: &Evidence, modulus: u64) -> Vec<Weighed> {
    let places = Places::new(evidence, Some(modulus));
    let chance = prior::FAKE * MODULUS_CHANCE;
    let chained = [(Lost::DropConstant, 0.1), (Lost::DropGarbled, 0.04), (Lost::DropOld, 0.01)]
        .into_iter()
        .chain([(Lost::Limbo, 0.15)])
        .filter_map(|(lost, share)| {
            with_edge(evidence, &places, lost, Kind::Chained, chance * share, Some(modulus))
        });
    let mut weighed: Vec<Weighed> = chained.collect();
    let mut ln_weight = f64::NEG_INFINITY;
    let mut damaged = 0;
    for (store, store_chance) in stores(evidence) {
        let (ln_chance, wrong) = places.ln_without_edge(store);
        ln_weight = ln_sum(ln_weight, ln_chance + store_chance.ln());
        damaged = wrong;
    }
    weighed.push(Weighed {
        kind: Kind::Wrap,
        ln_weight: ln_weight + (chance * 0.3).ln(),
        size: Size { low: smallest_untested(evidence, modulus), high: modulus },
        modulus: Some(modulus),
        damaged,
    });
    weighed
}

/// The smallest modulus that `modulus` leaves possible: itself once its divisors were tried.
fn smallest_untested(evidence: &Evidence, modulus: u64) -> u64 {
    let divisors = super::divisors_to_try(modulus);
    let untested = divisors.into_iter().filter(|d| !evidence.unshared_distances.contains(d));
    untested.min().unwrap_or(modulus)
}

/// A kind with an edge: its weight over all edges and stores, and the edges that matter.
fn with_edge(
    evidence: &Evidence,
    places: &Places,
    lost: Lost,
    kind: Kind,
    chance: f64,
    modulus: Option<u64>,
) -> Option<Weighed> {
    let mut edges: Vec<Edge> = Vec::new();
    for (store, store_chance) in stores(evidence) {
        let of_store = places.edges(lost, store);
        if edges.is_empty() {
            edges = vec_of_none(&of_store);
        }
        for (sum, edge) in edges.iter_mut().zip(&of_store) {
            sum.ln_weight = ln_sum(sum.ln_weight, edge.ln_weight + store_chance.ln());
        }
    }
    let total = edges.iter().fold(f64::NEG_INFINITY, |sum, edge| ln_sum(sum, edge.ln_weight));
    let best = *edges.iter().max_by(|a, b| a.ln_weight.total_cmp(&b.ln_weight))?;
    Some(Weighed {
        kind,
        ln_weight: total + chance.ln(),
        size: bounds_of(edges, total),
        modulus,
        damaged: best.damaged,
    })
}

fn vec_of_none(edges: &[Edge]) -> Vec<Edge> {
    edges.iter().map(|edge| Edge { ln_weight: f64::NEG_INFINITY, ..*edge }).collect()
}

/// The bounds that hold [`SIZE_CONFIDENCE`] of the weight.
fn bounds_of(mut edges: Vec<Edge>, total: f64) -> Size {
    edges.sort_by(|a, b| b.ln_weight.total_cmp(&a.ln_weight));
    let mut held = 0.0;
    let mut size = Size { low: u64::MAX, high: 0 };
    for edge in edges {
        if held >= SIZE_CONFIDENCE {
            break;
        }
        held += (edge.ln_weight - total).exp();
        size.low = size.low.min(edge.above);
        size.high = size.high.max(edge.most);
    }
    size
}

/// The hidden stores worth weighing with their prior chances: none, and powers of two up to what
/// was written, each sharp or blurred to the next ones.
fn stores(evidence: &Evidence) -> Vec<(StoreRange, f64)> {
    let lost = evidence.observations.iter().filter(|place| !place.is_right());
    let mut lost_after: Vec<u64> = lost.map(Observation::distance_bytes).collect();
    lost_after.sort_unstable();
    let Some(&least) = lost_after.first() else {
        return vec![(StoreRange::NONE, 0.5)];
    };
    let most = evidence.observations.iter().map(Observation::distance_bytes).max().unwrap_or(0);
    let mut stores = vec![(StoreRange::NONE, 0.5)];
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
    for first in [least, lost_after[lost_after.len() / 20]] {
        let size = first.saturating_sub(1);
        let chance = prior::larger_store(size / 2) - prior::larger_store(size);
        stores.push((StoreRange { low: size, high: size }, chance.max(1e-6)));
    }
    stores
}

/// The largest store that would have been seen: between writing and reading each place chosen at
/// random more bytes were written. Only those of the filler count where there is a whole one: a store
/// may keep only what lies beyond the flash, and the other places may lie below its end.
fn excluded_store(evidence: &Evidence) -> u64 {
    let filler_start = match evidence.filler_bytes {
        0 => 0,
        filler => evidence.announced_bytes.saturating_sub(filler),
    };
    let random = evidence.observations.iter().filter(|place| place.is_random);
    let between = |place: &Observation| {
        evidence.writes.beyond(filler_start, place.written_at_bytes, place.read_at_bytes)
    };
    random.map(between).min().unwrap_or(0)
}

/// The share of bad places that the random ones exclude; the one seen, if everything was read.
fn excluded_bad_share(evidence: &Evidence) -> f64 {
    let random = || evidence.observations.iter().filter(|place| place.is_random);
    let wrong = random().filter(|place| !place.is_right()).count();
    if wrong > 0 {
        return 1.0;
    }
    if evidence.is_full {
        return 0.0;
    }
    excluded_share(random().count() as u64)
}
