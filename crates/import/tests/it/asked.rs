//! What people paste when they ask a question: cut, commented, of two cards, with the fault that they ask
//! about. The texts are in `tests/import/asked`; each was once misread or refused.

use std::fs;

use cardproof_import::{ImportError, Imported};
use cardproof_record::{Record, State, WarningCode};

use crate::{all_of, directory};

fn asked(name: &str) -> Imported {
    let path = directory().join("asked").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = all_of(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(found.refused, [], "{name}");
    found
}

/// A record in lines: label, device, whether it is partial, findings, and each phase with its figures as
/// printed.
fn lines_of(record: &Record) -> Vec<String> {
    let label = record.label.iter().map(|label| format!("{label}:"));
    let device = record.conditions.device.name.iter().map(|name| format!("on {name}"));
    let partial = (record.state == State::Partial).then(|| "partial".to_owned());
    let findings = record.findings.iter().map(|finding| {
        let what = serde_json::to_value(&finding.what).unwrap();
        let mut fields: Vec<String> = what
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| *name != "kind")
            .map(|(name, value)| format!("{name}={value}").replace('"', ""))
            .collect();
        fields.sort();
        let kind = what["kind"].as_str().unwrap();
        format!("line {}: {kind} {}", finding.line.unwrap_or(0), fields.join(" ")).trim().to_owned()
    });
    let phases = record.phases.iter().map(|phase| {
        let own = record.figures.iter().filter(|it| it.phases == [phase.name.as_str()]);
        let figures: Vec<String> =
            own.map(|it| format!("{} {}", it.value, it.unit).trim().to_owned()).collect();
        format!("{} {}", phase.name, figures.join(", ")).trim().to_owned()
    });
    label.chain(device).chain(partial).chain(findings).chain(phases).collect()
}

fn told(name: &str) -> Vec<String> {
    asked(name).records.iter().flat_map(lines_of).collect()
}

fn check(cases: &[(&str, &[&str])]) {
    for (name, expected) in cases {
        assert_eq!(told(name), *expected, "{name}");
    }
}

#[test]
fn newer_forms_of_a_tool_are_read_as_the_older_ones() {
    check(&[
        ("diskspd-2-1-units.txt", &["random-write-4k-qd32 2.11 MiB/s, 539.67 /s"]),
        (
            "iozone-throughput-with-banner.txt",
            &[
                "sequential-write-4k-qd4 4012.11 kB/s, 3988.2 kB/s",
                "random-read-4k-qd4 12011 kB/s, 12001.33 kB/s",
                "random-write-4k-qd4 2012.88 kB/s, 1998.1 kB/s",
            ],
        ),
    ]);
}

#[test]
fn what_the_tool_says_of_the_storage_is_not_lost_for_its_speed() {
    check(&[
        (
            "f3-write-failures-dropped.txt",
            &[
                "line 3: io_errors cause=io count=2 files=[1,2] op=write",
                "sequential-write-buffered 5.11 MB/s",
            ],
        ),
        (
            "f3read-rows-without-summary.txt",
            &[
                "line 4: wrong_sectors changed=0 corrupted=2097560 ok=4298753 overwritten=1992295 \
                 right_to_bytes=2147274752",
                "line 6: unfinished tested_bytes=4294967296",
            ],
        ),
        (
            "f3-rows-and-speed.txt",
            &[
                "line 10: wrong_sectors changed=0 corrupted=12265 ok=4182039 overwritten=0",
                "line 11: unfinished tested_bytes=2147483648",
                "sequential-write-buffered 2.33 MB/s",
            ],
        ),
        (
            "dd-io-error-skipped.txt",
            &[
                "on mmcblk0",
                "partial",
                "line 1: io_errors after_bytes=1596981248 cause=io count=1 op=read",
                "sequential-read-1m-qd1 21.5 MB/s",
            ],
        ),
        (
            "dd-io-error-german.txt",
            &[
                "on sdb",
                "partial",
                "line 1: io_errors after_bytes=7782531072 cause=io count=1 op=read",
                "sequential-read-1m-qd1 5.9 MB/s",
            ],
        ),
        (
            "h2testw-defective-without-sectors.txt",
            &[
                "line 1: io_errors cause=crc count=1 files=[3] offset_bytes=1072693248 op=read",
                "line 2: unfinished of_bytes=31915507712 tested_bytes=15623782400",
                "line 3: likely_defective",
            ],
        ),
    ]);
}

#[test]
fn two_cards_are_two_records() {
    check(&[
        (
            "f3-two-cards.txt",
            &[
                "SanDisk Ultra 32GB:",
                "sequential-write-buffered 11.2 MB/s",
                "sequential-read-buffered 40.12 MB/s",
                "Samsung EVO Plus 32GB:",
                "sequential-write-buffered 20.2 MB/s",
                "sequential-read-buffered 41.12 MB/s",
            ],
        ),
        (
            "cdm3-two-cards-mean.txt",
            &[
                "SanDisk Ultra 32GB:",
                "sequential-read-qd1 45.112 MB/s",
                "sequential-write-qd1 12.402 MB/s",
                "random-read-512k-qd1 43.02 MB/s",
                "random-write-512k-qd1 2.801 MB/s",
                "random-read-4k-qd1 5.21 MB/s, 1272 IOPS",
                "random-write-4k-qd1 0.921 MB/s, 224.9 IOPS",
                "Samsung EVO Plus 32GB:",
                "sequential-read-qd1 46.731 MB/s",
                "sequential-write-qd1 20.118 MB/s",
                "random-read-512k-qd1 44.377 MB/s",
                "random-write-512k-qd1 9.15 MB/s",
                "random-read-4k-qd1 7.61 MB/s, 1857.9 IOPS",
                "random-write-4k-qd1 2.711 MB/s, 661.9 IOPS",
            ],
        ),
    ]);
}

