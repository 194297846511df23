//! What the evidence says: a verdict, how sure it is, bounds, and the reasons in words.

use super::exclusion::{Exclusion, Tested};
use super::family::{SHOWN, size_by_share};
use super::kind::{Kind, Size};
use super::observation::{Evidence, Observation};

/// The verdict on a card whose capacity was tested by writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It holds what it announces.
    Genuine,
    /// It holds less than it announces, and hides that.
    Fake,
    /// It holds what it announces, but places of it do not keep their data.
    Damaged,
    /// The evidence does not decide.
    Undecided,
}

impl Verdict {
    /// Its name in a record and in `--json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::Fake => "fake",
            Self::Damaged => "damaged",
            Self::Undecided => "undecided",
        }
    }
}

/// Bounds of a hidden store that was seen, in bytes written between writing and reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// Places were still right after so many bytes.
    pub low: u64,
    /// Places were lost after so many bytes.
    pub high: u64,
}

/// What the evidence says of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// The likeliest kind.
    pub kind: Kind,
    /// The posterior probability of the verdict, 0 to 1: of all kinds that it covers.
    pub probability: f64,
    /// Every kind with its posterior probability, the likeliest first.
    pub hypotheses: Vec<(Kind, f64)>,
    /// How much the card really holds.
    pub size: Size,
    /// The distance at which addresses start again, in bytes.
    pub modulus_bytes: Option<u64>,
    /// The hidden store, where one was seen.
    pub store: Option<Store>,
    /// After so many other bytes a place that the card does not hold is known to be lost; zero where
    /// no place was lost.
    pub cleared_after_bytes: u64,
    /// A hidden store of up to so many bytes would have been seen, if a tenth of the addresses or more
    /// were missing, in any arrangement.
    pub excluded_store_bytes: u64,
    /// The fakes that would have been seen, with [`CONFIDENCE`](super::CONFIDENCE).
    pub exclusions: Vec<Exclusion>,
    /// Addresses that share places without a rule would have been seen up to this real size, in bytes.
    pub excluded_sharing_bytes: u64,
    /// A larger share of bad places would have been seen, with the confidence
    /// [`CONFIDENCE`](super::CONFIDENCE).
    pub excluded_bad_share: f64,
    /// The share of places that did not keep their data for another reason than a false capacity,
    /// among those tested below the real size.
    pub damaged_share: f64,
    /// Those places, as (start, end) in bytes; at most 64.
    pub damaged_ranges: Vec<(u64, u64)>,
    /// Errors that a second attempt did not show.
    pub transient_errors: u64,
    /// Why, the most important first.
    pub reasons: Vec<String>,
}

/// What the weighing found, before the verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) size: Size,
    pub(super) modulus: Option<u64>,
    pub(super) damaged_places: u64,
    pub(super) excluded_store_bytes: u64,
    pub(super) excluded_bad_share: f64,
}

/// Below this a verdict is not given.
const PROBABILITY_MIN: f64 = 0.9;

/// A card is not called a fake for less.
const PROBABILITY_OF_FAKE_MIN: f64 = 0.99;

/// A card is not called genuine after fewer random places: they exclude a bad share of 5 %.
const PLACES_MIN: usize = 92;

/// The most damaged ranges that are listed.
const RANGES_MAX: usize = 64;

