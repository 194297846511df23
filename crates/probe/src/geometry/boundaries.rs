//! Reads before, over and after boundaries at many alignments.
//!
//! Alignments are 2^a, and 3, 5, 7, 9 and 15 times that, so that units of three or five planes show
//! too. A boundary at alignment A lies at A times a number that has none of these factors, so it is
//! on no other alignment's grid unless that alignment divides A.

use cardproof_evidence::geometry::{BoundaryPass, BoundaryRow, Observations};
use cardproof_units::{Bytes, Nanos};

use super::bench::{Bench, ProbeError, middle};
use super::plan::Plan;

/// Numbers without the factors 2, 3, 5 and 7.
const MULTIPLES: [u64; 16] = [1, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67];

/// Alignments from pages to the largest units and the next beyond.
const LEAST: u64 = 2 << 10;
const MOST: u64 = 256 << 20;

/// Odd alignments other than 3 matter for units only.
const ODD_LEAST: u64 = 128 << 10;

/// Places at one alignment at least.
const PLACES_LEAST: usize = 4;

/// How many passes; all must agree.
const PASSES: usize = 5;

/// The error of a row that is aimed at, in nanoseconds: small against steps of 30 us.
const ERROR_AIM: f64 = 3000.0;

/// How often each place is read at most.
const READS_MOST: usize = 24;

/// An alignment and its places.
struct Row {
    align: u64,
    places: Vec<u64>,
}

/// The three reads of a boundary.
#[derive(Clone, Copy)]
enum Read {
    Before,
    Over,
    After,
}

/// Times all passes.
pub(super) fn passes(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    let length = 2 * bench.block.max(512);
    let rows = rows(plan.scope.size.get().saturating_sub(length), length);
    if plan.writes() {
        fill(bench, &rows, plan.scope.size.get())?;
    }
    let reads = reads_needed(bench, &rows, length)?;
    for _ in 0..PASSES {
        observations.boundaries.push(pass(bench, &rows, length, reads)?);
    }
    Ok(())
}

fn rows(end: u64, length: u64) -> Vec<Row> {
    let powers = |odd: u64, least: u64| {
        (0..40).map(move |power| odd << power).filter(move |align| (least..=MOST).contains(align))
    };
    let aligns = powers(1, LEAST.max(length))
        .chain(powers(3, LEAST.max(length)))
        .chain([5, 7, 9, 15].into_iter().flat_map(|odd| powers(odd, ODD_LEAST)));
    aligns
        .map(|align| {
            let places = MULTIPLES.iter().map(|multiple| align * multiple);
            Row { align, places: places.filter(|place| *place <= end).collect() }
        })
        .filter(|row| row.places.len() >= PLACES_LEAST)
        .collect()
}

/// Writes both sides of every boundary, because what was never written reads alike.
fn fill(bench: &mut Bench<'_>, rows: &[Row], size: u64) -> Result<(), ProbeError> {
    let half = 4096_u64.max(bench.block);
    for place in rows.iter().flat_map(|row| &row.places) {
        let start = place.saturating_sub(half) / half * half;
        if start + 2 * half <= size {
            bench.write(start, 2 * half)?;
        }
    }
    Ok(())
}

/// How often each place must be read so that the middle of a row is known well enough.
fn reads_needed(bench: &mut Bench<'_>, rows: &[Row], length: u64) -> Result<usize, ProbeError> {
    let Some(row) = rows.iter().max_by_key(|row| row.places.len()) else { return Ok(1) };
    let mut times = Vec::new();
    for place in row.places.iter().cycle().take(8 * MULTIPLES.len()) {
        times.extend(bench.read(place - length, length)?);
    }
    let center = middle(&times).get() as f64;
    let away: Vec<_> =
        times.iter().map(|time| Nanos((time.get() as f64 - center).abs() as u64)).collect();
    // The standard deviation from the middle distance, and that of a median of n of three reads.
    let scatter = 1.48 * middle(&away).get() as f64;
    let needed = (1.25 * 1.22 * scatter / ERROR_AIM).powi(2) / row.places.len() as f64;
    Ok((needed.ceil() as usize).clamp(1, READS_MOST))
}

fn pass(
    bench: &mut Bench<'_>,
    rows: &[Row],
    length: u64,
    reads: usize,
) -> Result<BoundaryPass, ProbeError> {
    let before = times(bench, rows, length, reads, Read::Before)?;
    let over = times(bench, rows, length, reads, Read::Over)?;
    let after = times(bench, rows, length, reads, Read::After)?;
    let rows = rows.iter().enumerate().map(|(at, row)| BoundaryRow {
        align: Bytes(row.align),
        extra_ns: over[at] - f64::midpoint(before[at], after[at]),
        reads: [before[at], over[at], after[at]].map(|time| Nanos(time.round() as u64)),
    });
    Ok(BoundaryPass { rows: rows.collect() })
}

/// The middle time of each row's reads, in nanoseconds. All rows are read in turn, so that what drifts
/// weighs on all alike, and no read continues the one before.
fn times(
    bench: &mut Bench<'_>,
    rows: &[Row],
    length: u64,
    reads: usize,
    read: Read,
) -> Result<Vec<f64>, ProbeError> {
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..reads {
        for (row, times) in rows.iter().zip(&mut times) {
            for place in &row.places {
                let offset = match read {
                    Read::Before => place - length,
                    Read::Over => place - length / 2,
                    Read::After => *place,
                };
                times.extend(bench.read(offset, length)?);
            }
        }
    }
    Ok(times.iter().map(|times| middle(times).get() as f64).collect())
}
