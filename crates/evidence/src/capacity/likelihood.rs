//! How well a kind of card with given parameters explains what was seen.
//!
//! A fake is described by a modulus (or none), an edge above which addresses have no flash, what
//! these give, and a hidden store. The chance of the evidence is computed for all edges at once:
//! places are sorted by their folded address and the logarithms are summed from both ends. What lies
//! below an edge has flash, whatever addresses above it give: that is computed once for a modulus.

use super::lost::{Damage, Lost};
use super::modulus::LastWriters;
use super::observation::{Evidence, Found, Observation};
use super::prior;
use super::stamp::SECTOR;

/// The logarithm of the chance that a place contradicts a model that leaves no room for it.
const LN_CONTRADICTION: f64 = -20.0;

/// A hidden store: places read after at most `low` bytes come from it, places read after more than
/// `high` do not; between the two it may be either, for a store may count only some of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoreRange {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl StoreRange {
    pub(super) const NONE: Self = Self { low: 0, high: 0 };

    /// The logarithm of the chance that a place at `distance` comes from the store, and that it does
    /// not.
    pub(super) fn ln_kept(self, distance: u64) -> (f64, f64) {
        // Less than a half: a store that keeps one place and loses the next explains every mixture of
        // right and wrong places, and damage is the better explanation of a mixture.
        const LN_EITHER: f64 = -0.8;
        if distance > self.high {
            (f64::NEG_INFINITY, 0.0)
        } else if distance > self.low {
            (LN_EITHER, LN_EITHER)
        } else {
            (0.0, f64::NEG_INFINITY)
        }
    }
}

/// One place, seen under a modulus.
#[derive(Clone, Copy, Debug)]
struct Folded {
    place: Observation,
    /// Its address modulo the modulus.
    position: u64,
    /// The bytes written since the sector that should be there was written to another address, if
    /// that is what should be there.
    overwritten: Option<u64>,
    /// It gives back a sector of an address that shares its place.
    is_shared: bool,
    /// Its foreign sector is the one written last.
    is_latest: bool,
}

impl Folded {
    /// How many bytes from its start have a place in the flash.
    const fn held(&self) -> u64 {
        if self.is_shared { self.place.live_prefix_bytes } else { self.place.right_prefix_bytes }
    }

    /// The bytes written since its sector was written to another address, if it is right all the same.
    fn overwritten_and_kept(&self) -> Option<u64> {
        self.overwritten.filter(|_| self.place.found == Found::Right)
    }

    fn is_partly_held(&self) -> bool {
        (1..self.place.length_bytes).contains(&self.held())
    }

    fn is_wholly_held(&self) -> bool {
        self.held() >= self.place.length_bytes
    }
}

/// The places, sorted by their folded addresses.
pub(super) struct Places {
    folded: Vec<Folded>,
    /// All edges, in the order of their addresses.
    steps: Vec<Step>,
    /// All places on flash.
    flash: Flash,
}

/// An edge and what has flash below it.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// How many places lie below it.
    below: usize,
    /// It lies inside the next place.
    is_inside: bool,
    /// It lies above this address, in bytes.
    above: u64,
    /// And at most here.
    most: u64,
    /// The logarithm of the prior chance of a real size between the two.
    ln_prior: f64,
    flash: Flash,
}

/// Places that have flash below them.
#[derive(Clone, Copy, Debug)]
struct Flash {
    /// The logarithm of their chance, apart from a store.
    ln_chance: f64,
    /// How many of them are wrong.
    wrong: u64,
}

/// How well one edge explains the evidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The edge lies above this address, in bytes.
    pub(super) above: u64,
    /// And at most here.
    pub(super) most: u64,
    /// The logarithm of the chance of the evidence, with the prior of the edge.
    pub(super) ln_weight: f64,
    /// Places below the edge that this model does not explain.
    pub(super) damaged: u64,
}

