//! Nothing in a record steers a terminal or makes markup, in whatever field it stands and wherever
//! it is shown.

use cardproof_rating::compare::{Contender, Pairing, Use, compare};
use cardproof_rating::judge;
use cardproof_record::Record;
use cardproof_report::{
    Entry, View, comparison_csv, comparison_html, comparison_markdown, comparison_text, html,
    inventory_csv, inventory_html, inventory_markdown, inventory_text, markdown, replay_lines,
    steers, summary, title,
};
use cardproof_testkit::records;
use serde_json::Value;

/// ESC, OSC, a C1 control, bidirectional marks, NUL, line ends, HTML, Markdown.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\u{2066}\u{0}\r\n<img src=q onerror=p>\
                       \"'&|[a](b)";

/// Every way to a text leaf of `value`.
fn ways(value: &Value, way: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(way.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| ways(item, &format!("{way}/{n}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, item)| ways(item, &format!("{way}/{name}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `record` with hostile text in every field that takes text.
fn hostile(record: &Record) -> Record {
    let mut value = serde_json::to_value(record).unwrap();
    let mut all = Vec::new();
    ways(&value, "", &mut all);
    let mut taken = 0;
    for way in &all {
        let mut other = value.clone();
        *other.pointer_mut(way).unwrap() = Value::from(HOSTILE);
        let text = other.to_string();
        // Names of a fixed set refuse what is none of them, or take it for one of a later version.
        if Record::from_json(&text).is_ok() {
            value = other;
            taken += 1;
        }
    }
    assert!(taken > 20, "only {taken} of {} fields were made hostile", all.len());
    Record::from_json(&value.to_string()).unwrap()
}

fn assert_harmless(name: &str, text: &str) {
    let steering = text.chars().find(|c| steers(*c) && *c != '\n');
    assert_eq!(steering, None, "{name}:\n{text}");
}

fn assert_no_markup(name: &str, text: &str) {
    assert_harmless(name, text);
    assert!(!text.contains("<img"), "{name}:\n{text}");
}

#[test]
fn no_field_of_a_record_steers_an_output() {
    let all = [
        records::typical_a1_card(),
        records::package_installation(),
        records::interrupted(),
        records::read_only_device(),
    ];
    for record in all.iter().map(hostile) {
        let verdicts = judge(&record);
        for width in [20, 80, 100] {
            assert_harmless("summary", &summary(&record, &verdicts, width, false));
        }
        assert_harmless("title", &title(&record));
        let lines = record.replays.iter().flat_map(|replay| replay_lines(&record, replay));
        lines.for_each(|it| assert_harmless("replay", &it));
        assert_no_markup("markdown", &markdown(&record, &verdicts));
        // The page holds its charts as SVG.
        assert_no_markup("page", &html(&record, &verdicts).unwrap());
    }
}

#[test]
fn no_field_of_a_record_steers_a_comparison() {
    let records = [hostile(&records::typical_a1_card()), hostile(&records::slow_class4())];
    let contender =
        |record| Contender { name: HOSTILE.to_owned(), runs: vec![record], price: None };
    let contenders: Vec<Contender<'_>> = records.iter().map(contender).collect();
    let comparison = compare(&contenders, Pairing::Independent, 1);
    for has_details in [false, true] {
        let view = View { wanted: Use::System, has_details };
        assert_harmless("terminal", &comparison_text(&comparison, view, 80, false));
        assert_no_markup("Markdown", &comparison_markdown(&comparison, view));
    }
    let shown: Vec<_> = records.iter().collect();
    assert_no_markup("page", &comparison_html(&comparison, Use::System, &shown).unwrap());
    assert_harmless("CSV", &comparison_csv(&comparison));
}

#[test]
fn no_field_of_a_record_steers_a_list() {
    let records = [records::typical_a1_card(), records::slow_class4()];
    let entries: Vec<Entry> = records.iter().map(|record| Entry::of(&hostile(record))).collect();
    assert_harmless("list", &inventory_text(&entries, None, Some(80)));
    assert_harmless("list as CSV", &inventory_csv(&entries));
    assert_no_markup("list as Markdown", &inventory_markdown(&entries));
    assert_no_markup("list as a page", &inventory_html(&entries));
}
