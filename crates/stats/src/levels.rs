//! On how many levels a rate ran: where a cache was full, where a card grew too hot.
//!
//! The time is cut into cells of equal length, and the cells into as few stretches of one mean as
//! explain them: the best cuts into one to four stretches are found exactly, by dynamic programming
//! over all places of the cuts, and Schwarz's criterion chooses their number (Yao, "Estimating the
//! number of change-points via Schwarz' criterion", Statistics & Probability Letters 6, 1988).
//!
//! That criterion takes cells for independent, and pauses and drift make it cut where there is
//! nothing. So neighbouring stretches count as levels only where the intervals of their rates,
//! which allow for pauses, lie apart, and their means by at least [`LEAST_CHANGE`]; others are
//! joined again, the most alike first. The medians of their cells must differ as much: a cluster of
//! pauses changes the mean, a full cache changes the pace between pauses too. What is shorter than
//! a twentieth of the phase, or than a second, is no level, nor is what differs only in how often it
//! pauses. Silence is no level either: where it lies between stretches that are alike it is a pause
//! of one level, and elsewhere it belongs to none.

use cardproof_units::{Bytes, Nanos};

use crate::runs::median;
use crate::{RateInterval, Slice};

/// Two levels differ by at least this part of the lower one; less is drift.
pub const LEAST_CHANGE: f64 = 0.25;

/// More cells than this find no more and cost the square of it.
const CELLS_MAX: usize = 200;

/// A cell holds so many operations on average, or single completions would look like changes.
const OPS_IN_CELL: u64 = 8;

/// The most stretches: the cache, its end, throttling, and one to spare.
const STRETCHES_MAX: usize = 4;

/// A stretch is a twentieth of the phase or longer, and has at least so many cells.
const CELLS_IN_STRETCH: usize = 5;

/// A stretch is longer than any single pause.
const STRETCH_MIN: Nanos = Nanos::from_secs(1);

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLevel {
    /// When it began, from the start of the slices.
    pub start: Nanos,
    /// How long it lasted.
    pub duration: Nanos,
    /// What had been moved before it.
    pub bytes_before: Bytes,
    /// Operations that completed in it.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Its rate.
    pub rate: RateInterval,
}

/// The levels of `slices`, each of `slice_duration`, in their order; a single one where the rate
/// stayed on one level, none without operations. `confidence` is that of the levels' rates, between
/// 0 and 1.
#[must_use]
pub fn levels(slices: &[Slice], slice_duration: Nanos, confidence: f64) -> Vec<RateLevel> {
    let ops: u64 = slices.iter().map(|slice| slice.ops).sum();
    let cells_wanted = usize::try_from(ops / OPS_IN_CELL).unwrap_or(CELLS_MAX).min(CELLS_MAX);
    let slices_in_cell = slices.len().div_ceil(cells_wanted.max(1)).max(1);
    let cells: Vec<f64> =
        slices.chunks_exact(slices_in_cell).map(|cell| ops_in(cell) as f64).collect();
    let cells_in_second =
        STRETCH_MIN.get().div_ceil((slice_duration.get() * slices_in_cell as u64).max(1));
    let least = CELLS_IN_STRETCH.max(cells.len() / 20).max(cells_in_second as usize);
    let mut cuts: Vec<usize> = best_cuts(&cells, least);
    loop {
        let at: Vec<usize> = cuts.iter().map(|cell| cell * slices_in_cell).collect();
        let found = levels_between(slices, &at, slice_duration, confidence);
        let alike = found.windows(2).filter_map(|pair| {
            let [(first, before), (last, after)] = [pair[0], pair[1]];
            let is_change =
                are_apart(&before, &after) && differ_in_pace(&cells, &cuts, first, last);
            (!is_change).then(|| (first..last, change(&before, &after)))
        });
        // What is between two stretches that are alike is a pause, and goes with them.
        match alike.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((between, _)) => _ = cuts.drain(between),
            None => return found.into_iter().map(|(_, level)| level).collect(),
        }
    }
}

/// Whether the cells of two stretches differ in their medians, pauses left out.
fn differ_in_pace(cells: &[f64], cuts: &[usize], first: usize, last: usize) -> bool {
    let stretch = |number: usize| {
        let start = if number == 0 { 0 } else { cuts[number - 1] };
        &cells[start..cuts.get(number).copied().unwrap_or(cells.len())]
    };
    let pace = |stretch: &[f64]| {
        let busy: Vec<f64> = stretch.iter().copied().filter(|&cell| cell > 0.0).collect();
        if busy.is_empty() { 0.0 } else { median(&busy) }
    };
    let (before, after) = (pace(stretch(first)), pace(stretch(last)));
    before.max(after) >= (1.0 + LEAST_CHANGE) * before.min(after)
}

fn ops_in(slices: &[Slice]) -> u64 {
    slices.iter().map(|slice| slice.ops).sum()
}

