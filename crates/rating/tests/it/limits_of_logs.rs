//! What limits, from the logs of iostat.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use cardproof_import::iostat::iostat;
use cardproof_rating::limits::explain_log;
use cardproof_rating::words::log::story;
use cardproof_record::Limit;
use cardproof_units::Nanos;

/// What a log tells, as text.
fn told(text: &str) -> String {
    let mut page = String::new();
    for explanation in explain_log(&iostat(text).unwrap(), None) {
        for paragraph in &story(&explanation) {
            writeln!(page, "{paragraph}").unwrap();
        }
        for share in &explanation.states {
            writeln!(page, "    {}: {}", share.state.words(), share.words()).unwrap();
        }
    }
    page
}

/// The limit of the only device of a log.
fn limit_of_log(text: &str) -> Limit {
    let explanations = explain_log(&iostat(text).unwrap(), None);
    let [one] = explanations.as_slice() else { panic!("{explanations:?}") };
    one.limited_by.limit
}

#[test]
fn logs_in_the_form_of_real_ones_are_explained() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iostat");
    let mut page = String::new();
    for name in ["slow-card-install", "boot-and-idle", "emmc-install", "extended", "extended-json"]
    {
        let text = fs::read_to_string(fixtures.join(name).with_extension("txt")).unwrap();
        write!(page, "== {name}\n{}\n", told(&text)).unwrap();
    }
    insta::assert_snapshot!(page);
}

/// macOS and the BSDs count the time in which processors wait for storage as idle.
#[test]
fn processors_whose_waits_are_not_told_do_not_acquit_the_storage() {
    let head = "              disk0       cpu\n    KB/t  tps  MB/s  us sy id\n";
    let row = |idle: u32| format!("   18.02   60  1.05   4  {}  {idle}\n", 96 - idle);
    let log = |idle: u32| format!("{head}{}", row(idle).repeat(4));
    assert_eq!(limit_of_log(&log(90)), Limit::Unknown);
    assert_eq!(limit_of_log(&log(3)), Limit::Cpu);
}

/// A log that was cut off anywhere is explained or refused, and nothing else.
#[test]
fn a_log_that_is_cut_off_fails_nowhere_but_in_its_reading() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iostat");
    for name in ["boot-and-idle", "extended", "extended-json"] {
        let text = fs::read_to_string(fixtures.join(name).with_extension("txt")).unwrap();
        for end in 0..text.len() {
            let Ok(log) = iostat(&text[..end]) else { continue };
            let count = explain_log(&log, Some(Nanos::from_secs(2))).len();
            assert!(count <= 1, "{name} cut at {end}");
        }
    }
}

/// Logs that were recorded on real hardware, where somebody keeps them beside the project.
#[test]
fn recorded_logs_are_explained_as_what_they_were() {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real-logs");
    let wanted = [
        ("iostat20-class4-install-first", Limit::StorageSmallWrite),
        ("iostat20-class4-remove-and-install-second", Limit::StorageSmallWrite),
        ("iostat20-emmc-boot-and-idle", Limit::Unknown),
        ("iostat20-emmc-install-first", Limit::Unknown),
        ("iostat20-emmc-remove-and-install-second", Limit::Unknown),
    ];
    if !logs.is_dir() {
        let name = cardproof_testkit::test_name!();
        cardproof_testkit::skip(name, "no recorded logs are kept beside the project here");
        return;
    }
    for (name, limit) in wanted {
        let text = fs::read_to_string(logs.join(name).with_extension("txt")).unwrap();
        assert_eq!(limit_of_log(&text), limit, "{name}:\n{}", told(&text));
    }
    let text = fs::read_to_string(logs.join("iostat20-emmc-boot-and-idle.txt")).unwrap();
    assert!(told(&text).contains("reading (small requests), then background, then idle"));
}

/// Rate and size of the transactions give the rate of the bytes.
#[test]
fn the_figures_of_a_state_belong_together() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/iostat");
    let text = fs::read_to_string(fixtures.join("slow-card-install.txt")).unwrap();
    for explanation in explain_log(&iostat(&text).unwrap(), None) {
        for share in &explanation.states {
            let product = share.transactions_per_s.0 * share.mean_bytes.as_f64();
            let ratio = product / share.bytes_per_s.0.max(1.0);
            assert!(share.bytes_per_s.0 < 1.0 || (ratio - 1.0).abs() < 0.01, "{share:?}");
        }
    }
}
