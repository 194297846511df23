//! Weighs every kind of card against the evidence.

use super::bounds::excluded_share;
use super::exclusion::{MissingPart, SHARE_LEAST, Tested};
use super::family::{self, against_damage};
use super::finding::{Draft, Finding};
use super::kind::{Kind, Size};
use super::likelihood::{Edge, Places, cumulative, ln_damaged, ln_sound, ln_sum};
use super::lost::{Damage, Lost};
use super::modulus::{candidates, common_distance};
use super::observation::Evidence;
use super::prior;
use super::weighed::{Weighed, stores};

/// How much of the posterior of the real size its bounds hold.
const SIZE_CONFIDENCE: f64 = 0.999;

/// The prior chance of one modulus among all that a card may have.
const MODULUS_CHANCE: f64 = 1e-9;

/// What the evidence says of the card.
#[must_use]
pub fn infer(evidence: &Evidence) -> Finding {
    let tested = Tested::new(evidence);
    let mut weighed = genuine_kinds(evidence, &tested);
    weighed.extend(fakes_without_modulus(evidence));
    weighed.extend(fails_beyond(evidence));
    weighed.extend(family::shared(evidence));
    for modulus in candidates(evidence) {
        weighed.extend(fakes_with_modulus(evidence, modulus));
    }
    if !is_told(evidence, &weighed) {
        weighed.extend(family::weigh(evidence));
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
        excluded_store_bytes: tested.excluded_store(SHARE_LEAST, MissingPart::Anywhere),
        excluded_bad_share: excluded_bad_share(evidence),
    });
    Finding::new(evidence, hypotheses, draft, &tested)
}

/// Whether a fake of one edge or one modulus explains what was seen so well that others need not be
/// weighed.
fn is_told(evidence: &Evidence, weighed: &[Weighed]) -> bool {
    const TOLD: f64 = 0.9999;
    let sum = |all: &mut dyn Iterator<Item = &Weighed>| {
        all.fold(f64::NEG_INFINITY, |sum, each| ln_sum(sum, each.ln_weight))
    };
    // A modulus that was guessed from lost places alone may stand for a hole.
    let is_guess = common_distance(evidence).is_none();
    // What leaves many places to damage explains little.
    let most = (evidence.observations.len() / 20) as u64;
    let is_shown = |each: &&Weighed| {
        let is_fake = each.kind.is_fake() && each.kind != Kind::HiddenStore;
        is_fake && each.damaged <= most && !(is_guess && each.modulus.is_some())
    };
    let shown = sum(&mut weighed.iter().filter(is_shown));
    (shown - sum(&mut weighed.iter())).exp() > TOLD
}

/// Sound, damaged, and a fake whose store is larger than everything that was written.
fn genuine_kinds(evidence: &Evidence, tested: &Tested) -> Vec<Weighed> {
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
    let hidden = Weighed {
        size: Size { low: 0, high: evidence.announced_bytes },
        ..of(Kind::HiddenStore, prior::FAKE * chance_to_hide(evidence, tested), flukes)
    };
    let damaged = prior::DAMAGED * against_damage(evidence);
    vec![
        of(Kind::Sound, prior::SOUND, flukes),
        of(Kind::Damaged, damaged, ln_damaged(evidence)),
        hidden,
    ]
}

/// The chance that a fake, of any real size and with missing addresses of any arrangement, has a store
/// that is not excluded.
fn chance_to_hide(evidence: &Evidence, tested: &Tested) -> f64 {
    /// Nearly all fakes that were described end where their flash does.
    const AT_END: f64 = 0.9;
    const STEPS: u32 = 40;
    if evidence.is_full && !evidence.is_cut_short {
        // A store of all that is missing is flash.
        return 1e-3;
    }
    let parts = (0..STEPS).map(|step| {
        let part = |step: u32| f64::from(step) / f64::from(STEPS);
        let missing = 1.0 - (part(step) + part(step + 1)) / 2.0;
        let larger = |part| prior::larger_store(tested.excluded_store(missing, part));
        let larger =
            AT_END * larger(MissingPart::End) + (1.0 - AT_END) * larger(MissingPart::Anywhere);
        (cumulative(part(step + 1)) - cumulative(part(step))) * larger
    });
    parts.sum()
}

/// Cards of which every address behind an edge fails: some end like that, and so do fakes that report
/// an error for what they lack.
fn fails_beyond(evidence: &Evidence) -> Option<Weighed> {
    const FAILING_END: f64 = 0.1;
    let places = Places::new(evidence, None);
    let chance = prior::DAMAGED * FAILING_END;
    with_edge(evidence, &places, Lost::Fails, Kind::FailsBeyond, chance, None)
}

fn fakes_without_modulus(evidence: &Evidence) -> Vec<Weighed> {
    let places = Places::new(evidence, None);
    let of_copying = family::of_copying(evidence);
    let kind = |lost| match lost {
        // Most give zeros or ones.
        Lost::DropConstant => (Kind::Drop, 0.15),
        Lost::DropGarbled => (Kind::Drop, 0.075),
        Lost::DropOld => (Kind::Drop, 0.025),
        Lost::Limbo => (Kind::Limbo, 0.2),
        Lost::Others => (Kind::Drop, 0.02 * of_copying),
        Lost::LastBlock => (Kind::LastBlock, 0.1),
        Lost::Fails => (Kind::FailsBeyond, 0.0),
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
