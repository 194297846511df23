//! Disturbances from the counts of a record: each rule, and that records with and without counts are
//! judged by the rules or by what they hold.

use cardproof_rating::disturbance::{of_job, of_phase};
use cardproof_rating::words::limits::{in_words, limit_of_phase};
use cardproof_rating::{disturbances, doubts, is_part_disturbed};
use cardproof_record::{
    Activity, ClimateExtremes, CpuActivity, DeviceActivity, Disturbance, DisturbanceFigures,
    DisturbanceKind, FilesystemInfo, JobRun, Limit, OwnActivity, PhaseRun, PhaseSurroundings,
    Record, Requests, WarningCode,
};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Nanos};

/// A phase of ten seconds of 4k reads, and nothing else on the device.
fn quiet() -> PhaseSurroundings {
    let reads = Requests { count: 10_000, bytes: Bytes::kib(40_000), ..Requests::default() };
    let device = DeviceActivity { name: "mmcblk0".to_owned(), reads, ..Default::default() };
    let cpu = CpuActivity { cpus: 4, user: 0.05, idle: 0.95, ..CpuActivity::default() };
    let own = OwnActivity {
        block_size_bytes: Bytes::kib(4),
        ops: 10_000,
        read_bytes: Bytes::kib(40_000),
        direct: true,
        ..OwnActivity::default()
    };
    PhaseSurroundings {
        activity: Activity {
            window_ns: Nanos::from_secs(10),
            devices: vec![device],
            cpu: Some(cpu),
            ..Activity::default()
        },
        own_bytes: own.read_bytes,
        own_cpu: Some(0.05),
        own: Some(own),
        climate: Some(ClimateExtremes::default()),
        ..PhaseSurroundings::default()
    }
}

fn own(seen: &mut PhaseSurroundings) -> &mut OwnActivity {
    seen.own.as_mut().unwrap()
}

fn kinds(seen: &PhaseSurroundings) -> Vec<DisturbanceKind> {
    disturbances(seen, Some("ext4")).iter().map(|disturbance| disturbance.kind).collect()
}

/// As `diagnose` says it of the same seconds: with no processor left, the storage is not called the limit.
#[test]
fn a_phase_beside_others_on_full_processors_is_not_limited_by_the_storage() {
    let beside = |user: f64, nice: f64| {
        let mut record = records::typical_a1_card();
        let mut seen = quiet();
        seen.activity.cpu = Some(CpuActivity { cpus: 4, user, nice, ..CpuActivity::default() });
        record.phases[2].surroundings = Some(Box::new(seen));
        limit_of_phase(&record, &record.phases[2]).unwrap()
    };
    let crowded = beside(0.61, 0.39);
    assert_eq!(crowded.limit, Limit::Cpu, "{crowded:?}");
    assert!(in_words(&crowded).contains("other programs had 56 %"), "{crowded:?}");
    assert_eq!(beside(0.06, 0.94).limit, Limit::StorageRandomRead, "that work gives way");
}

fn with_climate(climate: ClimateExtremes) -> Vec<DisturbanceKind> {
    kinds(&PhaseSurroundings { climate: Some(climate), ..quiet() })
}

#[test]
fn a_quiet_system_disturbs_nothing() {
    assert_eq!(kinds(&quiet()), []);
    assert_eq!(kinds(&PhaseSurroundings::default()), []);
}

#[test]
fn the_io_of_others_is_told_from_our_own() {
    let mut seen = quiet();
    seen.activity.devices[0].writes =
        Requests { count: 3, bytes: Bytes::mib(3), ..Requests::default() };
    assert_eq!(kinds(&seen), [DisturbanceKind::OtherIo]);
    let message = disturbances(&seen, None)[0].to_string();
    assert!(message.contains("read 0 bytes and wrote 3 MiB"), "{message}");
    seen.activity.devices[0].writes.bytes = Bytes::kib(100);
    assert_eq!(kinds(&seen), [], "a journal");
    seen.activity.devices[0].writes.count = 800;
    assert_eq!(kinds(&seen), [DisturbanceKind::OtherIo], "many small ones");
    assert_eq!(disturbances(&seen, Some("btrfs")), [], "a file system that writes elsewhere");
    own(&mut seen).direct = false;
    assert_eq!(kinds(&seen), [], "the page cache");
}

