//! Documents from records: what is in them, and what never is.

use std::fs;
use std::path::Path;

use cardproof_record::{CapacityBounds, CapacityVerdict, ComparedSetups, ReadOrigin, Record};
use cardproof_submission::{
    Additions, Capacity, LICENCE, Price, Refusal, accept, document, paths, record_of,
};
use cardproof_units::{Bytes, with_causes};
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
    let additions = Additions {
        label: Some("spare card".to_owned()),
        price: Some(price),
        capacity: Some(fake()),
    };
    let first = document(&read(&record()), &additions).unwrap();
    let second = accept(first.document.to_string().as_bytes()).unwrap();
    assert_eq!(first.document, second.document);
    assert_eq!(first.record, second.record);
    let kept = record_of(&second.document, "abc").unwrap();
    assert_eq!((kept.id.as_str(), kept.label.as_deref()), ("abc", Some("spare card")));
}

#[test]
fn a_document_that_cannot_be_read_has_one_cause() {
    let error = accept(b"{").unwrap_err();
    let said = "the document cannot be read: EOF while parsing an object at line 1 column 1";
    assert_eq!(with_causes(&error), said);
}

/// A card that holds 8 of 64 GB.
fn fake() -> Capacity {
    Capacity {
        verdict: CapacityVerdict::Fake,
        kind: "wrap".to_owned(),
        probability: 0.999,
        announced_size_bytes: Bytes(64_000_000_000),
        real_size_bytes: CapacityBounds { low: Bytes(7_900_000_000), high: Bytes(8_000_000_000) },
        excluded_hidden_store_bytes: Bytes(4 << 20),
        excluded_bad_share: 0.02,
        bytes_written: Bytes(1 << 30),
        bytes_read: Bytes(1 << 30),
    }
}

/// A record without a speed, and what its test has left in it, with a journal.
fn tested(field: &str, test: Value) -> Record {
    let mut record = record();
    record["phases"] = json!([]);
    record[field] = test;
    read(&record)
}

/// Where a place of a capacity test lies, which nobody else needs.
const PLACE: u64 = 9_182_736_455;

#[test]
fn every_kind_of_verdict_is_shared_and_no_journal() {
    let course: Vec<Value> = (1..=9)
        .map(|at| json!({"cycle": at, "written_bytes": 1, "read_bytes": 1, "bad_pages": 0, "write_bytes_per_s": 1.0,
            "read_bytes_per_s": 1.0, "duration_ns": 5}))
        .collect();
    let checked = json!({"writes": 9000, "reads": 9000, "flushes": 90, "wrong": 0, "time_ns": 1});
    let cases = [
        (
            "capacity",
            json!({"method": "overwritten", "announced_bytes": 64, "places": [{"offset_bytes": PLACE,
            "length_bytes": 4096, "written_at_bytes": 1, "read_at_bytes": 2, "right_prefix_bytes": 0,
            "live_prefix_bytes": 0, "is_random": true, "found": {"kind": "changing"}}]}),
        ),
        (
            "endurance",
            json!({"pattern": "random", "span_bytes": 1, "cycle_bytes": 1, "pages": 7, "cycles": 1200,
            "written_bytes": 5, "bad_pages": 1, "milestones": {"first_error": 900, "0.1%": null}, "end": "read_only",
            "stopped_by": "end", "failures": [{"cycle": 900, "places": 1, "pages": 1}], "course": course}),
        ),
        (
            "power_cuts",
            json!({"mode": "fsync", "power": "by hand", "queue_depth": 4, "writes_per_flush": 8,
            "area_bytes": 9, "cuts": 40, "effective_cuts": 33, "harmful_cuts": 2, "findings": {"torn": 2},
            "harm": [{"cut": 3, "kind": CANARY, "address_bytes": 1, "length_bytes": 1}]}),
        ),
        (
            "integrity",
            json!({"queue": {"queue_depth": 32, "pieces": 5, "span_bytes": 1, "control": checked,
            "queued": checked, "origin": {"read_bytes": 9, "from_device_bytes": 9}}}),
        ),
        (
            "setups",
            json!({"rounds": 3, "comparisons": [{"title": "File systems", "baseline": "ext4",
            "confidence": 0.95, "results": [{"setup": "f2fs", "job": "fsync-4k", "deed": "write", "unit": "op/s",
            "rates": [1.0, 2.0], "ratio": {"estimate": 2.0, "low": 1.5, "high": 2.5}, "costs": "none",
            "fit_for": "anything"}]}], "not_tried": [{"setup": "zfs", "reason": CANARY}]}),
        ),
    ];
    for (field, test) in cases {
        let capacity = (field == "capacity").then(fake);
        let sent = document(&tested(field, test), &Additions { capacity, ..Additions::default() });
        let sent = sent.unwrap().document;
        let text = sent.to_string();
        let place = PLACE.to_string();
        assert!(![CANARY, "course", &place].iter().any(|word| text.contains(word)), "{text}");
        let kept = accept(text.as_bytes()).unwrap();
        assert_eq!(kept.document, sent);
        let is_there = match field {
            "capacity" => kept.capacity == Some(fake()) && kept.record.capacity().is_none(),
            "endurance" => kept.record.endurance().is_some_and(|run| run.failures.len() == 1),
            "power_cuts" => kept.record.power_cuts().is_some_and(|test| test.findings["torn"] == 2),
            "integrity" => {
                let queue = kept.record.integrity().and_then(|test| test.queue.as_ref());
                queue.and_then(|it| it.origin.as_ref()).is_some_and(ReadOrigin::is_shown)
            }
            _ => kept.record.setups().is_some_and(ComparedSetups::has_figures),
        };
        assert!(is_there, "{field}: {text}");
    }
}

