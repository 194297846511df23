//! The recording classes, the bus, and what the card claims, as cases.

use cardproof_rating::{CLASSES, claims, is_recording, judge, recording_classes};
use cardproof_record::{
    CardInfo, Claims, Estimate, Feature, Interval, Outcome, ReasonCode, Record, Verdict, Warning,
    WarningCode,
};
use cardproof_testkit::records::{self, words_of};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// The typical card, writing between `low` and `high` MB/s in a row.
fn writing(low: f64, high: f64) -> Record {
    let mut record = records::typical_a1_card();
    let phase = record.phases.iter_mut().find(|phase| phase.name == "sequential-write-1m").unwrap();
    let rate = Throughput::from_mb_per_s;
    let estimate = rate(f64::midpoint(low, high));
    phase.throughput_bytes_per_s =
        Some(Estimate { estimate, low: rate(low), high: rate(high), confidence: 0.99 });
    phase.bytes = Bytes::mib(128);
    phase.intervals.clear();
    record
}

/// `record` on a bus that carries so many MB/s, which also slows what was faster.
fn on_bus(mut record: Record, mb_per_s: u64) -> Record {
    let ceiling = mb_per_s as f64 * 1e6;
    for phase in &mut record.phases {
        let Some(rate) = phase.throughput_bytes_per_s.as_mut() else { continue };
        let factor = (0.85 * ceiling / rate.estimate.0).min(1.0);
        for rate in [&mut rate.estimate, &mut rate.low, &mut rate.high] {
            rate.0 *=
                if factor < 1.0 && phase.name != "sequential-write-1m" { factor } else { 1.0 };
        }
    }
    record.conditions.device.link_ceiling_bytes_per_s = Some(mb_per_s * 1_000_000);
    record.conditions.device.link = Some("SD high speed".to_owned());
    record
}

fn verdict(record: &Record, rule: &str) -> Verdict {
    judge(record).into_iter().find(|verdict| verdict.rule == rule).unwrap()
}

fn card(record: &mut Record) -> &mut CardInfo {
    record.conditions.device.card.get_or_insert_default()
}

#[test]
fn each_class_is_decided_by_its_own_limit() {
    let record = writing(28.0, 31.0);
    let judged = judge(&record);
    for class in CLASSES.iter().filter(|class| !class.is_application()) {
        let outcome = judged.iter().find(|verdict| verdict.rule == class.name).unwrap().outcome;
        let expected = match class.sequential_write.as_mb_per_s() {
            limit if limit <= 28.0 => Outcome::Meets,
            limit if limit <= 31.0 => Outcome::Undecided,
            _ => Outcome::Misses,
        };
        assert_eq!(outcome, expected, "{}", class.name);
    }
    assert_eq!(
        recording_classes(&judged, true).as_deref(),
        Some("C10, U1 and V10 passed; V60 not passed; U3 and V30 undecided")
    );
}

#[test]
fn a_limit_above_the_bus_limit_cannot_be_tested() {
    let record = on_bus(writing(17.0, 19.0), 25);
    for (rule, expected) in [
        ("V10", Outcome::Meets),
        ("V30", Outcome::NotTestable),
        ("V60", Outcome::NotTestable),
        ("A1", Outcome::Meets),
    ] {
        assert_eq!(verdict(&record, rule).outcome, expected, "{rule}");
    }
    let reasons = verdict(&record, "V60").reasons;
    assert_eq!(reasons[0].code, ReasonCode::BusTooSlow);
    assert_eq!(
        reasons[0].text,
        "the bus (SD high speed) carries at most 25 MB/s, less than V60 requires"
    );
}

#[test]
fn a_rate_close_to_the_bus_limit_is_no_fail() {
    let record = on_bus(writing(42.0, 44.0), 50);
    assert_eq!(verdict(&record, "V30").outcome, Outcome::Meets);
    let narrow = on_bus(writing(88.0, 89.5), 104);
    let v90 = verdict(&narrow, "V90");
    assert_eq!(v90.outcome, Outcome::NotTestable);
    assert!(v90.reasons[0].text.contains("the rate is near its limit"), "{v90:?}");
    let wide = on_bus(writing(50.0, 52.0), 104);
    assert_eq!(verdict(&wide, "V90").outcome, Outcome::Misses);
}

