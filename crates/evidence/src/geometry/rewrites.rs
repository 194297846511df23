//! What writing the same place again and again shows.
//!
//! On a card that maps by unit, writing a block where one was just written copies the unit it lies
//! in. Small writes are spared that: they go to a log. So the time by the size of the write jumps at
//! the log's limit. The front of some cards, made for the file allocation table, is spared too. On a
//! card that maps by page all of it costs what any write costs.

use cardproof_units::{Bytes, Nanos};

use super::finding::{Claim, Finding, Mapping, Value, or_by_page};
use super::fit::{agreed, median};

/// The time of writing the same place again, by size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRow {
    /// The size of the write.
    pub size: Bytes,
    /// The middle of its times.
    pub time: Nanos,
}

/// One pass over sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizePass {
    /// A row for each size, in any order.
    pub rows: Vec<SizeRow>,
}

/// The same amount written from front to back and to one place again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The size of each write.
    pub block: Bytes,
    /// The middle of the times from front to back.
    pub in_order: Nanos,
    /// The middle of the times of writing the same places again, far apart.
    pub again: Nanos,
}

/// Times of writing the same place again, by its distance from the card's first byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstArea {
    /// A row for each place.
    pub rows: Vec<PlaceRow>,
    /// The time far from the front.
    pub elsewhere: Nanos,
    /// Why the front could not be measured, if it could not.
    pub obstacle: Option<String>,
}

/// The time of writing one place again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceRow {
    /// Where the write ends.
    pub end: Bytes,
    /// The middle of its times.
    pub time: Nanos,
}

/// A jump is at least this factor, beyond what the size itself costs.
const JUMP: f64 = 3.0;

/// Writing again costs at most so much more than in order on a card that maps by page, and at least
/// so much more on one that maps by unit.
const PAGES_MOST: f64 = 1.6;
const UNITS_LEAST: f64 = 4.0;

/// Below which size writes go to a log.
pub(super) fn threshold(
    passes: &[SizePass],
    known: Option<Mapping>,
    missing: Option<&str>,
) -> Finding {
    if passes.is_empty() {
        return Finding::unmeasured(missing);
    }
    let jumps: Vec<Option<Bytes>> = passes.iter().map(jump).collect();
    match agreed(&jumps) {
        Some(Some(size)) => {
            let probability = if jumps.len() > 1 { 0.95 } else { 0.8 };
            let notes = vec!["the card collects shorter writes to the same address".to_owned()];
            let method = "jump in the time of repeated writes to one address";
            Finding::Claimed(Claim { value: Value::Bytes(size), probability, method, notes })
        }
        Some(None) => Finding::CannotBeSeen(format!(
            "the time of repeated writes to one address grows evenly, so {}",
            or_by_page("the card handles all sizes alike", known)
        )),
        None => Finding::CannotBeSeen("the passes disagree on the size".to_owned()),
    }
}

/// The size at which the time jumps, once and for good.
fn jump(pass: &SizePass) -> Option<Bytes> {
    let mut rows = pass.rows.clone();
    rows.sort_by_key(|row| row.size);
    let time = |row: &SizeRow| row.time.get() as f64;
    let highest = |rows: &[SizeRow]| rows.iter().map(time).fold(0.0, f64::max);
    let lowest = |rows: &[SizeRow]| rows.iter().map(time).fold(f64::INFINITY, f64::min);
    (1..rows.len())
        .map(|split| {
            let (below, above) = rows.split_at(split);
            let grown = above[0].size.as_f64() / below[split - 1].size.as_f64();
            (above[0].size, lowest(above) / highest(below) / grown.max(1.0))
        })
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .filter(|(_, factor)| *factor >= JUMP)
        .map(|(size, _)| size)
}

/// By page or by unit.
pub(super) fn mapping(
    spreads: &[Spread],
    linear: &Finding,
    random: &Finding,
    missing: Option<&str>,
) -> Finding {
    let has_limit = linear.claim().or_else(|| random.claim()).is_some();
    let factors: Vec<f64> = spreads
        .iter()
        .map(|spread| spread.again.get() as f64 / spread.in_order.get().max(1) as f64)
        .collect();
    let (Some(factor), false) = (median(&factors), factors.is_empty()) else {
        return from_limit(linear, missing);
    };
    let all = |test: fn(f64) -> bool| factors.iter().all(|factor| test(*factor));
    let claim = |mapping, probability| {
        let notes = vec![if factor < 1.15 {
            "writing a block again takes as long as the first time".to_owned()
        } else {
            format!("writing a block again takes {factor:.1} times as long as the first time")
        }];
        let method = "time of repeated writes";
        Finding::Claimed(Claim { value: Value::Mapping(mapping), probability, method, notes })
    };
    if all(|factor| factor >= UNITS_LEAST) {
        return claim(Mapping::Units, if has_limit { 0.97 } else { 0.85 });
    }
    if all(|factor| factor <= PAGES_MOST) && !has_limit {
        return claim(Mapping::Pages, 0.93);
    }
    Finding::CannotBeSeen(format!(
        "repeated writes take {factor:.1} times as long as sequential writes, which fits neither \
         mapping"
    ))
}

