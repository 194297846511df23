//! What tests of a command queue and of discards say: a verdict each, with the bound of what they could have
//! missed.
//!
//! Bounds are the exact ones of Clopper and Pearson at 95 %, one-sided; with nothing found in n trials they
//! are about 3/n. They hold for harm that comes independently from request to request, at the rate and under
//! the conditions of the test.

use std::collections::BTreeMap;

use cardproof_evidence::integrity::{CONFIDENCE, interval, is_to_blame, upper_bound};
use cardproof_record::{
    CheckedRequests, DiscardSpeed, DiscardTest, HarmedPlace, QueueTest, ReadOrigin, Record, State,
    TargetKind, Transport, Warning, WarningCode, WrongData,
};
use cardproof_stats::RatioInterval;
use cardproof_units::Bytes;
use serde::Serialize;

use crate::doubts::doubts;
use crate::powercut::Share;
use crate::transports::transports;

/// The name and version of the document.
pub const INTEGRITY_SCHEMA: &str = "cardproof.integrity/1";

/// Smaller ratios of speeds are no gain from discards: on simulated cards whose discards do nothing, chance makes
/// up to 1.01, and where they free room the ratio is 1.03 and more (docs/design/verify.md).
pub const GAIN_MIN: f64 = 1.02;

/// What the tests say, for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document<'a> {
    /// The name and version of this form.
    pub schema: &'static str,
    /// Whether every test that was asked for ended with `sound`.
    pub is_sound: bool,
    /// How sure bounds and intervals are.
    pub confidence: f64,
    /// The command queue; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueAnswer>,
    /// Discards; absent where they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard: Option<DiscardAnswer>,
    /// What was written in all.
    pub bytes_written: Bytes,
    /// What was read in all.
    pub bytes_read: Bytes,
    /// The name of the record.
    pub record: &'a str,
}

/// What the tests come to, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All that was asked for was tested, and nothing was wrong.
    Sound,
    /// Nothing was wrong, but a part of what was asked for was not tested.
    NotTested,
    /// Something was wrong.
    Bad,
}

impl Document<'_> {
    /// What the tests come to, all together: the worst of them.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let queue = self.queue.as_ref().map(QueueAnswer::outcome);
        let discard = self.discard.as_ref().map(DiscardAnswer::outcome);
        queue.max(discard).unwrap_or(Outcome::NotTested)
    }
}

/// A verdict on a command queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueVerdict {
    /// All data were right, as far as the bounds reach.
    Sound,
    /// Data were wrong with many requests at a time, and right with one at a time, in so long a control that harm
    /// of the same rate would have shown there.
    Corrupts,
    /// Data were wrong with one request at a time.
    CorruptsWithoutQueue,
    /// Requests failed with errors that further tries did not mend: the device may be broken, and nothing is said
    /// of the queue.
    Failing,
    /// The test did not come to its end; or it is not shown that the data came from a storage device; or data were
    /// wrong at depth (`queued.wrong` is not 0), and whether they are without a queue too is not known.
    Undecided,
}

/// What the test of a queue says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueAnswer {
    /// The verdict.
    pub verdict: QueueVerdict,
    /// Whether the card's own queue is on, where the system tells. Off, the requests were queued in the
    /// computer alone, and the card got one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_card_queue_on: Option<bool>,
    /// Whether requests went past the page cache to a storage device, whose counters show the reads; through it,
    /// or in memory, nothing is said of a card.
    pub is_direct: bool,
    /// Why it is not shown that the data came from a storage device; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_doubt: Option<MemoryDoubt>,
    /// The most requests at a time.
    pub queue_depth: u16,
    /// What was compared at depth.
    pub queued: CheckedRequests,
    /// What was compared with one request at a time.
    pub control: CheckedRequests,
    /// Writes at depth go wrong less often than this, as a share of 1.
    pub write_bound: f64,
    /// Reads at depth go wrong less often than this.
    pub read_bound: f64,
    /// Flushes at depth spoil what was written before less often than this.
    pub flush_bound: f64,
    /// The share of writes at depth that went wrong, with its interval; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_share: Option<Share>,
    /// How many of the first wrong pieces were of each kind.
    pub kinds: BTreeMap<WrongData, u64>,
    /// How many of these were wrong on the flash; the others were right when they were read again.
    pub stored: u64,
    /// How many of these had been right before.
    pub were_right: u64,
    /// Requests that the device answered with an error.
    pub faults: u64,
    /// How many of these errors a further try did not show; they are evidence for nothing.
    pub mended: u64,
}

