//! Tests of a command queue and of discards in words: what was found, and what could have been missed.

use cardproof_rating::integrity::{
    DiscardAnswer, DiscardReads, DiscardVerdict, MemoryDoubt, QueueAnswer, QueueVerdict, integrity,
};
use cardproof_record::{HarmedPlace, Record, WrongData};
use cardproof_units::{Bytes, rounded_down, rounded_up};

/// The heading above these tests in every report.
pub(crate) const HEADING: &str = "Queue and discards";

/// What one test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestInWords {
    /// The verdict, without a full stop.
    pub headline: String,
    /// What it rests on, without full stops.
    pub details: Vec<String>,
}

/// What the tests of `record` found; empty where there were none.
#[must_use]
pub fn integrity_in_words(record: &Record) -> Vec<TestInWords> {
    let Some(found) = integrity(record) else { return Vec::new() };
    let queue = found.queue.as_ref().map(|queue| TestInWords {
        headline: queue_headline(queue),
        details: queue_details(queue),
    });
    let discard = found.discard.as_ref().map(|discard| TestInWords {
        headline: discard_headline(discard),
        details: discard_details(discard),
    });
    queue.into_iter().chain(discard).collect()
}

/// The same in lines.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let tests = integrity_in_words(record).into_iter();
    tests.flat_map(|test| std::iter::once(test.headline).chain(test.details)).collect()
}

/// The verdicts in a few words; `None` where there were no tests.
pub(crate) fn in_short(record: &Record) -> Option<String> {
    let found = integrity(record)?;
    let queue = found.queue.map(|queue| match queue.verdict {
        QueueVerdict::Sound if queue.is_card_queue_on == Some(false) => {
            "queue not tested (it is off)"
        }
        QueueVerdict::Sound => "queue sound",
        QueueVerdict::Corrupts => "queue CORRUPTS DATA",
        QueueVerdict::CorruptsWithoutQueue => "CORRUPTS DATA",
        QueueVerdict::Undecided if queue.queued.wrong > 0 => "DATA WRONG, queue undecided",
        QueueVerdict::Failing | QueueVerdict::Undecided => "queue undecided",
    });
    let discard = found.discard.map(|discard| match discard.verdict {
        DiscardVerdict::Sound => "discards sound",
        DiscardVerdict::HarmsData => "discards DESTROY DATA",
        DiscardVerdict::ReturnsOldData => "discards RETURN OLD DATA",
        DiscardVerdict::CorruptsWithoutDiscards => "CORRUPTS DATA",
        DiscardVerdict::Undecided if discard.wrong_places > 0 => "DATA WRONG, discards undecided",
        DiscardVerdict::NoEffect => "discards do nothing",
        DiscardVerdict::Unsupported => "no discards",
        DiscardVerdict::Failing | DiscardVerdict::Undecided => "discards undecided",
    });
    Some(queue.into_iter().chain(discard).collect::<Vec<_>>().join(", "))
}

/// The tests of `record` in a sentence each; empty where there were none.
pub(crate) fn sentence(record: &Record) -> String {
    let tests = integrity_in_words(record).into_iter();
    tests.map(|test| format!("{}.", test.headline)).collect::<Vec<_>>().join(" ")
}

fn queue_headline(queue: &QueueAnswer) -> String {
    let depth = queue.queue_depth;
    let off = match queue.is_card_queue_on {
        Some(false) => {
            "; but no queue of the card is in use, so the card got one request at a time, and its queue was not \
             tested"
        }
        _ => "",
    };
    match queue.verdict {
        QueueVerdict::Sound => format!("Queue: all data was right at depth {depth}{off}"),
        QueueVerdict::Corrupts => format!(
            "Queue: CORRUPTS DATA: {} pieces came back wrong at depth {depth}, and none with one request at \
             a time",
            queue.queued.wrong
        ),
        QueueVerdict::CorruptsWithoutQueue => format!(
            "Queue: the storage corrupts data even with one request at a time ({} pieces), so the queue is \
             not the cause",
            queue.control.wrong
        ),
        QueueVerdict::Failing => format!(
            "Queue: not decided, since the device answered {} requests with errors",
            queue.faults - queue.mended
        ),
        QueueVerdict::Undecided if queue.queued.wrong > 0 => format!(
            "Queue: not decided: {} pieces CAME BACK WRONG at depth {depth}; whether that happens with one request \
             at a time too is not known, so keep no data on this storage",
            queue.queued.wrong
        ),
        QueueVerdict::Undecided if !queue.is_direct => format!(
            "Queue: not decided, since {}",
            told(queue.memory_doubt.as_ref(), "requests went through the page cache")
        ),
        QueueVerdict::Undecided => {
            "Queue: not decided, since the test did not come to its end".to_owned()
        }
    }
}

