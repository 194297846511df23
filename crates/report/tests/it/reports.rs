//! Whole reports of typical records, as people get them.

use cardproof_import::{Origin, import};
use cardproof_rating::judge;
use cardproof_record::{
    Activity, CpuActivity, Disturbance, DisturbanceFigures, Estimate, Level, PhaseRun,
    PhaseSurroundings, Record, Warning, WarningCode,
};
use cardproof_report::{html, markdown, markdown_short, summary};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

fn plain(record: &Record, width: u16) -> String {
    summary(record, &judge(record), width, false)
}

#[test]
fn a_terminal_of_80_columns() {
    insta::assert_snapshot!(plain(&records::typical_a1_card(), 80));
}

#[test]
fn a_terminal_of_60_columns() {
    insta::assert_snapshot!(plain(&records::with_pauses(), 60));
}

#[test]
fn a_terminal_of_30_columns() {
    insta::assert_snapshot!(plain(&records::interrupted(), 30));
}

#[test]
fn a_read_only_device_on_a_terminal() {
    insta::assert_snapshot!(plain(&records::read_only_device(), 80));
}

#[test]
fn memory_on_a_terminal() {
    insta::assert_snapshot!(plain(&records::ram_disk(), 80));
}

#[test]
fn a_terminal_in_colour() {
    let record = records::slow_class4();
    let styled = summary(&record, &judge(&record), 80, true);
    insta::assert_snapshot!(styled.replace('\u{1b}', "^"));
}

/// A whole run on a machine that was busy all the time: what one reader takes in at a sitting.
#[test]
fn a_disturbed_run_fits_sixty_lines() {
    let mut record = records::typical_a1_card();
    for (index, phase) in record.phases.iter_mut().enumerate() {
        let count = index as u64;
        let used = DisturbanceFigures::Used {
            device: "mmcblk0".to_owned(),
            read_bytes: Bytes::ZERO,
            written_bytes: Bytes::kib(1024 * count + 410),
            requests: Some(100 * count + 82),
        };
        let processors = DisturbanceFigures::Processors { share: 0.6 + 0.01 * index as f64 };
        let both = [used, processors].map(Disturbance::from);
        phase.warnings.extend(both.map(Warning::from));
        let cpu = CpuActivity { cpus: 4, user: 0.7, idle: 0.3, ..CpuActivity::default() };
        phase.surroundings = Some(Box::new(PhaseSurroundings {
            activity: Activity { cpu: Some(cpu), ..Activity::default() },
            ..PhaseSurroundings::default()
        }));
    }
    let text = plain(&record, 80);
    insta::assert_snapshot!(text);
    assert!(text.lines().count() <= 60, "{}", text.lines().count());
}

#[test]
fn figures_of_another_tool_on_a_terminal() {
    let text = include_str!("../../../import/tests/import/sd-card-bench-report.txt");
    let origin = Origin { id: "x".to_owned(), read_at: "2026-01-01T00:00:00Z".to_owned() };
    let record = import(text, None, &origin).unwrap().records.remove(0);
    insta::assert_snapshot!(plain(&record, 80));
}

#[test]
fn colour_changes_no_word() {
    for record in [records::slow_class4(), records::read_only_device(), records::interrupted()] {
        for width in [30, 60, 80, 200] {
            let styled = summary(&record, &judge(&record), width, true);
            assert_eq!(without_styles(&styled), plain(&record, width), "{width}");
        }
    }
}

/// `text` without ANSI styles (ESC, `[`, parameters, `m`).
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let records = [
        records::typical_a1_card(),
        records::slow_class4(),
        records::ram_disk(),
        records::read_only_device(),
        records::interrupted(),
        records::with_pauses(),
    ];
    for record in records {
        for width in [40, 60, 72, 80, 100] {
            for line in plain(&record, width).lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
                assert_eq!(line, line.trim_end(), "{width}");
            }
        }
    }
}

