//! Profiles of other tools' methods, of the user's own, and fio job files.

use std::fs;

use cardproof_record::State;

use crate::home::Home;
use crate::process::run;
use crate::records;

#[test]
fn a_profile_says_what_it_runs_where_it_comes_from_and_in_which_units() {
    let home = Home::new();
    let said = run(home.cardproof(&["profiles", "pibenchmarks"])).expect(0).stdout;
    for wanted in [
        "Storage.sh",
        "dd-write",
        "through the page cache",
        "on a new file",
        "random write 4k (iozone), kB/s of 1024 bytes",
        "score (pibenchmarks), points",
        "hdparm reads the device from its start",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn too_few_runs_for_steady_state_are_refused_before_measuring() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra-a1", "--until-steady", "--repeat"];
    let refused = run(home.cardproof(&[&words[..], &["3"]].concat())).expect(2);
    assert!(refused.stderr.contains("--repeat 5 or more"), "{}", refused.stderr);
    assert!(home.records().is_empty());
}

#[test]
fn a_job_file_runs_and_gives_fio_s_figures() {
    let home = Home::new();
    let file = home.data().join("annas-payroll.fio");
    fs::create_dir_all(home.data()).unwrap();
    fs::write(&file, "[payroll]\nrw=randrw\nsize=4m\niodepth=4\nioengine=libaio\ndirect=1\n")
        .unwrap();
    let words = ["run", "sim:sandisk-extreme-a1", "--quiet", "--json", "-", "--profile"];
    let path = file.to_str().unwrap();
    let run_with =
        |more: &[&str]| run(home.cardproof(&[&words[..], &[path], more].concat())).expect(0).stdout;
    let text = run_with(&[]);
    let record = records::parse(&text);
    assert_eq!(record.state, State::Complete);
    assert!(record.profile.name.starts_with("fio-"), "{}", record.profile.name);
    assert!(!text.contains("payroll"), "no name that the user has chosen is in the record");
    let kept = run_with(&["--keep-names"]);
    assert_eq!(records::parse(&kept).profile.name, "annas-payroll");
    assert!(kept.contains("\"payroll"), "the names are kept where that is asked for");
    let units: Vec<&str> = record.figures.iter().map(|figure| figure.unit.as_str()).collect();
    assert_eq!(units, ["KiB/s", "IOPS", "KiB/s", "IOPS"]);
    assert!(record.figures.iter().all(|figure| figure.value > 0.0));
    assert!(!text.contains(path), "a record holds no path");
}

#[test]
fn a_file_that_is_no_profile_is_refused_with_file_and_line() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    let cases = [
        ("bad.fio", "[a]\nrw=read\nsize=1m\nnumjobs=4\n", "bad.fio: line 4: numjobs: "),
        ("bad.toml", "span = \"1M\"\nspeed = 3\n", "bad.toml: "),
    ];
    for (name, text, wanted) in cases {
        let file = home.data().join(name);
        fs::write(&file, text).unwrap();
        let words = ["run", "sim:sandisk-ultra", "--profile", file.to_str().unwrap()];
        let said = run(home.cardproof(&words)).expect(2).stderr;
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn a_fixed_amount_of_work_takes_no_time_budget() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra", "--profile", "sd6-256m", "--time-budget", "60s"];
    let said = run(home.cardproof(&words)).expect(2).stderr;
    assert!(said.contains("leave --time-budget out"), "{said}");
}
