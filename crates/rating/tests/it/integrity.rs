//! Verdicts on queues and discards, in made-up records.

use cardproof_rating::integrity::{DiscardVerdict, QueueVerdict, integrity};
use cardproof_record::{
    CheckedRequests, DeviceInfo, DiscardHarm, DiscardSpeed, DiscardTest, HarmedPlace,
    IntegrityTest, OriginDoubt, QueueTest, ReadOrigin, Record, State, TargetKind, Transport, Trial,
    Warning, WarningCode, WrongData,
};
use cardproof_testkit::records;
use cardproof_units::Bytes;

/// Writes, three reads for two of them, and a flush for 25, with so many wrong pieces.
fn requests(writes: u64, wrong: u64) -> CheckedRequests {
    let (reads, flushes) = (writes * 3 / 2, writes / 25);
    CheckedRequests { writes, reads, flushes, wrong, ..Default::default() }
}

/// The reads came from the device.
const SHOWN: ReadOrigin =
    ReadOrigin { read_bytes: Bytes::gib(2), from_device_bytes: Bytes::gib(2), doubt: None };

/// Of the errors of the device, so many were not seen again.
#[derive(Clone, Copy)]
struct Errors {
    faults: u64,
    mended: u64,
}

const NO_ERRORS: Errors = Errors { faults: 0, mended: 0 };

fn queue_verdict(
    control: CheckedRequests,
    queued: CheckedRequests,
    errors: Errors,
) -> QueueVerdict {
    let mut record = records::typical_a1_card();
    record.state = State::Complete;
    record.conditions.target.direct = true;
    let Errors { faults, mended } = errors;
    let origin = Some(SHOWN);
    let test = QueueTest {
        queue_depth: 32,
        control,
        queued,
        faults,
        mended,
        origin,
        ..Default::default()
    };
    record.trial =
        Some(Trial::Integrity(IntegrityTest { queue: Some(test), ..Default::default() }));
    integrity(&record).unwrap().queue.unwrap().verdict
}

#[test]
fn a_queue_is_blamed_only_by_a_control_that_would_have_shown_the_harm() {
    let verdict =
        |alone, queued| queue_verdict(requests(alone, 0), requests(60_000, queued), NO_ERRORS);
    assert_eq!(verdict(9_540, 0), QueueVerdict::Sound);
    // As likely as not, a control of this length shows nothing of 6 in 60,000.
    assert_eq!(verdict(9_540, 6), QueueVerdict::Undecided);
    assert_eq!(verdict(70_000, 6), QueueVerdict::Corrupts);
    assert_eq!(verdict(9_540, 100), QueueVerdict::Corrupts);
    assert_eq!(verdict(240_000, 1), QueueVerdict::Undecided);
    // Enough writes, and too few reads.
    let few_reads = CheckedRequests { reads: 10_000, ..requests(70_000, 0) };
    let few = queue_verdict(few_reads, requests(60_000, 6), NO_ERRORS);
    assert_eq!(few, QueueVerdict::Undecided);
    let alone = queue_verdict(requests(9_540, 1), requests(60_000, 100), NO_ERRORS);
    assert_eq!(alone, QueueVerdict::CorruptsWithoutQueue);
}

/// An error that a further try does not show is evidence for nothing, and one that stays is no verdict on data.
#[test]
fn errors_that_a_further_try_mends_leave_the_verdict_to_the_data() {
    for (faults, mended, queue, discard) in [
        (0, 0, QueueVerdict::Sound, DiscardVerdict::Sound),
        (3, 3, QueueVerdict::Sound, DiscardVerdict::Sound),
        (4, 3, QueueVerdict::Failing, DiscardVerdict::Failing),
        (1, 0, QueueVerdict::Failing, DiscardVerdict::Failing),
    ] {
        let found =
            queue_verdict(requests(9_540, 0), requests(60_000, 0), Errors { faults, mended });
        assert_eq!(found, queue, "{mended} of {faults}");
        let reads_zero_bytes = Bytes::mib(1);
        let test = DiscardTest { reads_zero_bytes, faults, mended, ..Default::default() };
        assert_eq!(discard_verdict(test), discard, "{mended} of {faults}");
    }
}

fn discard_verdict(test: DiscardTest) -> DiscardVerdict {
    let mut record = records::typical_a1_card();
    record.state = State::Complete;
    let test = DiscardTest { discards: 1000, origin: Some(SHOWN), ..test };
    record.trial =
        Some(Trial::Integrity(IntegrityTest { discard: Some(test), ..Default::default() }));
    integrity(&record).unwrap().discard.unwrap().verdict
}

#[test]
fn a_discarded_place_may_read_as_empty_or_as_its_own_old_data() {
    let harm = DiscardHarm {
        place: HarmedPlace::Discarded,
        kind: WrongData::Foreign,
        address_bytes: Bytes::mib(1),
        length_bytes: Bytes::kib(4),
        distance_bytes: Bytes::ZERO,
    };
    let reads = DiscardTest { reads_zero_bytes: Bytes::mib(1), ..Default::default() };
    assert_eq!(discard_verdict(reads.clone()), DiscardVerdict::Sound);
    let live_checked_bytes = Bytes::mib(100);
    let reads =
        DiscardTest { live_checked_bytes, control_checked_bytes: live_checked_bytes, ..reads };
    let foreign = DiscardTest { wrong_places: 9, wrong: vec![harm], ..reads.clone() };
    assert_eq!(discard_verdict(foreign), DiscardVerdict::HarmsData);
    let revived = DiscardTest { revived_bytes: Bytes::kib(4), ..reads };
    assert_eq!(discard_verdict(revived), DiscardVerdict::ReturnsOldData);
}

