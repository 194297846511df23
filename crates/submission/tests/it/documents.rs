//! Documents from records: what is in them, and what never is.

use std::fs;
use std::path::Path;

use cardproof_record::Record;
use cardproof_submission::{
    Additions, LICENCE, Price, Refusal, accept, document, paths, record_of,
};
use serde_json::{Map, Value, json};

/// What must never be found again.
const CANARY: &str = "canary7d3f";

fn phase() -> Value {
    json!({
        "name": "random-write-4k-qd1", "op": "write", "pattern": "random", "read_percent": 0,
        "block_size_bytes": 4096, "span_offset_bytes": 0, "span_bytes": 1_073_741_824, "queue_depth": 1,
        "sync": "none", "state": "measured", "ops": 1000, "bytes": 4_096_000, "duration_ns": 1_000_000_000,
        "iops": {"estimate": 1000.0, "low": 990.0, "high": 1010.0, "confidence": 0.99},
        "latency_ns": {"min": 1, "mean": 2, "p50": 2, "p90": 3, "p99": 4, "p999": 5, "max": 6},
        "histogram": (1..=1000).map(|at| json!({"up_to_ns": at, "ops": 1})).collect::<Vec<_>>(),
        "intervals": [], "warnings": [{"code": "unsteady", "message": "as it was"}],
    })
}

fn record() -> Value {
    json!({
        "schema": "cardproof.record/1", "id": "20261122-1", "created": "2026-11-22T11:13:58Z",
        "tool": {"name": "cardproof", "version": "0.1.0"}, "seed": 17, "state": "complete",
        "label": "my own card",
        "conditions": {
            "target": {"kind": "block_device", "size_bytes": 32_000_000_000_u64, "logical_block_bytes": 512,
                "engine": "io_uring", "direct": true, "read_only": false},
            "device": {"name": "mmcblk0", "model": "SU32G", "transport": "sd", "card": {"oem_id": "SD"}},
            "host": {"board": "Raspberry Pi 4 Model B Rev 1.4", "kernel": "6.6.31+rpt"},
            "settings": {},
        },
        "profile": {"name": "standard", "version": 1, "time_budget_ns": 1},
        "phases": [phase()], "bytes_written": 1, "bytes_read": 2,
    })
}

fn read(value: &Value) -> Record {
    Record::from_json(&value.to_string()).unwrap()
}

/// Adds a field of a later version with a canary to every object, and lengthens every text that may be free.
fn plant(value: &mut Value, count: &mut usize) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| plant(value, count));
            for name in ["serial", "hostname", "mac", "uuid", "user", "path", "email", "psn", "zz"]
            {
                *count += 1;
                fields.insert(name.to_owned(), Value::from(format!("{CANARY}-{count}")));
            }
            *count += 1;
            fields.insert(
                "nested".to_owned(),
                json!({"deep": [{"serial": format!("{CANARY}-{count}")}]}),
            );
        }
        Value::Array(entries) => entries.iter_mut().for_each(|value| plant(value, count)),
        _ => {}
    }
}

#[test]
fn a_document_holds_the_figures_and_the_licence() {
    let accepted = document(&read(&record()), &Additions::default()).unwrap();
    assert_eq!(accepted.document["licence"], LICENCE);
    let phase = &accepted.document["record"]["phases"][0];
    assert_eq!(phase["iops"]["estimate"], 1000.0);
    let buckets = phase["histogram"].as_array().unwrap();
    assert!(buckets.len() <= 48);
    assert_eq!(buckets.iter().map(|bucket| bucket["ops"].as_u64().unwrap()).sum::<u64>(), 1000);
    assert_eq!(accepted.document["record"]["created"], "2026-11-22T00:00:00Z");
    assert_eq!(accepted.document["record"]["conditions"]["host"]["kernel"], "6.6.31");
    assert!(accepted.document.get("label").is_none(), "a label is shared only where it is wanted");
}

