//! The units that are easily mistaken, each with an output that tells.

use cardproof_import::{PibenchmarksFigures, pibenchmarks_score};
use cardproof_record::Phase;
use cardproof_units::{Iops, Throughput};

use crate::{fixture, imported};

fn phase(name: &str, phase: &str) -> Phase {
    let record = imported(&fixture(name)).unwrap();
    let names: Vec<_> = record.phases.iter().map(|phase| phase.name.clone()).collect();
    let found = record.phases.into_iter().find(|found| found.name == phase);
    found.unwrap_or_else(|| panic!("{name} has {names:?}, not {phase}"))
}

fn bytes_per_s(name: &str, of: &str) -> f64 {
    phase(name, of).point_throughput().unwrap().0
}

#[test]
fn hdparm_means_mib() {
    let rate = bytes_per_s("hdparm-t.txt", "sequential-read-2m-qd1-buffered");
    assert!((rate - 262.90 * 1_048_576.0).abs() < 1.0, "{rate}");
}

#[test]
fn iozone_means_kib_and_counts_its_operations() {
    let record = "iozone-old-columns.txt";
    let phase = phase(record, "random-write-4k-qd1");
    assert_eq!(phase.point_throughput(), Some(Throughput(744.0 * 1024.0)));
    assert_eq!(phase.point_iops(), Some(Iops(186.0)));
}

#[test]
fn fio_means_kib_where_it_says_kb() {
    let rate = bytes_per_s("fio-plain-version-2.txt", "random-mixed-4k-75-25-qd64");
    assert!((rate - (2048.0 * 1024.0 + 699_051.0)).abs() < 1.0, "{rate}");
}

#[test]
fn fio_s_latencies_of_both_versions_are_in_nanoseconds() {
    let old = phase("fio-version-2.json", "random-write-4k-qd1").latency_ns.unwrap();
    assert_eq!((old.p50.0, old.max.0), (1_448_000, 250_112_000));
    let new = phase("fio-random-write.json", "random-write-4k-qd64").latency_ns.unwrap();
    assert_eq!((new.p50.0, new.max.0), (544_768, 52_053_994));
}

#[test]
fn dd_s_rate_is_that_of_its_bytes_and_seconds_whatever_the_country() {
    let cases = [
        ("dd-english.txt", 20_971_520.0 / 0.037_021_9),
        ("dd-german.txt", 20_971_520.0 / 0.045_709_8),
        ("dd-chinese.txt", 20_971_520.0 / 0.054_303_4),
        ("dd-gigabytes.txt", 1_258_291_200.0 / 3.9177),
        ("dd-busybox.txt", 41_943_040.0 / 3.872_51),
        ("dd-bsd.txt", 20_000_000.0),
    ];
    for (name, expected) in cases {
        let rate = imported(&fixture(name)).unwrap().phases[0].point_throughput().unwrap().0;
        assert!((rate / expected - 1.0).abs() < 1e-6, "{name}: {rate}, not {expected}");
    }
}

#[test]
fn kdiskmark_s_thousand_kib_are_put_right() {
    for name in ["kdiskmark-kib-per-1000.txt", "kdiskmark-honest.txt"] {
        let rate = bytes_per_s(name, "sequential-read-1m-qd8");
        assert!((rate - 85.0 * 1_048_576.0).abs() < 1.0, "{name}: {rate}");
    }
    let warned = |name| imported(&fixture(name)).unwrap().warnings.len();
    assert_eq!((warned("kdiskmark-kib-per-1000.txt"), warned("kdiskmark-honest.txt")), (1, 0));
}

#[test]
fn a_score_is_that_of_the_script_s_own_arithmetic() {
    let record = imported(&fixture("pibenchmarks.txt")).unwrap();
    let scores: Vec<f64> = record
        .figures
        .iter()
        .filter(|figure| figure.name.starts_with("score"))
        .map(|figure| figure.value)
        .collect();
    assert_eq!(scores, [21_838.0, 21_838.0], "of the figures, and as the shell computed it");
}

#[test]
fn a_score_counts_dd_s_unit() {
    let figures = PibenchmarksFigures {
        dd_write: Throughput::from_mb_per_s(19.3),
        fio_random_read: Iops(2742.0),
        fio_random_write: Iops(964.0),
        iozone_read_kib_per_s: 8810.0,
        iozone_write_kib_per_s: 2251.0,
        iozone_random_read_kib_per_s: 7353.0,
        iozone_random_write_kib_per_s: 3432.0,
    };
    assert_eq!(pibenchmarks_score(&figures), 1151);
    let faster = fixture("pibenchmarks.txt").replace("750 MB/s", "0.75 GB/s");
    let record = imported(&faster).unwrap();
    assert!(record.figures.iter().any(|it| it.name == "score" && it.value == 21_838.0));
}

/// fio's `numjobs` runs copies of a job beside each other: four of depth 64 are no measurement at
/// depth 64, neither together nor one by one.
#[test]
fn copies_of_a_fio_job_are_not_taken_for_one() {
    let depth = |text: &str| -> Vec<u16> {
        imported(text).unwrap().phases.iter().map(|phase| phase.queue_depth).collect()
    };
    let (json, plain) = (fixture("fio-random-write.json"), fixture("fio-plain-random-read.txt"));
    assert_eq!((depth(&json), depth(&plain)), (vec![64], vec![64]));
    let option = "\"direct\" : \"1\"";
    let alone = json.replace(option, &format!("{option}, \"numjobs\" : \"4\""));
    assert_eq!(depth(&alone), [0], "a share of what four did together");
    let summed = alone.replace(option, &format!("{option}, \"group_reporting\" : \"\""));
    assert_eq!(depth(&summed), [256]);
    assert_eq!(depth(&plain.replace("jobs=1)", "jobs=4)")), [256]);
    let start = plain.find("test: (groupid").unwrap();
    let end = plain.find("Run status").unwrap();
    let twice = format!("{}{}", &plain[..end], &plain[start..]);
    assert_eq!(depth(&twice), [0, 0], "one of two copies that ran beside each other");
}
