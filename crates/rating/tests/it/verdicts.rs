//! The rules of the application classes as cases: which intervals and doubts lead to which outcome.

use cardproof_rating::{CLASSES, is_recording, judge, next_steps};
use cardproof_record::{
    Activity, CpuActivity, DeviceInfo, EndedBy, Estimate, Outcome, OwnActivity, Phase, PhaseState,
    PhaseSurroundings, Record, State, SyncMode, Transport, Undisturbed, Verdict, Verification,
    Warning, WarningCode,
};
use cardproof_testkit::records::{self, words_of};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use proptest::prelude::*;

/// Does something to a phase that takes away what it can prove.
type Spoil = fn(&mut Phase);

/// Low end, estimate, high end.
type Spread = (f64, f64, f64);

/// A complete A1 record on an SD card whose three judged figures are these, in IOPS and MB/s.
fn record(read: Spread, write: Spread, sequential: Spread) -> Record {
    let mut record = records::typical_a1_card();
    phase(&mut record, "random-read-4k-qd32").iops = Some(estimate(read, Iops));
    phase(&mut record, "random-write-4k-qd32").iops = Some(estimate(write, Iops));
    phase(&mut record, "sequential-write-1m").throughput_bytes_per_s =
        Some(estimate(sequential, Throughput::from_mb_per_s));
    record
}

fn estimate<Unit>((low, value, high): Spread, unit: impl Fn(f64) -> Unit) -> Estimate<Unit> {
    Estimate { estimate: unit(value), low: unit(low), high: unit(high), confidence: 0.99 }
}

fn phase<'r>(record: &'r mut Record, name: &str) -> &'r mut Phase {
    record.phases.iter_mut().find(|phase| phase.name == name).unwrap()
}

fn good() -> Record {
    record((1900.0, 2000.0, 2100.0), (600.0, 700.0, 800.0), (15.0, 17.0, 19.0))
}

fn verdict(record: &Record, rule: &str) -> Verdict {
    judge(record).into_iter().find(|verdict| verdict.rule == rule).unwrap()
}

fn a1(record: &Record) -> Outcome {
    verdict(record, "A1").outcome
}

/// A fast disk has written all it may before an interval that holds at any time says anything.
#[test]
fn a_fast_disk_uses_the_plain_interval_and_a_decided_phase_the_verdict_interval() {
    let mut record = good();
    let write = phase(&mut record, "random-write-4k-qd32");
    write.anytime_iops = Some(estimate((0.0, 700.0, 9000.0), Iops));
    write.duration_ns = Nanos::from_millis(400);
    write.ended_by = Some(EndedBy::Bytes);
    assert_eq!(a1(&record), Outcome::Meets);
    phase(&mut record, "random-write-4k-qd32").ended_by = Some(EndedBy::Decision);
    assert_eq!(a1(&record), Outcome::Undecided);
    let write = phase(&mut record, "random-write-4k-qd32");
    write.ended_by = Some(EndedBy::Bytes);
    write.duration_ns = Nanos::from_secs(5);
    assert_eq!(a1(&record), Outcome::Undecided);
}

#[test]
fn the_table_holds_the_published_limits() {
    let mb_per_s: Vec<_> =
        CLASSES.iter().map(|class| (class.name, class.sequential_write.as_mb_per_s())).collect();
    let expected = [
        ("C2", 2.0),
        ("C4", 4.0),
        ("C6", 6.0),
        ("C10", 10.0),
        ("U1", 10.0),
        ("U3", 30.0),
        ("V6", 6.0),
        ("V10", 10.0),
        ("V30", 30.0),
        ("V60", 60.0),
        ("V90", 90.0),
        ("A1", 10.0),
        ("A2", 10.0),
    ];
    assert_eq!(mb_per_s, expected);
    let rates = CLASSES.iter().filter_map(|class| class.random);
    let random: Vec<[f64; 2]> = rates.map(|rates| [rates.read.0, rates.write.0]).collect();
    assert_eq!(random, [[1500.0, 500.0], [4000.0, 2000.0]]);
    assert!(CLASSES.iter().all(|class| class.random.is_some() == class.is_application()));
}

