//! One question has one answer, whichever command tells it.

use std::fs;

use cardproof_testkit::{Mount, lab_or_skip};

use crate::home::{Home, word};
use crate::process::run;

/// A record of a check answers all that the check did, in the same words.
#[test]
fn the_record_of_a_check_is_shown_as_its_page() {
    let home = Home::new();
    let card = "sim:sandisk-extreme-a1";
    let page = run(home.cardproof(&["check", card, "--seed", "1"])).expect(0).stdout;
    let shown = run(home.cardproof(&["show", "latest"])).expect(0).stdout;
    assert_eq!(shown, page);
    let words = ["check", card, "--seed", "1", "--markdown", "-"];
    let markdown = run(home.cardproof(&words)).expect(0).stdout;
    let words = ["show", "latest", "--markdown", "short"];
    assert_eq!(run(home.cardproof(&words)).expect(0).stdout, markdown);
}

/// A check has no options for time and range, so no advice names one; and nothing mends a fake.
#[test]
fn advice_about_a_check_names_no_option_that_it_lacks() {
    let home = Home::new();
    for (card, status) in [("sim:fake-wrap", 4), ("sim:intenso-class-4", 4)] {
        run(home.cardproof(&["check", card, "--seed", "1", "--quiet"])).expect(status);
        let details = run(home.cardproof(&["show", "latest", "--details"])).expect(0).stdout;
        assert!(!details.contains("--time-budget") && !details.contains("--size"), "{details}");
        // One set of steps: that of the page, with which the details begin.
        let page = run(home.cardproof(&["show", "latest"])).expect(0).stdout;
        assert!(details.starts_with(&page) && page.contains("Next: 1."), "{details}");
        assert!(!details.contains("\nNext\n"), "{details}");
        let report = home.place().join("report.html");
        let html = ["show", "latest", "--html", report.to_str().unwrap(), "--quiet"];
        run(home.cardproof(&html)).expect(0);
        let html = fs::read_to_string(&report).unwrap();
        assert!(html.contains("<h3>Next</h3>") && !html.contains("<h2>Next</h2>"), "{html}");
    }
}

#[test]
fn a_geometry_holds_for_its_own_card() {
    let home = Home::new();
    let words = ["geometry", "sim:sandisk-ultra-a1", "--seed", "1", "--quiet"];
    run(home.cardproof(&words)).expect(0);
    run(home.cardproof(&["tune", "sim:sandisk-ultra-a1", "--geometry", "latest"])).expect(0);
    let other =
        run(home.cardproof(&["tune", "sim:samsung-emmc", "--geometry", "latest"])).expect(2);
    assert!(other.stderr.contains("another card"), "{}", other.stderr);
    let place = word(home.place());
    let real = run(home.cardproof(&["tune", place, "--geometry", "latest"])).expect(2);
    assert!(real.stderr.contains("another card"), "{}", real.stderr);
}

/// A plan names nothing that cannot be done there.
#[test]
fn a_plan_is_for_what_is_there() {
    let home = Home::new();
    let simulated = run(home.cardproof(&["tune", "sim:sandisk-ultra-a1"])).expect(0).stdout;
    assert!(!simulated.contains("--apply"), "{simulated}");
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let has_swap = swaps.lines().skip(1).any(|line| !line.starts_with("/dev/zram"));
    let plan = run(home.cardproof(&["tune", word(home.place())])).expect(0).stdout;
    assert_eq!(plan.contains("swapoff"), has_swap, "{plan}");
}

#[test]
fn files_in_memory_are_no_test_of_a_device() {
    let memory = lab_or_skip!(Mount::tmpfs("size=16M"));
    let home = Home::new();
    let ended = run(home.cardproof(&["verify", "--full", word(memory.path())])).expect(2);
    assert!(ended.stderr.contains("memory"), "{}", ended.stderr);
}

/// What another tool measured may name no device.
#[test]
fn a_label_that_nobody_gave_is_not_replaced_by_an_id() {
    let home = Home::new();
    let log = "../import/tests/import/iozone-old-columns.txt";
    let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(log);
    run(home.cardproof(&["import", word(&log), "--quiet"])).expect(0);
    let words = ["compare", "latest", "ref:sandisk-extreme-a1"];
    let text = run(home.cardproof(&words)).expect(0).stdout;
    let has_id = text.split_whitespace().any(|part| part.starts_with("2026") && part.contains('T'));
    assert!(text.contains("iozone") && !has_id, "{text}");
}