impl Finding {
    pub(super) fn new(
        evidence: &Evidence,
        hypotheses: Vec<(Kind, f64)>,
        draft: Draft,
        tested: &Tested,
    ) -> Self {
        let chance_of = |wanted: &dyn Fn(Kind) -> bool| -> f64 {
            hypotheses.iter().filter(|(kind, _)| wanted(*kind)).map(|(_, chance)| chance).sum()
        };
        let is_shown_fake = |kind: Kind| kind.is_fake() && kind != Kind::HiddenStore;
        let fake = chance_of(&is_shown_fake);
        let sound = chance_of(&|kind| kind == Kind::Sound);
        let damaged = chance_of(&|kind| matches!(kind, Kind::Damaged | Kind::FailsBeyond));
        let lost = lost_places(evidence, draft.kind, draft.size, draft.modulus);
        let (verdict, probability) = decide(evidence, (sound, fake, damaged), lost.len());
        let mut finding = Self {
            verdict,
            kind: draft.kind,
            probability,
            hypotheses,
            size: draft.size,
            modulus_bytes: draft.modulus,
            store: store(evidence, &draft),
            cleared_after_bytes: cleared_after(evidence, &draft, &lost),
            excluded_store_bytes: draft.excluded_store_bytes,
            exclusions: tested.exclusions(),
            excluded_sharing_bytes: tested.excluded_sharing(),
            excluded_bad_share: draft.excluded_bad_share,
            damaged_share: 0.0,
            damaged_ranges: Vec::new(),
            transient_errors: transient(evidence),
            reasons: Vec::new(),
        };
        finding.settle(evidence, draft.damaged_places);
        finding.reasons = super::reasons::reasons(evidence, &finding);
        finding
    }

    /// Fills in what depends on the verdict.
    fn settle(&mut self, evidence: &Evidence, damaged_places: u64) {
        let announced = evidence.announced_bytes;
        match self.verdict {
            Verdict::Genuine => self.size = Size { low: announced, high: announced },
            Verdict::Damaged => {
                self.size = Size { low: self.damaged_size(evidence), high: announced }
            }
            Verdict::Undecided => self.size = undecided_size(evidence),
            Verdict::Fake => {}
        }
        // Of a card that gives its last block for all addresses beyond, that block is lost as well.
        if self.verdict == Verdict::Fake && self.kind == Kind::LastBlock {
            self.size.high = self.size.high.saturating_add(LAST_BLOCK_MAX).min(announced);
        }
        let real = if self.kind.holds_front() { self.size.high } else { announced };
        let below = self.modulus_bytes.unwrap_or(announced).min(real);
        let is_below = |place: &&Observation| {
            let position = place.offset_bytes % self.modulus_bytes.unwrap_or(u64::MAX);
            position < below
        };
        let places: Vec<&Observation> = evidence.observations.iter().filter(is_below).collect();
        if damaged_places > 0 && !places.is_empty() {
            self.damaged_share = damaged_places as f64 / places.len() as f64;
            self.damaged_ranges = damaged_ranges(&places);
        }
    }

    /// How much a damaged card holds at least.
    fn damaged_size(&self, evidence: &Evidence) -> u64 {
        match self.kind {
            Kind::FailsBeyond => self.size.low,
            _ => size_by_share(evidence).low,
        }
    }

    /// Whether this kind of fake explains the places: few of those below its real size fail, and few
    /// of those above are right. What is not clean may be another kind, seen too early.
    #[must_use]
    pub fn is_clean(&self, evidence: &Evidence) -> bool {
        if !self.kind.holds_front() {
            return true;
        }
        let modulus = self.modulus_bytes.unwrap_or(u64::MAX);
        let lost = evidence.observations.iter().filter(|place| !place.is_right());
        let least = lost.map(Observation::distance_bytes).min().unwrap_or(0);
        let above = evidence.observations.iter().filter(|place| {
            place.offset_bytes % modulus >= self.size.high && place.distance_bytes() >= least
        });
        let (mut places, mut right) = (0_u64, 0_u64);
        for place in above {
            places += 1;
            right += u64::from(place.is_right());
        }
        self.damaged_share < MISFIT_MAX && right as f64 <= places as f64 * MISFIT_MAX
    }

    /// Whether the card is a fake and damaged.
    #[must_use]
    pub fn is_fake_and_damaged(&self) -> bool {
        self.verdict == Verdict::Fake && self.damaged_share > 0.0
    }
}

/// The share of places that a kind need not explain.
const MISFIT_MAX: f64 = 0.04;

/// The largest block that a card is known to repeat for the addresses beyond.
const LAST_BLOCK_MAX: u64 = 4096;

