//! How many operations took longer than a given time, on logarithmic axes.
//!
//! An average or a median hides the rare long wait that people notice. Here each curve ends at
//! the longest wait of all, and how high it is tells how rare such waits are.

use cardproof_record::{Bucket, Phase, Record};
use cardproof_units::Nanos;

use super::time::duration;
use super::{Axis, Chart, Dashes, LINE_TONES, Layer, Scale, Tone};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 225.0;

/// How many points of a curve can be told apart along one axis.
const POINTS_MAX: f64 = 240.0;

/// One phase's line, so that the page can name it.
pub(crate) struct Curve {
    /// The phase's place in the record.
    pub(crate) phase: usize,
    /// Its colour.
    pub(crate) tone: Tone,
    /// Its stroke.
    pub(crate) dashes: Dashes,
}

/// The latencies of the phases that are `wanted` and have a distribution, and whose line is whose.
pub(crate) fn latency(
    record: &Record,
    what: &str,
    wanted: impl Fn(&Phase) -> bool,
) -> Option<(Chart, Vec<Curve>)> {
    let phases: Vec<(usize, &Phase)> = record
        .phases
        .iter()
        .enumerate()
        .filter(|(_, phase)| phase.is_measured() && wanted(phase))
        .filter(|(_, phase)| phase.histogram.iter().any(|bucket| bucket.ops > 0))
        .collect();
    let lines: Vec<Vec<(f64, f64)>> =
        phases.iter().map(|(_, phase)| thinned(&curve_of(phase))).collect();
    let points = || lines.iter().flatten();
    let low_x = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high_x = points().map(|point| point.0).fold(0.0, f64::max);
    let rarest = points().map(|point| point.1).fold(1.0, f64::min);
    let curves: Vec<Curve> =
        phases.iter().enumerate().map(|(number, (phase, _))| curve(number, *phase)).collect();
    let layers: Vec<Layer> = lines
        .into_iter()
        .zip(&curves)
        .map(|(points, curve)| Layer::Line { points, tone: curve.tone, dashes: curve.dashes })
        .collect();
    let chart = Chart {
        title: format!("{what}: share of operations that took longer than a given time"),
        width: WIDTH,
        height: HEIGHT,
        x: Axis {
            scale: Scale::Logarithmic,
            low: low_x * 0.8,
            high: high_x * 1.25,
            tick: duration,
        },
        y: Axis { scale: Scale::Logarithmic, low: rarest * 0.7, high: 1.0, tick: share },
        layers,
    };
    chart.is_drawable().then_some((chart, curves))
}

/// The latencies of phases of several records in one chart, each in its own stroke; `None` where none
/// has a distribution.
pub(crate) fn tails_together(phases: &[(&Phase, Tone, Dashes)]) -> Option<Chart> {
    let layers: Vec<Layer> = phases
        .iter()
        .filter(|(phase, ..)| has_tail(phase))
        .map(|&(phase, tone, dashes)| Layer::Line {
            points: thinned(&curve_of(phase)),
            tone,
            dashes,
        })
        .collect();
    let points = || {
        layers.iter().flat_map(|layer| match layer {
            Layer::Line { points, .. } => points.as_slice(),
            _ => &[],
        })
    };
    let low_x = points().map(|point| point.0).fold(f64::INFINITY, f64::min) * 0.8;
    let high_x = points().map(|point| point.0).fold(0.0, f64::max) * 1.25;
    let rarest = points().map(|point| point.1).fold(1.0, f64::min);
    let chart = Chart {
        title: "share of operations that took longer than a given time, card by card".to_owned(),
        width: WIDTH,
        height: HEIGHT,
        x: Axis { scale: Scale::Logarithmic, low: low_x, high: high_x, tick: duration },
        y: Axis { scale: Scale::Logarithmic, low: rarest * 0.7, high: 1.0, tick: share },
        layers,
    };
    (!chart.layers.is_empty() && chart.is_drawable()).then_some(chart)
}

/// Whether `phase` has a distribution of latencies.
pub(crate) fn has_tail(phase: &Phase) -> bool {
    phase.histogram.iter().any(|bucket| bucket.ops > 0)
}

fn curve_of(phase: &Phase) -> Vec<(f64, f64)> {
    let shortest = phase.latency_ns.map_or(Nanos::ZERO, |latency| latency.min);
    exceedance(&phase.histogram, shortest)
}

fn curve(number: usize, phase: usize) -> Curve {
    let dashes = [Dashes::Whole, Dashes::Long, Dashes::Short][number % 3];
    Curve { phase, tone: Tone::Line(number % LINE_TONES), dashes }
}

/// For each bucket's end, in seconds, the share of operations that took longer. The first point is
/// at the shortest latency, which all but one exceed; the last at the longest, which one reached.
fn exceedance(histogram: &[Bucket], shortest: Nanos) -> Vec<(f64, f64)> {
    let total = histogram.iter().map(|bucket| bucket.ops).fold(0, u64::saturating_add);
    let mut left = total;
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(histogram.len() + 1);
    for bucket in histogram.iter().filter(|bucket| bucket.ops > 0) {
        let end = bucket.up_to_ns.max(Nanos(1));
        if points.is_empty() {
            points.push((shortest.max(Nanos(1)).min(end).as_secs_f64(), 1.0));
        }
        left = left.saturating_sub(bucket.ops);
        points.push((end.as_secs_f64(), left.max(1) as f64 / total as f64));
    }
    points
}

/// Leaves out points that lie too near to the one before, but never the first or the last.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let Some((first, last)) = points.first().zip(points.last()) else { return Vec::new() };
    let step_x = (last.0 / first.0).ln().max(f64::MIN_POSITIVE) / POINTS_MAX;
    let step_y = (first.1 / last.1).ln().max(f64::MIN_POSITIVE) / POINTS_MAX;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let is_end = number + 1 == points.len();
        let is_far = kept.last().is_none_or(|before| {
            (point.0 / before.0).ln() >= step_x || (before.1 / point.1).ln() >= step_y
        });
        if is_end || is_far {
            kept.push(*point);
        }
    }
    kept
}

fn share(value: f64) -> String {
    format!("{} %", (value * 1e7).round() / 1e5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_curve_falls_to_the_longest_latency() {
        let bucket = |up_to_ns, ops| Bucket { up_to_ns: Nanos(up_to_ns), ops };
        let buckets = [bucket(1_000_000, 90), bucket(2_000_000, 6), bucket(5_000_000, 4)];
        let points = exceedance(&buckets, Nanos(400_000));
        assert_eq!(points, [(0.0004, 1.0), (0.001, 0.1), (0.002, 0.04), (0.005, 0.01)]);
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let points: Vec<(f64, f64)> =
            (1..=10_000).map(|n| (1.0 + f64::from(n) * 1e-3, 1.0 / f64::from(n))).collect();
        let kept = thinned(&points);
        assert!(kept.len() <= 2 * POINTS_MAX as usize + 2, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
    }
}