/// A limit of open units alone shows a map of units.
fn from_limit(linear: &Finding, missing: Option<&str>) -> Finding {
    let Some(limit) = linear.claim() else {
        return match missing {
            None => Finding::CannotBeSeen("no limit of open allocation units was found".to_owned()),
            missing => Finding::unmeasured(missing),
        };
    };
    Finding::Claimed(Claim {
        value: Value::Mapping(Mapping::Units),
        probability: limit.probability.min(0.85),
        method: "limit of open allocation units",
        notes: Vec::new(),
    })
}

/// The front part that is spared.
pub(super) fn first_area(
    area: Option<&FirstArea>,
    known: Option<Mapping>,
    missing: Option<&str>,
) -> Finding {
    let Some(area) = area else { return Finding::unmeasured(missing) };
    if let Some(obstacle) = &area.obstacle {
        return Finding::CannotBeSeen(obstacle.clone());
    }
    let is_spared = |row: &PlaceRow| row.time.get() * 3 < area.elsewhere.get();
    let mut rows = area.rows.clone();
    rows.sort_by_key(|row| row.end);
    let spared = rows.iter().take_while(|row| is_spared(row)).count();
    let comes_back = rows[spared..].iter().any(is_spared);
    match (spared, comes_back) {
        (_, true) => Finding::CannotBeSeen("the area at the start has no clear end".to_owned()),
        (0, _) => Finding::CannotBeSeen(format!(
            "writes at the start take as long as elsewhere, so {}",
            or_by_page("there is no such area", known)
        )),
        (all, _) if all == rows.len() => {
            Finding::CannotBeSeen("its end is beyond the measured range".to_owned())
        }
        (count, _) => {
            let end = rows[count - 1].end;
            let notes = vec![format!("the first slow write ends at {}", rows[count].end)];
            let method = "time of repeated writes at the start";
            Finding::Claimed(Claim { value: Value::Bytes(end), probability: 0.9, method, notes })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(times_us: &[u64]) -> SizePass {
        let row = |(at, time): (usize, &u64)| SizeRow {
            size: Bytes::kib(1 << at),
            time: Nanos::from_micros(*time),
        };
        SizePass { rows: times_us.iter().enumerate().map(row).collect() }
    }

    #[test]
    fn only_a_jump_beyond_the_size_is_a_threshold() {
        let found = |times: &[u64]| threshold(&[pass(times), pass(times)], None, None).bytes();
        let with_log = [1_000, 1_050, 1_100, 1_300, 400_000, 402_000];
        assert_eq!(found(&with_log), Some(Bytes::kib(16)));
        assert_eq!(found(&[1_000, 2_000, 4_000, 8_000, 16_000, 32_000]), None, "in proportion");
        assert_eq!(found(&[1_000, 400_000, 1_100, 1_300, 1_500, 2_000]), None, "one pause");
    }

    #[test]
    fn a_front_without_an_end_is_no_area() {
        let row =
            |mib: u64, us: u64| PlaceRow { end: Bytes::mib(mib), time: Nanos::from_micros(us) };
        let area = |rows: Vec<PlaceRow>| {
            let elsewhere = Nanos::from_millis(300);
            first_area(Some(&FirstArea { rows, elsewhere, obstacle: None }), None, None).bytes()
        };
        let spared = vec![row(1, 2_000), row(4, 2_000), row(5, 300_000), row(16, 290_000)];
        assert_eq!(area(spared), Some(Bytes::mib(4)));
        assert_eq!(area(vec![row(1, 300_000), row(4, 290_000)]), None);
        assert_eq!(area(vec![row(1, 2_000), row(4, 2_000)]), None);
        assert_eq!(area(vec![row(1, 2_000), row(4, 300_000), row(5, 2_000)]), None);
    }
}