impl QueueAnswer {
    fn outcome(&self) -> Outcome {
        match self.verdict {
            // The card got one request at a time, so its queue was not tested.
            QueueVerdict::Sound if self.is_card_queue_on == Some(false) => Outcome::NotTested,
            QueueVerdict::Sound => Outcome::Sound,
            QueueVerdict::Undecided if self.queued.wrong == 0 => Outcome::NotTested,
            _ => Outcome::Bad,
        }
    }
}

/// A verdict on discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiscardVerdict {
    /// No data were harmed, as far as the bound reaches.
    Sound,
    /// Live data were harmed, or a discarded range reads as the data of another address; and nothing was wrong without
    /// discards, in so long a control that harm of the same rate would have shown there.
    HarmsData,
    /// Old data came back: over newer data, or where a discarded range had read as empty.
    ReturnsOldData,
    /// Data were wrong, and without discards too.
    CorruptsWithoutDiscards,
    /// No effect was found: what was discarded reads as before, and the speed is the same.
    NoEffect,
    /// The device cannot discard.
    Unsupported,
    /// Requests failed with errors that further tries did not mend.
    Failing,
    /// The test did not come to its end; or it is not shown that the data came from a storage device; or data were
    /// wrong (`wrong_places` is not 0), and whether they are without discards too is not known.
    Undecided,
}

/// What the test of discards says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardAnswer {
    /// The verdict.
    pub verdict: DiscardVerdict,
    /// Discards that were done and checked.
    pub discards: u64,
    /// Discards do harm less often than this, as a share of 1.
    pub bound: f64,
    /// Live data that were compared.
    pub live_checked_bytes: Bytes,
    /// Places that were wrong.
    pub wrong_places: u64,
    /// How many of the first wrong places were of each kind.
    pub places: BTreeMap<HarmedPlace, u64>,
    /// What discarded ranges read as.
    pub reads: DiscardReads,
    /// How much of what was discarded read as empty at first, and later as the old data.
    pub revived_bytes: Bytes,
    /// Data that were compared in the control, where the same was done without discards; 0 where nothing was wrong.
    pub control_checked_bytes: Bytes,
    /// Places that were wrong there.
    pub control_wrong_places: u64,
    /// How many times as many random writes a second the device makes after a discard; absent where it was
    /// not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<SpeedRatio>,
    /// Requests that the device answered with an error.
    pub faults: u64,
    /// How many of these errors a further try did not show; they are evidence for nothing.
    pub mended: u64,
    /// Why it is not shown that the data came from a storage device; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_doubt: Option<MemoryDoubt>,
}

impl DiscardAnswer {
    fn outcome(&self) -> Outcome {
        match self.verdict {
            DiscardVerdict::Sound => Outcome::Sound,
            DiscardVerdict::Unsupported => Outcome::NotTested,
            DiscardVerdict::Undecided if self.wrong_places == 0 => Outcome::NotTested,
            _ => Outcome::Bad,
        }
    }
}

/// What discarded ranges read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiscardReads {
    /// Zeros.
    Zeros,
    /// Bytes of 255.
    Ones,
    /// What was there before.
    OldData,
    /// Several of these, or anything else.
    Mixed,
    /// Nothing was read.
    Unknown,
}

/// A ratio of speeds with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedRatio {
    /// The best single figure.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The writes a second to the full region, the mean of all pairs.
    pub before_iops: f64,
    /// How many pairs were measured.
    pub pairs: u64,
}

impl SpeedRatio {
    /// Whether a discard makes writes faster: the interval leaves no doubt, and the gain is of a size that no
    /// drift between the two halves of a pair explains ([`GAIN_MIN`]).
    #[must_use]
    pub fn is_gain(&self) -> bool {
        self.low > 1.0 && self.estimate >= GAIN_MIN
    }
}

/// What the tests in `record` say; `None` where there were none.
#[must_use]
pub fn integrity(record: &Record) -> Option<Document<'_>> {
    let test = record.integrity()?;
    let queue = test.queue.as_ref().map(|test| queue_answer(record, test));
    let discard = test.discard.as_ref().map(|test| discard_answer(record, test));
    let sound_queue = queue.as_ref().map(|answer| answer.verdict == QueueVerdict::Sound);
    let sound_discard = discard.as_ref().map(|answer| answer.verdict == DiscardVerdict::Sound);
    let verdicts = [sound_queue, sound_discard];
    Some(Document {
        schema: INTEGRITY_SCHEMA,
        is_sound: record.state == State::Complete
            && verdicts.iter().any(Option::is_some)
            && verdicts.iter().flatten().all(|is_sound| *is_sound),
        confidence: CONFIDENCE,
        queue,
        discard,
        bytes_written: record.bytes_written,
        bytes_read: record.bytes_read,
        record: &record.id,
    })
}

