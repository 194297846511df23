//! Fakes without one edge: their missing addresses lie in holes, in stripes, scattered, or wherever was
//! written late; or addresses share places without a rule.
//!
//! Each is told from damage by what damage does not do. Flash that dies loses pieces here and there
//! and reports errors; it does not lose half of the addresses in one piece without an error, nor at
//! equal distances; it copies nothing to other addresses; and a place that it has lost is not right
//! when it is read at once. Where nothing of this was seen, a card of scattered losses is called
//! damaged, since genuine cards end like that.

use super::kind::{Kind, Size};
use super::likelihood::{StoreRange, ln_factorial, ln_sum};
use super::lost::{Damage, Lost};
use super::observation::{Evidence, Found, Observation};
use super::period::Stripes;
use super::prior;
use super::weighed::{Weighed, few_stores};

/// How common each of them is among fakes: no fake of these kinds was described in public.
const HOLES: f64 = 0.03;
const STRIPES: f64 = 0.01;
const SCATTERED: f64 = 0.02;
const SHARED: f64 = 0.02;
const FILLS_UP: f64 = 0.01;

/// Genuine cards of which a whole part, or every so manieth, is lost without an error.
const SILENT_PART: f64 = 0.002;

/// Damaged cards whose damage lies in one part.
const FAILING_PART: f64 = 0.1;

/// Damaged cards that took no more data at some moment of the test.
const ENDED: f64 = 0.02;

/// Damaged cards that put data at other addresses.
const MISDIRECTING: f64 = 0.02;

/// Damaged cards with a cache, from which a lost place is right if it is read at once.
const CACHED: f64 = 0.003;

/// A missing share below this earns a maker nothing, and the next one hardly more.
const SHARES_OF_NOTHING: [(f64, f64); 2] = [(0.02, 1e-6), (0.1, 1e-5)];

/// Damaged cards on which pairs of addresses give each other's data again and again.
const COPYING: f64 = 1e-5;

/// The largest unit in which cards hand out their flash, in bytes: the allocation unit of common cards.
const UNIT_MAX: u64 = 4 << 20;

/// How many borders between good and missing parts are weighed.
const BORDERS: [u64; 5] = [1, 2, 4, 8, 16];

/// No more borders than one for so many places: a part is seen as one by several of them.
const PLACES_OF_PART: u64 = 12;

/// So often something must have happened again to be shown.
pub(super) const SHOWN: u64 = 3;

/// All of them but those that share places, and damage of the same forms; none where too little is wrong.
pub(super) fn weigh(evidence: &Evidence) -> Vec<Weighed> {
    const WRONG_LEAST: usize = 3;
    let wrong = evidence.observations.iter().filter(|place| !place.is_right()).count();
    if wrong < WRONG_LEAST {
        return Vec::new();
    }
    let manner = manner(evidence);
    let mut weighed = holes(evidence, manner);
    weighed.extend(stripes(evidence, manner));
    weighed.extend(fills_up(evidence, manner));
    weighed.extend(scattered(evidence, manner));
    weighed
}

/// The factor by which what was tried again speaks against damage: a lost place was right at once, or
/// addresses gave each other's data once more.
pub(super) fn against_damage(evidence: &Evidence) -> f64 {
    let cached = if evidence.right_at_once.is_shown(SHOWN) { CACHED } else { 1.0 };
    cached * if evidence.shared_again.is_common() { COPYING } else { 1.0 }
}

/// The chance that missing addresses give other addresses' data: damage may do that too, but only once.
pub(super) fn of_copying(evidence: &Evidence) -> f64 {
    if evidence.shared_again.is_common() { 1.0 } else { 1e-6 }
}

/// What most of the lost places give.
fn manner(evidence: &Evidence) -> Lost {
    let wrong = || evidence.observations.iter().filter(|place| !place.is_right());
    let fit = |lost: &Lost| -> f64 {
        wrong().map(|place| lost.ln_chance(place.found, false)).sum::<f64>()
    };
    let all = Lost::SILENT.into_iter().chain([Lost::Fails]);
    all.max_by(|a, b| fit(a).total_cmp(&fit(b))).unwrap_or(Lost::DropConstant)
}