#[test]
fn markdown_of_a_slow_card() {
    let record = records::slow_class4();
    insta::assert_snapshot!(markdown(&record, &judge(&record)));
}

#[test]
fn markdown_of_a_read_only_device() {
    let record = records::read_only_device();
    insta::assert_snapshot!(markdown(&record, &judge(&record)));
}

#[test]
fn a_short_run_as_a_page() {
    let mut record = records::with_pauses();
    record.phases.retain(|phase| phase.name.starts_with("random-") && phase.queue_depth == 1);
    for phase in &mut record.phases {
        phase.intervals.truncate(50);
    }
    record.phases.truncate(2);
    let page = html(&record, &judge(&record)).expect("a drawn record can be drawn");
    insta::assert_snapshot!(page);
}

#[test]
fn what_the_single_rates_do_not_tell_is_said_in_words() {
    let mut record = records::typical_a1_card();
    let phase = &mut record.phases[0];
    let iops = phase.iops.expect("the phase has a rate");
    let throughput = phase.throughput_bytes_per_s.expect("the phase has a throughput");
    let level = |factor: f64, start_ns, bytes_before| Level {
        start_ns,
        duration_ns: Nanos::from_secs(4),
        bytes_before,
        ops: 64,
        bytes: Bytes::mib(64),
        iops: Estimate { estimate: Iops(iops.estimate.0 * factor), ..iops },
        throughput_bytes_per_s: Estimate {
            estimate: Throughput(throughput.estimate.0 * factor),
            low: Throughput(throughput.low.0 * factor),
            high: Throughput(throughput.high.0 * factor),
            ..throughput
        },
    };
    phase.levels = vec![
        level(2.0, Nanos::ZERO, Bytes::ZERO),
        level(1.0, Nanos::from_secs(4), Bytes(140_000_000)),
    ];
    let random = record.phases.iter_mut().find(|phase| phase.name == "random-write-4k-qd1");
    let random = random.expect("the record has this phase");
    let rate = random.iops.expect("the phase has a rate");
    random.runs = [1.0, 1.04, 0.98, 0.6, 1.01]
        .iter()
        .enumerate()
        .map(|(index, factor)| PhaseRun {
            counts: true,
            position: index as u32 * 10,
            start_ns: Nanos::ZERO,
            ops: 1000,
            bytes: Bytes::mib(4),
            duration_ns: Nanos::from_secs(1),
            iops: Some(Estimate {
                estimate: Iops(700.0 * factor),
                low: Iops(690.0 * factor),
                high: Iops(710.0 * factor),
                ..rate
            }),
            throughput_bytes_per_s: None,
            latency_ns: None,
            surroundings: None,
        })
        .collect();
    let text = markdown(&record, &judge(&record));
    let course = text.split("## Changes of the rate\n").nth(1).expect("the section is there");
    insta::assert_snapshot!(course.split("\n##").next().unwrap_or_default());

    let repeated = record.phases.iter().find(|phase| !phase.runs.is_empty());
    let runs = repeated.expect("a phase has runs").runs.clone();
    for phase in record.phases.iter_mut().filter(|phase| phase.name.starts_with("random-")) {
        phase.runs = runs.clone();
    }
    let short = plain(&record, 80);
    assert_eq!(short.matches(": 5 runs,").count(), 1, "{short}");
}

#[test]
fn the_short_form_has_the_random_rates_that_a_class_asks_for() {
    let text = markdown_short(&records::typical_a1_card());
    assert!(text.lines().count() <= 10, "{text}");
    assert!(text.contains("4 KiB random, 32 at a time: read "), "{text}");
}

#[test]
fn a_forum_gets_no_rate_that_is_in_doubt() {
    let mut record = records::typical_a1_card();
    assert!(markdown_short(&record).contains("32 at a time: read "));
    let message = "tmpfs keeps its files in memory".to_owned();
    record.warnings.push(Warning::stated(WarningCode::Memory, message));
    let text = markdown_short(&record);
    assert!(!text.contains("at a time: read "), "{text}");
}