#[test]
fn an_interval_decides_a_limit() {
    use Outcome::{Meets, Misses, Undecided};
    let cases: [(&str, Spread, Outcome); 7] = [
        ("well above", (600.0, 700.0, 800.0), Meets),
        ("touching from above", (500.0, 510.0, 520.0), Meets),
        ("just below at its low end", (499.9, 510.0, 520.0), Undecided),
        ("around the limit", (450.0, 500.0, 550.0), Undecided),
        ("touching from below", (480.0, 490.0, 500.0), Undecided),
        ("just below at its high end", (480.0, 490.0, 499.9), Misses),
        ("nothing at all", (0.0, 0.0, 0.0), Misses),
    ];
    for (name, write, expected) in cases {
        let record = record((1900.0, 2000.0, 2100.0), write, (15.0, 17.0, 19.0));
        assert_eq!(a1(&record), expected, "{name}");
    }
}

#[test]
fn every_limit_counts() {
    let slow_read = record((900.0, 1000.0, 1100.0), (600.0, 700.0, 800.0), (15.0, 17.0, 19.0));
    let slow_stream = record((1900.0, 2000.0, 2100.0), (600.0, 700.0, 800.0), (7.0, 8.0, 9.0));
    assert_eq!(a1(&slow_read), Outcome::Misses);
    assert_eq!(a1(&slow_stream), Outcome::Misses);
}

#[test]
fn a_proven_miss_decides_over_undecided_and_missing_limits() {
    let mut record = record((1400.0, 1500.0, 1600.0), (80.0, 90.0, 100.0), (15.0, 17.0, 19.0));
    phase(&mut record, "sequential-write-1m").state = PhaseState::Partial;
    let verdict = verdict(&record, "A1");
    assert_eq!(verdict.outcome, Outcome::Misses);
    assert!(verdict.reasons[0].text.contains("4 KiB random write: 90 IOPS"), "{verdict:?}");
}

#[test]
fn a_missing_phase_is_never_a_pass() {
    for name in ["random-read-4k-qd32", "random-write-4k-qd32", "sequential-write-1m"] {
        let cause = PhaseState::NotMeasured { cause: "no space left".to_owned() };
        for state in [PhaseState::Partial, cause] {
            let mut record = good();
            phase(&mut record, name).state = state;
            assert_eq!(a1(&record), Outcome::NotTestable, "{name}");
        }
        let mut record = good();
        record.phases.retain(|phase| phase.name != name);
        assert_eq!(a1(&record), Outcome::NotTestable, "{name} left out");
    }
}

#[test]
fn phases_are_known_by_what_they_do() {
    let mut record = good();
    for (number, phase) in record.phases.iter_mut().enumerate() {
        phase.name = format!("phase {number}");
    }
    assert_eq!(a1(&record), Outcome::Meets);
    for phase in &mut record.phases {
        if phase.queue_depth == 32 {
            phase.queue_depth = 31;
        }
    }
    assert_eq!(a1(&record), Outcome::NotTestable);
}

#[test]
fn a_reduced_queue_depth_rules_out_a_fail_and_not_a_pass() {
    for (mut record, expected) in
        [(good(), Outcome::Meets), (records::slow_class4(), Outcome::Undecided)]
    {
        record.phases.retain(|phase| phase.queue_depth != 1);
        for phase in record.phases.iter_mut().filter(|phase| phase.queue_depth == 32) {
            phase.queue_depth = 1;
            warn(phase, WarningCode::QueueDepthReduced);
        }
        assert_eq!(a1(&record), expected, "{}", record.id);
    }
}

#[test]
fn a_mapped_card_is_a_card_and_a_file_in_memory_is_memory() {
    let beneath = |transport| {
        Some(Box::new(DeviceInfo { transport: Some(transport), ..DeviceInfo::default() }))
    };
    let mut record = good();
    record.conditions.device.transport = Some(Transport::Dm);
    record.conditions.device.beneath = beneath(Transport::Sd);
    assert_eq!(a1(&record), Outcome::Meets);
    assert_eq!(verdict(&record, "A2").outcome, Outcome::NotTestable);
    record.conditions.device.beneath = beneath(Transport::Ram);
    assert_eq!(a1(&record), Outcome::NotTestable);
    assert!(verdict(&record, "A1").reasons[0].text.contains("memory"));
}

