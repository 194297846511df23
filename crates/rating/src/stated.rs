//! What another tool's figure does not tell of the storage: a test that was too short, or that may have gone no further
//! than memory.

use cardproof_record::{OpName, PatternName, Phase, Record, SyncMode, Transport, WarningCode};
use cardproof_stats::geometric_mean;
use cardproof_units::{Bytes, Nanos, Throughput};

use crate::pick::is_random_4k;
use crate::quantity::Rate;
use crate::transports::storage;

/// In less time a card works with what it has at hand. No source; our choice.
const TIME_MIN: Nanos = Nanos::from_secs(1);

/// A card's own buffers hold less than this. No source; our choice.
const BUFFERS_MAX: Bytes = Bytes::mib(64);

/// A sequential rate is shown by what a class asks for in so many seconds, however soon it was written.
const SECONDS_AT_LIMIT: f64 = 5.0;

/// The bus of most cards carries no more bytes a second (SD Physical Layer specification, SDR104).
const CARD_BUS: f64 = 104e6;

/// No SD card and no eMMC of those published writes so many blocks of 4 KiB a second at random, one at a time
/// (`data/`); microSD Express and SSDs do. Our choice.
const RANDOM_WRITES: f64 = 10_000.0;

/// The kernel may keep written data in memory for so long (`vm.dirty_expire_centisecs`, Linux documentation).
const KEPT_IN_MEMORY: Nanos = Nanos::from_secs(30);

/// Whether another tool's `phase` moved so little in so little time that its rate says nothing of the storage.
pub(crate) fn is_too_short(phase: &Phase) -> bool {
    took_less_than(phase, TIME_MIN)
        && (phase.pattern == PatternName::Random || phase.bytes < BUFFERS_MAX)
}

/// Whether another tool's `phase` has a known time below `time`.
fn took_less_than(phase: &Phase, time: Nanos) -> bool {
    phase.stated.is_some() && phase.duration_ns > Nanos::ZERO && phase.duration_ns < time
}

/// Whether another tool's `phase` of `record` may have written to memory alone: nothing says that it went around the page
/// cache or waited for it to be emptied, and either all that it wrote fits there and it was faster than the bus of most
/// cards, or it did more random writes than SD cards and eMMCs do, and nothing says that it is another kind of storage.
/// One such test of a record is enough: the others were made in the same way.
pub(crate) fn may_be_memory(record: &Record, phase: &Phase) -> bool {
    is_open_write(phase) && record.phases.iter().chain([phase]).any(|it| is_as_memory(record, it))
}

/// Whether another tool's `phase` wrote, and nothing says that it went further than memory.
fn is_open_write(phase: &Phase) -> bool {
    let is_open = phase.warnings.iter().any(|warning| warning.code == WarningCode::CacheUnknown);
    let is_unsynced = phase.op == OpName::Write && phase.sync == SyncMode::None;
    phase.stated.is_some() && is_open && is_unsynced
}

/// Whether `phase` is such a write and as fast as memory.
fn is_as_memory(record: &Record, phase: &Phase) -> bool {
    let memory = record.conditions.host.memory_bytes;
    let fits = memory.is_some_and(|memory| phase.bytes > Bytes::ZERO && phase.bytes < memory);
    let has_time = phase.duration_ns > Nanos::ZERO;
    let is_quick = took_less_than(phase, KEPT_IN_MEMORY);
    let is_fast = phase.point_throughput().is_some_and(|rate| rate.0 > CARD_BUS);
    let is_card = storage(&record.conditions.device)
        .is_none_or(|it| matches!(it, Transport::Sd | Transport::Mmc));
    let is_beyond_cards = is_card
        && is_random_4k(phase, OpName::Write, 1)
        && phase.point_iops().is_some_and(|rate| rate.0 > RANDOM_WRITES);
    let is_kept = is_beyond_cards || is_fast && (is_quick || fits && !has_time);
    is_open_write(phase) && is_kept
}

/// The geometric mean of the rates that a tool stated of `phase` of `record` and of its repetitions, in bytes a second.
pub(crate) fn mean_of_stated(record: &Record, phase: &Phase) -> Option<Throughput> {
    phase.stated.as_ref()?;
    let of = |it: &Phase| (it.op, it.pattern, it.block_size_bytes, it.queue_depth, it.sync.clone());
    let alike = record.phases.iter().filter(|it| it.stated.is_some() && of(it) == of(phase));
    let rates: Vec<f64> =
        alike.filter_map(|it| Some(it.point_throughput()?.0)).filter(|rate| *rate > 0.0).collect();
    geometric_mean(&rates).map(Throughput)
}

