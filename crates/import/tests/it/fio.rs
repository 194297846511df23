//! fio's outputs in the forms that its options and other tools make of them: a run that is told twice,
//! in parts, with its keys in another order, or with both directions in one.

use cardproof_record::{OpName, Record, SyncMode, WarningCode};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::{all_of, fixture};

fn read(text: &str) -> Record {
    let mut found = all_of(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!((found.refused.len(), found.records.len()), (0, 1), "{text}");
    found.records.remove(0)
}

fn names(record: &Record) -> Vec<&str> {
    record.phases.iter().map(|phase| phase.name.as_str()).collect()
}

/// IOPS of each phase as fio prints them for people.
fn iops(record: &Record) -> Vec<u64> {
    record.phases.iter().map(|phase| phase.point_iops().unwrap().0 as u64).collect()
}

#[test]
fn version_5_of_terse_has_its_writes_further_on() {
    let text = fixture("fio-terse-5.txt");
    let record = read(&text);
    let told: Vec<_> = record.phases.iter().map(|phase| (phase.op, phase.bytes)).collect();
    let all = Bytes::mib(8);
    assert_eq!(told, [(OpName::Write, all), (OpName::Read, all), (OpName::Mixed, all)]);
    let fields: Vec<&str> = text.lines().next().unwrap().split(';').collect();
    assert_eq!(iops(&record)[0].to_string(), fields[54], "field 55 of the line that writes");
    let latency = record.phases[0].latency_ns.unwrap();
    assert_eq!(
        ((latency.min.0 / 1000).to_string(), (latency.max.0 / 1000).to_string()),
        (fields[60].to_owned(), fields[61].to_owned())
    );
    let cut = fields[..50].join(";");
    assert!(all_of(&cut).unwrap_err().to_string().contains("99 fields"), "{cut}");
}

/// The parts of a run's output in three forms: for people, terse, JSON.
fn forms() -> [String; 3] {
    let text = fixture("fio-normal-json-terse.txt");
    let (head, rest) = text.split_once("3;fio-").unwrap();
    let (terse, rest) = rest.split_once('\n').unwrap();
    let (json, human) = rest.split_at(rest.rfind("\n}\n").unwrap() + 3);
    [format!("{head}{human}"), format!("3;fio-{terse}\n"), json.to_owned()]
}

#[test]
fn a_run_in_several_forms_counts_once() {
    let whole = fixture("fio-normal-json-terse.txt");
    let [human, terse, json] = forms();
    for text in [&whole, &[&*json, &human].concat(), &[&*terse, &json].concat()] {
        let record = read(text);
        assert_eq!(names(&record), ["random-write-4k-qd1"], "{text}");
        assert!(record.conditions.target.direct, "JSON says so");
        assert!(record.phases[0].latency_ns.is_some());
        assert_eq!(record.bytes_written, Bytes::mib(8));
    }
    assert_eq!(names(&read(&[&*human, &terse].concat())), ["random-write-4k-qd1"]);
    // Another run's figures are not left out.
    let other = human.replace("8192KiB", "8112KiB");
    let factor = 8112.0 / 8192.0;
    assert!(factor < 0.994);
    let slower = read(&human);
    let printed = &slower.figures[0];
    let other = other
        .replace(&format!("BW={}", printed.value), &format!("BW={:.1}", printed.value * factor));
    assert_eq!(read(&[&*json, &other].concat()).phases.len(), 2, "{other}");
}

/// `text` of JSON with its keys sorted, as jq and Python write it.
fn sorted(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn documents_in_one_line_or_with_sorted_keys_are_all_read() {
    let [_, _, write] = forms();
    let mixed = fixture("fio-mixed-without-latencies.json");
    let expected = [names(&read(&write)), names(&read(&mixed))].concat().join(" ");
    let (first, second) = (sorted(&write), sorted(&mixed));
    let list = Value::from(vec![first.clone(), second.clone()]);
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    for text in [
        list.to_string(),
        pretty(&list),
        format!("{first}\n{second}\n"),
        format!("{}{}", pretty(&first), pretty(&second)),
        format!("results: {{\"a\":{first},\"b\":{second}}}"),
        [&*write, &mixed].concat().replace('\n', " "),
    ] {
        assert_eq!(names(&read(&text)).join(" "), expected, "{text}");
        assert!(read(&text).warnings.is_empty(), "{text}");
    }
}

#[test]
fn a_cut_document_with_sorted_keys_keeps_its_whole_jobs() {
    let [_, _, write] = forms();
    let mut document = sorted(&write);
    let job = document["jobs"][0].clone();
    document["jobs"] = vec![job.clone(), job].into();
    let text = document.to_string();
    let record = read(&text[..text.rfind("\"write\"").unwrap()]);
    assert_eq!(names(&record), ["random-write-4k-qd1"]);
    assert!(record.warnings[0].to_string().contains("cut off"));
}

#[test]
fn both_directions_in_one_figure_are_read() {
    let record = read(&fixture("fio-united.json"));
    assert_eq!(names(&record), ["random-mixed-4k-70-30-qd1"]);
    assert_eq!(record.phases[0].bytes, Bytes::mib(8));
    assert!(record.figures[0].name.starts_with("mixed"));
    assert!(record.phases[0].latency_ns.is_some());
    assert_eq!((record.bytes_written, record.bytes_read), (Bytes::ZERO, Bytes::ZERO), "untold");
    let one = fixture("fio-united.json").replace("\"randrw\"", "\"randwrite\"");
    assert_eq!(read(&one).bytes_written, Bytes::mib(8));
    let plain = read(&fixture("fio-plain-united.txt"));
    assert_eq!(names(&plain), ["random-transfer-4k-qd1"], "the shares are not told");
    let beside = read(&fixture("fio-united-beside.json"));
    assert_eq!(beside.bytes_written.0 + beside.bytes_read.0, Bytes::mib(8).0);
    assert!(beside.phases[0].stated.unwrap().read_iops.is_some());
}

#[test]
fn of_reports_at_intervals_the_last_counts() {
    for name in ["fio-intervals.json", "fio-plain-intervals.txt"] {
        let record = read(&fixture(name));
        assert_eq!(names(&record), ["random-write-4k-qd1"], "{name}");
        assert!(record.phases[0].duration_ns.as_secs_f64() > 2.99, "{name}");
        let is_told = |it: &cardproof_record::Warning| it.to_string().contains("at intervals");
        assert!(record.warnings.iter().any(is_told), "{name}");
        // A second run of the same job is another measurement.
        let again = match name {
            "fio-intervals.json" => later(&fixture(name), 60_000),
            _ => fixture(name),
        };
        let both = read(&format!("{}{again}", fixture(name)));
        assert_eq!(both.phases.len(), 2, "{name}");
    }
}

/// The documents in `text`, printed `ms` later.
fn later(text: &str, ms: u64) -> String {
    let lines = text.lines().map(|line| match line.split_once("\"timestamp_ms\" : ") {
        Some((before, time)) => {
            let time: u64 = time.trim_end_matches(',').parse().unwrap();
            format!("{before}\"timestamp_ms\" : {},\n", time + ms)
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn an_option_that_is_off_or_of_no_use_is_none() {
    let [_, _, write] = forms();
    let with =
        |text: &str, option: &str| text.replace("\"bs\" : ", &format!("{option},\n\"bs\" : "));
    for (option, sync) in [
        ("\"sync\" : \"none\"", SyncMode::None),
        ("\"sync\" : \"0\"", SyncMode::None),
        ("\"end_fsync\" : \"false\"", SyncMode::None),
        ("\"sync\" : \"dsync\"", "fsync-every-1".to_owned().into()),
        ("\"fsync\" : \"1\"", "fsync-every-1".to_owned().into()),
        ("\"end_fsync\" : \"1\"", SyncMode::FlushAtEnd),
    ] {
        assert_eq!(read(&with(&write, option)).phases[0].sync, sync, "{option}");
    }
    let read_job = fixture("fio-united.json").replace("\"randrw\"", "\"randread\"");
    let record = read(&with(&read_job, "\"fsync\" : \"1\""));
    assert_eq!(names(&record), ["random-read-4k-qd1"], "a job that reads syncs nothing");
}

#[test]
fn large_amounts_are_read() {
    for (amount, time, rate) in [
        ("1.50TiB", "3000000msec", "BW=524MiB/s (550MB/s)"),
        ("1536GiB", "3000000msec", "BW=524MiB/s (550MB/s)"),
        ("1.10PiB", "3000000msec", "BW=384GiB/s (413GB/s)"),
        ("2.20TB", "3000000msec", "BW=733MB/s (699MiB/s)"),
    ] {
        let text = format!(
            "j: (groupid=0, jobs=1): err= 0: pid=1: Sat Jan  6 12:00:00 2024\n  \
             write: IOPS=524, {rate}({amount}/{time})\n"
        );
        assert!(read(&text).bytes_written > Bytes::gib(1000), "{text}");
    }
    let [_, _, write] = forms();
    for (size, expected) in [("2t", Bytes(2 << 40)), ("20000000t", Bytes::ZERO)] {
        let text = write.replace("\"size\" : \"8M\"", &format!("\"size\" : \"{size}\""));
        assert_eq!(read(&text).phases[0].span_bytes, expected, "{size}");
    }
    assert!(
        !read(&write)
            .phases
            .iter()
            .flat_map(|phase| &phase.warnings)
            .any(|it| it.code == WarningCode::Buffered)
    );
}

/// fio draws the direction of each operation, so that 75 of 100 asked for become 74 or 76 of 100 done.
#[test]
fn a_mixed_phase_is_named_by_the_mix_that_was_asked_for() {
    let json = fixture("fio-mixed-without-latencies.json");
    let plain = fixture("fio-plain-mixed.txt");
    let asked = "\"rwmixread\" : \"75\"";
    assert!(json.contains(asked));
    let with = |options: &str| json.replace(asked, options);
    let command = |options: &str| format!("$ fio --name=test --rw=randrw {options}\n{plain}");
    for (text, share) in [
        (json.clone(), 75),
        (with("\"rwmixwrite\" : \"25\""), 75),
        (with("\"rwmixread\" : \"70\""), 70),
        (with("\"gtod_reduce\" : \"1\""), 75),
        (command("--rwmixread=75"), 75),
        (command("--rwmixread=70"), 70),
        (command("--rwmixwrite=20"), 80),
        // 74.57 of 100 were done, and no option is there.
        (plain.clone(), 75),
    ] {
        let record = read(&text);
        let phase = &record.phases[0];
        assert_eq!(phase.read_percent, share, "{}", phase.name);
        assert!(
            phase.name.contains(&format!("mixed-4k-{share}-{}", 100 - share)),
            "{}",
            phase.name
        );
    }
}