/// The stretches between `cuts` with their numbers, but for those without an operation.
fn levels_between(
    slices: &[Slice],
    cuts: &[usize],
    slice_duration: Nanos,
    confidence: f64,
) -> Vec<(usize, RateLevel)> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([slices.len()]);
    let mut bytes_before = Bytes::ZERO;
    let mut levels = Vec::with_capacity(cuts.len() + 1);
    for (number, (start, end)) in starts.zip(ends).enumerate() {
        let stretch = &slices[start..end];
        let sum = stretch.iter().fold(Slice::default(), |sum, &slice| sum.merged(slice));
        let duration = slice_duration * stretch.len() as u64;
        if let Some(rate) = RateInterval::new(sum.ops, duration, stretch, confidence) {
            let start = slice_duration * start as u64;
            let (ops, bytes) = (sum.ops, sum.bytes);
            levels.push((number, RateLevel { start, duration, bytes_before, ops, bytes, rate }));
        }
        bytes_before += sum.bytes;
    }
    levels
}

/// By how much the rates of two levels differ, as a part of the lower one.
fn change(a: &RateLevel, b: &RateLevel) -> f64 {
    let [a, b] = [a.rate.estimate.0, b.rate.estimate.0];
    a.max(b) / a.min(b) - 1.0
}

/// Whether two stretches are levels of their own.
fn are_apart(a: &RateLevel, b: &RateLevel) -> bool {
    let no_overlap = a.rate.low > b.rate.high || b.rate.low > a.rate.high;
    no_overlap && change(a, b) >= LEAST_CHANGE
}

/// Where to cut `cells` into stretches of at least `least`, as the first cell of each but the first.
fn best_cuts(cells: &[f64], least: usize) -> Vec<usize> {
    if cells.len() < 2 * least {
        return Vec::new();
    }
    let table = Cuts::new(cells, least);
    let schwarz = |stretches: usize| {
        let count = cells.len() as f64;
        // A perfect fit has no logarithm; below this, nothing is left to explain.
        let mean_square = (table.error(stretches) / count).max(1e-9);
        count * mean_square.ln() + 2.0 * stretches as f64 * count.ln()
    };
    let possible = 1..=STRETCHES_MAX.min(cells.len() / least);
    let best = possible.min_by(|&a, &b| schwarz(a).total_cmp(&schwarz(b)));
    table.cuts(best.unwrap_or(1))
}

/// The best cuts into each number of stretches.
struct Cuts {
    /// For a number of stretches (from 1) and an end: the least sum of squares up to that end, and
    /// where its last stretch begins.
    best: Vec<Vec<(f64, usize)>>,
}

impl Cuts {
    fn new(cells: &[f64], least: usize) -> Self {
        let sums = Sums::new(cells);
        let one = (0..=cells.len()).map(|end| (sums.square_error(0, end), 0)).collect();
        let mut best: Vec<Vec<(f64, usize)>> = vec![one];
        for stretches in 2..=STRETCHES_MAX {
            let fewer = &best[stretches - 2];
            let row = (0..=cells.len()).map(|end| {
                let earliest = (stretches - 1) * least;
                let starts = earliest..=end.saturating_sub(least);
                let cost = |start: usize| (fewer[start].0 + sums.square_error(start, end), start);
                starts.map(cost).fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a })
            });
            let row = row.collect();
            best.push(row);
        }
        Self { best }
    }

    /// The least sum of squares with `stretches` stretches.
    fn error(&self, stretches: usize) -> f64 {
        self.best[stretches - 1].last().map_or(0.0, |end| end.0)
    }

    fn cuts(&self, stretches: usize) -> Vec<usize> {
        let mut end = self.best[0].len() - 1;
        let mut cuts: Vec<usize> = Vec::with_capacity(stretches);
        for row in self.best[1..stretches].iter().rev() {
            end = row[end].1;
            cuts.push(end);
        }
        cuts.reverse();
        cuts
    }
}

/// Running sums, from which the scatter within any stretch follows at once.
struct Sums {
    sums: Vec<(f64, f64)>,
}

impl Sums {
    fn new(cells: &[f64]) -> Self {
        let add = |sum: &mut (f64, f64), cell: &f64| {
            *sum = (sum.0 + cell, sum.1 + cell * cell);
            Some(*sum)
        };
        let sums = std::iter::once((0.0, 0.0)).chain(cells.iter().scan((0.0, 0.0), add));
        Self { sums: sums.collect() }
    }

    /// The sum of the squared distances of the cells from `start` to before `end` to their mean.
    fn square_error(&self, start: usize, end: usize) -> f64 {
        if end <= start {
            return 0.0;
        }
        let sum = self.sums[end].0 - self.sums[start].0;
        let squares = self.sums[end].1 - self.sums[start].1;
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}
