//! What a record looks like as text, and what a row of iostat tells.

use cardproof_record::{IostatRow, Record};
use cardproof_units::{Bytes, Throughput};
use serde_json::{Value, json};

/// A record with fields of each kind.
const LAYERED: &str = include_str!("../records/layered.json");

#[test]
fn thousands_of_places_lie_on_a_line_each() {
    let of_later = json!({"empty": [], "name": "a", "places": [{"at": [1, 2], "none": {}}, {}]});
    let mut fields: Value = serde_json::from_str(LAYERED).unwrap();
    fields["zz_later"] = of_later;
    let text = Record::from_json(&fields.to_string()).unwrap().to_json().unwrap();
    let lines = [
        r#"  "zz_later": {"#,
        r#"    "empty": [],"#,
        r#"    "name": "a","#,
        r#"    "places": ["#,
        r#"      {"at":[1,2],"none":{}},"#,
        "      {}",
        "    ]",
        "  }",
        "}",
    ];
    let written: Vec<&str> = text.lines().collect();
    assert!(written.ends_with(&lines), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), fields);
}

#[test]
fn a_row_knows_its_window() {
    let row = IostatRow {
        read: Some(Bytes::kib(132_409)),
        read_per_s: Throughput(10_296.19 * 1024.0),
        written: Some(Bytes::kib(896)),
        written_per_s: Throughput(69.67 * 1024.0),
        ..IostatRow::default()
    };
    let window = row.window().unwrap();
    assert!((window.as_secs_f64() - 12.86).abs() < 0.01, "{window}");
    assert_eq!(IostatRow::default().window(), None);
}
