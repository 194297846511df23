//! Texts that are refused, with the line and what was expected there.

use cardproof_import::{ForeignTool, ImportError};

use crate::{all_of, fixture, fixture_names, imported, imported_as};

/// The first lines of an output, up to the one that holds `end`.
fn up_to(name: &str, end: &str) -> String {
    let text = fixture(name);
    let lines = text.split_inclusive('\n').take_while(|line| !line.contains(end));
    lines.collect()
}

/// What stands in the part that was kept is read; what is missing is missing.
#[test]
fn what_is_cut_short_is_read_as_far_as_it_goes() {
    let cases = [
        ("iozone-several-records.txt", "iozone test complete", 24),
        ("fio-plain-mixed.txt", "Run status group", 1),
        ("f3-write-and-read.txt", "Average reading", 1),
        ("ioping-read.txt", "min/avg", 1),
        ("kdiskmark-honest.txt", "Test:", 10),
        ("agnostics.txt", "Random read speed", 3),
        ("agnostics.txt", "Sequential write speed", 3),
        ("fio-random-write.json", "disk_util", 1),
        ("microsd-benchmarks.txt", "complete!", 8),
        ("pibenchmarks.txt", "Score:", 10),
        ("sd-card-bench-report.txt", "Second desktop", 8),
    ];
    for (name, end, phases) in cases {
        let record = imported(&up_to(name, end)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(record.phases.len(), phases, "{name}");
    }
}

#[test]
fn what_holds_no_figure_is_refused_with_what_is_missing() {
    let cases = [
        ("iozone-several-records.txt", "reclen", "reclen"),
        ("fio-random-write.json", "\"write\" :", "end of the JSON"),
        ("dd-english.txt", "copied", "in any language"),
    ];
    for (name, end, missing) in cases {
        let text = up_to(name, end);
        let error = imported(&text).expect_err(name);
        let ImportError::Ends { line, expected, .. } = &error else { panic!("{name}: {error}") };
        assert!(expected.contains(missing), "{name}: {error}");
        assert!(*line <= text.lines().count(), "{name}: {error}");
    }
}

#[test]
fn the_outputs_of_two_tools_in_one_file_are_one_card_s() {
    let text = format!("{}{}", fixture("hdparm-t.txt"), fixture("dd-english.txt"));
    let record = imported(&text).unwrap();
    assert_eq!((record.tool.name.as_str(), record.phases.len()), ("hdparm+dd", 2));
    let tools: Vec<&str> = record.figures.iter().map(|figure| figure.tool.as_str()).collect();
    assert_eq!(tools, ["hdparm", "dd"]);
    assert_eq!(imported_as(&text, ForeignTool::Dd).unwrap().phases.len(), 1);
}

#[test]
fn what_is_no_tool_s_output_is_refused() {
    for text in ["", "\n\n", "hello\n", "{\"schema\": \"cardproof.record/1\"}", "a,b\n1,2\n"] {
        assert_eq!(imported(text), Err(ImportError::Unrecognised), "{text:?}");
    }
    for tool in ForeignTool::ALL {
        imported_as("hello\nworld\n", *tool).expect_err(tool.name());
    }
}

#[test]
fn an_output_is_not_read_as_another_tool_s() {
    for name in fixture_names() {
        let own = |tool: &ForeignTool| name.starts_with(tool.name());
        for tool in ForeignTool::ALL.iter().filter(|tool| !own(tool)) {
            let Ok(record) = imported_as(&fixture(&name), *tool) else { continue };
            let scripts = ["microsd", "pibench", "sd-card", "disk-b", "rpi-b"];
            let is_script = scripts.iter().any(|it| name.starts_with(it));
            assert!(is_script, "{name} read as {tool}: {record:?}");
        }
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let cases = [
        ("dd-english.txt", "566 MB/s", "566 kB/s"),
        ("dd-english.txt", "20971520 bytes", "20971529520 bytes"),
        ("hdparm-t.txt", "262.90", "962.90"),
        ("fio-random-write.json", "\"bw_bytes\" : 233016888", "\"bw_bytes\" : 933016888"),
        ("fio-plain-mixed.txt", "BW=188MiB/s", "BW=188KiB/s"),
        ("fio-terse.txt", ";244537;", ";944537;"),
        ("kdiskmark-honest.txt", "89.129", "99.129"),
        ("agnostics.txt", "speed 22486 IOPS", "speed 224 IOPS"),
        ("agnostics.txt", "Random write speed 22486", "Random write speed 22487"),
        ("ioping-read.txt", "6.13 k iops", "9.13 k iops"),
    ];
    for (name, from, to) in cases {
        let text = fixture(name);
        assert!(text.contains(from), "{name}: {from}");
        let error = imported(&text.replacen(from, to, 1)).expect_err(name);
        assert!(matches!(error, ImportError::Contradiction { .. }), "{name}: {error}");
    }
}

#[test]
fn a_pass_without_a_figure_is_refused() {
    let text = "Sequential write speed  KB/sec (target 10000) - PASS\n\
                Random write speed  IOPS (target 500) - PASS\n\
                Random read speed  IOPS (target 1500) - PASS\n";
    let error = imported(text).unwrap_err();
    assert!(matches!(error, ImportError::Unexpected { line: 1, .. }), "{error}");
}

#[test]
fn rows_that_do_not_fit_the_tests_asked_for_are_left_out() {
    let text = fixture("iozone-several-records.txt");
    let row = text.lines().find(|line| line.contains("15391")).unwrap();
    let whole = imported(&text).unwrap().phases.len();
    for broken in
        ["20480 1 15391", "20480 1 15391 15148 11080 16566 15864 x", "1 20480 1 2 3 4 5 6"]
    {
        let found = all_of(&text.replace(row, broken)).unwrap();
        assert_eq!(found.records[0].phases.len(), whole - 6, "{broken}");
        assert_eq!(found.skipped.len(), 1, "{broken}");
    }
    let operations = imported(&text.replace("Output is in kBytes/sec", "Output is in ops/sec"));
    assert_eq!(operations.unwrap().phases[0].point_iops().unwrap().0, 15_391.0);
    let sums = text.replace("Output is in kBytes/sec", "Throughput test with 4 processes");
    assert!(imported(&sums).is_err(), "sums of several processes are no table");
}

#[test]
fn a_job_that_failed_is_not_measured() {
    let text = fixture("fio-random-write.json").replacen("\"error\" : 0", "\"error\" : 5", 1);
    let record = imported(&text).unwrap();
    assert!(!record.phases[0].is_measured());
    assert_eq!((record.phases[0].stated, record.phases[0].latency_ns), (None, None));
}

#[test]
fn messages_say_what_to_do() {
    let messages = [
        imported("hello").unwrap_err().to_string(),
        imported(&up_to("iozone-several-records.txt", "reclen")).unwrap_err().to_string(),
        "iostats".parse::<ForeignTool>().unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_window_that_is_copied_again_and_again_ends_at_the_limit() {
    let text = fixture("amorphousdiskmark.txt").repeat(13_000);
    let limit = cardproof_import::MEASUREMENTS_MAX;
    assert_eq!(all_of(&text).unwrap_err(), ImportError::TooMany { limit });
}

#[test]
fn a_table_that_is_copied_again_and_again_ends_at_the_limit() {
    let limit = cardproof_import::MEASUREMENTS_MAX;
    for name in ["table-inline.txt", "table-one-card.md"] {
        let text = format!("{}\n", fixture(name)).repeat(13_000);
        assert_eq!(all_of(&text).unwrap_err(), ImportError::TooMany { limit }, "{name}");
    }
}