#[test]
fn no_canary_outside_the_allowlist_is_in_a_document() {
    let mut planted = record();
    let mut count = 0;
    plant(&mut planted, &mut count);
    planted["phases"][0]["warnings"][0]["message"] = Value::from(CANARY);
    planted["began_as_printed"] = Value::from(CANARY);
    planted["label"] = Value::from(CANARY);
    planted["id"] = Value::from(CANARY);
    planted["conditions"]["target"]["buffered_reason"] = Value::from(CANARY);
    planted["conditions"]["device"]["name"] = Value::from(CANARY);
    planted["conditions"]["host"]["kernel"] = Value::from(format!("6.6.31-{CANARY}"));
    planted["conditions"]["unknown"] =
        json!([{"what": CANARY, "reason": CANARY, "needed": CANARY}]);
    assert!(count > 80, "{count} canaries");
    let accepted = document(&read(&planted), &Additions::default()).unwrap();
    let text = accepted.document.to_string();
    assert!(!text.contains(CANARY), "{text}");
    // The hub drops them as well, whoever has sent them.
    let sent = json!({"schema": "cardproof.submission/1", "licence": LICENCE, "record": planted, "x": CANARY});
    let mut trimmed = sent;
    trimmed["record"]["phases"][0]["histogram"] = json!([]);
    let accepted = accept(trimmed.to_string().as_bytes()).unwrap();
    assert!(!accepted.document.to_string().contains(CANARY));
}

#[test]
fn what_was_accepted_is_accepted_unchanged() {
    let price = Price { amount: 9.9, currency: "EUR".to_owned(), date: "2026-11-01".to_owned() };
    let additions = Additions { label: Some("spare card".to_owned()), price: Some(price) };
    let first = document(&read(&record()), &additions).unwrap();
    let second = accept(first.document.to_string().as_bytes()).unwrap();
    assert_eq!(first.document, second.document);
    assert_eq!(first.record, second.record);
    let kept = record_of(&second.document, "abc").unwrap();
    assert_eq!((kept.id.as_str(), kept.label.as_deref()), ("abc", Some("spare card")));
}

/// A change of a document, and the words that name it.
type Case = (fn(&mut Map<String, Value>), &'static str);

#[test]
fn what_cannot_be_shared_is_named() {
    let cases: [Case; 8] = [
        (|it| drop(it.insert("schema".into(), "x".into())), "schema is 'x'"),
        (|it| drop(it.remove("licence")), "CC0-1.0"),
        (|it| drop(it.remove("record")), "no object \"record\""),
        (|it| it["record"]["phases"] = json!([]), "holds no speed"),
        (|it| it["record"]["state"] = json!("running"), "has not ended"),
        (|it| it["record"]["phases"][0]["ops"] = json!("many"), "'ops'"),
        (
            |it| {
                drop(it.insert(
                    "price".into(),
                    json!({"amount": -1, "currency": "EUR", "date": "2026-01-01"}),
                ));
            },
            "at least 0.01",
        ),
        (
            |it| {
                drop(it.insert(
                    "price".into(),
                    json!({"amount": 0.004, "currency": "EUR", "date": "2026-01-01"}),
                ));
            },
            "at least 0.01",
        ),
    ];
    for (change, named) in cases {
        let mut sent = document(&read(&record()), &Additions::default()).unwrap().document;
        change(sent.as_object_mut().unwrap());
        let error = accept(sent.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    let long = vec![b' '; cardproof_submission::LENGTH_MAX + 1];
    assert!(matches!(accept(&long), Err(Refusal::TooLong(_))));
}

/// Each path is one that the published schema of a record has, so that no entry is a slip of the pen.
#[test]
fn every_path_is_one_of_the_records() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record-v1.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let of_record = paths();
    let of_record: Vec<&str> =
        of_record.iter().filter_map(|path| path.strip_prefix("record.")).collect();
    assert!(of_record.len() > 300, "{}", of_record.len());
    for path in of_record {
        assert!(is_in(&schema, &schema, path), "{path}");
    }
}

/// Whether `path` leads somewhere from `node` in `schema`.
fn is_in(schema: &Value, node: &Value, path: &str) -> bool {
    let node = match node.get("$ref").and_then(Value::as_str) {
        Some(name) => schema.pointer(name.trim_start_matches('#')).unwrap(),
        None => node,
    };
    let either = ["anyOf", "oneOf", "allOf"].iter().filter_map(|name| node.get(*name)?.as_array());
    if either.flatten().any(|one| is_in(schema, one, path)) {
        return true;
    }
    if path.is_empty() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[]") {
        return node
            .get("items")
            .is_some_and(|items| is_in(schema, items, rest.trim_start_matches('.')));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let rest = path[end..].trim_start_matches('.');
    node.pointer(&format!("/properties/{}", &path[..end]))
        .is_some_and(|next| is_in(schema, next, rest))
}