#[test]
fn reads_of_others_are_what_the_kernel_does_not_charge_to_the_run() {
    let message = |kib| {
        let mut seen = quiet();
        *own(&mut seen) = OwnActivity {
            direct: false,
            fetched: true,
            read_bytes: Bytes::kib(kib),
            ..seen.own.unwrap()
        };
        disturbances(&seen, Some("ext4")).pop().map(|disturbance| disturbance.to_string())
    };
    assert_eq!(message(40_000), None);
    assert_eq!(message(39_500), None, "a log");
    assert_eq!(message(20_000).unwrap(), "other programs read 19.5 MiB from mmcblk0");
}

#[test]
fn small_writes_beside_large_reads_are_counted() {
    let mut seen = quiet();
    seen.activity.devices[0].writes =
        Requests { count: 60, bytes: Bytes::kib(240), ..Requests::default() };
    *own(&mut seen) = OwnActivity { block_size_bytes: Bytes::mib(1), ops: 39, ..seen.own.unwrap() };
    assert_eq!(kinds(&seen), [DisturbanceKind::OtherIo]);
    seen.activity.devices[0].writes.count = 40;
    assert_eq!(kinds(&seen), []);
}

#[test]
fn a_part_that_may_decide_is_disturbed_by_less() {
    let mut seen = quiet();
    seen.activity.window_ns = Nanos::from_millis(500);
    let device = |seen: &mut PhaseSurroundings, count, kib| {
        let reads = Requests { count: 250, bytes: Bytes::kib(1_000), ..Requests::default() };
        let writes = Requests { count, bytes: Bytes::kib(kib), ..Requests::default() };
        seen.activity.devices[0].reads = reads;
        seen.activity.devices[0].writes = writes;
        *own(seen) = OwnActivity { ops: 250, read_bytes: reads.bytes, ..seen.own.unwrap() };
    };
    for (count, kib, expected) in [(0, 0, false), (4, 16, false), (15, 60, true), (1, 512, true)] {
        device(&mut seen, count, kib);
        assert_eq!(is_part_disturbed(&seen, None), expected, "{count} of {kib} KiB");
        assert_eq!(kinds(&seen), [], "of a whole phase this is chance");
    }
}

#[test]
fn full_processors_disturb_where_others_fill_them() {
    let mut seen = quiet();
    let full = CpuActivity { cpus: 4, user: 0.97, idle: 0.03, ..CpuActivity::default() };
    seen.activity.cpu = Some(full);
    assert_eq!(kinds(&seen), [DisturbanceKind::CpuByOthers]);
    let ours = PhaseSurroundings { own_cpu: Some(0.9), ..seen.clone() };
    assert_eq!(kinds(&ours), [], "it was ourselves");
    seen.activity.cpu = Some(CpuActivity { user: 0.07, nice: 0.9, ..full });
    assert_eq!(kinds(&seen), [], "work of lowered priority gives way");
}

#[test]
fn heat_power_and_clock_are_told_apart() {
    let low = ClimateExtremes {
        under_voltage_windows: 1,
        throttled_windows: 1,
        ..ClimateExtremes::default()
    };
    assert_eq!(with_climate(low), [DisturbanceKind::UnderVoltage]);
    let hot = ClimateExtremes {
        temperature_max_celsius: Some(81.0),
        temperature_max_slowed_celsius: Some(81.0),
        clock_allowed_min_hz: Some(600_000_000),
        clock_allowed_max_hz: Some(1_500_000_000),
        ..ClimateExtremes::default()
    };
    assert_eq!(with_climate(hot), [DisturbanceKind::Heat]);
    let changed = ClimateExtremes { temperature_max_slowed_celsius: Some(50.0), ..hot };
    assert_eq!(with_climate(changed), [DisturbanceKind::ClockChanged]);
}

