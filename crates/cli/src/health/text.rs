//! The health for people.

use std::fmt::Write;
use std::path::Path;

use cardproof_rating::findings::Gravity;
use cardproof_rating::signs::{HealthVerdict, Signs};
use cardproof_record::{HealthDocument, HealthReading, HealthValue};
use cardproof_units::{Bytes, rounded_down, rounded_up, shell_path};

/// The page: the signs of trouble first, where a device was looked at.
///
/// `failing` says of each reading whether it tells of data at risk, `is_pasted` that the device may be another computer's.
pub(super) fn page(
    document: &HealthDocument,
    signs: Option<&Signs>,
    failing: &[bool],
    is_pasted: bool,
) -> String {
    let mut text = format!("\n{}\n", document.device);
    if let Some(signs) = signs {
        let target = shell_path(Path::new(&document.device));
        text.push_str(&cardproof_report::signs::page(signs, &target));
    }
    for (reading, is_failing) in document.readings.iter().zip(failing) {
        let time = reading.time.as_deref().map(|time| format!(", {time}")).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}{time}", reading.source);
        let mark = if *is_failing { "FAILING" } else { "Reported" };
        for finding in &reading.findings {
            let _ = writeln!(text, "  {mark}: {finding}");
        }
        if *is_failing && !reading.findings.is_empty() && !signs.is_some_and(Signs::is_bad) {
            let advice = Gravity::Failing.advice();
            let _ = writeln!(text, "  Next: {advice}.");
        }
        for value in &reading.values {
            let name = name_in_words(&value.name);
            let _ = match &value.reason {
                None => writeln!(text, "  {name:<20} {}", told(value)),
                Some(reason) => writeln!(text, "  {name:<20} REJECTED: {reason}"),
            };
        }
    }
    let has_two = |it: &HealthReading| it.values.iter().any(|value| value.name == LIFE_B);
    if document.readings.iter().any(has_two) {
        text.push_str(TWO_TYPES);
    }
    for unknown in &document.unknown {
        let _ = writeln!(text, "  Wear unknown: {unknown}.");
    }
    outlook(&mut text, document);
    let is_sound = |signs: &Signs| {
        matches!(
            signs.verdict,
            HealthVerdict::Fine | HealthVerdict::WatchIt | HealthVerdict::NotKnown
        )
    };
    let left = &document.wear.days_left;
    if signs.is_some_and(is_sound) && left.estimate.is_none() && left.low.is_none() {
        match (is_pasted, document.readings.as_slice()) {
            (false, _) => text.push_str(WITHOUT_WEAR),
            (true, [_]) => text.push_str(WITH_ONE_PASTE),
            (true, _) => {}
        }
    }
    text
}

/// The names of the two values by which an eMMC tells its wear.
const LIFE_A: &str = "life_used_a";
const LIFE_B: &str = "life_used_b";

/// What the two are (JESD84-B51, `DEVICE_LIFE_TIME_EST_TYP_A` and `_B`: which blocks they are of is the maker's choice).
const TWO_TYPES: &str =
    "  Types A and B are two kinds of flash in one eMMC; A is often SLC, B most of the space.\n";

fn name_in_words(name: &str) -> String {
    match name {
        LIFE_A => "life, type A".to_owned(),
        LIFE_B => "life, type B".to_owned(),
        "reserve_used" => "spare blocks".to_owned(),
        // The value says whether it is used or left.
        "life_used" | "life_left" => "life".to_owned(),
        other => other.replace('_', " "),
    }
}

/// How to learn how long a device lasts of which one saved output is known.
const WITH_ONE_PASTE: &str = "\
Next, to learn the days left:
  1. Save the same output again some days later.
  2. Compare both: cardproof health --raw OLD NEW
";

/// How to learn how long a device lasts that does not report its wear.
const WITHOUT_WEAR: &str = "\
Next, to learn the days left:
  1. Let `cardproof log` count what is written each day.
     If cardproof came as a package: sudo systemctl enable --now cardproof-log.timer
     If not, add this line to /etc/crontab, with the whole path of the program:
     */10 * * * * root /usr/local/bin/cardproof log
  2. Some days later, ask for the days left.
     Replace 40TB with the endurance that the maker states:
     cardproof log --show --endurance 40TB
";

/// A value with its unit; a band as a band.
fn told(value: &HealthValue) -> String {
    if value.unit == "bytes_written" {
        return Bytes(value.value as u64).in_decimal();
    }
    let unit = match value.unit.as_str() {
        "percent_used" => " % used",
        "percent_left" => " % left",
        _ => "",
    };
    let down = |low: f64| rounded_down(low, 0);
    // Whole per cents are shown as the device tells them, wider bands as bands.
    match (value.low, value.high) {
        (Some(low), None) => {
            format!("more than {}{unit}: beyond its rated life, replace it", down(low))
        }
        (Some(low), Some(high)) if high - low > 2.0 => {
            format!("{} to {}{unit}", down(low), rounded_up(high, 0))
        }
        _ if value.beyond_life => {
            format!("{}{unit}: beyond its rated life, replace it", value.value)
        }
        _ => format!("{}{unit}", value.value),
    }
}

fn outlook(text: &mut String, document: &HealthDocument) {
    let wear = &document.wear;
    if let Some(bytes) = wear.bytes_per_day {
        // A device is read once; several readings are of saved outputs or records.
        let period = if document.readings.len() > 1 {
            "between the first and the last reading"
        } else {
            "since the computer started"
        };
        let _ = writeln!(text, "Written per day, at the rate {period}: {bytes}.");
    }
    let left = &wear.days_left;
    let (low, high) = (left.low.map(f64::floor), left.high.map(f64::ceil));
    let _ = match (left.estimate, low, high) {
        (Some(_), Some(_), Some(0.0)) => writeln!(text, "Days left: none; {}.", wear.reason),
        (Some(estimate), Some(low), Some(high)) => {
            writeln!(text, "Days left: {estimate:.0} ({low:.0} to {high:.0}), {}.", wear.reason)
        }
        (Some(estimate), Some(low), None) => {
            writeln!(text, "Days left: {estimate:.0} (at least {low:.0}), {}.", wear.reason)
        }
        (None, Some(low), _) => {
            writeln!(text, "Days left: at least {low:.0}; {}.", wear.reason)
        }
        _ => writeln!(text, "Days left: not known; {}.", wear.reason),
    };
}