impl Places {
    /// The places of `evidence` under `modulus`, or under none.
    pub(super) fn new(evidence: &Evidence, modulus: Option<u64>) -> Self {
        // The end of the folded addresses.
        let end = modulus.unwrap_or(evidence.announced_bytes).min(evidence.announced_bytes);
        let writers = modulus.map(|modulus| LastWriters::new(&evidence.writes, modulus));
        let latest = latest_foreign(evidence);
        let fold = |place: &Observation| Folded {
            place: *place,
            position: place.offset_bytes % end.max(1),
            overwritten: writers.as_ref().and_then(|writers| overwritten(writers, place)),
            is_shared: modulus.is_some_and(|modulus| is_shared(place, modulus)),
            is_latest: is_latest(place, &latest),
        };
        let mut folded: Vec<Folded> = evidence.observations.iter().map(fold).collect();
        folded.sort_by_key(|place| place.position);
        let (steps, flash) = steps(&folded, end, evidence.announced_bytes);
        Self { folded, steps, flash }
    }

    /// Every edge with its weight, for addresses above it that give what `lost` says.
    pub(super) fn edges(&self, lost: Lost, store: StoreRange) -> Vec<Edge> {
        let above = self.lost_above(lost, store);
        let below = self.overwritten_below(store);
        let edge = |step: &Step| {
            let on_flash = step.flash.ln_chance + below[step.below];
            let rest = above[step.below + usize::from(step.is_inside)];
            Edge {
                above: step.above,
                most: step.most,
                ln_weight: on_flash + rest + step.ln_prior,
                damaged: step.flash.wrong,
            }
        };
        self.steps.iter().map(edge).collect()
    }

    /// The weight of the model without an edge, and the places that it does not explain.
    pub(super) fn ln_without_edge(&self, store: StoreRange) -> (f64, u64) {
        let below = self.overwritten_below(store);
        (self.flash.ln_chance + below[self.folded.len()], self.flash.wrong)
    }

    /// For each index the logarithm of the chance that the places before it that were overwritten
    /// through another address, and still hold what was written to their own, come from `store`.
    fn overwritten_below(&self, store: StoreRange) -> Vec<f64> {
        let mut sum = 0.0;
        let kept = self.folded.iter().map(|place| {
            if let Some(since) = place.overwritten_and_kept() {
                let distance = since.min(place.place.distance_bytes());
                sum += store.ln_kept(distance).0.max(LN_CONTRADICTION);
            }
            // What was written beyond the flash would have come from the store.
            if place.is_shared && place.position != place.place.offset_bytes {
                sum += store.ln_kept(place.place.distance_bytes()).1.max(LN_CONTRADICTION);
            }
            sum
        });
        [0.0].into_iter().chain(kept).collect()
    }

    /// For each index the logarithm of the chance of all places from it on, if none has flash.
    fn lost_above(&self, lost: Lost, store: StoreRange) -> Vec<f64> {
        let mut sums = vec![0.0; self.folded.len() + 1];
        // Neighbours mostly show the same, so the last chances are kept with their sum.
        let mut last = ((f64::NAN, f64::NAN), f64::NAN);
        for (index, place) in self.folded.iter().enumerate().rev() {
            let found = place.place.found;
            let (kept, gone) = store.ln_kept(place.place.distance_bytes());
            let ln_lost = gone + lost.ln_chance(found, place.is_latest);
            let ln_stored = kept + if found == Found::Right { 0.0 } else { LN_CONTRADICTION };
            if last.0 != (ln_lost, ln_stored) {
                last = ((ln_lost, ln_stored), ln_sum(ln_lost, ln_stored));
            }
            sums[index] = sums[index + 1] + last.1.max(LN_CONTRADICTION * 2.0);
        }
        sums
    }
}

/// Every edge among `folded` places, whose addresses end at `end`, on a device that announces so much; and
/// all of them on flash.
fn steps(folded: &[Folded], end: u64, announced: u64) -> (Vec<Step>, Flash) {
    let mut below = Below { pieces: Pieces::of_device(announced), ..Below::default() };
    let mut steps = Vec::with_capacity(folded.len() + 1);
    let mut from = 0;
    for index in 0..=folded.len() {
        let next = folded.get(index);
        let partly = next.filter(|next| next.is_partly_held()).map(Folded::held);
        // An edge inside a place leaves its first part, and so is known exactly.
        let most = match (next, partly) {
            (Some(next), Some(held)) => next.position + held,
            (Some(next), None) if next.place.is_right() => {
                next.position + next.place.length_bytes.saturating_sub(SECTOR as u64)
            }
            (Some(next), None) => next.position,
            (None, _) => end,
        };
        let above = if partly.is_some() { most } else { from };
        if most >= from {
            let (is_inside, ln_prior) = (partly.is_some(), ln_prior(above, most, end));
            let flash = below.flash();
            steps.push(Step { below: index, is_inside, above, most, ln_prior, flash });
        }
        if let Some(next) = next {
            below.add(next);
            from = from.max(next.position + next.place.length_bytes);
        }
    }
    (steps, below.flash())
}

