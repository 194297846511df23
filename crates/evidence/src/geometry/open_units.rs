//! How many allocation units can be written at a time, from rates with more and more places.
//!
//! A card that maps by unit keeps a few units open. One place more than that, and every write closes
//! one unit and opens another, which copies them: the rate falls at once and stays low. A fall that
//! comes back, or one that is spread over several steps, is no limit.

use cardproof_units::{Bytes, Throughput};

use super::finding::{Claim, Finding, Mapping, Value, or_by_page};
use super::fit::{agreed, median};

/// In which order each place is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From front to back.
    Linear,
    /// In random order.
    Random,
}

/// The rate of writing to several places in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitsRow {
    /// How many places, each in an allocation unit of its own.
    pub units: u16,
    /// The size of each write.
    pub block: Bytes,
    /// The rate over all places.
    pub rate: Throughput,
}

/// One pass over more and more places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitsTable {
    /// A row for each number of places and size of write, in any order.
    pub rows: Vec<UnitsRow>,
}

/// The fall that makes a limit: the lowest rate before it over the highest after it.
const FALL: f64 = 2.0;

/// Sizes of write that count, where a table has several: smaller ones go to a log of their own, and
/// larger ones write whole units.
const BLOCKS: (Bytes, Bytes) = (Bytes::kib(16), Bytes::mib(1));

/// The share of the sizes of write that must show the same limit.
const SHARE: f64 = 0.6;

/// The limit that `tables` show of a card whose mapping may be `known`.
pub(super) fn limit(
    tables: &[UnitsTable],
    order: Order,
    known: Option<Mapping>,
    missing: Option<&str>,
) -> Finding {
    let found: Vec<OpenUnitLimit> = tables.iter().filter_map(of_table).collect();
    if found.is_empty() {
        return Finding::unmeasured(missing);
    }
    let units: Vec<Option<u16>> = found.iter().map(|limit| limit.units).collect();
    match agreed(&units) {
        None => Finding::CannotBeSeen("the passes disagree on where the rate drops".to_owned()),
        Some(None) => Finding::CannotBeSeen(no_limit(&found, known)),
        Some(Some(units)) => {
            let fall = found.iter().map(|limit| limit.fall).fold(f64::INFINITY, f64::min);
            Finding::Claimed(claim(units, fall, found.len(), order))
        }
    }
}

fn claim(units: u16, fall: f64, passes: usize, order: Order) -> Claim {
    let probability = match (fall >= 3.0, passes > 1) {
        (true, true) => 0.97,
        (true, false) => 0.9,
        (false, true) => 0.85,
        (false, false) => 0.75,
    };
    let method = match order {
        Order::Linear => "drop of the rate with more units, sequential order",
        Order::Random => "drop of the rate with more units, random order",
    };
    let notes = vec![format!("with one more unit, writes are at least {fall:.1} times slower")];
    Claim { value: Value::Units(units), probability, method, notes }
}

fn no_limit(found: &[OpenUnitLimit], known: Option<Mapping>) -> String {
    let most = found.iter().map(|limit| limit.most).min().unwrap_or(0);
    if found.iter().any(|limit| limit.is_uneven) {
        return format!("the rate has no single drop up to {most} units");
    }
    let why = or_by_page("more can be open", known);
    format!("the rate does not drop up to {most} units, so {why}")
}

/// What one table shows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OpenUnitLimit {
    units: Option<u16>,
    fall: f64,
    /// The most places that were tried.
    most: u16,
    /// Whether some sizes of write show a limit and others another.
    is_uneven: bool,
}

