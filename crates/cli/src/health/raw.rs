//! Recorded outputs as readings: what a card answered to CMD56, EXT_CSD, sdmon, smartctl.

use std::path::{Path, PathBuf};

use cardproof_evidence::health::{Precision, Reading, Unit, Value};
use cardproof_registers::{
    ByteOrder, CMD56_LEN, Cmd56Layout, Cmd56Value, ExtCsd, cmd56, parse_hex,
};
use cardproof_units::Bytes;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value as Json;

use super::{Found, Sourced, drives};
use crate::exit::Failure;
use crate::input;

/// No output is longer.
const LENGTH_MAX: Bytes = Bytes::mib(4);

/// Signatures of the layouts that sdmon prints `healthStatusPercentUsed` of.
const SDMON_SIGNATURES: [&str; 2] = ["0x44 0x53", "0x44 0x57"];

/// A value as devices tell it: per cents in whole numbers, and counts exactly.
const fn value(name: &'static str, value: f64, unit: Unit) -> Value {
    match unit {
        Unit::PercentUsed | Unit::RatedLifeUsed | Unit::PercentLeft => {
            Value::rounded(name, value, unit, 1.0)
        }
        Unit::Count | Unit::Level | Unit::BytesWritten => Value::exact(name, value, unit),
    }
}

/// A value in hundredths of a per cent.
const fn hundredths(name: &'static str, value: f64, unit: Unit) -> Value {
    Value::rounded(name, value, unit, 0.01)
}

/// The readings in `paths`: those with a date in its order, the others in the order in which they are given.
pub(super) fn files(paths: &[PathBuf]) -> Result<Found, Failure> {
    let mut found = Found { device: "recorded outputs".to_owned(), ..Found::default() };
    for path in paths {
        let bytes = input::read(path, LENGTH_MAX).map_err(|error| {
            Failure::of_opening(
                &error,
                format!("cannot read {}: {error}; name a recorded output", path.display()),
            )
        })?;
        found.readings.extend(readings(path, &bytes)?);
    }
    in_order_of_time(&mut found.readings);
    Ok(found)
}

/// Puts the dated of `readings` in the order of their dates; the others stay where they are.
fn in_order_of_time(readings: &mut [Sourced]) {
    let places: Vec<usize> =
        (0..readings.len()).filter(|&index| readings[index].time.is_some()).collect();
    let mut dated: Vec<Sourced> = places.iter().map(|&place| readings[place].clone()).collect();
    dated.sort_by_key(|sourced| sourced.time);
    for (place, sourced) in places.into_iter().zip(dated) {
        readings[place] = sourced;
    }
}

fn readings(path: &Path, bytes: &[u8]) -> Result<Vec<Sourced>, Failure> {
    let source = path.display().to_string();
    if bytes.len() == CMD56_LEN && is_binary(bytes) {
        return Ok(vec![Sourced { source, ..of_cmd56(bytes) }]);
    }
    let unknown = || {
        Failure::usage(format!(
            "{} is no output that is known; give 512 bytes of CMD56, the hex of CMD56 or EXT_CSD, or \
             what sdmon, smartctl or nvme smart-log print",
            path.display()
        ))
    };
    let text = cardproof_import::decode(bytes);
    let reports = drives::in_words(&text);
    if !reports.is_empty() {
        return Ok(reports
            .into_iter()
            .map(|it| Sourced { source: source.clone(), ..it })
            .collect());
    }
    let text = std::str::from_utf8(bytes).map_err(|_| unknown())?;
    let objects = objects(text);
    if !objects.is_empty() {
        let each = objects.iter().map(|object| of_json(object).ok_or_else(unknown));
        let mut all = each.collect::<Result<Vec<_>, _>>()?;
        all.iter_mut().for_each(|sourced| sourced.source.clone_from(&source));
        return Ok(all);
    }
    let bytes = parse_hex(text.trim()).map_err(|_| unknown())?;
    if bytes.len() != CMD56_LEN {
        return Err(unknown());
    }
    let sourced = ext_csd(text, &bytes).map_or_else(|| of_cmd56(&bytes), |csd| of_ext_csd(&csd));
    Ok(vec![Sourced { source, ..sourced }])
}

/// Whether `bytes` are no text.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    std::str::from_utf8(bytes).is_err() || bytes.iter().any(is_control)
}

/// EXT_CSD, where `text`, whose bytes are `bytes`, is one: its revision and its structure have few
/// values, and so has life. With byte 511 first it is one only where no card answers so to CMD56.
fn ext_csd(text: &str, bytes: &[u8]) -> Option<ExtCsd> {
    let (csd, order) = ExtCsd::from_dump(text.trim(), None).ok()?;
    let has_values = (1..=9).contains(&csd.revision)
        && csd.csd_structure <= 3
        && [csd.pre_eol_code, csd.life_a_code, csd.life_b_code].iter().all(|code| *code <= 0x0b)
        && csd.sectors != 0;
    (has_values && (order == ByteOrder::FirstFirst || cmd56(bytes).is_err())).then_some(csd)
}

