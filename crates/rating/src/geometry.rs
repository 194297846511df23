//! The geometry of the card in a record, inferred from its timings.
//!
//! The inference itself is in `cardproof_evidence`; this file hands it a record's timings and gives
//! its findings the form in which they are attached on output.

use std::collections::BTreeMap;

use cardproof_evidence::geometry::{
    BoundaryPass, BoundaryRow, Claim, Cliff, Finding, FirstArea, Geometry, Mapping, Observations,
    PlaceRow, Recovery, SizePass, SizeRow, SpanPass, SpanRow, Spread, Sweep, UnitsRow, UnitsTable,
    Value, infer,
};
use cardproof_record::{
    BoundaryRun, FlashTimings, OpenUnitsRun, PatternName, QuantityFound, QuantityValue, Record,
    SweepRun, TimesRun,
};
use cardproof_units::{Bytes, Throughput};

use crate::tuning::USUAL_UNIT;
use crate::wording::list;

/// What the timings in `record` show of the card's geometry; `None` where it holds none.
#[must_use]
pub fn geometry(record: &Record) -> Option<Geometry> {
    (!record.flash_timings.is_empty()).then(|| {
        let mut observations = observations(&record.flash_timings);
        let card = record.conditions.device.card.as_ref();
        let reported = card.and_then(|card| card.allocation_unit_bytes);
        observations.reported_unit = observations.reported_unit.or(reported);
        infer(&observations)
    })
}

/// The findings of [`geometry`] by name, as they are attached to a record on output.
#[must_use]
pub fn quantities(record: &Record) -> Option<BTreeMap<String, QuantityFound>> {
    let geometry = geometry(record)?;
    let found = geometry.quantities().map(|(name, finding)| (name.to_owned(), found(finding)));
    Some(found.into_iter().collect())
}

fn found(finding: &Finding) -> QuantityFound {
    match finding {
        Finding::CannotBeSeen(reason) => {
            QuantityFound::CannotBeSeen { cannot_be_seen: reason.clone() }
        }
        Finding::Claimed(Claim { value, probability, method, notes }) => QuantityFound::Claimed {
            unit: value.unit().to_owned(),
            probability: *probability,
            method: (*method).to_owned(),
            notes: notes.clone(),
            value: match value {
                Value::Bytes(bytes) => QuantityValue::Whole(bytes.get()),
                Value::Units(count) => QuantityValue::Whole((*count).into()),
                Value::Rate(rate) => QuantityValue::Number(rate.0.round()),
                Value::Mapping(mapping) => QuantityValue::Word(mapping.name().to_owned()),
            },
        },
    }
}

/// The timings as the inference takes them.
fn observations(timings: &FlashTimings) -> Observations {
    let probe = &timings.probe;
    Observations {
        boundaries: timings.boundaries.iter().map(pass).collect(),
        linear: tables(&timings.open_units, PatternName::Sequential),
        random: tables(&timings.open_units, PatternName::Random),
        sweeps: probe.sweeps.iter().map(sweep).collect(),
        sizes: probe.rewrites.iter().map(sizes).collect(),
        spreads: probe
            .spreads
            .iter()
            .map(|times| Spread {
                block: times.block_bytes,
                in_order: times.in_order_ns,
                again: times.again_ns,
            })
            .collect(),
        first_area: probe.front.as_ref().map(|front| FirstArea {
            rows: front
                .rows
                .iter()
                .map(|row| PlaceRow { end: row.at_bytes, time: row.time_ns })
                .collect(),
            elsewhere: front.elsewhere_ns,
            obstacle: front.obstacle.clone(),
        }),
        spans: probe.spans.iter().map(spans).collect(),
        recoveries: probe
            .recoveries
            .iter()
            .map(|one| Recovery { rest: one.rest_ns, fast: one.fast_bytes, cache: one.cache_bytes })
            .collect(),
        reported_unit: None,
        not_measured: probe.not_measured.clone(),
        needed_range: probe.needed_range_bytes,
    }
}

fn pass(run: &BoundaryRun) -> BoundaryPass {
    let row = |timing: &cardproof_record::BoundaryTiming| BoundaryRow {
        align: timing.alignment_bytes,
        extra_ns: timing.difference_ns,
        reads: [timing.before_ns, timing.across_ns, timing.after_ns],
    };
    BoundaryPass { rows: run.rows.iter().map(row).collect() }
}

/// Runs of one order as tables: a new one begins where the number of units does not grow.
fn tables(runs: &[OpenUnitsRun], order: PatternName) -> Vec<UnitsTable> {
    let mut tables: Vec<UnitsTable> = Vec::new();
    let mut last = u32::MAX;
    for run in runs.iter().filter(|run| run.order == order) {
        let Some(units) = run.units else { continue };
        if units <= last {
            tables.push(UnitsTable::default());
        }
        last = units;
        let (Some(table), Ok(units)) = (tables.last_mut(), u16::try_from(units)) else { continue };
        table.rows.extend(run.rows.iter().filter_map(|row| {
            let rate: Throughput = *row.bytes_per_s.first()?;
            Some(UnitsRow { units, block: row.block_bytes, rate })
        }));
    }
    tables
}

fn sweep(run: &SweepRun) -> Sweep {
    Sweep {
        block: run.block_bytes,
        written: run.written_bytes,
        longer_every: run.longer_every_bytes,
        cliff: run.fall.map(|fall| Cliff {
            fast: fall.fast_bytes,
            before: fall.before_bytes_per_s,
            after: fall.after_bytes_per_s,
        }),
        course: run.bytes_per_s.clone(),
    }
}

fn sizes(run: &TimesRun) -> SizePass {
    let row = |row: &cardproof_record::TimeAt| SizeRow { size: row.at_bytes, time: row.time_ns };
    SizePass { rows: run.rows.iter().map(row).collect() }
}

fn spans(run: &TimesRun) -> SpanPass {
    let row = |row: &cardproof_record::TimeAt| SpanRow { span: row.at_bytes, latency: row.time_ns };
    SpanPass { rows: run.rows.iter().map(row).collect() }
}

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
    use super::*;
    use cardproof_record::BlockRates;

    fn run(units: u32, order: PatternName, mb_per_s: f64) -> OpenUnitsRun {
        let bytes_per_s = vec![Throughput::from_mb_per_s(mb_per_s)];
        let rows = vec![BlockRates { block_bytes: Bytes::kib(64), bytes_per_s }];
        OpenUnitsRun { units: Some(units), order, unit_bytes: None, rows }
    }

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

    #[test]
    fn runs_of_another_pass_or_order_make_tables_of_their_own() {
        use PatternName::{Random, Sequential};
        let runs = [
            run(1, Sequential, 9.0),
            run(2, Sequential, 9.0),
            run(1, Random, 5.0),
            run(1, Sequential, 8.0),
            OpenUnitsRun { units: None, ..run(2, Sequential, 1.0) },
        ];
        let tables = tables(&runs, Sequential);
        let lengths: Vec<usize> = tables.iter().map(|table| table.rows.len()).collect();
        assert_eq!(lengths, [2, 1]);
    }
}
