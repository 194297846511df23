//! Any text as what smartctl or `nvme smart-log` prints, in words or as JSON: nothing panics, a value is a number
//! and has a line that exists, and a per cent is one.
#![no_main]

use cardproof_import::drive_report::{DriveReport, of_json, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().count();
    for report in read(text.lines().enumerate().map(|(index, line)| (index + 1, line))) {
        check(&report, lines);
    }
    if let Ok(json) = serde_json::from_str(&text)
        && let Some(report) = of_json(&json)
    {
        check(&report, 0);
        let _ = report.to_json().to_string();
    }
});

fn check(report: &DriveReport, lines: usize) {
    assert!(report.lines.iter().all(|line| (1..=lines).contains(line)));
    for value in &report.values {
        assert!(value.value.is_finite() && value.value >= 0.0 && value.line <= lines, "{value:?}");
    }
    assert!(report.findings().iter().all(|(_, line)| *line <= lines));
    let names = [&report.device, &report.model];
    assert!(!names.into_iter().flatten().any(|words| words.contains(char::is_control)));
}
