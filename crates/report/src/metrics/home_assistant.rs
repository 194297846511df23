//! The facts as messages of MQTT that Home Assistant finds by itself (MQTT discovery of devices, from 2024.11 on).
//!
//! Each card is a device with its entities. Its messages are two, both to be retained: what it is, and how it is. A
//! fact that is not known is `null`, which Home Assistant shows as *unknown*, with the reason as an attribute.

use serde_json::{Map, Value, json};

use super::facts::{CardFacts, Facts, Known, VERDICTS, word};

/// Where Home Assistant looks for devices.
const DISCOVERY: &str = "homeassistant/device";

/// A state that is older is shown as unavailable, in seconds: six looks of the timer.
const EXPIRES_AFTER_S: u32 = 3600;

/// A message to be published.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The topic, without blanks.
    pub topic: String,
    /// What is published.
    pub payload: Value,
}

/// An entity that is a number.
struct Sensor {
    id: &'static str,
    name: &'static str,
    /// The unit, and by what the fact in base units is multiplied.
    unit: (&'static str, f64),
    device_class: Option<&'static str>,
    grows: bool,
    value: fn(&Facts<'_>, &CardFacts<'_>) -> Known,
}

const GB: (&str, f64) = ("GB", 1e-9);
const DAYS: (&str, f64) = ("d", 1.0 / 86_400.0);
const COUNT: (&str, f64) = ("", 1.0);

const SENSORS: [Sensor; 11] = [
    Sensor {
        id: "written",
        name: "Written",
        unit: GB,
        device_class: Some("data_size"),
        grows: true,
        value: |_, card| Ok(card.written_bytes()),
    },
    Sensor {
        id: "read",
        name: "Read",
        unit: GB,
        device_class: Some("data_size"),
        grows: true,
        value: |_, card| Ok(card.read_bytes()),
    },
    Sensor {
        id: "written_a_day",
        name: "Written a day",
        unit: ("GB/d", 86_400.0 * 1e-9),
        device_class: None,
        grows: false,
        value: |_, card| card.pace(),
    },
    Sensor {
        id: "failed",
        name: "Failed reads and writes",
        unit: COUNT,
        device_class: None,
        grows: true,
        value: |_, card| Ok(card.totals.errors.failed as f64),
    },
    Sensor {
        id: "repeated",
        name: "Repeated transfers",
        unit: COUNT,
        device_class: None,
        grows: true,
        value: |_, card| Ok(card.totals.errors.repeated as f64),
    },
    Sensor {
        id: "filesystem_errors",
        name: "File system errors",
        unit: COUNT,
        device_class: None,
        grows: true,
        value: |_, card| Ok(card.totals.errors.filesystem as f64),
    },
    Sensor {
        id: "life_used",
        name: "Life used, at most",
        unit: ("%", 100.0),
        device_class: None,
        grows: false,
        value: |_, card| card.life_used_high(),
    },
    Sensor {
        id: "days_left_min",
        name: "Days left, at least",
        unit: DAYS,
        device_class: Some("duration"),
        grows: false,
        value: |_, card| card.life_left_low(),
    },
    Sensor {
        id: "days_left_max",
        name: "Days left, at most",
        unit: DAYS,
        device_class: Some("duration"),
        grows: false,
        value: |_, card| card.life_left_high(),
    },
    Sensor {
        id: "request_time",
        name: "Time of a request, over that when new",
        unit: COUNT,
        device_class: None,
        grows: false,
        value: |_, card| card.request_time(),
    },
    Sensor {
        id: "temperature",
        name: "Temperature of the computer",
        unit: ("°C", 1.0),
        device_class: Some("temperature"),
        grows: false,
        value: |facts, _| facts.machine.temperature_celsius(),
    },
];

/// An entity that is on where something is wrong.
struct Problem {
    id: &'static str,
    name: &'static str,
    value: fn(&Facts<'_>, &CardFacts<'_>) -> Known,
}

const PROBLEMS: [Problem; 4] = [
    Problem { id: "at_risk", name: "Data at risk", value: |_, card| card.is_at_risk() },
    Problem { id: "slower", name: "Slower than when new", value: |_, card| card.is_slower() },
    Problem {
        id: "low_voltage",
        name: "Low voltage",
        value: |facts, _| facts.machine.under_voltage(),
    },
    Problem {
        id: "throttled",
        name: "Processor slowed down",
        value: |facts, _| facts.machine.throttled(),
    },
];

/// The messages, two for each card.
#[must_use]
pub fn home_assistant_messages(facts: &Facts<'_>) -> Vec<Message> {
    facts.cards.iter().flat_map(|card| [discovery(facts, card), state(facts, card)]).collect()
}

/// The messages as lines: the topic, a blank, and the payload, which has no line break. A shell takes them apart
/// with `read -r topic payload`.
#[must_use]
pub fn home_assistant_lines(facts: &Facts<'_>) -> String {
    let messages = home_assistant_messages(facts);
    messages.iter().map(|message| format!("{} {}\n", message.topic, message.payload)).collect()
}

fn id(card: &CardFacts<'_>) -> String {
    format!("cardproof_{:08x}", card.totals.key.0)
}

fn state_topic(card: &CardFacts<'_>) -> String {
    format!("cardproof/{:08x}/state", card.totals.key.0)
}

/// What the card is, and which entities it has.
fn discovery(facts: &Facts<'_>, card: &CardFacts<'_>) -> Message {
    let id = id(card);
    let product = card.product.map(crate::one_line).filter(|product| !product.is_empty());
    let device = crate::one_line(card.device);
    let name = product.map_or_else(|| device.clone(), |product| format!("{product} ({device})"));
    let mut components = Map::new();
    let health = entity(card, "health", "Health", "sensor");
    let words: Vec<String> = VERDICTS.iter().map(word).collect();
    components.insert(
        "health".to_owned(),
        with(health, &[("device_class", json!("enum")), ("options", json!(words))]),
    );
    for sensor in &SENSORS {
        components.insert(sensor.id.to_owned(), of_sensor(card, sensor));
    }
    for problem in &PROBLEMS {
        let entity = entity(card, problem.id, problem.name, "binary_sensor");
        let more = [
            ("device_class", json!("problem")),
            ("payload_on", json!("on")),
            ("payload_off", json!("off")),
        ];
        components.insert(problem.id.to_owned(), with(entity, &more));
    }
    let payload = json!({
        "device": {"identifiers": [id], "name": name},
        "origin": {"name": "cardproof", "sw_version": facts.version},
        "components": components,
        "state_topic": state_topic(card),
        "qos": 1,
    });
    Message { topic: format!("{DISCOVERY}/{id}/config"), payload }
}

fn of_sensor(card: &CardFacts<'_>, sensor: &Sensor) -> Value {
    let state_class = if sensor.grows { "total_increasing" } else { "measurement" };
    let mut more = vec![("state_class", json!(state_class))];
    if !sensor.unit.0.is_empty() {
        more.push(("unit_of_measurement", json!(sensor.unit.0)));
    }
    more.extend(sensor.device_class.map(|class| ("device_class", json!(class))));
    with(entity(card, sensor.id, sensor.name, "sensor"), &more)
}

/// What all entities have: where their value and its attributes stand in the state.
fn entity(card: &CardFacts<'_>, id: &str, name: &str, platform: &str) -> Value {
    json!({
        "platform": platform,
        "name": name,
        "unique_id": format!("{}_{id}", self::id(card)),
        "value_template": format!("{{{{ value_json.{id}.value }}}}"),
        "json_attributes_topic": state_topic(card),
        "json_attributes_template": format!("{{{{ value_json.{id}.attributes | tojson }}}}"),
        "expire_after": EXPIRES_AFTER_S,
    })
}

fn with(mut entity: Value, more: &[(&str, Value)]) -> Value {
    for (name, value) in more {
        entity[*name] = value.clone();
    }
    entity
}

/// How the card is.
fn state(facts: &Facts<'_>, card: &CardFacts<'_>) -> Message {
    let mut values = Map::new();
    let signs: Vec<String> = card.signs.weighty().map(crate::signs::short).collect();
    let health = card.verdict().map(|verdict| word(&verdict)).map_or_else(
        |missing| json!({"value": null, "attributes": {"reason": missing.in_words()}}),
        |verdict| json!({"value": verdict, "attributes": {"signs": signs}}),
    );
    values.insert("health".to_owned(), health);
    for sensor in &SENSORS {
        let value = (sensor.value)(facts, card).map(|value| json!(rounded(value * sensor.unit.1)));
        values.insert(sensor.id.to_owned(), told(value));
    }
    for problem in &PROBLEMS {
        let value = (problem.value)(facts, card);
        values.insert(
            problem.id.to_owned(),
            told(value.map(|value| json!(if value > 0.0 { "on" } else { "off" }))),
        );
    }
    Message { topic: state_topic(card), payload: Value::Object(values) }
}

fn told(value: Result<Value, super::Missing>) -> Value {
    match value {
        Ok(value) => json!({"value": value, "attributes": {}}),
        Err(missing) => json!({"value": null, "attributes": {"reason": missing.in_words()}}),
    }
}

/// `value` to a thousandth, which is what people look at.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