#[test]
fn a_layer_over_unknown_storage_has_no_verdict() {
    let layer = |transport, layer: &str| DeviceInfo {
        transport: Some(transport),
        layer: Some(layer.to_owned()),
        ..DeviceInfo::default()
    };
    let over = |upper: DeviceInfo, lower| DeviceInfo { beneath: Some(Box::new(lower)), ..upper };
    let looped = || layer(Transport::Loop, "loop over a file");
    let volume = || layer(Transport::Dm, "LVM volume");
    let card = || DeviceInfo { transport: Some(Transport::Sd), ..DeviceInfo::default() };
    let several = || DeviceInfo { device_count: Some(2), ..DeviceInfo::default() };
    let bare = |transport| DeviceInfo { transport: Some(transport), ..DeviceInfo::default() };
    let cases = [
        (looped(), Some("the loop device")),
        (over(volume(), looped()), Some("the loop device")),
        (volume(), Some("the LVM volume")),
        (over(looped(), card()), None),
        (over(volume(), over(looped(), card())), None),
        (over(volume(), several()), None),
        // Older records and those of other tools name no layer.
        (bare(Transport::Loop), None),
        (bare(Transport::Dm), None),
    ];
    for (device, doubted) in cases {
        let mut record = good();
        record.conditions.device = device;
        let verdict = verdict(&record, "A1");
        let expected = if doubted.is_some() { Outcome::NotTestable } else { Outcome::Meets };
        assert_eq!(verdict.outcome, expected, "{:?}", record.conditions.device);
        if let Some(what) = doubted {
            let says = format!("the storage below {what} is unknown; it may be memory");
            assert!(verdict.reasons[0].text.contains(&says), "{verdict:?}");
            let verdicts = judge(&record);
            assert!(next_steps(&record, &verdicts)[0].contains("chroot or container"));
        }
    }
}

#[test]
fn synced_writes_do_not_replace_plain_writes() {
    let mut record = good();
    phase(&mut record, "random-write-4k-qd32").sync = SyncMode::every(1);
    phase(&mut record, "sequential-write-1m").sync = SyncMode::every(8);
    let verdict = verdict(&record, "A1");
    assert_eq!(verdict.outcome, Outcome::NotTestable);
    assert!(verdict.reasons[0].text.contains("no such phase"), "{verdict:?}");
}

#[test]
fn a_condition_that_raises_rates_rules_out_a_pass_and_not_a_fail() {
    let cases: [(&str, Spoil); 3] = [
        ("a short span", |phase| phase.span_bytes = Bytes::mib(64)),
        ("unwritten blocks", |phase| warn(phase, WarningCode::MaybeUnwritten)),
        ("faults", |phase| warn(phase, WarningCode::Faults)),
    ];
    for (name, spoil) in cases {
        let mut fast = good();
        let mut slow = record((1900.0, 2000.0, 2100.0), (80.0, 90.0, 100.0), (15.0, 17.0, 19.0));
        spoil(phase(&mut fast, "random-write-4k-qd32"));
        spoil(phase(&mut slow, "random-write-4k-qd32"));
        assert_eq!(a1(&fast), Outcome::Undecided, "{name}");
        assert_eq!(a1(&slow), Outcome::Misses, "{name}");
    }
}

#[test]
fn a_condition_that_lowers_rates_rules_out_a_fail_and_not_a_pass() {
    for code in [WarningCode::QueueDepthReduced, WarningCode::Disturbed] {
        let mut fast = good();
        let mut slow = record((1900.0, 2000.0, 2100.0), (280.0, 290.0, 300.0), (15.0, 17.0, 19.0));
        for record in [&mut fast, &mut slow] {
            warn(phase(record, "random-write-4k-qd32"), code);
        }
        assert_eq!(a1(&fast), Outcome::Meets, "{code:?}");
        assert_eq!(a1(&slow), Outcome::Undecided, "{code:?}");
    }
    let mut far = record((1900.0, 2000.0, 2100.0), (80.0, 90.0, 100.0), (15.0, 17.0, 19.0));
    warn(phase(&mut far, "random-write-4k-qd32"), WarningCode::Disturbed);
    assert_eq!(a1(&far), Outcome::Misses, "no disturbance costs so much");
}

/// A card of A1 but for its random writes, which reach `high` a second at the most in ten seconds beside full
/// processors, for which threads waited for `waited`.
fn beside_full_processors(high: f64, waited: Option<Nanos>) -> Record {
    let mut record =
        record((1900.0, 2000.0, 2100.0), (0.9 * high, 0.95 * high, high), (15.0, 17.0, 19.0));
    let cpu = CpuActivity { cpus: 4, user: 1.0, busiest: 1.0, ..CpuActivity::default() };
    let seen = PhaseSurroundings {
        activity: Activity {
            window_ns: Nanos::from_secs(10),
            cpu: Some(cpu),
            ..Activity::default()
        },
        own_cpu: Some(0.02),
        own: Some(OwnActivity::default()),
        processor_wait_ns: waited,
        ..PhaseSurroundings::default()
    };
    let phase = phase(&mut record, "random-write-4k-qd32");
    phase.duration_ns = Nanos::from_secs(10);
    phase.surroundings = Some(Box::new(seen));
    record
}