#[test]
fn discards_are_blamed_only_by_a_control_that_would_have_shown_the_harm() {
    let verdict = |wrong_places, control_checked, control_wrong_places| {
        let kind = WrongData::Older;
        let (address_bytes, length_bytes) = (Bytes::mib(1), Bytes::kib(4));
        let place = HarmedPlace::Live;
        let distance_bytes = Bytes::ZERO;
        let harm = DiscardHarm { place, kind, address_bytes, length_bytes, distance_bytes };
        discard_verdict(DiscardTest {
            reads_zero_bytes: Bytes::mib(1),
            live_checked_bytes: Bytes::mib(100),
            wrong_places,
            wrong: vec![harm],
            control_checked_bytes: control_checked,
            control_wrong_places,
            ..Default::default()
        })
    };
    // As likely as not, a control of this length shows nothing of 6 places.
    assert_eq!(verdict(6, Bytes::mib(20), 0), DiscardVerdict::Undecided);
    assert_eq!(verdict(6, Bytes::mib(120), 0), DiscardVerdict::HarmsData);
    assert_eq!(verdict(100, Bytes::mib(20), 0), DiscardVerdict::HarmsData);
    assert_eq!(verdict(1, Bytes::mib(700), 0), DiscardVerdict::Undecided);
    assert_eq!(verdict(100, Bytes::mib(20), 1), DiscardVerdict::CorruptsWithoutDiscards);
    // A record of a version without a control.
    assert_eq!(verdict(100, Bytes::ZERO, 0), DiscardVerdict::Undecided);
}

#[test]
fn a_drift_is_no_gain() {
    let verdict = |gain: f64| {
        let before_iops: Vec<f64> = (0..8).map(|pair| 1000.0 + f64::from(pair)).collect();
        let after_iops = before_iops.iter().map(|rate| rate * gain).collect();
        let speed = DiscardSpeed { region_bytes: Bytes::mib(64), before_iops, after_iops };
        discard_verdict(DiscardTest {
            reads_old_bytes: Bytes::mib(1),
            speed: Some(speed),
            ..Default::default()
        })
    };
    assert_eq!(verdict(1.012), DiscardVerdict::NoEffect);
    assert_eq!(verdict(1.035), DiscardVerdict::Sound);
    assert_eq!(verdict(0.9), DiscardVerdict::NoEffect);
}

/// A directory in memory, a network drive or a layer that hides its device: right data prove nothing of a card.
#[test]
fn memory_is_no_storage_that_keeps_data() {
    let mut record = records::typical_a1_card();
    record.conditions.target.direct = true;
    let queued = requests(60_000, 0);
    let mut tested = |origin: Option<ReadOrigin>| {
        let control = requests(9_540, 0);
        let queue = QueueTest { control, queued: queued.clone(), origin, ..Default::default() };
        let reads_zero_bytes = Bytes::mib(1);
        let discard = DiscardTest { discards: 400, reads_zero_bytes, origin, ..Default::default() };
        let (queue, discard) = (Some(queue), Some(discard));
        record.trial =
            Some(Trial::Integrity(IntegrityTest { queue, discard, ..Default::default() }));
        record.clone()
    };
    let verdicts = |record: &Record| {
        let found = integrity(record).unwrap();
        (found.queue.unwrap().verdict, found.discard.unwrap().verdict, found.is_sound)
    };
    let sound = (QueueVerdict::Sound, DiscardVerdict::Sound, true);
    assert_eq!(verdicts(&tested(Some(SHOWN))), sound);
    let undecided = (QueueVerdict::Undecided, DiscardVerdict::Undecided, false);
    for code in [WarningCode::Memory, WarningCode::LayerUnknown] {
        let mut record = tested(Some(SHOWN));
        record.warnings = vec![Warning::stated(code, "of memory, perhaps")];
        assert_eq!(verdicts(&record), undecided, "{code:?}");
    }
    let half = ReadOrigin { from_device_bytes: Bytes::gib(1), ..SHOWN };
    let doubts = [
        OriginDoubt::Memory,
        OriginDoubt::CachedLoop,
        OriginDoubt::HiddenDevice,
        OriginDoubt::SeveralDevices,
        OriginDoubt::NoCounters,
        OriginDoubt::Other,
    ];
    let doubted = doubts.map(|doubt| Some(ReadOrigin { doubt: Some(doubt), ..SHOWN }));
    for origin in doubted.into_iter().chain([Some(half), None]) {
        assert_eq!(verdicts(&tested(origin)), undecided, "{origin:?}");
    }
    // The counters of the disk below a loop device count reads of other programs too, and holes are read without it.
    let mut on_loop = tested(Some(SHOWN));
    let below = on_loop.conditions.device.clone();
    on_loop.conditions.device =
        DeviceInfo { transport: Some(Transport::Loop), ..DeviceInfo::default() };
    on_loop.conditions.device.beneath = Some(Box::new(below));
    assert_eq!(verdicts(&on_loop), (QueueVerdict::Sound, DiscardVerdict::Undecided, false));
    let mut simulated = tested(None);
    simulated.conditions.target.kind = TargetKind::Simulated;
    assert_eq!(verdicts(&simulated), sound);
}
