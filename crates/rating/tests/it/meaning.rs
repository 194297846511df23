//! Doubts, daily use and advice of typical records, in whole.

use cardproof_rating::{
    Grade, judge, longest_wait, meaning, next_steps, pauses_in, plausibility, scope,
};
use cardproof_record::{
    Estimate, FilesystemInfo, Interval, Phase, Record, TargetKind, Transport, Verification,
    Warning, WarningCode,
};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops, Nanos};

/// Makes a sound record doubtful.
type Spoil = fn(&mut Record);

fn in_words(record: &Record) -> String {
    let mut lines = vec![record.id.clone(), "doubts that follow:".to_owned()];
    lines.extend(
        plausibility(record).iter().map(|warning| format!("  {:?}: {warning}", warning.code)),
    );
    lines.push("daily use:".to_owned());
    lines.extend(meaning(record).iter().map(|meaning| {
        format!("  {}: {}\n    {}", meaning.topic, meaning.grade.word(), meaning.text())
    }));
    lines.push("next:".to_owned());
    lines.extend(next_steps(record, &judge(record)).iter().map(|step| format!("  {step}")));
    lines.join("\n")
}

#[test]
fn typical_a1_card() {
    insta::assert_snapshot!(in_words(&records::typical_a1_card()));
}

#[test]
fn slow_class4() {
    insta::assert_snapshot!(in_words(&records::slow_class4()));
}

#[test]
fn ram_disk() {
    insta::assert_snapshot!(in_words(&records::ram_disk()));
}

#[test]
fn read_only_device() {
    insta::assert_snapshot!(in_words(&records::read_only_device()));
}

#[test]
fn interrupted() {
    insta::assert_snapshot!(in_words(&records::interrupted()));
}

#[test]
fn with_pauses() {
    insta::assert_snapshot!(in_words(&records::with_pauses()));
}

fn codes(record: &Record) -> Vec<WarningCode> {
    plausibility(record).iter().map(|warning| warning.code).collect()
}

#[test]
fn figures_that_are_not_the_storages_own_are_in_doubt() {
    let cases: [(&str, Spoil, WarningCode); 7] = [
        ("zram", |r| r.conditions.device.transport = Some(Transport::Zram), WarningCode::Memory),
        ("ram", |r| r.conditions.device.transport = Some(Transport::Ram), WarningCode::Memory),
        ("null", |r| r.conditions.target.kind = TargetKind::Null, WarningCode::Memory),
        ("page cache", |r| r.conditions.target.direct = false, WarningCode::Buffered),
        ("btrfs", |r| filesystem(r).kind = "btrfs".into(), WarningCode::CopyOnWrite),
        (
            "slow link",
            |r| r.conditions.device.link_ceiling_bytes_per_s = Some(25_000_000),
            WarningCode::AboveLink,
        ),
        (
            "wrong bytes",
            |r| {
                r.phases[1].verification = Some(Verification {
                    compared_bytes: Bytes::mib(1),
                    wrong_bytes: Bytes::kib(4),
                });
            },
            WarningCode::WrongData,
        ),
    ];
    assert_eq!(codes(&records::typical_a1_card()), []);
    for (name, spoil, expected) in cases {
        let mut record = records::typical_a1_card();
        spoil(&mut record);
        let mut found = codes(&record);
        found.dedup();
        assert_eq!(found, [expected], "{name}");
        let grades: Vec<Grade> = meaning(&record).iter().map(|use_| use_.grade).collect();
        assert!(grades.iter().all(|grade| *grade == Grade::Unknown), "{name}: {grades:?}");
    }
}

fn filesystem(record: &mut Record) -> &mut FilesystemInfo {
    record.conditions.filesystem.as_mut().unwrap()
}

#[test]
fn an_unknown_bus_has_the_limit_of_its_kind() {
    let mut record = records::ram_disk();
    record.conditions.filesystem = None;
    record.conditions.target.direct = true;
    assert_eq!(codes(&record), []);
    record.conditions.device.transport = Some(Transport::Mmc);
    assert!(codes(&record).contains(&WarningCode::AboveLink));
}

#[test]
fn a_doubt_that_is_stored_is_not_raised_again() {
    let mut record = records::ram_disk();
    assert!(!plausibility(&record).is_empty());
    record.warnings = plausibility(&record);
    assert_eq!(plausibility(&record), []);
}

