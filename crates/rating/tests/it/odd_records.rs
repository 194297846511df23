//! Comparing records that no measurement would give: no panic, and no ratio that is not a number.

use cardproof_rating::compare::{Contender, Pairing, compare};
use cardproof_record::{Estimate, PhaseRun, Record};
use cardproof_testkit::records;
use cardproof_units::{Iops, Nanos, Throughput};
use proptest::prelude::*;

/// Figures as a damaged or hostile record may hold them.
fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MIN_POSITIVE),
        -1e3..1e9_f64,
        1e-3..1e6_f64,
    ]
}

fn damaged(figures: &[[f64; 4]]) -> Record {
    let mut record = records::typical_a1_card();
    for (phase, [estimate, low, high, confidence]) in record.phases.iter_mut().zip(figures) {
        let confidence = *confidence;
        phase.iops = Some(Estimate {
            estimate: Iops(*estimate),
            low: Iops(*low),
            high: Iops(*high),
            confidence,
        });
        phase.throughput_bytes_per_s = Some(Estimate {
            estimate: Throughput(*estimate),
            low: Throughput(*low),
            high: Throughput(*high),
            confidence,
        });
    }
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_ratio_is_a_number_or_is_not_there(
        a in proptest::collection::vec([figure(), figure(), figure(), figure()], 10),
        b in proptest::collection::vec([figure(), figure(), figure(), figure()], 10),
        is_paired in any::<bool>(),
    ) {
        let (sound, a, b) = (records::typical_a1_card(), damaged(&a), damaged(&b));
        let pairing = if is_paired { Pairing::ByRun } else { Pairing::Independent };
        let contender = |name: &str, runs: Vec<&'static Record>| Contender {
            name: name.to_owned(),
            runs,
            price: Some(1.0),
        };
        // Leaked, so that one closure serves all: a test's memory.
        let leak = |record: Record| -> &'static Record { Box::leak(Box::new(record)) };
        let (sound, a, b) = (leak(sound), leak(a), leak(b));
        let cards = [contender("a", vec![sound, sound]), contender("b", vec![a, b])];
        let comparison = compare(&cards, pairing, 1);
        for ratio in comparison.rows.iter().flat_map(|row| &row.cells).filter_map(|it| it.ratio) {
            prop_assert!(ratio.estimate.is_finite() && ratio.estimate > 0.0, "{ratio:?}");
            if let Some([low, high]) = ratio.between {
                prop_assert!(low <= ratio.estimate && ratio.estimate <= high, "{ratio:?}");
            }
        }
    }
}

#[test]
fn a_phase_of_which_no_run_counts_has_no_rate_and_breaks_nothing() {
    let mut odd = records::typical_a1_card();
    for phase in &mut odd.phases {
        let run = PhaseRun {
            counts: false,
            position: 0,
            start_ns: Nanos::ZERO,
            ops: phase.ops,
            bytes: phase.bytes,
            duration_ns: phase.duration_ns,
            iops: phase.iops,
            throughput_bytes_per_s: phase.throughput_bytes_per_s,
            latency_ns: None,
            surroundings: None,
        };
        phase.runs = vec![run.clone(), run];
    }
    let sound = records::typical_a1_card();
    for has_rate in [true, false] {
        if !has_rate {
            for phase in &mut odd.phases {
                (phase.iops, phase.throughput_bytes_per_s) = (None, None);
            }
        }
        let contender =
            |record| Contender { name: "card".to_owned(), runs: vec![record], price: None };
        let comparison = compare(&[contender(&sound), contender(&odd)], Pairing::Independent, 1);
        let cells = comparison.rows.iter().filter_map(|row| row.cells.get(1));
        assert!(cells.clone().count() > 0);
        for cell in cells {
            assert!(cell.rate.is_none() && cell.ratio.is_none(), "{cell:?}");
        }
    }
}
