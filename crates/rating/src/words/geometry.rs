//! The geometry of a card in words: its quantities for those who know the terms, and what they mean for use.

use cardproof_evidence::geometry::{Claim, Finding, Geometry, Mapping, Value};
use cardproof_units::Bytes;

use crate::tuning::USUAL_UNIT;

use super::wording::list;

/// The findings in lines, such as `allocation unit: 4 MiB (confidence 96 %; read step)`. Quantities that
/// cannot be measured for the same reason share a line.
#[must_use]
pub fn geometry_in_words(geometry: &Geometry) -> Vec<String> {
    let mut lines = Vec::new();
    let mut missing: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, finding) in geometry.quantities() {
        match finding {
            Finding::Claimed(claim) => lines.push(line(term(name), claim)),
            Finding::CannotBeSeen(reason) => {
                match missing.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, names)) => names.push(term(name)),
                    None => missing.push((reason, vec![term(name)])),
                }
            }
        }
    }
    lines.extend(
        missing.iter().map(|(reason, names)| format!("{}: not found; {reason}", list(names))),
    );
    lines
}

/// For an owner: where to align a partition, and then what each thing that was found means for use, in a sentence.
/// Terms, probabilities and what was not found are left to [`geometry_in_words`].
#[must_use]
pub fn geometry_in_short(geometry: &Geometry) -> Vec<String> {
    let answer = match geometry.allocation_unit.bytes() {
        Some(unit) => format!(
            "Align partitions to {unit}: the card manages its flash in units of this size (allocation units)"
        ),
        None => format!(
            "Align partitions to {USUAL_UNIT}, which suits most cards: the size of this card's allocation units \
             cannot be measured"
        ),
    };
    let cache = geometry.slc_cache.bytes();
    let quantities = geometry.quantities();
    let values = quantities.iter().filter_map(|(name, it)| Some((*name, it.claim()?.value)));
    let meanings = values.filter_map(|(name, value)| in_use(name, value, cache));
    std::iter::once(answer).chain(meanings).collect()
}

/// What the quantity that scripts call `name` means for use. `cache` is the size of the SLC cache.
fn in_use(name: &str, value: Value, cache: Option<Bytes>) -> Option<String> {
    let text = match (name, value) {
        ("page", Value::Bytes(page)) => {
            format!("Smaller reads than {page} (the page size) save no time")
        }
        ("open_units_linear", Value::Units(files)) => format!(
            "Large files: {} can be written at the same time; more at once are much slower",
            up_to(files)
        ),
        ("open_units_random", Value::Units(areas)) => format!(
            "Random writes: fast in {} allocation units at the same time; in more they are slower",
            up_to(areas)
        ),
        ("small_write_threshold", Value::Bytes(least)) => {
            format!("Writes smaller than {least} are collected first and moved later")
        }
        ("slc_cache", Value::Bytes(size)) => {
            format!("Long writes: fast for the first {size} (the SLC cache), then slower")
        }
        ("slc_recovery", Value::Rate(rate)) => {
            let time = cache.filter(|_| rate.0 > 0.0).map_or_else(String::new, |size| {
                format!(", so a full one is empty after {:.0} s", (size.as_f64() / rate.0).ceil())
            });
            format!("At rest, that cache is emptied at {rate}{time}")
        }
        ("map_reach", Value::Bytes(reach)) => {
            format!("Random reads: fastest if they stay within {reach}; slower over a larger range")
        }
        ("mapping", Value::Mapping(Mapping::Pages)) => {
            "Small random writes: no whole allocation unit is rewritten for them".to_owned()
        }
        ("mapping", Value::Mapping(Mapping::Units)) => {
            "Small random writes: slow, since a whole allocation unit is rewritten for each"
                .to_owned()
        }
        ("first_area", Value::Bytes(end)) => {
            format!(
                "The first {end} take small writes faster than the rest; FAT keeps its tables there"
            )
        }
        _ => return None,
    };
    Some(text)
}

fn up_to(count: u16) -> String {
    if count == 1 { "only 1".to_owned() } else { format!("up to {count}") }
}

/// The term for the quantity that scripts call `name`.
fn term(name: &str) -> &str {
    match name {
        "allocation_unit" => "allocation unit",
        "page" => "page size",
        "open_units_linear" => "open allocation units (sequential writes)",
        "open_units_random" => "open allocation units (random writes)",
        "small_write_threshold" => "small-write limit",
        "slc_cache" => "SLC cache",
        "slc_recovery" => "SLC cache recovery",
        "map_reach" => "range of fast reads",
        "mapping" => "how it keeps places (mapping)",
        "first_area" => "fast area at the start (for file system tables)",
        other => other,
    }
}

fn line(term: &str, claim: &Claim) -> String {
    let value = in_unit(&claim.value);
    let notes: String = claim.notes.iter().map(|note| format!("; {note}")).collect();
    let percent = claim.probability * 100.0;
    format!("{term}: {value} (confidence {percent:.0} %; {}{notes})", claim.method)
}

fn in_unit(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => Bytes::to_string(bytes),
        Value::Units(count) => count.to_string(),
        Value::Rate(rate) => rate.to_string(),
        Value::Mapping(mapping) => format!("by {}", mapping.name()),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Throughput;

    use super::*;

    #[test]
    fn an_owner_reads_what_a_quantity_means() {
        let found = |value| {
            Finding::Claimed(Claim { value, probability: 0.97, method: "step", notes: Vec::new() })
        };
        let unseen = || Finding::CannotBeSeen("no step".to_owned());
        let all = Geometry {
            allocation_unit: found(Value::Bytes(Bytes::mib(4))),
            page: found(Value::Bytes(Bytes::kib(16))),
            open_units_linear: found(Value::Units(5)),
            open_units_random: found(Value::Units(1)),
            small_write_threshold: found(Value::Bytes(Bytes::kib(32))),
            slc_cache: found(Value::Bytes(Bytes::mib(384))),
            slc_recovery: found(Value::Rate(Throughput::from_mb_per_s(9.0))),
            map_reach: found(Value::Bytes(Bytes::mib(128))),
            mapping: found(Value::Mapping(Mapping::Units)),
            first_area: found(Value::Bytes(Bytes::mib(8))),
        };
        let lines = geometry_in_short(&all);
        assert_eq!(lines.len(), 10, "each that was found has its sentence: {lines:?}");
        assert!(lines[0].starts_with("Align partitions to 4 MiB: "), "{lines:?}");
        assert!(
            lines.iter().any(|line| line.ends_with("a full one is empty after 45 s")),
            "{lines:?}"
        );
        for word in ["mapping", "open", "%", "by units"] {
            assert!(lines.iter().all(|line| !line.contains(word)), "{word}: {lines:?}");
        }
        let nothing = Geometry {
            allocation_unit: unseen(),
            page: unseen(),
            open_units_linear: unseen(),
            open_units_random: unseen(),
            small_write_threshold: unseen(),
            slc_cache: unseen(),
            slc_recovery: unseen(),
            map_reach: unseen(),
            mapping: unseen(),
            first_area: unseen(),
        };
        let lines = geometry_in_short(&nothing);
        assert_eq!(lines.len(), 1, "what was not found is left out: {lines:?}");
        assert!(
            lines[0].starts_with("Align partitions to 8 MiB, which suits most cards"),
            "{lines:?}"
        );
    }
}