fn queue_details(queue: &QueueAnswer) -> Vec<String> {
    let QueueAnswer { queued, control, .. } = queue;
    let mut lines = vec![format!(
        "compared at depth: {} writes, {} reads and {} flushes; before that, with one request at a time: {} \
         writes",
        queued.writes, queued.reads, queued.flushes, control.writes
    )];
    match (queue.verdict, queue.wrong_share) {
        (QueueVerdict::Sound, _) => lines.push(format!(
            "with 95 % confidence, fewer than {} writes, {} reads and {} flushes go wrong; rarer harm, and harm \
             that needs heat, age or a fuller card, could have been missed",
            one_in(queue.write_bound),
            one_in(queue.read_bound),
            one_in(queue.flush_bound)
        )),
        (_, Some(share)) => lines.push(format!(
            "{:.3} % of the writes went wrong ({} to {} %, 95 % confidence)",
            100.0 * share.estimate,
            rounded_down(100.0 * share.low, 3),
            rounded_up(100.0 * share.high, 3)
        )),
        _ => {}
    }
    let kinds = queue.kinds.iter().map(|(kind, count)| format!("{count} {}", came_back(*kind)));
    lines.extend(kinds);
    if !queue.kinds.is_empty() {
        let all: u64 = queue.kinds.values().sum();
        lines.push(format!(
            "{} of {all} were wrong on the flash and {} only when they were first read; {} had been read \
             rightly before",
            queue.stored,
            all - queue.stored.min(all),
            queue.were_right
        ));
    }
    lines.extend(mended(queue.mended));
    if let Some((alone, queued)) = rates(queue) {
        lines.push(format!(
            "speed of this test: {alone:.0} writes and reads a second with one at a time, {queued:.0} at depth"
        ));
    }
    lines
}

/// Errors that went away, if there were any.
fn mended(errors: u64) -> Option<String> {
    (errors > 0).then(|| {
        format!("errors that a further try did not show: {errors}; look for their cause in the kernel's log")
    })
}

/// Requests a second in the control and at depth, the checks between them included.
fn rates(queue: &QueueAnswer) -> Option<(f64, f64)> {
    let of = |part: &cardproof_record::CheckedRequests| {
        let seconds = part.time_ns.as_secs_f64();
        (seconds > 0.0).then(|| (part.writes + part.reads) as f64 / seconds)
    };
    Some((of(&queue.control)?, of(&queue.queued)?))
}

/// A share as "1 in 20,000".
fn one_in(share: f64) -> String {
    format!("1 in {:.0}", (1.0 / share.clamp(1e-18, 1.0)).floor())
}

const fn came_back(kind: WrongData) -> &'static str {
    match kind {
        WrongData::Older => "gave the data of an earlier write: the write was lost or came late",
        WrongData::Foreign => "gave the data of another address",
        WrongData::Torn => "gave new data in one part and old data in the other",
        WrongData::Blank => "were empty",
        WrongData::Damaged => "gave data that nobody wrote",
        WrongData::Unknown => "were wrong in a way that only a newer version tells",
    }
}