/// The logarithm of the chance of `place` on flash, sound or damaged.
fn ln_flash(place: &Observation, is_damaged: bool) -> f64 {
    const DAMAGED: f64 = 0.05;
    match (place.is_right(), is_damaged) {
        (true, false) => 0.0,
        (true, true) => (1.0 - DAMAGED).ln(),
        (false, false) => prior::FLUKE.ln() + Damage::ln_alone(place.found),
        (false, true) => DAMAGED.ln() + Damage::ln_alone(place.found),
    }
}

/// The logarithm of the chance of `place` without flash.
fn ln_lost(place: &Observation, lost: Lost, store: StoreRange) -> f64 {
    const LN_CONTRADICTION: f64 = -20.0;
    let (kept, gone) = store.ln_kept(place.distance_bytes());
    let ln_gone = gone + lost.ln_chance(place.found, false);
    let ln_stored = kept + if place.is_right() { 0.0 } else { LN_CONTRADICTION };
    ln_sum(ln_gone, ln_stored).max(LN_CONTRADICTION * 2.0)
}

/// A model of each place as with flash or without.
struct TwoStates {
    /// The logarithms of its chances: with flash, without.
    places: Vec<(f64, f64)>,
    /// For each of them the addresses since the one before it, as a share of all.
    gaps: Vec<f64>,
}

impl TwoStates {
    fn new(places: &[&Observation], is_damaged: bool, lost: Lost, store: StoreRange) -> Self {
        let of = |place: &&Observation| (ln_flash(place, is_damaged), ln_lost(place, lost, store));
        Self { places: places.iter().map(of).collect(), gaps: Vec::new() }
    }

    /// The same, for places in the order of their addresses, which end at `size`.
    fn with_gaps(self, places: &[&Observation], size: u64) -> Self {
        let starts = || places.iter().map(|place| place.offset_bytes);
        let pairs = [0].into_iter().chain(starts()).zip(starts());
        let share = |(before, after): (u64, u64)| {
            after.saturating_sub(before).max(1) as f64 / size.max(1) as f64
        };
        Self { gaps: pairs.map(share).collect(), ..self }
    }

    /// The logarithm of their chance in parts with and without flash, with so many borders on average.
    /// Flash that ends at one border is another kind and left out.
    fn ln_in_parts(&self, borders: u64) -> f64 {
        let none = f64::NEG_INFINITY;
        // The first flash and the first missing part behind it; and what follows them or begins
        // without flash.
        let (mut front, mut behind) = (0.5_f64.ln(), none);
        let (mut flash, mut lost) = (none, 0.5_f64.ln());
        for (&(ln_flash, ln_lost), gap) in self.places.iter().zip(&self.gaps) {
            // A border lies anywhere in the addresses with the same chance.
            let change = (borders as f64 * gap).min(0.5);
            let (stay, change) = ((1.0 - change).ln(), change.ln());
            (front, behind, flash, lost) = (
                front + stay + ln_flash,
                ln_sum(behind + stay, front + change) + ln_lost,
                ln_sum(flash + stay, ln_sum(lost, behind) + change) + ln_flash,
                ln_sum(lost + stay, flash + change) + ln_lost,
            );
        }
        ln_sum(flash, lost)
    }

    /// The logarithm of their chance with flash before one border and none behind it, and the places
    /// before the best border.
    fn ln_one_border(&self) -> (f64, usize) {
        let mut lost: f64 = self.places.iter().map(|(_, lost)| lost).sum();
        let mut flash = 0.0;
        let (mut sum, mut best) = (f64::NEG_INFINITY, (f64::NEG_INFINITY, 0));
        for (index, &(ln_flash, ln_lost)) in self.places.iter().enumerate() {
            flash += ln_flash;
            lost -= ln_lost;
            sum = ln_sum(sum, flash + lost);
            if flash + lost > best.0 {
                best = (flash + lost, index + 1);
            }
        }
        (sum - (self.places.len().max(1) as f64).ln(), best.1)
    }
}

/// For sound and damaged flash and for each store: the logarithm of the prior, and the model.
fn models(evidence: &Evidence, places: &[&Observation], lost: Lost) -> Vec<(f64, TwoStates)> {
    const DAMAGED: [(bool, f64); 2] = [(false, 0.9), (true, 0.1)];
    let stores = few_stores(evidence);
    let of = |(store, chance): &(StoreRange, f64)| {
        DAMAGED.map(|(is_damaged, share)| {
            ((chance * share).ln(), TwoStates::new(places, is_damaged, lost, *store))
        })
    };
    stores.iter().flat_map(of).collect()
}

