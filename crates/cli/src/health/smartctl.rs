//! The wear in the JSON of smartctl.

use cardproof_evidence::health::{Unit, Value};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::Sourced;
use super::values::{value, with_values};

/// What smartctl prints of an NVMe or ATA device.
pub(super) fn of_smartctl(object: &Json) -> Sourced {
    let mut values = Vec::new();
    let number = |pointer: &str| object.pointer(pointer).and_then(Json::as_f64);
    let log = "/nvme_smart_health_information_log";
    values.extend(
        number(&format!("{log}/percentage_used"))
            .or_else(|| number("/endurance_used/current_percent"))
            .map(|v| value("life_used", v, Unit::RatedLifeUsed)),
    );
    values.extend(
        number(&format!("{log}/available_spare"))
            .map(|v| value("spare_left", v, Unit::PercentLeft)),
    );
    // One unit is a thousand sectors of 512 bytes (NVM Express, SMART log).
    values.extend(
        number(&format!("{log}/data_units_written"))
            .map(|v| value("host_bytes_written", v * 512_000.0, Unit::BytesWritten)),
    );
    // The attributes of an ATA device tell the same life again, in another way.
    let has_life = values.iter().any(|value| value.name == "life_used");
    values.extend(of_ata(object).into_iter().filter(|it| !(has_life && it.name == "life_left")));
    let mut sourced = with_values(values);
    let seconds = number("/local_time/time_t").map(|seconds| seconds as i64);
    sourced.time = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    sourced.reading.time_s = sourced.time.map(|time| time.as_second() as f64);
    sourced
}

/// Attributes of ATA devices that count wear: normalized values fall from 100.
fn of_ata(object: &Json) -> Vec<Value> {
    /// Wear levelling count (Samsung), life left (Kingston, SandForce), life left (Crucial), media
    /// wear-out indicator (Intel).
    /// Other makers count something else under the same numbers, such as a temperature or address errors, so
    /// that the name decides as well.
    const LIFE_LEFT: [u64; 4] = [177, 231, 202, 233];
    const LBAS_WRITTEN: u64 = 241;
    let table = object.pointer("/ata_smart_attributes/table").and_then(Json::as_array);
    let attributes = || table.into_iter().flatten();
    let id = |attribute: &Json| attribute["id"].as_u64().unwrap_or(0);
    let is_named = |attribute: &Json| {
        let name = attribute["name"].as_str().unwrap_or_default().to_ascii_lowercase();
        ["wear", "life"].iter().any(|word| name.contains(word))
    };
    let left = attributes().find(|it| LIFE_LEFT.contains(&id(it)) && is_named(it));
    let left = left.and_then(|attribute| attribute["value"].as_f64());
    let written = attributes().find(|attribute| {
        id(attribute) == LBAS_WRITTEN
            && attribute["name"].as_str().is_some_and(|name| name.contains("LBA"))
    });
    let written = written.and_then(|attribute| attribute.pointer("/raw/value")?.as_f64());
    let mut values: Vec<Value> =
        left.map(|left| value("life_left", left, Unit::PercentLeft)).into_iter().collect();
    values.extend(
        written.map(|sectors| value("host_bytes_written", sectors * 512.0, Unit::BytesWritten)),
    );
    values
}
