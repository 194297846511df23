//! A class is never more open than one that it includes.

use cardproof_facts::{CLASSES, Class};
use cardproof_import::{Origin, import};
use cardproof_rating::{indications, judge};
use cardproof_record::{Estimate, Likelihood, Outcome, Phase, Record, Transport};
use cardproof_testkit::records;
use cardproof_units::Iops;

fn outcome(record: &Record, rule: &str) -> Outcome {
    let verdicts = judge(record);
    verdicts.into_iter().find(|verdict| verdict.rule == rule).unwrap().outcome
}

fn phase<'r>(record: &'r mut Record, name: &str) -> &'r mut Phase {
    record.phases.iter_mut().find(|phase| phase.name == name).unwrap()
}

/// An interval of two per cent.
fn near(iops: f64) -> Estimate<Iops> {
    Estimate {
        estimate: Iops(iops),
        low: Iops(0.99 * iops),
        high: Iops(1.01 * iops),
        confidence: 0.99,
    }
}

/// A card is made to reach A2 with its queue and its cache. How it works without them is another matter: many A2 cards
/// are slower than A1 cards then.
#[test]
fn a_missed_a1_says_nothing_of_a2_on_a_host_without_the_queue() {
    let mut record = records::typical_a1_card();
    record.conditions.device.transport = Some(Transport::Sd);
    assert_eq!(outcome(&record, "A2"), Outcome::NotTestable, "the host explains this miss");
    phase(&mut record, "random-write-4k-qd32").iops = Some(near(100.0));
    assert_eq!(
        (outcome(&record, "A1"), outcome(&record, "A2")),
        (Outcome::Misses, Outcome::NotTestable)
    );
}

#[test]
fn classes_include_those_whose_limits_are_no_higher() {
    let includes =
        |high: &str, low: &str| Class::named(high).unwrap().includes(Class::named(low).unwrap());
    for (high, low) in [("A1", "C10"), ("V30", "U3"), ("U3", "V30"), ("V90", "C2")] {
        assert!(includes(high, low), "{high} {low}");
    }
    for (high, low) in [("A2", "A1"), ("A1", "A2"), ("V90", "A1"), ("C10", "V30"), ("A1", "A1")] {
        assert!(!includes(high, low), "{high} {low}");
    }
}

#[test]
fn no_indication_is_more_open_than_one_that_it_includes() {
    for iops in [20, 100, 312, 480, 900, 1900, 3000] {
        let kib = iops * 4;
        let text = format!(
            "rr: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, \
             iodepth=1\nrr: (groupid=0, jobs=1): err= 0: pid=1: Wed Nov 25 10:13:49 2026\n  write: IOPS={iops}, \
             BW={kib}KiB/s ({}kB/s)({kib}KiB/1000msec); 0 zone resets\n",
            kib * 1024 / 1000
        );
        let origin = Origin { id: "a".to_owned(), read_at: "2026-01-01T00:00:00Z".to_owned() };
        let all = indications(&import(&text, None, &origin).unwrap().records.remove(0));
        let of = |rule: &str| all.iter().find(|it| it.rule == rule).map(|it| it.outcome);
        for (high, low) in
            CLASSES.iter().flat_map(|high| CLASSES.iter().map(move |low| (high, low)))
        {
            if high.includes(low) && of(low.name) == Some(Likelihood::LikelyMisses) {
                assert_eq!(of(high.name), Some(Likelihood::LikelyMisses), "{}: {iops}", high.name);
            }
        }
    }
}