#[test]
fn a_card_is_blamed_behind_a_slow_bus_only_for_what_the_bus_cannot_explain() {
    // A card of 90 MB/s that takes turns with a bus of 25 MB/s, of which 23 arrive, reaches 18.3 MB/s.
    for (rate, bus, rule, expected) in [
        (18.3, 25, "V90", Outcome::NotTestable),
        (10.6, 25, "U3", Outcome::Misses),
        (21.0, 75, "V90", Outcome::Misses),
        (37.5, 75, "V90", Outcome::NotTestable),
    ] {
        let record = on_bus(writing(rate - 0.1, rate + 0.1), bus);
        let verdict = verdict(&record, rule);
        assert_eq!(verdict.outcome, expected, "{rate} MB/s on {bus}: {:?}", verdict.reasons);
    }
}

#[test]
fn a_bus_too_slow_for_a1_makes_a1_not_testable() {
    let record = on_bus(writing(2.0, 2.2), 3);
    let a1 = verdict(&record, "A1");
    assert_eq!(a1.outcome, Outcome::NotTestable);
    assert!(a1.reasons[0].text.ends_with("less than A1 requires"), "{a1:?}");
}

#[test]
fn less_than_an_allocation_unit_can_fail_and_not_pass() {
    let mut record = writing(17.0, 19.0);
    card(&mut record).allocation_unit_bytes = Some(Bytes::mib(64));
    let written = |record: &mut Record, bytes| {
        record.phases.iter_mut().find(|phase| phase.name == "sequential-write-1m").unwrap().bytes =
            bytes;
    };
    written(&mut record, Bytes::mib(63));
    assert_eq!(verdict(&record, "V10").outcome, Outcome::Undecided);
    assert_eq!(verdict(&record, "V30").outcome, Outcome::Misses);
    written(&mut record, Bytes::mib(64));
    assert_eq!(verdict(&record, "V10").outcome, Outcome::Meets);
}

#[test]
fn a_reduced_range_rules_out_a_pass_and_not_a_fail() {
    let mut record = writing(17.0, 19.0);
    let phase = record.phases.iter_mut().find(|phase| phase.name == "sequential-write-1m").unwrap();
    let message = "for the test".to_owned();
    phase.warnings.push(Warning::stated(WarningCode::SpanReduced, message));
    assert_eq!(verdict(&record, "C10").outcome, Outcome::Undecided);
    assert_eq!(verdict(&record, "U3").outcome, Outcome::Misses);
}

#[test]
fn a_pause_within_an_allocation_unit_rules_out_a_pass() {
    let mut record = writing(17.0, 19.0);
    let phase = record.phases.iter_mut().find(|phase| phase.name == "sequential-write-1m").unwrap();
    let slice = |index: u64, mib: u64| Interval {
        start_ns: Nanos::from_millis(100 * index),
        duration_ns: Nanos::from_millis(100),
        ops: mib,
        bytes: Bytes::mib(mib),
        latency_max_ns: Nanos::ZERO,
    };
    let stop = 20..40;
    phase.intervals =
        (0..100).map(|index| slice(index, if stop.contains(&index) { 0 } else { 2 })).collect();
    let v10 = verdict(&record, "V10");
    assert_eq!(v10.outcome, Outcome::Undecided);
    assert!(v10.reasons[0].text.contains("the slowest stretch of 4 MiB had"), "{v10:?}");
    assert_eq!(verdict(&record, "C4").outcome, Outcome::Undecided);
    assert_eq!(verdict(&record, "C2").outcome, Outcome::Meets, "4 MiB in 2 s are 2.1 MB/s");
}

