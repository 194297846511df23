//! What a phase shows beyond one rate: its levels, and how surely its percentiles are known.

use cardproof_record::{Estimate, LatencyIntervals, Level, PercentileInterval};
use cardproof_stats::{LatencyHistogram, RateLevel, Slice, levels as find_levels};
use cardproof_units::{Iops, Nanos, Throughput};

use crate::meter::CONFIDENCE;

/// The levels of a phase's time series, in their order; none where it stayed on one.
pub(crate) fn levels(slices: &[Slice], slice_duration: Nanos) -> Vec<Level> {
    let levels = find_levels(slices, slice_duration, CONFIDENCE);
    if levels.len() < 2 { Vec::new() } else { levels.iter().map(level).collect() }
}

fn level(level: &RateLevel) -> Level {
    let rate = level.rate;
    let mean_bytes = level.bytes.as_f64() / level.ops.max(1) as f64;
    let throughput = |iops: Iops| Throughput(iops.0 * mean_bytes);
    Level {
        start_ns: level.start,
        duration_ns: level.duration,
        bytes_before: level.bytes_before,
        ops: level.ops,
        bytes: level.bytes,
        iops: Estimate {
            estimate: rate.estimate,
            low: rate.low,
            high: rate.high,
            confidence: CONFIDENCE,
        }
        .within_reach(),
        throughput_bytes_per_s: Estimate {
            estimate: throughput(rate.estimate),
            low: throughput(rate.low),
            high: throughput(rate.high),
            confidence: CONFIDENCE,
        }
        .within_reach(),
    }
}

/// The intervals of the percentiles of `histogram`, of whose operations `in_flight` shared their
/// waits; `None` where there are none.
pub(crate) fn latency_intervals(
    histogram: &LatencyHistogram,
    in_flight: u16,
) -> Option<LatencyIntervals> {
    let of = |quantile| {
        let interval = histogram.quantile_interval(quantile, CONFIDENCE, in_flight)?;
        Some(PercentileInterval { low: interval.low, high: interval.high })
    };
    Some(LatencyIntervals {
        confidence: CONFIDENCE,
        p50: of(0.5)?,
        p90: of(0.9)?,
        p99: of(0.99)?,
        p999: of(0.999)?,
    })
}