fn by(evidence: &Evidence, key: impl Fn(&Observation) -> u64) -> Vec<&Observation> {
    let mut places: Vec<&Observation> = evidence.observations.iter().collect();
    places.sort_by_key(|place| key(place));
    places
}

/// A fake is worth making only if enough is missing.
fn worth(share: f64) -> f64 {
    let none = SHARES_OF_NOTHING.iter().find(|(most, _)| share < *most);
    none.map_or(1.0, |(_, chance)| *chance)
}

/// The chance of a fake that answers with errors: only its store tells it from damage.
fn of_manner(evidence: &Evidence, lost: Lost) -> f64 {
    match lost {
        Lost::Others => of_copying(evidence),
        Lost::Fails if !evidence.right_at_once.is_shown(SHOWN) => 1e-4,
        _ => 1.0,
    }
}

fn holes(evidence: &Evidence, lost: Lost) -> Vec<Weighed> {
    let places = by(evidence, |place| place.offset_bytes);
    let most = places.len() as u64 / PLACES_OF_PART;
    let borders = || BORDERS.into_iter().filter(|&borders| borders <= most);
    let mut ln_chance = f64::NEG_INFINITY;
    for (ln_prior, model) in models(evidence, &places, lost) {
        let model = model.with_gaps(&places, evidence.announced_bytes);
        for borders in borders() {
            let of_borders = -(BORDERS.len() as f64).ln();
            ln_chance = ln_sum(ln_chance, ln_prior + of_borders + model.ln_in_parts(borders));
        }
    }
    let (size, share) = size_between(evidence);
    let fake = prior::FAKE * HOLES * worth(share) * of_manner(evidence, lost);
    let part = if lost == Lost::Fails { FAILING_PART } else { SILENT_PART * 0.1 };
    let damaged = prior::DAMAGED * part * against_damage(evidence);
    let wrong = wrong(evidence);
    vec![
        weighed(Kind::Holes, fake, ln_chance, size, 0),
        weighed(Kind::Damaged, damaged, ln_chance, announced(evidence), wrong),
    ]
}

fn stripes(evidence: &Evidence, lost: Lost) -> Vec<Weighed> {
    let Some(period) = evidence.guessed_period.filter(|&period| period > 0) else {
        return Vec::new();
    };
    let places: Vec<&Observation> = evidence.observations.iter().collect();
    let mut ln_chance = f64::NEG_INFINITY;
    for (ln_prior, model) in models(evidence, &places, lost) {
        let mut stripes = Stripes::default();
        for (place, (flash, lost)) in places.iter().zip(&model.places) {
            stripes.add(place.offset_bytes % period, period, *flash, *lost);
        }
        ln_chance = ln_sum(ln_chance, ln_prior + stripes.ln_chance());
    }
    let share = lost_share(evidence);
    let fake = prior::FAKE * STRIPES * worth(share) * of_manner(evidence, lost);
    let part = if lost == Lost::Fails { FAILING_PART } else { SILENT_PART * 0.1 };
    let damaged = prior::DAMAGED * part * against_damage(evidence);
    let size = size_by_share(evidence);
    vec![
        weighed(Kind::Stripes, fake, ln_chance, size, 0),
        weighed(Kind::Damaged, damaged, ln_chance, announced(evidence), wrong(evidence)),
    ]
}