/// The limit that most sizes of write agree on; `None` of a table that says nothing.
fn of_table(table: &UnitsTable) -> Option<OpenUnitLimit> {
    let mut blocks: Vec<Bytes> = table.rows.iter().map(|row| row.block).collect();
    blocks.sort();
    blocks.dedup();
    if blocks.len() > 1 {
        blocks.retain(|block| (BLOCKS.0..=BLOCKS.1).contains(block));
    }
    let courses: Vec<Vec<(u16, f64)>> = blocks
        .iter()
        .map(|block| course(table, *block))
        .filter(|course| course.len() >= 2)
        .collect();
    let most = courses.iter().filter_map(|course| course.last()).map(|last| last.0).max()?;
    let limits: Vec<(u16, f64)> = courses.iter().filter_map(|course| fall(course)).collect();
    let units = limits.iter().map(|limit| limit.0).max_by_key(|&units| {
        (limits.iter().filter(|limit| limit.0 == units).count(), std::cmp::Reverse(units))
    });
    let agreeing: Vec<f64> =
        limits.iter().filter(|limit| Some(limit.0) == units).map(|limit| limit.1).collect();
    let enough = agreeing.len() as f64 >= SHARE * courses.len() as f64;
    let fall = median(&agreeing).unwrap_or(1.0);
    let units = units.filter(|_| enough);
    Some(OpenUnitLimit { units, fall, most, is_uneven: !limits.is_empty() && units.is_none() })
}

/// The rate of one size of write by the number of places, from one place up without a gap.
fn course(table: &UnitsTable, block: Bytes) -> Vec<(u16, f64)> {
    let mut rows: Vec<(u16, f64)> = table
        .rows
        .iter()
        .filter(|row| row.block == block && row.rate.0 > 0.0)
        .map(|row| (row.units, row.rate.0))
        .collect();
    rows.sort_by_key(|row| row.0);
    rows.dedup_by_key(|row| row.0);
    let without_gap = rows.iter().zip(1..).take_while(|(row, units)| row.0 == *units).count();
    rows.truncate(without_gap);
    rows
}

/// The one place where the rate falls and stays low: the last number of places before it, and how
/// far it falls.
fn fall(course: &[(u16, f64)]) -> Option<(u16, f64)> {
    let lowest = |rows: &[(u16, f64)]| rows.iter().map(|row| row.1).fold(f64::INFINITY, f64::min);
    let highest = |rows: &[(u16, f64)]| rows.iter().map(|row| row.1).fold(0.0, f64::max);
    (1..course.len())
        .map(|split| {
            let (before, after) = course.split_at(split);
            (before[split - 1].0, lowest(before) / highest(after))
        })
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .filter(|(_, fall)| *fall >= FALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rates: &[f64]) -> UnitsTable {
        let rows = rates.iter().zip(1..).map(|(rate, units)| UnitsRow {
            units,
            block: Bytes::kib(64),
            rate: Throughput::from_mb_per_s(*rate),
        });
        UnitsTable { rows: rows.collect() }
    }

    #[test]
    fn only_a_fall_that_stays_is_a_limit() {
        let cases: [(&str, &[f64], Option<u16>); 6] = [
            ("a cliff after four", &[10.0, 9.9, 9.8, 9.7, 3.3, 2.5, 2.4], Some(4)),
            ("one open unit", &[8.0, 0.9, 0.8, 0.8], Some(1)),
            ("no fall", &[10.0, 10.1, 9.8, 9.9], None),
            ("a fall that comes back", &[10.0, 3.0, 9.0, 9.5], None),
            ("a slow decline", &[10.0, 8.0, 6.5, 5.2, 4.2, 3.4], None),
            ("a single row", &[10.0], None),
        ];
        for (what, rates, units) in cases {
            let finding = limit(&[table(rates)], Order::Linear, None, None);
            assert_eq!(finding.count(), units, "{what}: {finding:?}");
        }
    }

    #[test]
    fn a_known_mapping_is_no_other_explanation() {
        let words = |known| {
            format!("{:?}", limit(&[table(&[10.0, 10.1, 9.8])], Order::Linear, known, None))
        };
        assert!(words(None).contains("so more can be open, or the card maps by page"));
        assert!(words(Some(Mapping::Units)).contains("so more can be open\""));
        assert!(!words(Some(Mapping::Pages)).contains("more can be open"));
    }

    #[test]
    fn passes_that_disagree_make_no_claim() {
        let passes = [table(&[9.0, 9.0, 1.0, 1.0]), table(&[9.0, 1.0, 1.0, 1.0])];
        let finding = limit(&passes, Order::Random, None, None);
        assert_eq!(finding.count(), None);
        assert!(format!("{finding:?}").contains("disagree"));
    }
}
