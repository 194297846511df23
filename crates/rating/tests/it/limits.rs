//! What limits, from figures laid out: every limit once.

use std::fmt::Write;

use cardproof_import::iostat::iostat;
use cardproof_rating::limits::explain_log;
use cardproof_rating::words::limits::{
    in_words, limit_of_job, limit_of_phase, limited_now, with_limits,
};
use cardproof_record::{
    Activity, Climate, CpuActivity, DeviceActivity, DisturbanceFigures, JobRun, Limit, LimitedBy,
    MemoryActivity, OpName, PatternName, Phase, PhaseState, PhaseSurroundings, Pressure, Record,
    Requests,
};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use proptest::prelude::*;

/// A second with two processors that do nothing.
fn second() -> Activity {
    Activity {
        window_ns: Nanos::from_secs(1),
        cpu: Some(CpuActivity { cpus: 2, idle: 1.0, ..CpuActivity::default() }),
        ..Activity::default()
    }
}

/// `count` requests of `size` in a second, each after `wait`.
fn requests(count: u64, size: Bytes, wait: Nanos) -> Requests {
    let bytes = size * count;
    Requests {
        count,
        merged: 0,
        bytes,
        per_s: Iops(count as f64),
        bytes_per_s: Throughput(bytes.as_f64()),
        await_ns: (count > 0).then_some(wait),
    }
}

/// A card with these requests, busy for `utilisation`.
fn card(reads: Requests, writes: Requests, utilisation: f64) -> DeviceActivity {
    let name = "mmcblk0".to_owned();
    DeviceActivity { name, reads, writes, queue: 1.2, utilisation, ..DeviceActivity::default() }
}

/// A card with `writes` of `size`, and `flushes` without data, each of 5 ms: Linux counts these as writes too.
fn flushing(writes: u64, flushes: u64, size: Bytes) -> DeviceActivity {
    let wait = Nanos::from_millis(5);
    let all = requests(writes + flushes, Bytes::ZERO, wait);
    let data = requests(writes, size, wait);
    let writes = Requests { bytes: data.bytes, bytes_per_s: data.bytes_per_s, ..all };
    DeviceActivity { flushes: requests(flushes, Bytes::ZERO, wait), ..card(NONE, writes, 0.95) }
}

fn busy(share: f64) -> Option<CpuActivity> {
    Some(CpuActivity {
        cpus: 2,
        user: share,
        idle: 1.0 - share,
        busiest: (2.0 * share).min(1.0),
        ..CpuActivity::default()
    })
}

const NONE: Requests = Requests {
    count: 0,
    merged: 0,
    bytes: Bytes::ZERO,
    per_s: Iops(0.0),
    bytes_per_s: Throughput(0.0),
    await_ns: None,
};