#[test]
fn time_without_completions_is_a_pause_and_a_low_rate_is_not() {
    let pausing = records::with_pauses();
    assert_eq!(longest_wait(&pausing).unwrap().length, Nanos::from_millis(1_900));
    let mut deep_only = pausing;
    deep_only.phases.retain(|phase| phase.queue_depth == 32);
    assert_eq!(longest_wait(&deep_only).unwrap().length, Nanos::from_millis(1_900));

    let mut slow = records::slow_class4();
    slow.phases.retain(|phase| phase.name == "random-write-4k-qd32");
    assert_eq!(longest_wait(&slow), None, "33 IOPS leave slices empty without a pause");
}

/// The grade and the finding of the pauses of `record`.
fn of_pauses(record: &Record) -> (Grade, String) {
    let found = meaning(record).into_iter().find(|meaning| meaning.topic == "Pauses").unwrap();
    (found.grade, found.finding)
}

#[test]
fn a_sequential_write_that_stops_for_seconds_is_no_good_storage() {
    let mut record = records::typical_a1_card();
    let sequential = record.phases.iter().position(|it| it.name == "sequential-write-1m").unwrap();
    assert_eq!(of_pauses(&record).0, Grade::Good);
    let phase = &mut record.phases[sequential];
    let middle = phase.intervals.len() / 2;
    let mut stopped = Nanos::ZERO;
    for slice in phase.intervals[middle..].iter_mut() {
        if stopped >= Nanos::from_secs(2) {
            break;
        }
        stopped = stopped.saturating_add(slice.duration_ns);
        *slice = Interval { ops: 0, bytes: Bytes::ZERO, latency_max_ns: Nanos::ZERO, ..*slice };
    }
    assert!(stopped >= Nanos::from_secs(2), "the phase is too short for this test: {stopped}");
    assert_eq!(pauses_in(&record, sequential).len(), 1);
    let (grade, finding) = of_pauses(&record);
    assert_eq!(grade, Grade::Poor, "{finding}");
    assert!(finding.contains("sequential-write-1m"), "{finding}");
}

#[test]
fn no_pause_is_shorter_than_the_longest_operation_beside_it() {
    let mut record = records::typical_a1_card();
    let deep = record.phases.iter().position(|it| it.name == "random-write-4k-qd32").unwrap();
    let latency = record.phases[deep].latency_ns.as_mut().unwrap();
    latency.max = Nanos::from_millis(520);
    latency.p50 = Nanos::from_millis(40);
    let (grade, finding) = of_pauses(&record);
    assert_eq!(grade, Grade::Good);
    assert_eq!(finding, "No pause of 250 ms or more; at depth 32, one request took 520 ms.");
}

/// An operation in a queue that is not unusual among its like is told too: the table shows it.
#[test]
fn an_operation_as_long_as_a_pause_is_told_beside_no_pause() {
    let mut record = records::typical_a1_card();
    let deep = record.phases.iter_mut().find(|it| it.name == "random-write-4k-qd32").unwrap();
    let latency = deep.latency_ns.as_mut().unwrap();
    latency.max = Nanos::from_millis(486);
    latency.p50 = Nanos::from_millis(170);
    let (grade, finding) = of_pauses(&record);
    assert_eq!(grade, Grade::Good);
    assert!(finding.ends_with("at depth 32, one request took 486 ms."), "{finding}");
}

/// Pauses that are poor by their share name it, and those that are poor by their length do not.
#[test]
fn pauses_that_are_bad_by_their_share_name_it() {
    let mut record = records::typical_a1_card();
    let phase = record.phases.iter_mut().find(|it| it.name == "random-write-4k-qd32").unwrap();
    let mut passed = Nanos::ZERO;
    for slice in &mut phase.intervals {
        passed = passed.saturating_add(slice.duration_ns);
        if passed.0 / 400_000_000 % 2 == 1 {
            *slice = Interval { ops: 0, bytes: Bytes::ZERO, latency_max_ns: Nanos::ZERO, ..*slice };
        }
    }
    let (grade, finding) = of_pauses(&record);
    assert_eq!(grade, Grade::Poor, "{finding}");
    assert!(finding.contains("In one test the storage stood still for "), "{finding}");
    assert!(!of_pauses(&records::with_pauses()).1.contains("stood still"));
}

