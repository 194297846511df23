//! The geometry of the card in a record, inferred from its timings.
//!
//! The inference itself is in `cardproof_evidence`; this file hands it a record's timings and gives
//! its findings the form in which they are attached on output.

use std::collections::BTreeMap;

use cardproof_evidence::geometry::{
    BoundaryPass, BoundaryRow, Claim, Cliff, Finding, FirstArea, Geometry, Observations, PlaceRow,
    Recovery, SizePass, SizeRow, SpanPass, SpanRow, Spread, Sweep, UnitsRow, UnitsTable, Value,
    infer,
};
use cardproof_record::{
    BoundaryRun, FlashTimings, OpenUnitsRun, PatternName, QuantityFound, QuantityValue, Record,
    SweepRun, TimesRun,
};
use cardproof_units::Throughput;

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

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_record::BlockRates;
    use cardproof_units::Bytes;

    fn run(units: u32, order: PatternName, mb_per_s: f64) -> OpenUnitsRun {
        let bytes_per_s = vec![Throughput::from_mb_per_s(mb_per_s)];
        let rows = vec![BlockRates { block_bytes: Bytes::kib(64), bytes_per_s }];
        OpenUnitsRun { units: Some(units), order, unit_bytes: None, rows }
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