/// Why a phase cannot show that a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPass {
    /// It took less than a second.
    Short,
    /// Its data may have been written to memory alone.
    PerhapsMemory,
}

/// Why `phase` of `record` cannot show that the limit `at_least` is reached; `None` where nothing forbids it.
pub(crate) fn why_no_pass(record: &Record, phase: &Phase, at_least: Rate) -> Option<NoPass> {
    let is_enough = match at_least {
        Rate::Throughput(limit) => phase.bytes.as_f64() >= SECONDS_AT_LIMIT * limit.0,
        Rate::Iops(_) => false,
    };
    if took_less_than(phase, TIME_MIN) && !is_enough {
        return Some(NoPass::Short);
    }
    may_be_memory(record, phase).then_some(NoPass::PerhapsMemory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_record::{Stated, Warning};

    fn write(bytes: Bytes, time: Nanos) -> Phase {
        let name = "sequential-write-1m-qd1".to_owned();
        let phase = Phase::begun(name, OpName::Write, PatternName::Sequential);
        Phase { stated: Some(Stated::default()), bytes, duration_ns: time, ..phase }
    }

    #[test]
    fn a_short_test_shows_no_more_than_what_it_wrote() {
        let record = cardproof_testkit::records::typical_a1_card();
        let short = write(Bytes::mib(100), Nanos::from_millis(200));
        let forbids =
            |phase: &Phase, limit| why_no_pass(&record, phase, Rate::Throughput(Throughput(limit)));
        assert!(forbids(&short, 90e6).is_some(), "V90");
        assert_eq!(forbids(&short, 10e6), None, "as much as 10 MB/s write in 10 s");
        assert_eq!(forbids(&write(Bytes::mib(100), Nanos::from_secs(2)), 90e6), None);
        assert!(is_too_short(&write(Bytes::mib(10), Nanos::from_millis(200))));
        assert!(!is_too_short(&short));
    }

    /// As quick as the published microSD Express cards, whose 4 KiB writes come to 157 MB/s.
    #[test]
    fn what_no_card_does_may_be_memory_where_the_storage_may_be_a_card() {
        let mut record = cardproof_testkit::records::typical_a1_card();
        let mut phase = write(Bytes::gib(4), Nanos::from_secs(60));
        (phase.pattern, phase.block_size_bytes) = (PatternName::Random, Bytes::kib(4));
        phase.queue_depth = 1;
        let rate = Some(cardproof_units::Iops(38_000.0));
        phase.stated = Some(Stated { iops: rate, ..Stated::default() });
        phase.warnings.push(Warning::stated(WarningCode::CacheUnknown, "not told"));
        for (transport, expected) in [
            (Some(Transport::Sd), true),
            (Some(Transport::Mmc), true),
            (None, true),
            (Some(Transport::Nvme), false),
            (Some(Transport::Usb), false),
        ] {
            record.conditions.device.transport = transport.clone();
            assert_eq!(is_as_memory(&record, &phase), expected, "{transport:?}");
        }
    }

    #[test]
    fn what_may_lie_in_memory_shows_no_pass() {
        let record = cardproof_testkit::records::typical_a1_card();
        let limit = Rate::Throughput(Throughput(10e6));
        let mut phase = write(Bytes::mib(1000), Nanos::from_secs(4));
        let rate = |mb: f64| {
            Some(Stated { throughput_bytes_per_s: Some(Throughput(mb * 1e6)), ..Stated::default() })
        };
        phase.stated = rate(250.0);
        assert_eq!(why_no_pass(&record, &phase, limit), None, "its cache is known");
        phase.warnings.push(Warning::stated(WarningCode::CacheUnknown, "not told"));
        assert_eq!(why_no_pass(&record, &phase, limit), Some(NoPass::PerhapsMemory));
        let slow = Phase { stated: rate(65.0), ..phase.clone() };
        assert_eq!(why_no_pass(&record, &slow, limit), None, "memory is faster");
        phase.sync = SyncMode::FlushAtEnd;
        assert_eq!(why_no_pass(&record, &phase, limit), None, "it waited for the storage");
        let long = Phase { duration_ns: Nanos::from_secs(60), sync: SyncMode::None, ..phase };
        assert_eq!(why_no_pass(&record, &long, limit), None, "the kernel has written by then");
    }
}