/// The logarithm of the prior chance of a real size between two addresses, of at most `end`.
fn ln_prior(above: u64, most: u64, end: u64) -> f64 {
    let part = |bytes: u64| bytes as f64 / end.max(1) as f64;
    let chance = cumulative(part(most)) - cumulative(part(above));
    (chance + 1e-12).ln()
}

/// The chance of a real size of at most `part` of the announced one: half of it spread evenly, half
/// evenly in the logarithm from a ten-thousandth up.
pub(super) fn cumulative(part: f64) -> f64 {
    let usual = |part: f64| {
        let low: f64 = 1e-4;
        let in_logarithm = (part.max(low) / low).ln() / (prior::NEAR_FULL / low).ln();
        0.5 * part / prior::NEAR_FULL + 0.5 * in_logarithm
    };
    if part <= prior::NEAR_FULL {
        (1.0 - prior::FAKE_NEAR_FULL) * usual(part)
    } else {
        let beyond = (part - prior::NEAR_FULL) / (1.0 - prior::NEAR_FULL);
        1.0 - prior::FAKE_NEAR_FULL * (1.0 - beyond)
    }
}

/// Damage comes in pieces of one of these sizes, in bytes: each place for itself, an erase block of one
/// chip, one of many chips. Neighbours in one piece are sound or damaged together and count once.
const PIECE_SIZES: [u64; 3] = [0, 1 << 20, 32 << 20];

/// A device has at least so many pieces: small ones are made of small chips.
const PIECES_LEAST: u64 = 256;

/// Pieces of the flash, sound and damaged, seen place by place in the order of their addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Pieces {
    of_size: [PiecesOfSize; PIECE_SIZES.len()],
    /// The largest piece of the device, in bytes.
    largest: u64,
    /// Where the last place was, and whether it was damaged.
    last: Option<(u64, bool)>,
}

/// Pieces of one size.
#[derive(Clone, Copy, Debug, Default)]
struct PiecesOfSize {
    all: u64,
    damaged: u64,
    /// Where the last one begins.
    last_start: u64,
    /// The logarithm of the chance of borders where they were found.
    ln_borders: f64,
}

impl Pieces {
    /// Of a device of so many bytes.
    fn of_device(announced: u64) -> Self {
        Self { largest: announced / PIECES_LEAST, ..Self::default() }
    }

    fn add(&mut self, position: u64, is_damaged: bool) {
        let is_like_last = self.last.is_some_and(|(_, damaged)| damaged == is_damaged);
        let from_last = self.last.map_or(u64::MAX, |(last, _)| position.saturating_sub(last));
        let largest = self.largest;
        let sizes = PIECE_SIZES.map(|size| size.min(largest));
        for (pieces, size) in self.of_size.iter_mut().zip(sizes) {
            if is_like_last && position.saturating_sub(pieces.last_start) < size {
                continue;
            }
            pieces.all += 1;
            pieces.damaged += u64::from(is_damaged);
            pieces.last_start = position;
            if !is_like_last && from_last < size {
                // A border lies anywhere in a piece; it was found between two close places.
                pieces.ln_borders += (from_last.max(SECTOR as u64) as f64 / size as f64).ln();
            }
        }
        self.last = Some((position, is_damaged));
    }

    /// The logarithm of their chance: each size is as likely.
    fn ln_chance(&self) -> f64 {
        let share = -(PIECE_SIZES.len() as f64).ln();
        let sizes = self.of_size.iter();
        sizes.fold(f64::NEG_INFINITY, |sum, pieces| ln_sum(sum, pieces.ln_chance() + share))
    }
}

impl PiecesOfSize {
    /// The logarithm of their chance when every share of damaged pieces is as likely:
    /// 1 / ((n + 1) (n over k)).
    fn ln_chance(&self) -> f64 {
        let n = self.all as f64;
        ln_factorial(self.damaged) + ln_factorial(self.all - self.damaged)
            - ln_factorial(self.all)
            - (n + 1.0).ln()
            + self.ln_borders
    }
}