/// An answer to CMD56.
pub(super) fn of_cmd56(answer: &[u8]) -> Sourced {
    match cmd56(answer) {
        Err(error) => rejected(error.to_string()),
        Ok((layout, values)) => {
            let values: Vec<Value> =
                values.into_iter().flat_map(|found| of_cmd56_value(layout, found)).collect();
            with_values(values)
        }
    }
}

/// A reading that says nothing, for `reason`.
fn rejected(reason: String) -> Sourced {
    let values = vec![value("life_used", 0.0, Unit::PercentUsed)];
    Sourced {
        reading: Reading { values, time_s: None, rejected: Some(reason) },
        ..Sourced::default()
    }
}

fn with_values(values: Vec<Value>) -> Sourced {
    Sourced { reading: Reading { values, time_s: None, rejected: None }, ..Sourced::default() }
}

fn of_cmd56_value(layout: Cmd56Layout, found: Cmd56Value) -> Vec<Value> {
    match found {
        Cmd56Value::Left(percent) if layout == Cmd56Layout::SiliconMotion => {
            vec![hundredths("life_left", percent, Unit::PercentLeft)]
        }
        Cmd56Value::Used(percent) => vec![value("life_used", percent, Unit::PercentUsed)],
        Cmd56Value::Left(percent) => vec![value("life_left", percent, Unit::PercentLeft)],
        Cmd56Value::GoodBlocks(percent) => {
            vec![hundredths("good_blocks", percent, Unit::PercentLeft)]
        }
        Cmd56Value::Spares(count) => vec![value("spare_blocks", count, Unit::Level)],
        Cmd56Value::Erases { min, average, max, total } => vec![
            value("erases_min", min, Unit::Count),
            value("erases_average", average, Unit::Count),
            value("erases_max", max, Unit::Count),
            value("erases_total", total, Unit::Count),
        ],
    }
}

/// EXT_CSD of an eMMC: used life in bands of 10 %, spare blocks in three levels.
pub(super) fn of_ext_csd(csd: &ExtCsd) -> Sourced {
    of_life_codes(csd.life_a_code, csd.life_b_code, csd.pre_eol_code)
}

/// The codes of used life of both kinds of memory, and of the spare blocks.
pub(super) fn of_life_codes(a: u8, b: u8, reserve: u8) -> Sourced {
    let codes = [("life_used_a", a), ("life_used_b", b)];
    if codes.iter().all(|(_, code)| *code == 0) {
        return rejected(
            "both life estimates are 0, not defined: the eMMC does not tell".to_owned(),
        );
    }
    if let Some((name, code)) = codes.iter().find(|(_, code)| *code > 0x0b) {
        return rejected(format!("{name} is {code:#04x}, which the standard does not define"));
    }
    let mut values: Vec<Value> = codes
        .iter()
        .filter(|(_, code)| *code > 0)
        .map(|(name, code)| Value::band(name, *code))
        .collect();
    values.extend(reserve_used(reserve));
    with_values(values)
}

/// The share of the spare blocks that are used, by the code of `PRE_EOL_INFO` (JESD84-B51): normal, warning from
/// 80 % on, urgent from 90 % on.
fn reserve_used(code: u8) -> Option<Value> {
    let (low, high) = match code {
        1 => (0.0, 80.0),
        2 => (80.0, 90.0),
        3 => (90.0, 100.0),
        _ => return None,
    };
    let precision = Precision::Between(low, high);
    Some(Value { name: "reserve_used", value: low, unit: Unit::PercentUsed, precision })
}

/// The JSON objects in `text`, one after the other; what stands between them does not count.
fn objects(text: &str) -> Vec<Json> {
    let Some(start) = text.find('{') else { return Vec::new() };
    let strict = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
    let strict: Vec<Json> = strict.map_while(Result::ok).filter(Json::is_object).collect();
    if !strict.is_empty() {
        return strict;
    }
    // Some versions of sdmon leave a comma out or print a bare figure with its unit.
    lenient(&text[start..])
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

fn of_json(object: &Json) -> Option<Sourced> {
    let is_smartctl =
        object.get("smartctl").is_some() || object.get("json_format_version").is_some();
    if is_smartctl {
        return Some(drives::of_json(object).unwrap_or_else(|| of_smartctl(object)));
    }
    drives::of_json(object).or_else(|| of_sdmon(object)).or_else(|| drives::without_answer(object))
}

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
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
