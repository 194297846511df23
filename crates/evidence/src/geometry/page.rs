//! The page from reads over small boundaries: below it they cost nothing extra.
//!
//! The step is the smallest boundary that a read shows. Several pages that are read together show
//! as one, so the flash's own page may be smaller.

use cardproof_units::Bytes;

use super::boundaries::{BoundaryPass, BoundaryRow, divided};
use super::finding::{Claim, Finding, Value};
use super::fit::{agreed, two_levels};

/// Boundaries that say something of the page.
const LARGEST_ROW: Bytes = Bytes::mib(2);

/// The sizes that are believed: from one sector of ECC data to pages of four planes of 32 KiB.
const PAGES: (Bytes, Bytes) = (Bytes::kib(4), Bytes::kib(128));

/// As for the allocation unit.
const CLEAR: f64 = 0.9;

/// A row below the step that reaches this share of it is a step of its own.
const PARTIAL: f64 = 0.25;

/// The most of the step that boundaries below the page may cost.
const BASE_MOST: f64 = 0.3;

/// Rows on the low level at least, and on the high one.
const ROWS_LEAST: usize = 2;

/// The page that reads show, on a card with allocation units of `unit` if they are known.
pub(super) fn page(passes: &[BoundaryPass], unit: Option<Bytes>, missing: Option<&str>) -> Finding {
    let rows: Vec<Vec<BoundaryRow>> = passes.iter().map(|pass| small(pass, unit)).collect();
    let has_small = |rows: &Vec<BoundaryRow>| {
        rows.iter().filter(|row| row.align <= PAGES.0).count() >= 1 && rows.len() > 2 * ROWS_LEAST
    };
    if passes.is_empty() {
        return Finding::unmeasured(missing);
    }
    if !rows.iter().all(has_small) {
        return Finding::CannotBeSeen("no reads across boundaries as small as a page".to_owned());
    }
    let steps: Vec<Result<Bytes, &'static str>> = rows.iter().map(|rows| step(rows)).collect();
    if let Some(reason) = steps.iter().find_map(|step| step.err()) {
        return Finding::CannotBeSeen(reason.to_owned());
    }
    let found: Vec<Bytes> = steps.into_iter().flatten().collect();
    let Some(page) = agreed(&found) else {
        return Finding::CannotBeSeen("the passes disagree on the smallest boundary".to_owned());
    };
    if !(PAGES.0..=PAGES.1).contains(&page) {
        return Finding::CannotBeSeen(format!(
            "the smallest step, {page}, is too large for a page"
        ));
    }
    let probability = if found.len() >= 2 { 0.93 } else { 0.75 };
    let notes = vec!["pages that are read together count as one".to_owned()];
    Finding::Claimed(Claim { value: Value::Bytes(page), probability, method: "read step", notes })
}

fn small(pass: &BoundaryPass, unit: Option<Bytes>) -> Vec<BoundaryRow> {
    let of_unit = |row: &BoundaryRow| unit.is_some_and(|unit| row.align.is_multiple_of(unit));
    let is_small = |row: &&BoundaryRow| row.align <= LARGEST_ROW && !of_unit(row);
    pass.rows.iter().filter(is_small).copied().collect()
}

/// Where the extra time of one pass begins.
fn step(rows: &[BoundaryRow]) -> Result<Bytes, &'static str> {
    let fits = rows.iter().filter_map(|candidate| {
        let (high, low) = divided(rows, candidate.align);
        let enough = high.len() >= ROWS_LEAST && low.len() >= ROWS_LEAST;
        let levels = two_levels(&high, &low).filter(|levels| enough && levels.step() > 0.0)?;
        Some((candidate.align, levels))
    });
    let best = fits.min_by(|(_, one), (_, other)| one.deviation.total_cmp(&other.deviation));
    let Some((page, levels)) = best.filter(|(_, levels)| levels.r_squared >= CLEAR) else {
        return Err("reads across small boundaries show no clear step");
    };
    if levels.low > BASE_MOST * levels.high {
        return Err("reads across the smallest boundaries already take longer");
    }
    let reaches = |row: &&BoundaryRow| row.extra_ns > levels.low + PARTIAL * levels.step();
    let below = rows.iter().filter(|row| !row.align.is_multiple_of(page));
    let partial: Vec<&BoundaryRow> = below.filter(reaches).collect();
    match partial.as_slice() {
        [] => Ok(page),
        [half] if half.align.get() * 2 == page.get() => Ok(half.align),
        _ => Err("the extra times at small boundaries have more than two levels"),
    }
}
