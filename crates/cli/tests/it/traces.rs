//! Traces through the program: the shipped ones, saved ones, and what is none.

use std::fs;

use crate::home::{Home, word};
use crate::process::run;

#[test]
fn shipped_traces_are_listed_and_explained() {
    let home = Home::new();
    let list = run(home.cardproof(&["replay", "list"])).expect(0).stdout;
    for name in ["desktop-install", "desktop-removal", "desktop-reinstall"] {
        assert!(list.contains(name), "{list}");
    }
    let one = run(home.cardproof(&["replay", "show", "desktop-removal"])).expect(0).stdout;
    assert!(one.contains("flushes     16237"), "{one}");
}

#[test]
fn a_table_becomes_a_trace_without_names() {
    let home = Home::new();
    let (table, saved) = (home.place().join("job.csv"), home.place().join("job.trace"));
    let text = "t_s,rwbs,sector,nsect,comm\n0,W,0,8,secretive\n0.5,FF,0,0,secretive\n";
    fs::write(&table, text).unwrap();
    let (table, saved) = (table.to_str().unwrap(), saved.to_str().unwrap());
    run(home.cardproof(&["replay", "show", table, "--save", saved])).expect(0);
    let shown = run(home.cardproof(&["replay", "show", saved])).expect(0).stdout;
    assert!(shown.starts_with("job\n") && shown.contains("requests    2"), "{shown}");
    assert!(!shown.contains("secretive"), "{shown}");
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let home = Home::new();
    let file = home.place().join("damaged.trace");
    let path = file.to_str().unwrap();
    fs::write(&file, b"CPTRACE\x02\xff\xff\xff\xff").unwrap();
    let damaged = run(home.cardproof(&["replay", "show", path])).expect(2);
    assert!(damaged.stderr.contains("at byte 8"), "{}", damaged.stderr);
    for (text, place) in [
        ("not,a,table\n", "line 1"),
        ("t_s,rwbs,sector,nsect,comm\n0,W,0\n", "line 2"),
        ("fio version 3 iolog\n0 a read x 1\n", "line 2"),
    ] {
        fs::write(&file, text).unwrap();
        let foreign = run(home.cardproof(&["replay", "show", path])).expect(2);
        assert!(foreign.stderr.contains(place), "{text}: {}", foreign.stderr);
    }
    fs::write(&file, b"\x07\x74\x61\x65cut off").unwrap();
    let cut_off = run(home.cardproof(&["replay", "show", path])).expect(2);
    assert!(cut_off.stderr.contains("byte 0"), "{}", cut_off.stderr);
    let missing = run(home.cardproof(&["replay", "show", "no-such-job"])).expect(2);
    assert!(missing.stderr.contains("desktop-install"), "{}", missing.stderr);
}

#[test]
fn other_tools_traces_are_known_by_their_content() {
    let home = Home::new();
    let (file, saved) = (home.place().join("secret.dat"), home.place().join("saved"));
    let (path, saved) = (file.to_str().unwrap(), saved.to_str().unwrap());
    fs::write(&file, "fio version 2 iolog\nsecret add\nsecret write 0 4096\n").unwrap();
    run(home.cardproof(&["replay", "show", path, "--name", "job", "--save", saved])).expect(0);
    let again = run(home.cardproof(&["replay", "show", saved])).expect(0).stdout;
    assert!(again.starts_with("job\n") && again.contains("Source: an iolog of fio"), "{again}");
    assert!(!again.contains("secret"), "{again}");
}

/// A table can ask for more than any device holds, and for the last sector of all numbers.
#[test]
fn sizes_beyond_any_device_are_no_fault_of_ours() {
    let home = Home::new();
    let table = home.place().join("endless.csv");
    let huge = (u64::MAX / 512) & !7;
    fs::write(&table, format!("t_s,rwbs,sector,nsect,comm\n0,W,0,{huge},x\n1,W,0,{huge},x\n"))
        .unwrap();
    run(home.cardproof(&["replay", "show", word(&table)])).expect(0);
    let last = u64::MAX / 512 - 8;
    fs::write(&table, format!("t_s,rwbs,sector,nsect,comm\n0,W,0,8,x\n1,W,{last},8,x\n")).unwrap();
    let words = ["replay", "run", word(&table), "sim:sandisk-extreme-a1", "--seed", "1"];
    run(home.cardproof(&words)).expect(0);
}
