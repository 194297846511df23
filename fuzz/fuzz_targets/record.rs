//! Any text as a record: it is read or refused, and what was read can be judged, compared, shown in every
//! form and saved. Nothing panics, nothing of it steers a terminal, and pages hold no foreign tag.
#![no_main]

use cardproof_fuzz::changed;
use cardproof_rating::judge;
use cardproof_record::Record;
use cardproof_report::{Entry, html, inventory_text, markdown, steers, summary};
use libfuzzer_sys::fuzz_target;

/// A record to begin with: without it the fuzzer would have to invent the fields.
const RECORD: &str = include_str!("../../crates/record/tests/records/layered.json");

fuzz_target!(|data: &[u8]| {
    show(&String::from_utf8_lossy(data));
    show(&changed(RECORD, data));
});

fn show(text: &str) {
    let Ok(record) = Record::from_json(text) else { return };
    let json = record.to_json().expect("every figure is a number");
    assert!(Record::from_json(&json).is_ok());
    let verdicts = judge(&record);
    // A chart of figures outside of every range may be refused.
    let page = html(&record, &verdicts).unwrap_or_default();
    assert!(!page.contains("<fuzz"));
    for shown in [
        summary(&record, &verdicts, 80, false),
        markdown(&record, &verdicts),
        inventory_text(&[Entry::of(&record)], 80),
        page,
    ] {
        assert!(!shown.contains(|c: char| c != '\n' && steers(c)), "{shown:?}");
    }
}