/// The logarithm of the chance of all places on flash that is damaged in places.
pub(super) fn ln_damaged(evidence: &Evidence) -> f64 {
    let mut places: Vec<&Observation> = evidence.observations.iter().collect();
    places.sort_by_key(|place| place.offset_bytes);
    let mut pieces = Pieces::of_device(evidence.announced_bytes);
    let mut damage = Damage::default();
    for place in places {
        pieces.add(place.offset_bytes, !place.is_right());
        damage.add(place.found);
    }
    pieces.ln_chance() + damage.ln_chance()
}

/// Places that have flash below them, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    pieces: Pieces,
    wrong: u64,
    /// What the wrong ones show.
    damage: Damage,
}

impl Below {
    fn add(&mut self, place: &Folded) {
        let is_fine = place.is_wholly_held() || place.overwritten_and_kept().is_some();
        self.pieces.add(place.position, !is_fine);
        if !is_fine {
            self.wrong += 1;
            self.damage.add(place.place.found);
        }
    }

    /// Their chance: sound flash in nine of ten cases, else flash with an unknown share of damaged
    /// places.
    fn flash(&self) -> Flash {
        let sound = 0.9_f64.ln() + ln_sound(self.wrong) + self.damage.ln_of_flukes();
        let damaged = 0.1_f64.ln() + self.pieces.ln_chance() + self.damage.ln_chance();
        Flash { ln_chance: ln_sum(sound, damaged), wrong: self.wrong }
    }
}

/// The logarithm of the chance of so many `wrong` places on sound flash.
pub(super) fn ln_sound(wrong: u64) -> f64 {
    wrong as f64 * prior::FLUKE.ln()
}

/// ln n!, by Stirling's series above 16.
pub(super) fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|k| (k as f64).ln()).sum();
    }
    let n = n as f64;
    n * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI * n).ln() + 1.0 / (12.0 * n)
}

/// ln(e^a + e^b).
pub(super) fn ln_sum(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    // Less than a part in 10^17 changes nothing.
    if low - high > -40.0 { high + (low - high).exp().ln_1p() } else { high }
}

/// When the sector that should be at a place was written to another address: the bytes since.
fn overwritten(writers: &LastWriters<'_>, place: &Observation) -> Option<u64> {
    let (address, before) = writers.of(place.offset_bytes, place.read_at_bytes)?;
    // The latest may still be in a store, and so may not those before it.
    let all = writers.all_overwritten(place.written_at_bytes, place.read_at_bytes);
    let before = all.map_or(before, |all| before.min(all));
    (address != place.offset_bytes).then(|| place.read_at_bytes.saturating_sub(before))
}

fn is_shared(place: &Observation, modulus: u64) -> bool {
    match place.found {
        Found::Foreign { at_bytes, address_bytes } => {
            at_bytes.abs_diff(address_bytes).is_multiple_of(modulus)
        }
        _ => false,
    }
}

/// No more foreign addresses than this are compared: a repeated one is among the first.
const DISTINCT_MAX: usize = 256;

/// The foreign address seen most often at each moment of reading.
fn latest_foreign(evidence: &Evidence) -> Vec<(u64, u64)> {
    let mut seen: Vec<(u64, u64, u32)> = Vec::new();
    for place in &evidence.observations {
        let Found::Foreign { address_bytes, .. } = place.found else { continue };
        let key = (place.read_at_bytes, address_bytes);
        let has_room = seen.len() < DISTINCT_MAX;
        match seen.iter_mut().find(|(at, address, _)| (*at, *address) == key) {
            Some((_, _, count)) => *count += 1,
            None if has_room => seen.push((key.0, key.1, 1)),
            None => {}
        }
    }
    seen.retain(|&(_, _, count)| count > 1);
    seen.into_iter().map(|(at, address, _)| (at, address)).collect()
}

fn is_latest(place: &Observation, latest: &[(u64, u64)]) -> bool {
    match place.found {
        Found::Foreign { address_bytes, .. } => {
            latest.contains(&(place.read_at_bytes, address_bytes))
        }
        _ => false,
    }
}