/// A disturbance only slows, by no longer than threads were kept waiting.
#[test]
fn a_slow_card_fails_beside_full_processors_where_the_waits_do_not_explain_it() {
    let seconds = |seconds: f64| Some(Nanos::from_secs_f64(seconds));
    for (high, waited, expected) in [
        (260.0, seconds(0.1), Outcome::Misses),
        (260.0, seconds(2.0), Outcome::Misses),
        (260.0, seconds(4.5), Outcome::Undecided),
        (260.0, None, Outcome::Undecided),
        (390.0, seconds(0.1), Outcome::Misses),
        (450.0, seconds(0.1), Outcome::Misses),
        (450.0, seconds(0.6), Outcome::Undecided),
        (378.0, seconds(1.5), Outcome::Misses),
        (100.0, seconds(8.5), Outcome::Undecided),
        (100.0, seconds(7.0), Outcome::Misses),
        (100.0, seconds(40.0), Outcome::Undecided),
        (100.0, None, Outcome::Misses),
    ] {
        let record = beside_full_processors(high, waited);
        assert_eq!(a1(&record), expected, "{high} a second, waited {waited:?}");
    }
    for waited in [None, seconds(0.1), seconds(9.0)] {
        let record = beside_full_processors(800.0, waited);
        assert_eq!(a1(&record), Outcome::Meets, "a pass in spite of it is a pass");
    }
}

#[test]
fn undisturbed_parts_alone_decide_a_miss_and_no_pass() {
    let waited = Some(Nanos::from_secs(9));
    for (high, parts, expected) in [
        (260.0, (240.0, 250.0, 270.0), Outcome::Misses),
        (600.0, (240.0, 250.0, 270.0), Outcome::Misses),
        (260.0, (600.0, 700.0, 800.0), Outcome::Undecided),
        (800.0, (240.0, 250.0, 270.0), Outcome::Meets),
    ] {
        let mut record = beside_full_processors(high, waited);
        let phase = phase(&mut record, "random-write-4k-qd32");
        if high == 600.0 {
            phase.iops = Some(estimate((200.0, 400.0, high), Iops));
        }
        let duration_ns = Nanos::from_secs(4);
        phase.undisturbed = Some(Undisturbed { duration_ns, iops: estimate(parts, Iops) });
        assert_eq!(a1(&record), expected, "{high} a second, undisturbed {parts:?}");
    }
}

#[test]
fn a_rate_limited_or_misaligned_phase_is_not_used_for_verdicts() {
    let held_back: [Spoil; 2] = [
        |phase| phase.rate_limit_iops = Some(Iops(100.0)),
        |phase| phase.alignment_offset_bytes = Bytes(2048),
    ];
    for hold_back in held_back {
        for name in ["random-read-4k-qd32", "random-write-4k-qd32", "sequential-write-1m"] {
            let mut slow = record((90.0, 95.0, 100.0), (90.0, 95.0, 100.0), (1.0, 1.1, 1.2));
            slow.phases.retain(|phase| phase.name == name);
            hold_back(phase(&mut slow, name));
            assert_eq!(a1(&slow), Outcome::NotTestable, "{name}");
        }
    }
}

#[test]
fn doubts_that_prevent_verdicts_prevent_fails_too() {
    let codes = [
        WarningCode::Buffered,
        WarningCode::Memory,
        WarningCode::LayerUnknown,
        WarningCode::CopyOnWrite,
        WarningCode::WrongData,
        WarningCode::AboveLink,
    ];
    for code in codes {
        for mut record in [good(), records::slow_class4()] {
            record.warnings.push(Warning::stated(code, "for the test"));
            assert_eq!(a1(&record), Outcome::NotTestable, "{code:?}");
        }
    }
}

#[test]
fn a_doubt_about_another_phase_spares_the_verdict_unless_it_speaks_against_all() {
    let cases = [
        (WarningCode::Buffered, Outcome::Meets),
        (WarningCode::CopyOnWrite, Outcome::Meets),
        (WarningCode::WrongData, Outcome::NotTestable),
        (WarningCode::Memory, Outcome::NotTestable),
        (WarningCode::AboveLink, Outcome::NotTestable),
    ];
    for (code, expected) in cases {
        let mut record = good();
        warn(phase(&mut record, "random-write-16k-qd1"), code);
        assert_eq!(a1(&record), expected, "{code:?}");
        let mut record = good();
        warn(phase(&mut record, "random-write-4k-qd32"), code);
        assert_eq!(a1(&record), Outcome::NotTestable, "{code:?}");
    }
}