fn cases() -> Vec<(&'static str, Limit, Activity)> {
    let small_writes = requests(33, Bytes::kib(4), Nanos::from_millis(30));
    let climate = |climate| Activity { climate, ..second() };
    vec![
        (
            "small writes of a busy card",
            Limit::StorageSmallWrite,
            Activity { devices: vec![card(NONE, small_writes, 0.99)], ..second() },
        ),
        (
            "tasks wait, and the card is idle: a network drive, or a limit of a control group",
            Limit::Elsewhere,
            Activity {
                devices: vec![card(
                    NONE,
                    requests(33, Bytes::kib(4), Nanos::from_micros(50)),
                    0.01,
                )],
                pressure: Pressure { io_some: Some(0.97), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "a busy card that nobody waits for",
            Limit::Cpu,
            Activity {
                cpu: busy(0.98),
                devices: vec![card(NONE, small_writes, 0.95)],
                pressure: Pressure { io_some: Some(0.03), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "small reads, told by iowait where there is no pressure",
            Limit::StorageSmallRead,
            Activity {
                devices: vec![card(
                    requests(300, Bytes::kib(4), Nanos::from_millis(3)),
                    requests(2, Bytes::kib(4), Nanos::from_millis(9)),
                    0.6,
                )],
                cpu: Some(CpuActivity {
                    cpus: 4,
                    iowait: 0.22,
                    idle: 0.78,
                    ..CpuActivity::default()
                }),
                ..second()
            },
        ),
        (
            "large reads",
            Limit::StorageSequential,
            Activity {
                devices: vec![card(
                    requests(80, Bytes::kib(128), Nanos::from_millis(20)),
                    NONE,
                    0.9,
                )],
                ..second()
            },
        ),
        (
            "large reads at the ceiling of the bus",
            Limit::BusCeiling,
            Activity {
                devices: vec![card(
                    requests(176, Bytes::kib(128), Nanos::from_millis(9)),
                    NONE,
                    0.9,
                )],
                ..second()
            },
        ),
        ("processors full", Limit::Cpu, Activity { cpu: busy(0.97), ..second() }),
        ("one processor full", Limit::Cpu, Activity { cpu: busy(0.5), ..second() }),
        ("processors at 43 %", Limit::Nothing, Activity { cpu: busy(0.43), ..second() }),
        (
            "one processor full, and tasks wait for something else",
            Limit::Elsewhere,
            Activity {
                cpu: busy(0.5),
                pressure: Pressure { io_some: Some(0.9), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "a write of 4 KiB and a flush by turns, whatever the order of the addresses",
            Limit::StorageSmallWrite,
            Activity { devices: vec![flushing(100, 100, Bytes::kib(4))], ..second() },
        ),
        (
            "a write of 100 KiB and a flush by turns: as counted, they may be of half the size",
            Limit::StorageWrite,
            Activity { devices: vec![flushing(100, 100, Bytes::kib(100))], ..second() },
        ),
        (
            "large writes with few flushes",
            Limit::StorageSequential,
            Activity { devices: vec![flushing(100, 3, Bytes::kib(128))], ..second() },
        ),
        (
            "flushes without data",
            Limit::StorageWrite,
            Activity { devices: vec![flushing(0, 100, Bytes::kib(4))], ..second() },
        ),
        (
            "reads that take longer than writes with their flushes",
            Limit::StorageSmallRead,
            Activity {
                devices: vec![DeviceActivity {
                    reads: requests(180, Bytes::kib(4), Nanos::from_millis(3)),
                    ..flushing(40, 40, Bytes::kib(4))
                }],
                ..second()
            },
        ),
        (
            "processors full, storage merely used",
            Limit::Cpu,
            Activity {
                cpu: busy(0.98),
                devices: vec![card(
                    requests(300, Bytes::kib(4), Nanos::from_micros(500)),
                    NONE,
                    0.2,
                )],
                pressure: Pressure { io_some: Some(0.6), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "small writes beside work of lowered priority",
            Limit::StorageSmallWrite,
            Activity {
                cpu: Some(CpuActivity {
                    cpus: 4,
                    nice: 0.97,
                    user: 0.02,
                    ..CpuActivity::default()
                }),
                devices: vec![card(NONE, small_writes, 0.95)],
                pressure: Pressure { io_some: Some(0.27), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "thrashing",
            Limit::MemoryPressure,
            Activity {
                devices: vec![card(small_writes, small_writes, 0.99)],
                memory: Some(MemoryActivity {
                    total_bytes: Bytes::mib(512),
                    available_bytes: Bytes::mib(9),
                    swapped_in_bytes: Bytes::mib(4),
                    swapped_out_bytes: Bytes::mib(3),
                }),
                pressure: Pressure { memory_full: Some(0.31), ..Pressure::default() },
                ..second()
            },
        ),
        (
            "hot, the clock lowered",
            Limit::Heat,
            climate(Climate {
                temperature_celsius: Some(82.3),
                clock_hz: Some(600_000_000),
                clock_allowed_hz: Some(600_000_000),
                clock_max_hz: Some(1_400_000_000),
                ..Climate::default()
            }),
        ),
        (
            "too little voltage, and a cap that follows from it",
            Limit::Power,
            climate(Climate {
                under_voltage: Some(true),
                clock_capped: Some(true),
                clock_hz: Some(600_000_000),
                ..Climate::default()
            }),
        ),
        ("idle", Limit::Nothing, Activity { devices: vec![card(NONE, NONE, 0.0)], ..second() }),
        ("blind", Limit::Unknown, Activity { cpu: None, ..second() }),
    ]
}

#[test]
fn every_limit_is_named_with_its_figures() {
    // High Speed: 50 MHz and four lines.
    let ceiling = |name: &str| (name == "mmcblk0").then(|| Throughput::from_mb_per_s(25.0));
    let mut page = String::new();
    for (name, wanted, activity) in cases() {
        let limited = limited_now(&activity, &ceiling);
        assert_eq!(limited.limit, wanted, "{name}: {limited:?}");
        writeln!(page, "{name}\n    {}", in_words(&limited)).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_hot_board_at_its_full_clock_is_not_limited() {
    let activity = Activity {
        climate: Climate {
            temperature_celsius: Some(84.0),
            clock_allowed_hz: Some(1_500_000_000),
            clock_max_hz: Some(1_500_000_000),
            ..Climate::default()
        },
        ..second()
    };
    assert_eq!(limited_now(&activity, &|_| None).limit, Limit::Nothing);
}

/// A phase of one of the testkit's records, with what the system did beside it.
fn phase_with(index: usize, change: impl FnOnce(&mut PhaseSurroundings)) -> (Record, Phase) {
    let mut record = records::typical_a1_card();
    let mut seen =
        PhaseSurroundings { activity: second(), own_cpu: Some(0.02), ..Default::default() };
    change(&mut seen);
    record.phases[index].surroundings = Some(Box::new(seen));
    let phase = record.phases[index].clone();
    (record, phase)
}

fn limit_of(record: &Record, phase: &Phase) -> Option<Limit> {
    limit_of_phase(record, phase).map(|limited| limited.limit)
}

#[test]
fn a_phase_is_limited_by_its_own_kind_of_operation_unless_disturbed() {
    let record = records::typical_a1_card();
    assert!(record.phases.iter().all(|phase| limit_of_phase(&record, phase).is_none()));
    for (index, phase) in record.phases.iter().enumerate() {
        let (record, phase_seen) = phase_with(index, |_| {});
        let wanted = match (phase.pattern, phase.op) {
            (PatternName::Sequential, _) => [Limit::StorageSequential, Limit::BusCeiling],
            (_, OpName::Read) => [Limit::StorageRandomRead; 2],
            (_, OpName::Write) => [Limit::StorageRandomWrite; 2],
            _ => [Limit::StorageRandomWrite, Limit::StorageRandomRead],
        };
        let limit = limit_of(&record, &phase_seen).unwrap();
        assert!(wanted.contains(&limit), "{}: {limit:?}", phase.name);
    }
    let (record, phase) = phase_with(2, |seen| seen.own_cpu = Some(0.49));
    assert_eq!(limit_of(&record, &phase), Some(Limit::Cpu), "one of two processors");
    let (record, phase) = phase_with(2, |seen| seen.activity.climate.under_voltage = Some(true));
    assert_eq!(limit_of(&record, &phase), Some(Limit::Power));
    let told = with_limits(&record);
    assert_eq!(told.phases[2].limited_by.as_ref().unwrap().limit, Limit::Power);
    assert!(told.phases[3].limited_by.is_none(), "nobody looked");
}

/// What limited an installation whose surroundings and run were `change`d; it waited for syncs for
/// 27 of its 32 seconds, and had a processor to itself.
fn limit_of_installation(
    change: impl FnOnce(&mut PhaseSurroundings, &mut JobRun),
) -> Option<LimitedBy> {
    let mut record = records::package_installation();
    let mut seen = PhaseSurroundings { activity: second(), ..PhaseSurroundings::default() };
    seen.activity.cpu = busy(0.2);
    seen.activity.devices =
        vec![card(NONE, requests(300, Bytes::kib(8), Nanos::from_millis(3)), 0.9)];
    seen.own_cpu = Some(0.1);
    change(&mut seen, &mut record.job_runs[0]);
    record.job_runs[0].surroundings = Some(Box::new(seen));
    let told = limit_of_job(&record, &record.job_runs[0]);
    assert_eq!(with_limits(&record).job_runs[0].limited_by, told);
    told
}

#[test]
fn a_job_is_limited_by_what_it_waited_for_or_computed() {
    let limit = |change: fn(&mut PhaseSurroundings, &mut JobRun)| {
        limit_of_installation(change).map(|limited| limited.limit)
    };
    let waited = limit_of_installation(|_, _| ()).unwrap();
    assert_eq!(waited.limit, Limit::StorageSmallWrite);
    assert_eq!(waited.device.as_deref(), Some("mmcblk0"));
    let words = in_words(&waited);
    assert!(words.contains("the job waited for 3075 syncs in 84 %"), "{words}");
    assert_eq!(limit(|seen, _| seen.activity.devices.clear()), Some(Limit::StorageSmallWrite));
    let without_syncs = |run: &mut JobRun| run.syncs = None;
    let computed = limit_of_installation(|seen, run| {
        without_syncs(run);
        seen.own_cpu = Some(0.4);
    });
    assert!(in_words(&computed.unwrap()).contains("the job used 80 % of one processor"));
    let crowded = |seen: &mut PhaseSurroundings, run: &mut JobRun| {
        run.syncs = None;
        seen.activity.cpu = busy(0.99);
    };
    assert_eq!(limit(crowded), Some(Limit::Cpu), "others left no processor");
    let read = |seen: &mut PhaseSurroundings, run: &mut JobRun| {
        run.syncs = None;
        let reads = requests(200, Bytes::kib(16), Nanos::from_millis(2));
        seen.activity.devices = vec![card(reads, NONE, 0.4)];
    };
    assert_eq!(limit(read), Some(Limit::StorageSmallRead), "it computed little");
    assert_eq!(
        limit(|seen, _| seen.activity.climate.under_voltage = Some(true)),
        Some(Limit::Power)
    );
}

#[test]
fn a_job_that_waits_for_syncs_is_limited_by_writes_even_if_others_read() {
    let told = limit_of_installation(|seen, run| {
        let reads = requests(900, Bytes::kib(512), Nanos::from_millis(5));
        let writes = requests(300, Bytes::kib(8), Nanos::from_millis(3));
        seen.activity.devices = vec![card(reads, writes, 0.99)];
        let (device, read_bytes) = ("mmcblk0".to_owned(), Bytes::mib(450));
        run.disturbances = vec![DisturbanceFigures::Read { device, read_bytes }.into()];
    })
    .unwrap();
    assert_eq!(told.limit, Limit::StorageSmallWrite);
    assert!(in_words(&told).contains("other programs read 450 MiB"), "{}", in_words(&told));
}

#[test]
fn a_job_without_a_time_or_without_monitoring_has_no_limit() {
    let record = records::package_installation();
    assert_eq!(limit_of_job(&record, &record.job_runs[0]), None);
    let failed = |_: &mut PhaseSurroundings, run: &mut JobRun| {
        run.state = PhaseState::NotMeasured { cause: "no room".to_owned() };
    };
    assert_eq!(limit_of_installation(failed), None);
    assert_eq!(limit_of_installation(|_, run| run.duration_ns = Nanos::ZERO), None);
}

/// Lines of what logs consist of, in any order and with any figures.
fn log_lines() -> impl Strategy<Value = String> {
    let figure = prop_oneof![
        Just("0.00".to_owned()),
        (0.0..1e4_f64).prop_map(|figure| format!("{figure:.2}")),
        Just("1e300".to_owned()),
        Just("1e-300".to_owned()),
        Just("18446744073709551615".to_owned()),
    ];
    let row = (prop_oneof![Just("sda"), Just("mmcblk0")], proptest::collection::vec(figure, 5))
        .prop_map(|(device, figures)| format!("{device} {}", figures.join(" ")));
    let line = prop_oneof![
        6 => row,
        1 => Just("Device: tps kB_read/s kB_wrtn/s kB_read kB_wrtn".to_owned()),
        1 => Just("Linux 6.1 (x) 11/21/26 _x86_64_ (4 CPU)".to_owned()),
        1 => Just("Device r/s w/s rkB/s wkB/s %util".to_owned()),
    ];
    proptest::collection::vec(line, 1..20).prop_map(|lines| lines.join("\n"))
}

proptest! {
    /// Whatever a log holds, it is explained or refused.
    #[test]
    fn any_log_is_explained_or_refused(lines in log_lines(), headed in any::<bool>()) {
        let heading = "Device: tps kB_read/s kB_wrtn/s kB_read kB_wrtn\n";
        let text = if headed { format!("{heading}{lines}") } else { lines };
        if let Ok(log) = iostat(&text) {
            for interval in [None, Some(Nanos(u64::MAX)), Some(Nanos(1))] {
                for explanation in explain_log(&log, interval) {
                    let reports: u64 = explanation.states.iter().map(|share| share.reports).sum();
                    prop_assert_eq!(reports, explanation.reports);
                }
            }
        }
    }
}

#[test]
fn storage_that_does_not_answer_is_not_idle_in_the_plain_form() {
    let report = |iowait: f64, rows: &str| {
        format!(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
             \x20          1.00    0.00    1.00   {iowait:.2}    0.00   {:.2}\n\n\
             Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n{rows}\n",
            98.0 - iowait
        )
    };
    let still = "mmcblk0           0.00         0.00         0.00          0          0\n";
    let busy = "mmcblk0          12.00         0.00       108.00          0       2160\n";
    let other = "sda               0.00         0.00         0.00          0          0\n";
    let states = |text: &str| -> Vec<String> {
        let explained = explain_log(&iostat(text).unwrap(), None);
        explained[0].states.iter().map(|share| format!("{:?}", share.state)).collect()
    };
    let wait = report(46.0, busy);
    assert_eq!(states(&(wait.clone() + &report(48.0, still))), ["SmallWrites", "Stalled"]);
    assert_eq!(states(&(wait.clone() + &report(2.0, still))), ["SmallWrites", "Idle"]);
    let two = report(48.0, &(still.to_owned() + other));
    assert_eq!(states(&(wait + &two)), ["SmallWrites", "Idle"], "another may be the one");
}
