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
    let Some((&form, data)) = data.split_first() else { return };
    show(&String::from_utf8_lossy(data), form);
    show(&changed(RECORD, data), form);
});

/// Shows what `text` holds in one form: all of them take a tenth of a second each time.
fn show(text: &str, form: u8) {
    let Ok(record) = Record::from_json(text) else { return };
    let json = record.to_json().expect("every figure is a number");
    assert!(Record::from_json(&json).is_ok());
    let verdicts = judge(&record);
    let shown = match form % 4 {
        0 => summary(&record, &verdicts, 80, false),
        1 => markdown(&record, &verdicts),
        2 => inventory_text(&[Entry::of(&record)], None, Some(80)),
        // A chart of figures outside of every range may be refused.
        _ => html(&record, &verdicts).unwrap_or_default(),
    };
    assert!(!shown.contains("<fuzz") || form % 4 != 3);
    assert!(!shown.contains(|c: char| c != '\n' && steers(c)), "{shown:?}");
}