fn decide(
    evidence: &Evidence,
    (sound, fake, damaged): (f64, f64, f64),
    lost_places: usize,
) -> (Verdict, f64) {
    let random = evidence.observations.iter().filter(|place| place.is_random);
    let enough = evidence.is_full || random.count() >= PLACES_MIN;
    // What gives the latest writes alone keeps something, though none of it for long.
    let keeps_something = evidence.observations.iter().any(Observation::is_right)
        || evidence.right_at_once.is_shown(SHOWN);
    let best = sound.max(fake).max(damaged);
    if fake >= PROBABILITY_OF_FAKE_MIN && lost_places >= 2 && keeps_something {
        (Verdict::Fake, fake)
    } else if sound >= PROBABILITY_MIN && enough && !evidence.is_cut_short {
        (Verdict::Genuine, sound)
    } else if damaged >= PROBABILITY_MIN {
        (Verdict::Damaged, damaged)
    } else if !keeps_something && !evidence.observations.is_empty() {
        (Verdict::Damaged, fake + damaged)
    } else {
        (Verdict::Undecided, best)
    }
}

/// Places that a fake of this kind does not hold.
fn lost_places(
    evidence: &Evidence,
    kind: Kind,
    size: Size,
    modulus: Option<u64>,
) -> Vec<Observation> {
    let is_lost = |place: &&Observation| {
        let position = place.offset_bytes % modulus.unwrap_or(u64::MAX);
        let is_beyond = modulus.is_some() || position >= size.low || !kind.holds_front();
        kind.is_fake() && !place.is_right() && is_beyond
    };
    evidence.observations.iter().filter(is_lost).copied().collect()
}

/// The hidden store of a fake: how far places that have no flash were still right. Places that share
/// theirs say nothing: they stay right until another is written.
fn store(evidence: &Evidence, draft: &Draft) -> Option<Store> {
    if !draft.kind.is_fake() || !draft.kind.holds_front() {
        return None;
    }
    let modulus = draft.modulus.unwrap_or(u64::MAX);
    let beyond = |is_right: bool| {
        let is_wanted = move |place: &&Observation| {
            place.is_right() == is_right && place.offset_bytes % modulus >= draft.size.high
        };
        evidence.observations.iter().filter(is_wanted).map(Observation::distance_bytes)
    };
    let high = beyond(false).min()?;
    let low = beyond(true).filter(|&distance| distance < high).max()?;
    Some(Store { low, high })
}

/// The distance at which lost places are lost and none is right any more.
fn cleared_after(evidence: &Evidence, draft: &Draft, lost: &[Observation]) -> u64 {
    let is_beyond = |place: &&Observation| {
        let position = place.offset_bytes % draft.modulus.unwrap_or(u64::MAX);
        draft.kind.is_fake() && place.is_right() && position >= draft.size.high
    };
    let beyond = evidence.observations.iter().filter(is_beyond);
    let kept = beyond.map(Observation::distance_bytes).max().unwrap_or(0);
    let later = lost.iter().map(Observation::distance_bytes).filter(|&distance| distance > kept);
    let latest = || lost.iter().map(Observation::distance_bytes).max().unwrap_or(0).max(kept);
    later.min().unwrap_or_else(latest)
}

fn transient(evidence: &Evidence) -> u64 {
    evidence.observations.iter().map(|place| u64::from(place.transient_errors)).sum()
}

/// What is known of the size where nothing is decided: up to the first place that failed.
fn undecided_size(evidence: &Evidence) -> Size {
    let lost = evidence.observations.iter().filter(|place| !place.is_right());
    let first = lost.map(|place| place.offset_bytes + place.right_prefix_bytes).min();
    let limit = first.unwrap_or(evidence.announced_bytes);
    let right = evidence.observations.iter().filter(|place| place.is_right());
    let low = right.map(Observation::end_bytes).filter(|&end| end <= limit).max().unwrap_or(0);
    Size { low, high: evidence.announced_bytes }
}

/// The wrong places among `places`, neighbours joined.
fn damaged_ranges(places: &[&Observation]) -> Vec<(u64, u64)> {
    let wrong = places.iter().filter(|place| !place.is_right());
    let mut ranges: Vec<(u64, u64)> =
        wrong.map(|place| (place.offset_bytes, place.end_bytes())).collect();
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let joins = next.0 <= before.1;
        if joins {
            before.1 = before.1.max(next.1);
        }
        joins
    });
    ranges.truncate(RANGES_MAX);
    ranges
}