fn discard_headline(discard: &DiscardAnswer) -> String {
    let places = discard.wrong_places;
    match discard.verdict {
        DiscardVerdict::Sound => format!("Discards: {} discards harmed no data", discard.discards),
        DiscardVerdict::HarmsData if discard.places.keys().eq(&[HarmedPlace::Discarded]) => format!(
            "Discards: CONFUSE DATA: {places} discarded places read as the data of other addresses"
        ),
        DiscardVerdict::HarmsData => {
            format!("Discards: DESTROY DATA: {places} places that held live data were wrong afterwards")
        }
        DiscardVerdict::ReturnsOldData if places == 0 => format!(
            "Discards: RETURN OLD DATA: {} of what was discarded read as empty, and later as before",
            discard.revived_bytes
        ),
        DiscardVerdict::ReturnsOldData => format!(
            "Discards: RETURN OLD DATA: {places} places that were written after a discard hold the data from \
             before it"
        ),
        DiscardVerdict::CorruptsWithoutDiscards => format!(
            "Discards: the storage corrupts data even without discards ({} places), so discards are not the cause",
            discard.control_wrong_places
        ),
        DiscardVerdict::Undecided if places > 0 => format!(
            "Discards: not decided: {places} places that held live data CAME BACK WRONG; whether that happens without \
             discards too is not known, so keep no data on this storage"
        ),
        DiscardVerdict::NoEffect => {
            "Discards: no effect was found: what was discarded reads as before, and writes are no faster"
                .to_owned()
        }
        DiscardVerdict::Unsupported => "Discards: the device cannot discard".to_owned(),
        DiscardVerdict::Failing => format!(
            "Discards: not decided, since the device answered {} requests with errors",
            discard.faults - discard.mended
        ),
        DiscardVerdict::Undecided => format!(
            "Discards: not decided, since {}",
            told(discard.memory_doubt.as_ref(), "the test did not come to its end")
        ),
    }
}

fn discard_details(discard: &DiscardAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    if discard.verdict == DiscardVerdict::Sound || discard.verdict == DiscardVerdict::NoEffect {
        lines.push(format!(
            "with 95 % confidence, fewer than {} discards harm data beside them; {} of live data was compared",
            one_in(discard.bound),
            discard.live_checked_bytes
        ));
    }
    if discard.control_checked_bytes > Bytes::ZERO {
        lines.push(format!(
            "the same without discards: {} compared, {} places wrong",
            discard.control_checked_bytes, discard.control_wrong_places
        ));
    }
    let places = discard.places.iter().map(|(place, count)| format!("{count} {}", harmed(*place)));
    lines.extend(places);
    match discard.reads {
        DiscardReads::Zeros => lines.push("discarded ranges read as zeros".to_owned()),
        DiscardReads::Ones => lines.push("discarded ranges read as bytes of 255".to_owned()),
        DiscardReads::OldData => lines.push(
            "discarded ranges still read as the old data, which the SD standard allows; do not count on \
             fstrim to erase secrets"
                .to_owned(),
        ),
        DiscardReads::Mixed => {
            lines.push("discarded ranges read sometimes as empty and sometimes not".to_owned());
        }
        DiscardReads::Unknown => {}
    }
    if discard.revived_bytes > Bytes::ZERO {
        lines.push(format!(
            "{} of discarded ranges read as empty at first, and as the old data later",
            discard.revived_bytes
        ));
    }
    lines.extend(mended(discard.mended));
    if let Some(speed) = &discard.speed {
        let meaning = match (speed.is_gain(), speed.high < 1.0) {
            (true, _) => "a discard makes writes faster",
            (_, true) => "a discard makes writes slower",
            _ => "no difference was found",
        };
        lines.push(format!(
            "random writes after a discard: {:.2} times as many a second as before ({} to {}, 95 % confidence, {} \
             pairs): {meaning}",
            speed.estimate,
            rounded_down(speed.low, 2),
            rounded_up(speed.high, 2),
            speed.pairs
        ));
    }
    lines
}

const fn harmed(place: HarmedPlace) -> &'static str {
    match place {
        HarmedPlace::Live => "held live data between discarded ranges",
        HarmedPlace::WrittenAgain => "had been written after the discard",
        HarmedPlace::Far => "lay outside of the area in which ranges were discarded",
        HarmedPlace::Discarded => "had been discarded and gave the data of another address",
        HarmedPlace::Unknown => "were of a kind that only a newer version tells",
    }
}
/// The doubt in words, or else what `otherwise` says.
fn told(doubt: Option<&MemoryDoubt>, otherwise: &str) -> String {
    doubt.map_or_else(|| otherwise.to_owned(), ToString::to_string)
}