fn queue_answer(record: &Record, test: &QueueTest) -> QueueAnswer {
    let QueueTest { control, queued, .. } = test;
    let memory_doubt = memory_doubt(record, test.origin.as_ref(), MemoryDoubt::Reads);
    let is_direct = record.conditions.target.direct && memory_doubt.is_none();
    let verdict = match record.state {
        _ if control.wrong > 0 => QueueVerdict::CorruptsWithoutQueue,
        _ if queued.wrong > 0 && would_show(control, queued) => QueueVerdict::Corrupts,
        _ if queued.wrong > 0 => QueueVerdict::Undecided,
        _ if test.faults > test.mended => QueueVerdict::Failing,
        _ if !is_direct => QueueVerdict::Undecided,
        // A later test may have failed; this one has ended when it compared something at depth.
        State::Complete if queued.reads > 0 => QueueVerdict::Sound,
        _ => QueueVerdict::Undecided,
    };
    let bound = |trials| upper_bound(queued.wrong.min(trials), trials, CONFIDENCE);
    let mut kinds = BTreeMap::new();
    for piece in &test.wrong {
        *kinds.entry(piece.kind).or_default() += 1;
    }
    let count = |is: fn(&cardproof_record::WrongPiece) -> bool| {
        test.wrong.iter().filter(|piece| is(piece)).count() as u64
    };
    let card = record.conditions.device.card.as_ref();
    QueueAnswer {
        verdict,
        is_card_queue_on: card.and_then(|card| card.command_queue.enabled),
        is_direct,
        memory_doubt,
        queue_depth: test.queue_depth,
        queued: queued.clone(),
        control: control.clone(),
        write_bound: bound(queued.writes),
        read_bound: bound(queued.reads),
        flush_bound: bound(queued.flushes),
        wrong_share: share(queued.wrong, queued.writes),
        kinds,
        stored: count(|piece| piece.is_stored),
        were_right: count(|piece| piece.was_right),
        faults: test.faults,
        mended: test.mended,
    }
}

/// Why it is not shown that data came from a storage device.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryDoubt {
    /// What lies below the device is memory or unknown.
    Below(Warning),
    /// The counters of the device do not show the reads.
    Reads(ReadOrigin),
    /// The counters of the device do not show the reads of discarded ranges. That it was asked for a part alone has a
    /// further cause here.
    ReadsOfDiscarded(ReadOrigin),
    /// The test did not look.
    NotLooked,
    /// A loop device makes holes in its file.
    Loop,
}

/// Why the data may have been in the computer's memory, where right data say nothing of a card: the counters of a
/// storage device do not show the reads, or what lies below the device is memory or unknown. A simulated card has
/// neither.
fn memory_doubt(
    record: &Record,
    origin: Option<&ReadOrigin>,
    of: fn(ReadOrigin) -> MemoryDoubt,
) -> Option<MemoryDoubt> {
    let is_it = |code| matches!(code, WarningCode::Memory | WarningCode::LayerUnknown);
    let doubt = doubts(record).into_iter().find(|doubt| is_it(doubt.warning.code));
    if let Some(doubt) = doubt {
        return Some(MemoryDoubt::Below(doubt.warning));
    }
    match origin {
        _ if record.conditions.target.kind == TargetKind::Simulated => None,
        Some(origin) => (!origin.is_shown()).then(|| of(*origin)),
        None => Some(MemoryDoubt::NotLooked),
    }
}

/// Why right data after discards say nothing of a device: a loop device makes holes in its file, or as in
/// [`memory_doubt`]. The counters of the device below a loop device cannot settle that, for other programs read from it
/// too.
fn discard_doubt(record: &Record, origin: Option<&ReadOrigin>) -> Option<MemoryDoubt> {
    if transports(&record.conditions.device).any(|it| *it == Transport::Loop) {
        return Some(MemoryDoubt::Loop);
    }
    memory_doubt(record, origin, MemoryDoubt::ReadsOfDiscarded)
}

/// Whether the control would have shown what was wrong at depth, if it came as often from each write, each read or
/// each flush.
fn would_show(control: &CheckedRequests, queued: &CheckedRequests) -> bool {
    [
        (queued.writes, control.writes),
        (queued.reads, control.reads),
        (queued.flushes, control.flushes),
    ]
    .iter()
    .all(|&(queued_trials, alone)| is_to_blame(queued.wrong, queued_trials, alone))
}

