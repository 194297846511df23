//! How much of the card its map at hand covers, from latencies of reads by span.
//!
//! Reads at random places of a span that was just visited find the map at hand as long as the span is
//! no larger than its reach R. Beyond, a share 1 - R / span of them misses, each at the same cost.

use cardproof_units::{Bytes, Nanos};

use super::finding::{Claim, Finding, Value};
use super::fit::mean;

/// The mean latency of random reads within a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpanRow {
    /// The span.
    pub span: Bytes,
    /// The mean latency.
    pub latency: Nanos,
}

/// One pass over spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanPass {
    /// A row for each span, in any order.
    pub rows: Vec<SpanRow>,
}

/// The least share of the variance that the curve must explain.
const CLEAR: f64 = 0.9;

/// The least cost of a miss, as a share of a hit.
const COST_LEAST: f64 = 0.05;

/// Spans on either side of the reach at least.
const SPANS_LEAST: usize = 2;

/// How far passes may lie apart.
const AGREEMENT: f64 = 1.5;

/// The reach that the passes show.
pub(super) fn reach(passes: &[SpanPass], missing: Option<&str>) -> Finding {
    if passes.is_empty() {
        return Finding::unmeasured(missing);
    }
    let fits: Vec<Option<Fit>> = passes.iter().map(|pass| best(&pass.rows)).collect();
    let clear: Vec<Fit> = fits
        .iter()
        .flatten()
        .copied()
        .filter(|fit| fit.r_squared >= CLEAR && fit.cost >= COST_LEAST)
        .collect();
    if clear.len() < passes.len() {
        let most = passes.iter().flat_map(|pass| &pass.rows).map(|row| row.span).max();
        return Finding::CannotBeSeen(format!(
            "reads take the same time in every range up to {}. Either the whole table is cached, or \
             misses are too fast to see",
            most.unwrap_or(Bytes::ZERO)
        ));
    }
    let least = clear.iter().map(|fit| fit.reach).fold(f64::INFINITY, f64::min);
    let most = clear.iter().map(|fit| fit.reach).fold(0.0, f64::max);
    if most > least * AGREEMENT {
        return Finding::CannotBeSeen("the passes disagree on the range".to_owned());
    }
    let middle = (least * most).sqrt();
    let power = 2_f64.powf(middle.log2().round());
    let is_near = (middle / power - 1.0).abs() < 0.12;
    let value = Bytes(if is_near { power } else { middle }.round() as u64);
    let cost = clear.iter().map(|fit| fit.cost).fold(f64::INFINITY, f64::min) * 100.0;
    let notes = vec![
        format!("a read outside the cached range takes {cost:.0} % longer"),
        "the size is right within a factor of 1.25".to_owned(),
    ];
    let method = "latency of reads in growing ranges";
    Finding::Claimed(Claim { value: Value::Bytes(value), probability: 0.9, method, notes })
}

/// A curve through the latencies.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// In bytes.
    reach: f64,
    /// What a miss costs, as a share of a hit.
    cost: f64,
    r_squared: f64,
}

/// The reach whose curve fits best, looked for in steps of 2 %.
fn best(rows: &[SpanRow]) -> Option<Fit> {
    let spans: Vec<f64> = rows.iter().map(|row| row.span.as_f64()).collect();
    let times: Vec<f64> = rows.iter().map(|row| row.latency.get() as f64).collect();
    let least = spans.iter().copied().fold(f64::INFINITY, f64::min);
    let most = spans.iter().copied().fold(0.0, f64::max);
    let mut best: Option<Fit> = None;
    let mut reach = least;
    while reach < most {
        let inside = spans.iter().filter(|span| **span <= reach).count();
        let outside = spans.len() - inside;
        if inside >= SPANS_LEAST
            && outside >= SPANS_LEAST
            && let Some(fit) = fit(&spans, &times, reach)
            && best.is_none_or(|best| fit.r_squared > best.r_squared)
        {
            best = Some(fit);
        }
        reach *= 1.02;
    }
    best
}

/// The line of latency over the share of misses.
fn fit(spans: &[f64], times: &[f64], reach: f64) -> Option<Fit> {
    let misses: Vec<f64> = spans.iter().map(|span| (1.0 - reach / span).max(0.0)).collect();
    let (mean_x, mean_y) = (mean(&misses)?, mean(times)?);
    let covariance: f64 = misses.iter().zip(times).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = misses.iter().map(|x| (x - mean_x).powi(2)).sum();
    let total: f64 = times.iter().map(|y| (y - mean_y).powi(2)).sum();
    if variance <= 0.0 || total <= 0.0 {
        return None;
    }
    let slope = covariance / variance;
    let hit = mean_y - slope * mean_x;
    let r_squared = covariance * covariance / (variance * total);
    (slope > 0.0 && hit > 0.0).then(|| Fit { reach, cost: slope / hit, r_squared })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(reach_mib: u64, miss_us: u64) -> SpanPass {
        let row = |power: u32| {
            let mib = 1_u64 << power;
            let share = 1.0 - (reach_mib as f64 / mib as f64).min(1.0);
            let latency = Nanos(200_000 + (share * miss_us as f64 * 1000.0) as u64);
            SpanRow { span: Bytes::mib(mib), latency }
        };
        SpanPass { rows: (4..14).map(row).collect() }
    }

    #[test]
    fn the_reach_is_where_latencies_begin_to_grow() {
        let found = |at, miss| reach(&[pass(at, miss), pass(at, miss)], None).bytes();
        assert_eq!(found(256, 100), Some(Bytes::mib(256)));
        assert_eq!(found(1024, 60), Some(Bytes::mib(1024)));
        assert_eq!(found(256, 2), None, "hidden");
        assert_eq!(found(1 << 20, 100), None, "all at hand");
        assert_eq!(reach(&[pass(64, 100), pass(1024, 100)], None).bytes(), None);
    }
}