#[test]
fn wrong_data_found_in_the_record_itself_forbids_the_verdict() {
    let mut record = good();
    phase(&mut record, "random-read-4k-qd1").verification =
        Some(Verification { compared_bytes: Bytes::mib(8), wrong_bytes: Bytes::kib(4) });
    assert_eq!(a1(&record), Outcome::NotTestable);
}

#[test]
fn a_run_that_ended_in_a_fault_is_not_judged() {
    for mut record in [good(), records::slow_class4()] {
        record.state = State::Failed;
        assert_eq!(a1(&record), Outcome::NotTestable);
    }
}

#[test]
fn figures_that_contradict_themselves_are_not_figures() {
    let spreads = [
        (800.0, 700.0, 600.0),
        (600.0, f64::NAN, 800.0),
        (600.0, 700.0, f64::INFINITY),
        (-1.0, 700.0, 800.0),
    ];
    for write in spreads {
        let record = record((1900.0, 2000.0, 2100.0), write, (15.0, 17.0, 19.0));
        assert_eq!(a1(&record), Outcome::NotTestable, "{write:?}");
    }
    let mut record = good();
    phase(&mut record, "random-write-4k-qd32").iops.as_mut().unwrap().confidence = 0.5;
    assert_eq!(a1(&record), Outcome::Undecided);
}

#[test]
fn an_sd_card_is_not_blamed_for_a_host_without_its_queue() {
    let cases = [
        (Some("sd"), Outcome::NotTestable),
        (Some("usb"), Outcome::NotTestable),
        (None, Outcome::NotTestable),
        (Some("mmc"), Outcome::Misses),
        (Some("nvme"), Outcome::Misses),
    ];
    for (transport, expected) in cases {
        let mut record = good();
        record.conditions.device.transport = transport.map(Transport::from);
        assert_eq!(verdict(&record, "A2").outcome, expected, "{transport:?}");
        assert_eq!(a1(&record), Outcome::Meets, "{transport:?}");
    }
    let fast = record((5000.0, 5100.0, 5200.0), (2100.0, 2200.0, 2300.0), (15.0, 17.0, 19.0));
    assert_eq!(verdict(&fast, "A2").outcome, Outcome::Meets);
}

#[test]
fn other_storage_gets_the_limits_for_comparison() {
    let mut record = good();
    record.conditions.device.transport = Some(Transport::Nvme);
    let reasons = verdict(&record, "A1").reasons;
    assert!(reasons.last().unwrap().text.contains("for comparison"), "{reasons:?}");
}

#[test]
fn the_reasons_of_typical_records() {
    let records = [
        records::typical_a1_card(),
        records::slow_class4(),
        records::ram_disk(),
        records::read_only_device(),
        records::interrupted(),
        records::with_pauses(),
    ];
    let text: String = records.iter().map(in_words).collect();
    insta::assert_snapshot!(text);
}

fn in_words(record: &Record) -> String {
    let verdicts = judge(record).into_iter().filter(|verdict| !is_recording(verdict));
    let verdicts = verdicts.map(|verdict| {
        let reasons = words_of(&verdict).join("\n    ");
        format!("  {} {:?}\n    {reasons}\n", verdict.rule, verdict.outcome)
    });
    format!("{}\n{}", record.id, verdicts.collect::<String>())
}

fn warn(phase: &mut Phase, code: WarningCode) {
    phase.warnings.push(Warning::stated(code, "for the test"));
}

prop_compose! {
    /// Spreads in the right order and in none, around the limits and far from them.
    fn any_spread(limit: f64)(factors in prop::array::uniform3(0.0..3.0_f64)) -> Spread {
        let [low, value, high] = factors.map(|factor| factor * limit);
        (low, value, high)
    }
}

proptest! {
    #[test]
    fn a_pass_needs_every_low_end_and_a_miss_one_high_end(
        read in any_spread(1500.0), write in any_spread(500.0), sequential in any_spread(10.0),
    ) {
        let outcome = a1(&record(read, write, sequential));
        let spreads = [(read, 1500.0), (write, 500.0), (sequential, 10.0)];
        if outcome == Outcome::Meets {
            prop_assert!(spreads.iter().all(|((low, _, _), limit)| low >= limit));
        }
        if outcome == Outcome::Misses {
            prop_assert!(spreads.iter().any(|((_, _, high), limit)| high < limit));
        }
    }
}
