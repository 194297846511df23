//! Flushes that are answered too early, in made-up records.

use std::num::NonZeroU32;

use cardproof_rating::flushes;
use cardproof_record::{Disturbance, DisturbanceKind, Interval, Latency, Phase, Record, SyncMode};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops, Nanos};

/// Continuous writes at the rates of `slices`, in MB/s, each for a second; then bursts of 4 MiB that take
/// `write_ms` and `flush_ms`.
fn record(slices: &[u64], write_ms: u64, flush_ms: u64) -> Record {
    let mut record = records::typical_a1_card();
    let mut continuous = phase(&record, "sequential-write-1m");
    continuous.intervals = slices
        .iter()
        .zip(0..)
        .map(|(rate, second)| Interval {
            start_ns: Nanos::from_secs(second),
            duration_ns: Nanos::from_secs(1),
            ops: *rate,
            bytes: Bytes(rate * 1_000_000),
            ..Interval::default()
        })
        .collect();
    let usual = continuous.latency_ns.unwrap();
    let latency = |ms| Some(Latency { p50: Nanos::from_millis(ms), ..usual });
    let bursts = Phase {
        name: "burst-4m-flush".to_owned(),
        block_size_bytes: Bytes::mib(4),
        sync: SyncMode::FsyncEvery(NonZeroU32::MIN),
        rate_limit_iops: Some(Iops(1.0)),
        ops: 12,
        latency_ns: latency(write_ms),
        flush_latency_ns: latency(flush_ms),
        ..continuous.clone()
    };
    record.phases = vec![continuous, bursts];
    record
}

fn phase(record: &Record, name: &str) -> Phase {
    record.phases.iter().find(|phase| phase.name == name).unwrap().clone()
}

#[test]
fn a_cache_that_a_flush_does_not_empty_is_suspicious() {
    // The cache takes 24 MB at 90 MB/s; the flash behind it writes 20 MB/s.
    let found = flushes(&record(&[24, 20, 20, 21, 20, 20, 20, 19, 20, 20, 20], 44, 1)).unwrap();
    assert!(found.is_suspicious(), "{found:?}");
}

#[test]
fn a_cache_that_a_flush_empties_is_not() {
    let found = flushes(&record(&[24, 20, 20, 21, 20, 20, 20, 19, 20, 20, 20], 44, 160)).unwrap();
    assert!(!found.is_suspicious(), "{found:?}");
}

#[test]
fn an_slc_cache_that_lasts_longer_than_the_volatile_ones_is_not() {
    let found = flushes(&record(&[80, 80, 80, 20, 20, 20, 20, 20, 20], 50, 1)).unwrap();
    assert!(!found.is_suspicious(), "{found:?}");
}

#[test]
fn a_disturbed_run_accuses_nobody() {
    let mut record = record(&[24, 20, 20, 21, 20, 20, 20, 19, 20, 20, 20], 44, 1);
    let disturbance = Disturbance::stated(DisturbanceKind::OtherIo, "others");
    record.phases[0].disturbances.push(disturbance);
    let found = flushes(&record).unwrap();
    assert!(found.is_disturbed && !found.is_suspicious(), "{found:?}");
}

#[test]
fn a_card_that_wrote_too_little_is_not_judged_and_not_left_out() {
    let found = flushes(&record(&[5, 5, 5], 44, 1)).unwrap();
    assert_eq!(found.continuous, None);
    assert!(!found.is_suspicious() && found.bursts.len() == 1, "{found:?}");
}

#[test]
fn a_run_without_rests_between_its_flushes_says_nothing() {
    assert_eq!(flushes(&records::typical_a1_card()), None);
    let mut hurried = record(&[20; 10], 44, 1);
    hurried.phases[1].rate_limit_iops = None;
    assert_eq!(flushes(&hurried), None);
}