fn share(found: u64, trials: u64) -> Option<Share> {
    let found = found.min(trials);
    let (low, high) = interval(found, trials, CONFIDENCE);
    (found > 0).then(|| Share { estimate: found as f64 / trials as f64, low, high })
}

fn discard_answer(record: &Record, test: &DiscardTest) -> DiscardAnswer {
    let speed = test.speed.as_ref().and_then(|speed| ratio(speed, record.seed.derive("speed")));
    let mut places = BTreeMap::new();
    for harm in &test.wrong {
        *places.entry(harm.place).or_default() += 1;
    }
    let memory_doubt = discard_doubt(record, test.origin.as_ref());
    DiscardAnswer {
        verdict: discard_verdict(record, test, speed.as_ref(), memory_doubt.is_some()),
        discards: test.discards,
        bound: upper_bound(test.wrong_places.min(test.discards), test.discards, CONFIDENCE),
        live_checked_bytes: test.live_checked_bytes,
        wrong_places: test.wrong_places,
        places,
        reads: reads(test),
        revived_bytes: test.revived_bytes,
        control_checked_bytes: test.control_checked_bytes,
        control_wrong_places: test.control_wrong_places,
        speed,
        faults: test.faults,
        mended: test.mended,
        memory_doubt,
    }
}

fn discard_verdict(
    record: &Record,
    test: &DiscardTest,
    speed: Option<&SpeedRatio>,
    is_of_memory: bool,
) -> DiscardVerdict {
    let is_old = |harm: &cardproof_record::DiscardHarm| {
        harm.place == HarmedPlace::WrittenAgain && harm.kind == WrongData::Older
    };
    let (old, other): (Vec<_>, Vec<_>) = test.wrong.iter().partition(|harm| is_old(harm));
    if test.is_unsupported {
        DiscardVerdict::Unsupported
    } else if test.control_wrong_places > 0 {
        DiscardVerdict::CorruptsWithoutDiscards
    } else if !is_of_discards(test) {
        DiscardVerdict::Undecided
    } else if !other.is_empty() || (test.wrong_places > 0 && test.wrong.is_empty()) {
        DiscardVerdict::HarmsData
    } else if !old.is_empty() || test.revived_bytes > Bytes::ZERO {
        DiscardVerdict::ReturnsOldData
    } else if test.faults > test.mended {
        DiscardVerdict::Failing
    } else if record.state != State::Complete || test.discards == 0 || is_of_memory {
        DiscardVerdict::Undecided
    } else if reads(test) == DiscardReads::OldData && !speed.is_some_and(SpeedRatio::is_gain) {
        DiscardVerdict::NoEffect
    } else {
        DiscardVerdict::Sound
    }
}

/// Whether the control would have shown what was wrong, if it came as often without discards; also where nothing was
/// wrong.
fn is_of_discards(test: &DiscardTest) -> bool {
    let tested = test.live_checked_bytes + test.again_checked_bytes;
    let control = test.control_checked_bytes;
    match (test.wrong_places, test.revived_bytes) {
        (0, Bytes::ZERO) => true,
        // How often old data came back is not counted, so the control is as long.
        (0, _) => control >= tested,
        (wrong, _) => is_to_blame(wrong, tested.get(), control.get()),
    }
}

fn reads(test: &DiscardTest) -> DiscardReads {
    let all = [
        (test.reads_zero_bytes, DiscardReads::Zeros),
        (test.reads_ones_bytes, DiscardReads::Ones),
        (test.reads_old_bytes, DiscardReads::OldData),
        (test.reads_other_bytes, DiscardReads::Mixed),
    ];
    let mut seen = all.iter().filter(|(bytes, _)| *bytes > Bytes::ZERO);
    match (seen.next(), seen.next()) {
        (None, _) => DiscardReads::Unknown,
        (Some((_, only)), None) => *only,
        (Some(_), Some(_)) => DiscardReads::Mixed,
    }
}

fn ratio(speed: &DiscardSpeed, seed: u64) -> Option<SpeedRatio> {
    let (before, after) = (&speed.before_iops, &speed.after_iops);
    let found = RatioInterval::paired(before, after, CONFIDENCE, seed)?;
    let pairs = before.len() as u64;
    Some(SpeedRatio {
        estimate: found.estimate,
        low: found.low,
        high: found.high,
        before_iops: before.iter().sum::<f64>() / pairs as f64,
        pairs,
    })
}