#[test]
fn a_claim_is_set_against_what_was_measured() {
    let claiming = |mut record: Record| {
        card(&mut record).claims = Claims {
            speed_class: Some(10),
            uhs_grade: Some(3),
            video_class: Some(30),
            application_class: Some(1),
        };
        claims(&record, &judge(&record)).join("\n")
    };
    let wide = claiming(on_bus(writing(17.0, 19.0), 104));
    let narrow = claiming(on_bus(writing(17.0, 19.0), 25));
    let open = claiming({
        let mut record = writing(17.0, 19.0);
        record.conditions.device.link_ceiling_bytes_per_s = None;
        record
    });
    insta::assert_snapshot!(format!("104 MB/s:\n{wide}\n25 MB/s:\n{narrow}\nunknown:\n{open}"));
}

#[test]
fn an_unknown_class_is_no_claim() {
    let mut record = writing(17.0, 19.0);
    card(&mut record).claims =
        Claims { speed_class: Some(0), uhs_grade: Some(2), ..Claims::default() };
    assert!(claims(&record, &judge(&record)).is_empty());
    assert!(!verdict(&record, "C2").reasons.iter().any(|it| it.code == ReasonCode::Claimed));
}

#[test]
fn a2_fails_only_if_queue_and_cache_are_in_use_or_missing_in_the_card() {
    let feature = |card, kernel, enabled| Feature { card, kernel, enabled, ..Feature::default() };
    let (yes, no) = (Some(true), Some(false));
    let used = || feature(yes, yes, yes);
    let unused = || feature(yes, no, no);
    let cases = [
        ("both in use", used(), used(), Outcome::Misses, "command queue and cache are in use"),
        ("neither", unused(), unused(), Outcome::NotTestable, "this kernel uses neither"),
        (
            "no queue",
            unused(),
            used(),
            Outcome::NotTestable,
            "kernel does not use the card's command",
        ),
        (
            "no such card",
            feature(no, yes, no),
            used(),
            Outcome::Misses,
            "the card has no command queue",
        ),
        ("unknown", Feature::default(), Feature::default(), Outcome::NotTestable, "it is unknown"),
    ];
    for (name, queue, cache, expected, why) in cases {
        let mut record = records::typical_a1_card();
        card(&mut record).command_queue = queue;
        card(&mut record).cache = cache;
        let a2 = verdict(&record, "A2");
        assert_eq!(a2.outcome, expected, "{name}");
        assert!(a2.reasons.iter().any(|it| it.text.contains(why)), "{name}: {a2:?}");
        assert_eq!(verdict(&record, "A1").outcome, Outcome::Meets, "{name}");
    }
}

#[test]
fn a_card_that_reaches_a2_without_queue_and_cache_meets_it() {
    let mut record = records::typical_a1_card();
    let unused = Feature { card: Some(true), kernel: Some(false), ..Feature::default() };
    card(&mut record).command_queue = unused.clone();
    card(&mut record).cache = unused;
    for (name, iops) in [("random-read-4k-qd32", 4_500.0), ("random-write-4k-qd32", 2_300.0)] {
        let phase = record.phases.iter_mut().find(|phase| phase.name == name).unwrap();
        let [estimate, low, high] = [iops, iops - 90.0, iops + 90.0].map(Iops);
        phase.iops = Some(Estimate { estimate, low, high, confidence: 0.99 });
    }
    assert_eq!(verdict(&record, "A2").outcome, Outcome::Meets);
}

#[test]
fn the_reasons_of_a_slow_card_on_a_slow_bus() {
    let verdicts = judge(&records::slow_class4()).into_iter().filter(is_recording);
    let in_words = verdicts.map(|verdict| {
        let reasons = words_of(&verdict).join("\n    ");
        format!("{} {:?}\n    {reasons}\n", verdict.rule, verdict.outcome)
    });
    insta::assert_snapshot!(in_words.collect::<String>());
}

#[test]
fn nobody_is_certified() {
    for record in [records::typical_a1_card(), records::slow_class4(), writing(95.0, 99.0)] {
        for verdict in judge(&record) {
            let text = words_of(&verdict).join(" ").to_lowercase();
            assert!(!text.contains("certif"), "{text}");
        }
    }
}