/// Takes any address until it is full. A card that took no more data because it died looks the same
/// until what it holds is written again.
fn fills_up(evidence: &Evidence, lost: Lost) -> Vec<Weighed> {
    let places = by(evidence, |place| place.written_at_bytes);
    let mut ln_chance = f64::NEG_INFINITY;
    let mut best = (f64::NEG_INFINITY, 0);
    for is_damaged in [false, true] {
        let model = TwoStates::new(&places, is_damaged, lost, StoreRange::NONE);
        let (ln, border) = model.ln_one_border();
        let ln = ln + if is_damaged { 0.1_f64.ln() } else { 0.9_f64.ln() };
        ln_chance = ln_sum(ln_chance, ln);
        if ln > best.0 {
            best = (ln, border);
        }
    }
    let at = |index: usize| places.get(index).map(|place| place.written_at_bytes);
    let full_at = at(best.1).unwrap_or(evidence.announced_bytes);
    // Each place by itself may have taken a whole unit of the card's flash.
    let stretches = evidence.writes.stretches().filter(|&(_, _, before)| before < full_at).count();
    let high = full_at.saturating_add(stretches as u64 * UNIT_MAX).min(evidence.announced_bytes);
    let low = best.1.checked_sub(1).and_then(at).unwrap_or(0);
    let size = Size { low, high };
    let again = evidence.rewritten;
    let (of_fake, of_dead) = if again.is_shown(SHOWN) {
        (1.0, 1e-5)
    } else if again.is_refuted(SHOWN) {
        (0.01, 1.0)
    } else {
        (0.1, 1.0)
    };
    let fake = prior::FAKE * FILLS_UP * of_fake * of_manner(evidence, lost);
    let damaged = prior::DAMAGED * ENDED * of_dead;
    vec![
        weighed(Kind::FillsUp, fake, ln_chance, size, 0),
        weighed(Kind::Damaged, damaged, ln_chance, announced(evidence), wrong(evidence)),
    ]
}

/// Losses anywhere. Only a place that is right at once and lost later tells this from damage.
fn scattered(evidence: &Evidence, lost: Lost) -> Vec<Weighed> {
    if !evidence.right_at_once.is_shown(SHOWN) {
        return Vec::new();
    }
    let mut ln_chance = f64::NEG_INFINITY;
    let places: Vec<&Observation> = evidence.observations.iter().collect();
    for (ln_prior, model) in models(evidence, &places, lost) {
        let ln_half = 0.5_f64.ln();
        let of = |(flash, lost): &(f64, f64)| ln_sum(*flash, *lost) + ln_half;
        ln_chance = ln_sum(ln_chance, ln_prior + model.places.iter().map(of).sum::<f64>());
    }
    // Every share is as likely.
    let (all, missing) = (places.len() as u64, wrong(evidence));
    let as_half = -(all as f64) * 2.0_f64.ln();
    let as_any = ln_factorial(missing) + ln_factorial(all - missing)
        - ln_factorial(all)
        - ((all + 1) as f64).ln();
    let chance = prior::FAKE * SCATTERED * worth(lost_share(evidence));
    let size = size_by_share(evidence);
    vec![weighed(Kind::Scattered, chance, ln_chance - as_half + as_any, size, 0)]
}

/// Addresses that share places without a rule. A misdirected write is not repeated where its pair of
/// addresses is written again.
pub(super) fn shared(evidence: &Evidence) -> impl Iterator<Item = Weighed> {
    let is_foreign = |place: &&Observation| matches!(place.found, Found::Foreign { .. });
    let all = evidence.observations.len() as u64;
    let foreign = evidence.observations.iter().filter(is_foreign).count() as u64;
    let others = evidence.observations.iter().filter(|place| !is_foreign(place));
    let (mut sound, mut damaged) = (0.9_f64.ln(), 0.1_f64.ln());
    let mut broken = 0;
    for place in others {
        sound += ln_flash(place, false);
        damaged += ln_flash(place, true);
        broken += u64::from(!place.is_right());
    }
    // Every share of overwritten places is as likely.
    let ln_chance = ln_factorial(foreign) + ln_factorial(all - foreign)
        - ln_factorial(all)
        - ((all + 1) as f64).ln()
        + ln_sum(sound, damaged);
    let again = evidence.shared_again;
    let (of_fake, of_damage) = if again.is_common() {
        (1.0, COPYING)
    } else if again.is_refuted(1) {
        (1e-3, 1.0)
    } else {
        (0.1, 1.0)
    };
    let size = Size { low: 0, high: shared_most(evidence, foreign, all) };
    let fake = prior::FAKE * SHARED * of_fake;
    let misdirecting = prior::DAMAGED * MISDIRECTING * of_damage;
    let found = [
        weighed(Kind::Shared, fake, ln_chance, size, broken),
        weighed(Kind::Damaged, misdirecting, ln_chance, announced(evidence), wrong(evidence)),
    ];
    found.into_iter().filter(move |_| foreign > 0)
}

