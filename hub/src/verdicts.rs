//! What tests of a card have found, in the few figures that pages and counts need. All of it follows from the document.

use cardproof_rating::integrity::{DiscardVerdict, QueueVerdict, integrity};
use cardproof_rating::{judge, life};
use cardproof_record::{CapacityVerdict, EnduranceRun, Outcome, Record};
use cardproof_submission::Capacity;
use serde::{Deserialize, Serialize};

/// The verdicts of a record; a test that was not made has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdicts {
    /// Of the capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Holds>,
    /// Whether it met the class A1 on its host; none where that was not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a1: Option<bool>,
    /// As `a1`, for A2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a2: Option<bool>,
    /// How long it has lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endured: Option<Endured>,
    /// Power cuts with writes in flight: those that did harm, and all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuts: Option<[u64; 2]>,
    /// Whether data were right with many requests at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_queue_sound: Option<bool>,
    /// Whether discards left data alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_discard_sound: Option<bool>,
    /// How much of its life was used, in percent, as the card says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_used_percent: Option<u8>,
    /// Set-ups that were compared with their baseline, by jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<Setup>,
}

/// A verdict on a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holds {
    /// The verdict.
    pub finding: CapacityVerdict,
    /// What the card announces, in bytes.
    pub announced: u64,
    /// It holds at least and at most so many bytes.
    pub real: [u64; 2],
}

/// A run of write cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Endured {
    /// Where each cycle writes: one of four words.
    pub pattern: String,
    /// The cycles to the end of its life, or so many as it was written.
    pub cycles: f64,
    /// Whether its life has ended.
    pub has_ended: bool,
}

/// How a set-up did a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The set-up.
    pub setup: String,
    /// What it was compared with.
    pub baseline: String,
    /// The job.
    pub job: String,
    /// How many times as fast it was.
    pub ratio: f64,
}

/// The most results of set-ups that are kept.
const SETUPS_MAX: usize = 64;

impl Verdicts {
    /// Those of `record`, whose capacity test has found `capacity`.
    #[must_use]
    pub fn of(record: &Record, capacity: Option<&Capacity>) -> Self {
        let judged = judge(record);
        let meets = |rule: &str| match judged.iter().find(|it| it.rule == rule)?.outcome {
            Outcome::Meets => Some(true),
            Outcome::Misses => Some(false),
            _ => None,
        };
        let of_integrity = integrity(record);
        let queue = of_integrity.as_ref().and_then(|it| it.queue.as_ref());
        let discard = of_integrity.as_ref().and_then(|it| it.discard.as_ref());
        let cuts = record.power_cuts().filter(|test| test.effective_cuts > 0);
        let card = record.conditions.device.lowest().card.as_ref();
        Self {
            capacity: capacity.map(Holds::of),
            a1: meets("A1"),
            a2: meets("A2"),
            endured: record.endurance().and_then(Endured::of),
            cuts: cuts.map(|test| [test.harmful_cuts, test.effective_cuts]),
            is_queue_sound: queue.and_then(|it| match it.verdict {
                QueueVerdict::Sound => Some(true),
                QueueVerdict::Corrupts | QueueVerdict::CorruptsWithoutQueue => Some(false),
                _ => None,
            }),
            is_discard_sound: discard.and_then(|it| match it.verdict {
                DiscardVerdict::Sound | DiscardVerdict::NoEffect => Some(true),
                DiscardVerdict::HarmsData | DiscardVerdict::ReturnsOldData => Some(false),
                _ => None,
            }),
            life_used_percent: card.and_then(|card| card.life_used_percent_max),
            setups: setups(record),
        }
    }

    /// As it is kept.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Holds {
    fn of(found: &Capacity) -> Self {
        let real = found.real_size_bytes;
        Self {
            finding: found.verdict,
            announced: found.announced_size_bytes.get(),
            real: [real.low.get(), real.high.get()],
        }
    }
}

impl Endured {
    /// None of a card that failed at once, which says nothing of its model's life.
    fn of(run: &EnduranceRun) -> Option<Self> {
        let life = life::life(run);
        let observed = life.estimate.filter(|_| life.high == Some(life.low));
        (!life::failed_at_once(run) && run.cycles > 0).then(|| Self {
            pattern: run.pattern.clone(),
            cycles: observed.unwrap_or(run.cycles as f64),
            has_ended: observed.is_some(),
        })
    }
}

fn setups(record: &Record) -> Vec<Setup> {
    let compared = record.setups().into_iter().flat_map(|it| &it.comparisons);
    let results = compared.flat_map(|of| {
        of.results.iter().filter_map(|it| {
            let ratio = it.ratio.filter(|ratio| ratio.estimate.is_finite() && ratio.estimate > 0.0);
            Some(Setup {
                setup: it.setup.clone(),
                baseline: of.baseline.clone(),
                job: it.job.clone(),
                ratio: ratio?.estimate,
            })
        })
    });
    results.take(SETUPS_MAX).collect()
}