fn disturbed_by_others() -> PhaseSurroundings {
    let mut seen = quiet();
    seen.activity.devices[0].writes.bytes = Bytes::gib(1);
    seen
}

/// What the record held before: a disturbance that today's rules may see otherwise.
fn stored() -> Disturbance {
    DisturbanceFigures::Heat { celsius: Some(85.0) }.into()
}

/// A record whose first phase holds that it was disturbed, and was surrounded by `seen`.
fn record(seen: Option<PhaseSurroundings>) -> Record {
    let mut record = records::typical_a1_card();
    let phase = &mut record.phases[0];
    phase.disturbances = vec![stored()];
    phase.warnings.push(stored().into());
    phase.surroundings = seen.map(Box::new);
    record
}

fn kinds_of_phase(record: &Record) -> Vec<DisturbanceKind> {
    of_phase(record, &record.phases[0]).iter().map(|disturbance| disturbance.kind).collect()
}

fn is_doubted(record: &Record) -> bool {
    doubts(record).iter().any(|doubt| doubt.warning.code == WarningCode::Disturbed)
}

#[test]
fn a_record_with_counts_is_judged_by_the_rules_and_one_without_by_what_it_holds() {
    for seen in [None, Some(PhaseSurroundings { own: None, ..disturbed_by_others() })] {
        let old = record(seen);
        assert_eq!(kinds_of_phase(&old), [DisturbanceKind::Heat]);
        assert!(is_doubted(&old));
    }
    let disturbed = record(Some(disturbed_by_others()));
    assert_eq!(kinds_of_phase(&disturbed), [DisturbanceKind::OtherIo]);
    assert!(is_doubted(&disturbed));
    let undisturbed = record(Some(quiet()));
    assert_eq!(kinds_of_phase(&undisturbed), []);
    assert!(!is_doubted(&undisturbed));
}

#[test]
fn the_file_system_of_the_record_decides_what_its_counts_mean() {
    let mut record = record(Some(disturbed_by_others()));
    record.conditions.filesystem =
        Some(FilesystemInfo { kind: "f2fs".to_owned(), ..FilesystemInfo::default() });
    assert_eq!(kinds_of_phase(&record), []);
}

#[test]
fn of_several_runs_those_that_count_are_judged() {
    let mut record = record(Some(quiet()));
    let run = |seen: PhaseSurroundings, counts| PhaseRun {
        counts,
        position: 0,
        start_ns: Nanos::ZERO,
        ops: 1,
        bytes: Bytes(1),
        duration_ns: Nanos(1),
        iops: None,
        throughput_bytes_per_s: None,
        latency_ns: None,
        surroundings: Some(Box::new(seen)),
    };
    record.phases[0].runs = vec![run(disturbed_by_others(), false), run(quiet(), true)];
    assert_eq!(kinds_of_phase(&record), []);
    record.phases[0].runs = vec![run(disturbed_by_others(), true), run(quiet(), true)];
    assert_eq!(kinds_of_phase(&record), [DisturbanceKind::OtherIo]);
    record.phases[0].runs[1].surroundings = None;
    assert_eq!(kinds_of_phase(&record), [DisturbanceKind::Heat], "a run without counts");
}

#[test]
fn a_job_is_judged_by_its_counts() {
    let mut run = JobRun::begun("boot".to_owned(), 1, "starting a system".to_owned());
    run.disturbances = vec![stored()];
    let record = record(None);
    assert_eq!(of_job(&record, &run), [stored()]);
    run.surroundings = Some(Box::new(quiet()));
    assert_eq!(of_job(&record, &run), []);
}