/// A share of the addresses was seen to share their places; at best two share one.
fn shared_most(evidence: &Evidence, foreign: u64, all: u64) -> u64 {
    let (low, _) = share_bounds(foreign, all);
    let size = evidence.announced_bytes as f64;
    (size * (1.0 - low / 2.0)) as u64
}

fn weighed(kind: Kind, chance: f64, ln_chance: f64, size: Size, damaged: u64) -> Weighed {
    Weighed { kind, ln_weight: chance.ln() + ln_chance, size, modulus: None, damaged }
}

fn announced(evidence: &Evidence) -> Size {
    Size { low: evidence.announced_bytes, high: evidence.announced_bytes }
}

fn wrong(evidence: &Evidence) -> u64 {
    evidence.observations.iter().filter(|place| !place.is_right()).count() as u64
}

/// The places that were read after as much as lost every lost one, so that no store holds them.
fn settled(evidence: &Evidence) -> Vec<&Observation> {
    let random = || evidence.observations.iter().filter(|place| place.is_random);
    let lost = random().filter(|place| !place.is_right()).map(Observation::distance_bytes);
    let least = lost.min().unwrap_or(0);
    let all = evidence.observations.iter().filter(|place| place.distance_bytes() >= least);
    let mut places: Vec<&Observation> = all.collect();
    places.sort_by_key(|place| place.offset_bytes);
    places
}

fn lost_share(evidence: &Evidence) -> f64 {
    let settled = settled(evidence);
    let lost = settled.iter().filter(|place| !place.is_right()).count();
    lost as f64 / settled.len().max(1) as f64
}

/// The real size by the share of lost places, all over the addresses.
pub(super) fn size_by_share(evidence: &Evidence) -> Size {
    let random: Vec<_> = settled(evidence).into_iter().filter(|place| place.is_random).collect();
    let lost = random.iter().filter(|place| !place.is_right()).count() as u64;
    let (low, high) = share_bounds(lost, random.len() as u64);
    let size = evidence.announced_bytes as f64;
    Size { low: ((1.0 - high) * size) as u64, high: ((1.0 - low) * size) as u64 }
}

/// Bounds of a share of which `hit` of `all` were met, in all but one case of a thousand (Wilson's score
/// interval, 1927).
fn share_bounds(hit: u64, all: u64) -> (f64, f64) {
    const DEVIATIONS: f64 = 3.29;
    if all == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (all as f64, hit as f64 / all as f64);
    let squared = DEVIATIONS * DEVIATIONS;
    let middle = (share + squared / (2.0 * n)) / (1.0 + squared / n);
    let half = DEVIATIONS / (1.0 + squared / n)
        * (share * (1.0 - share) / n + squared / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The real size where parts with and without flash follow each other: a border lies anywhere between
/// a good place and a lost one. A single place unlike both its neighbours is damage. With it the share
/// that is missing.
fn size_between(evidence: &Evidence) -> (Size, f64) {
    let places = settled(evidence);
    let is_right = |index: usize| {
        let unlike = |other: Option<usize>| {
            let other = other.and_then(|other| places.get(other));
            other.is_some_and(|other| other.is_right() != places[index].is_right())
        };
        let is_single = unlike(index.checked_sub(1)) && unlike(Some(index + 1));
        places[index].is_right() != is_single
    };
    let (mut good, mut missing) = (0, 0);
    let mut add = |from: u64, to: u64, states: (bool, bool)| match states {
        (true, true) => good += to - from,
        (false, false) => missing += to - from,
        _ => {}
    };
    let mut last = None;
    for (index, place) in places.iter().enumerate() {
        let state = is_right(index);
        let (from, before) = last.unwrap_or((0, state));
        add(from.min(place.offset_bytes), place.offset_bytes, (before, state));
        let end = place.end_bytes().max(from);
        add(place.offset_bytes, end, (state, state));
        last = Some((end, state));
    }
    let size = evidence.announced_bytes;
    if let Some((end, state)) = last {
        add(end.min(size), size, (state, state));
    }
    let share = missing as f64 / size.max(1) as f64;
    // A place at a border may be good in part.
    let slack = 4096 * 16;
    let high = size.saturating_sub(missing).max(good).saturating_add(slack).min(size);
    (Size { low: good.min(high).saturating_sub(slack), high }, share)
}
