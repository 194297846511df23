//! Traces through the program: the shipped ones, saved ones, and what is none.

use std::fs;

use crate::home::Home;
use crate::process::run;

#[test]
fn shipped_traces_are_listed_and_explained() {
    let home = Home::new();
    let list = run(home.cardproof(&["traces"])).expect(0).stdout;
    for name in ["desktop-install", "desktop-removal", "desktop-reinstall"] {
        assert!(list.contains(name), "{list}");
    }
    let one = run(home.cardproof(&["traces", "desktop-removal"])).expect(0).stdout;
    assert!(one.contains("flushes     16237"), "{one}");
}

#[test]
fn a_table_becomes_a_trace_without_names() {
    let home = Home::new();
    let (table, saved) = (home.place().join("job.csv"), home.place().join("job.trace"));
    let text = "t_s,rwbs,sector,nsect,comm\n0,W,0,8,secretive\n0.5,FF,0,0,secretive\n";
    fs::write(&table, text).unwrap();
    let (table, saved) = (table.to_str().unwrap(), saved.to_str().unwrap());
    run(home.cardproof(&["traces", table, "--save", saved])).expect(0);
    let shown = run(home.cardproof(&["traces", saved])).expect(0).stdout;
    assert!(shown.starts_with("job\n") && shown.contains("requests    2"), "{shown}");
    assert!(!shown.contains("secretive"), "{shown}");
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let home = Home::new();
    let file = home.place().join("damaged.trace");
    let path = file.to_str().unwrap();
    fs::write(&file, b"CPTRACE\x01\xff\xff\xff\xff").unwrap();
    let damaged = run(home.cardproof(&["traces", path])).expect(2);
    assert!(damaged.stderr.contains("at byte 8"), "{}", damaged.stderr);
    fs::write(&file, "not,a,table\n").unwrap();
    let foreign = run(home.cardproof(&["traces", path])).expect(2);
    assert!(foreign.stderr.contains("line 1"), "{}", foreign.stderr);
    let missing = run(home.cardproof(&["traces", "no-such-job"])).expect(2);
    assert!(missing.stderr.contains("desktop-install"), "{}", missing.stderr);
}
