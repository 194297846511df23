//! Records that lie in people's stores are read, by every later version, and handed on unchanged.

use std::io::Read;

use cardproof_record::{
    EngineName, Outcome, PhaseState, ReadError, Record, RecordHead, State, SyncMode, Transport,
};
use serde_json::{Value, json};

/// Written when layers, bridges and settings beneath had no fields of their own.
const LAYERED: &str = include_str!("../records/layered.json");

/// Another tool's output, read when the hour that it prints had no field of its own.
const IMPORTED: &str = include_str!("../records/imported.json");

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Nothing that is known lies among the fields of a later version.
fn assert_all_typed(record: &Record) {
    let conditions = &record.conditions;
    let settings = std::iter::successors(Some(&conditions.settings), |it| it.beneath.as_deref());
    let of_devices = conditions.device.layers().map(|device| &device.extra);
    let of_cards = conditions.device.layers().filter_map(|it| it.card.as_ref()).map(|it| &it.extra);
    let extras = of_devices.chain(of_cards).chain(settings.map(|it| &it.extra));
    for extra in extras.chain([&record.extra]).chain(record.phases.iter().map(|it| &it.extra)) {
        assert!(extra.is_empty(), "{extra:?}");
    }
}

#[test]
fn old_records_are_read_and_handed_on_unchanged() {
    for text in [LAYERED, IMPORTED] {
        let record = Record::from_json(text).unwrap();
        assert_all_typed(&record);
        assert_eq!(value(&record.to_json().unwrap()), value(text));
    }
}

/// A record goes through several programs: each would move its figures by a little.
#[test]
fn figures_are_read_to_the_last_digit() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..2_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // From 1e-9 to 1e15, as times, rates and shares are.
        let figure = (bits >> 11) as f64 * 10_f64.powi((bits % 25) as i32 - 24);
        let mut later = value(LAYERED);
        later["later"] = json!(figure);
        let read = Record::from_json(&later.to_string()).unwrap();
        assert_eq!(
            read.extra["later"].as_f64().map(f64::to_bits),
            Some(figure.to_bits()),
            "{figure}"
        );
    }
}

#[test]
fn an_old_record_has_the_layers_below_the_device() {
    let record = Record::from_json(LAYERED).unwrap();
    let device = &record.conditions.device;
    let transports: Vec<_> = device.layers().map(|it| it.transport.clone().unwrap()).collect();
    assert_eq!(transports, [Transport::Dm, Transport::Loop, Transport::Usb]);
    assert_eq!(device.lowest().usb_id.as_deref(), Some("058f:6366"));
    assert_eq!(record.conditions.target.engine, EngineName::IoUring);
    assert_eq!(record.phases[0].sync, SyncMode::every(1));
    let beneath = record.conditions.settings.beneath.unwrap();
    assert_eq!(
        (beneath.scheduler.as_deref(), beneath.nr_requests),
        (Some("mq-deadline"), Some(64))
    );
}

/// The words of a later version are kept where they are text, and are no known word anywhere.
#[test]
fn a_record_of_a_later_version_is_read() {
    let mut newer = value(LAYERED);
    newer["state"] = json!("paused");
    newer["conditions"]["device"]["transport"] = json!("sas");
    newer["conditions"]["target"]["engine"] = json!("spdk");
    newer["conditions"]["device"]["lanes"] = json!(2);
    newer["phases"][0]["sync"] = json!("barrier");
    newer["phases"][0]["state"] = json!("estimated");
    newer["verdicts"] = json!([{"rule": "A1", "outcome": "meets_mostly", "reasons": []}]);
    let record = Record::from_json(&newer.to_string()).unwrap();
    assert_eq!(record.state, State::Unknown);
    assert_eq!(record.phases[0].state, PhaseState::Unknown);
    assert!(!record.phases[0].is_measured());
    assert_eq!(record.verdicts.as_ref().unwrap()[0].outcome, Outcome::Unknown);
    let again = value(&record.to_json().unwrap());
    assert_eq!(again["conditions"], newer["conditions"]);
    assert_eq!(again["phases"][0]["sync"], "barrier");
}

#[test]
fn the_answer_of_a_check_is_told_from_a_record() {
    let answer = r#"{"schema": "cardproof.check/1", "records": ["a-verify-1", "a-check-2"]}"#;
    let said = Record::from_json(answer).unwrap_err().to_string();
    assert!(said.contains("cardproof show a-check-2 --json FILE"), "{said}");
    let unmeasured = r#"{"schema": "cardproof.check/1", "records": []}"#;
    let said = Record::from_json(unmeasured).unwrap_err().to_string();
    assert!(said.contains("nothing was measured"), "{said}");
    let foreign = r#"{"schema": "cardproof.check/1", "records": 7}"#;
    assert!(matches!(Record::from_json(foreign), Err(ReadError::AnswerOfCheck { record: None })));
    let later = r#"{"schema": "cardproof.check/2", "records": ["a"]}"#;
    assert!(matches!(Record::from_json(later), Err(ReadError::OtherSchema { .. })));
}

/// A source that must not be read to its end.
struct Endless<'t>(&'t [u8]);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "read beyond the head");
        self.0.read(buffer)
    }
}

#[test]
fn a_record_is_told_by_its_first_bytes() {
    let mut record = Record::from_json(LAYERED).unwrap();
    record.label = Some("the \"red\" one".to_owned());
    let text = record.to_json().unwrap();
    let begun = text.find("\"phases\": ").unwrap() + 10;
    let head = RecordHead::from_reader(Endless(&text.as_bytes()[..begun])).unwrap();
    assert_eq!(head, RecordHead::from(&record));
    assert_eq!(RecordHead::from_reader(text.as_bytes()), Some(head));
}

#[test]
fn what_is_no_record_has_no_head() {
    let record = value(LAYERED);
    let other =
        json!({"schema": "cardproof.check/1", "id": "a", "conditions": record["conditions"]});
    let sorted = format!(r#"{{"phases": [], "schema": "{}"}}"#, cardproof_record::SCHEMA);
    for text in
        [other.to_string(), sorted, "[]".to_owned(), String::new(), "{\"schema\"".to_owned()]
    {
        assert_eq!(RecordHead::from_reader(text.as_bytes()), None, "{text}");
    }
}

/// The way to the field is told as it is written there.
#[test]
fn a_number_that_no_storage_can_have_is_named() {
    let mut record = value(LAYERED);
    record["phases"][0]["bytes"] = json!(10_000_000_000_000_000_000_u64);
    let text = record.to_string().replace("\"bytes\"", "\"byte\\u0073\"");
    let ReadError::OutOfRange(error) = Record::from_json(&text).unwrap_err() else {
        panic!("another error")
    };
    assert_eq!((error.field.as_str(), error.number), ("phases.0.bytes", 1e19));
}