#[test]
fn reports_behind_banners_of_their_own_are_of_two_cards_unless_they_are_the_same() {
    let report = |rate: &str| format!("F3 write 8.0\nAverage writing speed: {rate} MB/s\n");
    let count = |text: String| all_of(&text).unwrap().records.len();
    assert_eq!(count(report("11.20") + &report("20.20")), 2);
    assert_eq!(count(report("11.20") + &report("11.20")), 1);
    let read = "F3 read 8.0\nAverage reading speed: 40.00 MB/s\n";
    assert_eq!(count(report("11.20") + read), 1);
    let disk = |rate: &str, size: &str| {
        format!(
            "   Sequential Read (Q= 32,T= 1) :    {rate} MB/s\n\n  Test : 1024 MiB [E: 1.7% (0.5/{size} GiB)] \
             (x5)\n  Date : 2019/04/01 11:33:09\n    OS : Windows 10\n\n"
        )
    };
    assert_eq!(count(disk("91.559", "29.7") + &disk("47.112", "59.5")), 2);
}

#[test]
fn a_data_sheet_is_no_measurement() {
    for text in [
        "Brand PRO 256GB\nSequential Read: 180 MB/s\nSequential Write: 130 MB/s\nRandom Read: 4,000 IOPS\n",
        "Sequential Read: 1,050 MB/s\n",
        "Average writing speed: 30 MB/s as they say\n",
    ] {
        assert!(all_of(text).is_err(), "{text}");
    }
}

#[test]
fn fio_is_read_in_the_forms_in_which_people_paste_it() {
    check(&[
        (
            "fio-two-jobs-json-stdout.json",
            &[
                "sequential-read-4k-qd1-buffered 1344578 KiB/s, 336144.566301 IOPS",
                "random-write-4k-qd1-buffered 1143453 KiB/s, 285863.409771 IOPS",
            ],
        ),
        ("fio-summary-only.txt", &["on mmcblk0", "read 21.8 MiB/s"]),
        (
            "fio-unified-both.txt",
            &["random-mixed-4k-50-50-qd1 23.6 MiB/s, 6052 IOPS, 23.9 MiB/s, 6114 IOPS"],
        ),
        ("fio-command-then-sentence.txt", &["random-mixed-4k-50-50-qd1024 888 KiB/s, 222 IOPS"]),
        ("fio-terse-cut.txt", &["read-4k 14790 KiB/s, 3697 IOPS"]),
        (
            "fio-fsync-plain-judged-a1.txt",
            &["random-write-4k-qd1-fsync 143 KiB/s, 35 IOPS, 26223.68 usec, 60928 usec"],
        ),
    ]);
    let limited = &asked("fio-rate-limited-judged-a1.txt").records[0].phases[0];
    assert!(limited.warnings.iter().any(|it| it.code == WarningCode::RateLimited), "{limited:?}");
}

#[test]
fn dd_is_read_in_a_loop_and_with_an_exponent() {
    check(&[
        (
            "dd-loop-one-command.txt",
            &[
                "sequential-write-1m-qd1 22.3 MB/s",
                "sequential-write-1m-qd1-run2 22.1 MB/s",
                "sequential-write-1m-qd1-run3 9.1 MB/s",
            ],
        ),
        ("dd-exponent.txt", &["sequential-transfer-4k-qd1 53.6 MB/s"]),
    ]);
}

#[test]
fn comment_marks_take_nothing_from_a_report() {
    let record = &asked("cdm-in-comments.txt").records[0];
    let figures: Vec<f64> = record.figures.iter().map(|figure| figure.value).collect();
    let expected = [
        91.559, 85.101, 7.892, 1926.8, 3.173, 774.7, 7.275, 1776.1, 3.017, 736.6, 5.297, 1293.2,
        2.26, 551.8,
    ];
    assert_eq!(figures, expected);
    assert_eq!(record.tool.version, "6.0.0");
}

#[test]
fn a_load_is_told_with_the_names_of_its_devices_and_its_stalls() {
    check(&[
        ("iostat-name-with-dash.txt", &["transfer-sda", "transfer-dm-0"]),
        ("iostat-short.txt", &["on mmcblk0", "transfer-mmcblk0"]),
        (
            "iostat-stall-called-idle.txt",
            &["on mmcblk0", "line 0: stalled reports=1 waiting=20.0", "transfer-mmcblk0"],
        ),
    ]);
    let rate = asked("iostat-short.txt").records[0].phases[0].point_throughput().unwrap().0;
    assert!((rate - 417.4 * 1024.0).abs() < 1.0, "{rate}");
}

#[test]
fn a_refusal_names_what_was_recognised_and_the_line() {
    let error = all_of("1+0 records in\n4096 bytes (4.1 kB) copied, 1 s, 9.9 MB/s\n").unwrap_err();
    assert!(matches!(error, ImportError::Contradiction { line: 2, .. }), "{error}");
    assert!(!error.to_string().contains("contradicts itself"), "{error}");
    let claim = all_of("Sequential Read: 180 MB/s\n").unwrap_err().to_string();
    assert!(claim.contains("line 1") && claim.contains("claim"), "{claim}");
    assert!(!claim.contains("--as"), "{claim}");
}
