//! Recorded outputs in JSON: sdmon, smartctl, `nvme smart-log`.

use cardproof_evidence::health::{Unit, Value};
use cardproof_import::closed_json;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value as Json;

use crate::health::smartctl::of_smartctl;
use crate::health::values::{hundredths, value, with_values};
use crate::health::{Sourced, drives};

/// Signatures of the layouts that sdmon prints `healthStatusPercentUsed` of.
const SDMON_SIGNATURES: [&str; 2] = ["0x44 0x53", "0x44 0x57"];

/// The readings in the JSON objects of `text`.
pub(super) fn in_text(text: &str) -> Vec<Sourced> {
    objects(text).iter().filter_map(of_object).collect()
}

/// The JSON objects in `text`; what stands between them does not count.
fn objects(text: &str) -> Vec<Json> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = start_of_object(rest) {
        rest = &rest[start..];
        let mut strict = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
        let Some(Ok(object)) = strict.next() else {
            // Some versions of sdmon leave a comma out or print a bare figure with its unit, and an end
            // may be missing.
            found.extend(closed_json(rest).and_then(|text| serde_json::from_str(&text).ok()));
            if found.is_empty() {
                found.extend(lenient(rest));
            }
            return found;
        };
        rest = &rest[strict.byte_offset()..];
        found.push(object);
    }
    found
}

/// Where the first line begins with an object. Braces in a command or a sentence are none.
fn start_of_object(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('{') {
            return Some(start + blanks);
        }
        start += line.len();
    }
    None
}

/// Lines of the form `"name": number` or `"name": "text"`, an object for each pair of braces.
fn lenient(text: &str) -> Vec<Json> {
    let mut objects = Vec::new();
    for part in text.split('{').skip(1) {
        let mut object = serde_json::Map::new();
        for line in part.lines() {
            let Some((name, rest)) = line.trim().split_once(':') else { continue };
            let name = name.trim().trim_matches('"').trim().to_owned();
            let rest = rest.trim().trim_end_matches(',').trim_end_matches('%').trim();
            let parsed = serde_json::from_str(rest).unwrap_or_else(|_| Json::from(rest));
            object.insert(name, parsed);
        }
        if !object.is_empty() {
            objects.push(Json::Object(object));
        }
    }
    objects
}

fn of_object(object: &Json) -> Option<Sourced> {
    let is_smartctl =
        object.get("smartctl").is_some() || object.get("json_format_version").is_some();
    if is_smartctl {
        return Some(drives::of_json(object).unwrap_or_else(|| of_smartctl(object)));
    }
    drives::of_json(object).or_else(|| of_sdmon(object)).or_else(|| drives::without_answer(object))
}

/// What sdmon prints; `None` where it holds none of its values.
fn of_sdmon(object: &Json) -> Option<Sourced> {
    const NAMES: &[(&str, &str, Unit)] = &[
        ("healthStatusPercentUsed", "life_used", Unit::PercentUsed),
        ("Percentange step utilization", "life_used", Unit::PercentUsed),
        ("remainLifeTime", "life_left", Unit::PercentLeft),
        ("Remaining life", "life_left", Unit::PercentLeft),
        ("Remaining Lifetime Percent", "life_left", Unit::PercentLeft),
        ("minEraseCount", "erases_min", Unit::Count),
        ("avgEraseCount", "erases_average", Unit::Count),
        ("maxEraseCount", "erases_max", Unit::Count),
        ("totalEraseCount", "erases_total", Unit::Count),
        ("Remaining card life", "life_left", Unit::PercentLeft),
        ("Data area minimum erase cnt", "erases_min", Unit::Count),
        ("Data area average erase cnt", "erases_average", Unit::Count),
        ("Data area maximum erase cnt", "erases_max", Unit::Count),
        ("Data area total erase cnt", "erases_total", Unit::Count),
        ("Minimum erase cnt", "erases_min", Unit::Count),
        ("Average erase cnt", "erases_average", Unit::Count),
        ("Maximum erase cnt", "erases_max", Unit::Count),
        ("Grown bad block cnt", "bad_blocks_later", Unit::Count),
        ("laterBadBlockCount", "bad_blocks_later", Unit::Count),
        ("spareBlockCount", "spare_blocks", Unit::Level),
        ("Spare block cnt", "spare_blocks", Unit::Level),
        ("replaceBlockLeft", "spare_blocks", Unit::Level),
        ("increaseBadBlock", "bad_blocks_later", Unit::Count),
    ];
    const IN_HUNDREDTHS: [(&str, &str); 2] =
        [("enduranceRemainLifePercent", "life_left"), ("goodBlockRatePercent", "good_blocks")];
    let number = |key: &str| object.get(key).and_then(number);
    let fine = IN_HUNDREDTHS
        .iter()
        .filter_map(|(key, name)| Some(hundredths(name, number(key)?, Unit::PercentLeft)));
    let coarse =
        NAMES.iter().filter_map(|(key, name, unit)| Some(value(name, number(key)?, *unit)));
    let values: Vec<Value> = fine.chain(coarse).collect();
    if values.is_empty() {
        return None;
    }
    let mut sourced = with_values(values);
    sourced.reading.rejected = foreign_layout(object);
    sourced.time = object.get("date").and_then(Json::as_str).and_then(time_of);
    sourced.reading.time_s = sourced.time.map(|time| time.as_second() as f64);
    Some(sourced)
}

/// A number, which some versions of sdmon print as text with its unit, as in "100%".
fn number(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().trim_end_matches('%').trim_end().parse().ok())
}

/// Why the values stand at places that mean something else: sdmon reads SanDisk's places of any answer,
/// and Silicon Motion's of any that has no signature.
fn foreign_layout(object: &Json) -> Option<String> {
    let signature = object.get("signature").and_then(Json::as_str);
    if object.get("healthStatusPercentUsed").is_some()
        && let Some(signature) = signature
        && !SDMON_SIGNATURES.contains(&signature)
    {
        return Some(format!(
            "the answer begins with {signature}: the layout is another maker's, and the value stands \
             for something else"
        ));
    }
    let date = object.get("manufactureYYMMDD").and_then(Json::as_str);
    if let Some(date) =
        date.filter(|date| !date.bytes().all(|byte| byte.is_ascii_digit()) || date.len() != 6)
    {
        return Some(format!(
            "the date of manufacture '{}' is none: the layout is another maker's",
            date.chars().filter(|c| !cardproof_report::steers(*c)).collect::<String>()
        ));
    }
    let flash = object.get("flashId").and_then(Json::as_array)?;
    let bytes: Vec<u8> = flash
        .iter()
        .filter_map(|byte| u8::from_str_radix(byte.as_str()?.trim_start_matches("0x"), 16).ok())
        .collect();
    let first = *bytes.first()?;
    if bytes.iter().all(|byte| *byte == first) {
        return Some(format!("every byte is {first:#04x}: the card has not filled the answer"));
    }
    let is_known = cardproof_registers::is_flash_maker(first);
    (!is_known).then(|| {
        format!("the flash's number begins with {first:#04x}, which is no maker's: the layout is another one")
    })
}

/// A date as sdmon prints it: local time that calls itself UTC, with or without its `Z`.
fn time_of(text: &str) -> Option<Timestamp> {
    let text = text.trim_end_matches('Z');
    let date: DateTime = text.parse().ok()?;
    TimeZone::UTC.to_timestamp(date).ok()
}
