//! Records of a later version, in which words stand that this one does not know.

use cardproof_rating::judge;
use cardproof_record::{EndedBy, Record, ReplayLayout, Warning, WarningCode};
use cardproof_report::{html, markdown, summary};
use cardproof_testkit::records;

/// A replay, as far as one must be told.
const REPLAY: &str = r#"{"trace": "t", "state": "measured", "duration_ns": 1, "recorded_ns": 1,
    "requests": 1, "requests_of": 1, "think_factor": 1.0, "queue_depth": 1, "layout": "kept",
    "thought_ns": 0, "waited": {"reads_ns": 0, "writes_ns": 0, "flushes_ns": 0}, "epochs": 0}"#;

/// Words of facts that may be joined by others, and each in its place of a record.
const WORDS: [&str; 5] = ["\"time\"", "\"kept\"", "\"unsteady\"", "\"random\"", "\"directory\""];

#[test]
fn words_of_a_later_version_are_read_and_shown() {
    let mut record = records::typical_a1_card();
    record.warnings.push(Warning::stated(WarningCode::Unsteady, "m"));
    let text = record.to_json().unwrap();
    let text = text.replacen('{', &format!("{{\"replays\": [{REPLAY}],"), 1);
    for word in WORDS {
        assert!(text.contains(word), "no {word} to replace");
        let later = text.replace(word, "\"of_a_later_version\"");
        let record = Record::from_json(&later).unwrap_or_else(|error| panic!("{word}: {error}"));
        let verdicts = judge(&record);
        assert!(!summary(&record, &verdicts, 80, false).is_empty());
        assert!(!markdown(&record, &verdicts).is_empty());
        html(&record, &verdicts).unwrap();
    }
    let later = text.replace("\"time\"", "\"x\"").replace("\"kept\"", "\"x\"");
    let record = Record::from_json(&later).unwrap();
    assert!(record.phases.iter().any(|phase| phase.ended_by == Some(EndedBy::Other)));
    assert_eq!(record.replays[0].layout, ReplayLayout::Other);
}