/// The tests that decide the classes may have different ranges: the words name both ends.
#[test]
fn a_test_range_is_that_of_the_tests_that_decide() {
    let mut record = records::typical_a1_card();
    assert_eq!(scope(&record).unwrap(), "test range: a file of 256 MiB on a device of 29.7 GiB");
    for phase in record.phases.iter_mut().filter(|it| it.name == "random-read-4k-qd32") {
        phase.span_bytes = Bytes::mib(128);
    }
    let expected =
        "test range: a file of 256 MiB on a device of 29.7 GiB, at least 128 MiB in each test";
    assert_eq!(scope(&record).unwrap(), expected);
}

#[test]
fn storage_that_is_always_slow_does_not_pause() {
    let slow = records::slow_class4();
    let of = |name: &str| slow.phases.iter().position(|phase| phase.name == name).unwrap();
    assert_eq!(pauses_in(&slow, of("random-write-16k-qd1")), []);
    let pausing = records::with_pauses();
    let of = |name: &str| pausing.phases.iter().position(|phase| phase.name == name).unwrap();
    let lengths: Vec<u64> = pauses_in(&pausing, of("random-write-16k-qd1"))
        .iter()
        .map(|pause| pause.length.0 / 1_000_000)
        .collect();
    assert_eq!(lengths, [650, 1_900, 400]);
}

#[test]
fn silence_to_the_end_of_a_phase_is_a_pause() {
    let mut record = records::typical_a1_card();
    record.phases.retain(|phase| phase.name == "random-read-4k-qd32");
    for slice in record.phases[0].intervals.iter_mut().rev().take(30) {
        *slice = Interval { ops: 0, bytes: Bytes::ZERO, latency_max_ns: Nanos::ZERO, ..*slice };
    }
    assert_eq!(longest_wait(&record).unwrap().length, Nanos::from_millis(1_500));
}

/// The typical card with synced writes whose interval is this wide.
fn synced(low: f64, value: f64, high: f64) -> Grade {
    let mut record = records::typical_a1_card();
    let phase = record.phases.iter_mut().find(|phase| phase.name == "overwrite-4k-fsync").unwrap();
    let [estimate, low, high] = [value, low, high].map(Iops);
    phase.iops = Some(Estimate { estimate, low, high, confidence: 0.99 });
    let topic = "Databases (they wait for every write)";
    meaning(&record).into_iter().find(|meaning| meaning.topic == topic).unwrap().grade
}

#[test]
fn a_grade_is_given_for_the_interval_and_not_for_its_middle() {
    let cases = [
        ((250.0, 300.0, 350.0), Grade::Good),
        ((240.0, 300.0, 350.0), Grade::FairOrGood),
        ((60.0, 100.0, 240.0), Grade::Fair),
        ((20.0, 40.0, 60.0), Grade::PoorOrFair),
        ((20.0, 40.0, 50.0), Grade::Poor),
        ((20.0, 100.0, 300.0), Grade::Unknown),
    ];
    for ((low, value, high), expected) in cases {
        assert_eq!(synced(low, value, high), expected, "{low} {value} {high}");
    }
}

/// What went through the page cache tells of memory: beside a phase that bypassed it, that one is
/// told of, and alone it has no grade.
#[test]
fn a_phase_in_doubt_has_no_grade() {
    let topic = "Photos, films and large files";
    let of = |record: &Record| {
        let found = meaning(record).into_iter().find(|meaning| meaning.topic == topic);
        found.map(|meaning| (meaning.grade, meaning.text())).unwrap()
    };
    let sound = records::typical_a1_card();
    let mut both = sound.clone();
    let writes = |phase: &&Phase| phase.name == "sequential-write-1m";
    let mut cached = sound.phases.iter().find(writes).unwrap().clone();
    let message = "the phase used the page cache, as the original tool does".to_owned();
    cached.warnings.push(Warning::stated(WarningCode::Buffered, message));
    cached.bytes = Bytes(cached.bytes.get() * 10);
    if let Some(rate) = &mut cached.throughput_bytes_per_s {
        (rate.estimate.0, rate.low.0, rate.high.0) = (9e7, 8e7, 1e8);
    }
    both.phases.push(cached.clone());
    assert_eq!(of(&both), of(&sound));
    let mut alone = sound;
    alone.phases.retain(|phase| phase.name != "sequential-write-1m");
    alone.phases.push(cached);
    let (grade, text) = of(&alone);
    assert_eq!(grade, Grade::Unknown, "{text}");
    assert!(text.contains("its figure is in doubt: the phase used the page cache"), "{text}");
}