#[test]
fn a_verdict_that_no_test_gives_is_refused() {
    let changes: [fn(&mut Capacity); 4] = [
        |it| it.probability = 1.5,
        |it| it.real_size_bytes.low = Bytes(9_000_000_000),
        |it| it.real_size_bytes.high = Bytes(65_000_000_000),
        |it| it.announced_size_bytes = Bytes::ZERO,
    ];
    for change in changes {
        let mut capacity = fake();
        change(&mut capacity);
        let additions = Additions { capacity: Some(capacity), ..Additions::default() };
        let refused = document(&read(&record()), &additions);
        assert!(matches!(refused, Err(Refusal::Addition(_))), "{refused:?}");
    }
}

#[test]
fn counts_that_no_test_gives_are_refused() {
    let endless = 9_000_000_000_000_000_000_u64;
    for (field, test) in [
        (
            "power_cuts",
            json!({"mode": "fsync", "power": "command", "queue_depth": 1, "writes_per_flush": 1,
            "area_bytes": 1, "cuts": endless, "effective_cuts": endless, "harmful_cuts": endless - 1}),
        ),
        (
            "endurance",
            json!({"pattern": "random", "span_bytes": 1, "cycle_bytes": 1, "pages": 9, "cycles": 5,
            "written_bytes": 1, "bad_pages": 1, "milestones": {}, "end": null, "stopped_by": "end",
            "failures": [{"cycle": 2, "places": endless, "pages": endless}]}),
        ),
        (
            "integrity",
            json!({"queue": {"queue_depth": 1, "pieces": 1, "span_bytes": 1,
            "control": {"writes": 1, "reads": 1, "flushes": 1, "wrong": 0, "time_ns": 1},
            "queued": {"writes": endless, "reads": 1, "flushes": 1, "wrong": endless, "time_ns": 1}}}),
        ),
    ] {
        let refused = document(&tested(field, test), &Additions::default());
        assert!(matches!(refused, Err(Refusal::Addition(_))), "{field}: {refused:?}");
    }
}

/// A change of a document, and the words that name it.
type Case = (fn(&mut Map<String, Value>), &'static str);

#[test]
fn what_cannot_be_shared_is_named() {
    let cases: [Case; 8] = [
        (|it| drop(it.insert("schema".into(), "x".into())), "schema is 'x'"),
        (|it| drop(it.remove("licence")), "CC0-1.0"),
        (|it| drop(it.remove("record")), "no object \"record\""),
        (|it| it["record"]["phases"] = json!([]), "holds no result"),
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
    // Where a schema lists no names, as of milestones, any name is one.
    if node.get("properties").is_none() && node["additionalProperties"].is_object() {
        return true;
    }
    node.pointer(&format!("/properties/{}", &path[..end]))
        .is_some_and(|next| is_in(schema, next, rest))
}
