//! A phase over time: its rate, and the longest wait in every slice.
//!
//! Phases with more slices than a chart has room for are drawn in columns of several slices. A
//! column keeps its lowest and highest rate and its longest wait, and pauses are shaded from the
//! slices themselves, so that none is averaged away.

use cardproof_rating::{FELT_PAUSE, pauses_in};
use cardproof_record::{Interval, Phase, Record};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use super::{Axis, Chart, Dashes, Layer, Scale, Tone};
use crate::clean::one_line;
use cardproof_rating::is_told_in_iops;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 135.0;

/// How many columns a chart has room for: one for two of its pixels.
const COLUMNS_MAX: usize = 150;

/// How many operations a slice must be expected to hold to say something of the rate.
const SLICE_OPS_MIN: usize = 4;

/// Slices of a phase's time, taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    /// When it begins, from the phase's start.
    pub(crate) start: Nanos,
    /// When it ends.
    pub(crate) end: Nanos,
    /// Operations or bytes a second.
    pub(crate) mean: f64,
    /// Those of its slowest slice.
    pub(crate) low: f64,
    /// Those of its fastest slice.
    pub(crate) high: f64,
    /// The longest latency of an operation that completed in it.
    pub(crate) wait: Nanos,
}

/// The phase's time in at most `count` columns.
pub(crate) fn columns(phase: &Phase, count: usize) -> Vec<Column> {
    let slices = telling_slices(phase);
    let size = slices.len().div_ceil(count.max(1)).max(1);
    slices.chunks(size).map(|slices| column(slices, is_told_in_iops(phase))).collect()
}

/// How long the slices are of which [`Column::low`] and [`Column::high`] are the extremes; zero without one.
pub(crate) fn slice_length(phase: &Phase) -> Nanos {
    telling_slices(phase).first().map_or(Nanos::ZERO, |slice| slice.duration_ns)
}

/// The phase's slices, taken together until each may be expected to hold several operations: a
/// slice that is shorter than an operation takes would show nothing but chance.
fn telling_slices(phase: &Phase) -> Vec<Interval> {
    let slices: Vec<Interval> =
        phase.intervals.iter().copied().filter(|slice| slice.duration_ns > Nanos::ZERO).collect();
    let ops = slices.iter().map(|slice| slice.ops).fold(0, u64::saturating_add);
    let size = (SLICE_OPS_MIN * slices.len()).div_ceil(usize::try_from(ops).unwrap_or(1).max(1));
    let mut merged_slices: Vec<Interval> =
        slices.chunks(size.clamp(1, slices.len().max(1))).map(merged).collect();
    merge_short_end(&mut merged_slices);
    merged_slices
}

/// Takes the last slice together with the one before it where it is less than half as long: the
/// rate of a slice that the phase's end cut off is chance as well.
fn merge_short_end(slices: &mut Vec<Interval>) {
    if let [.., before, last] = slices.as_slice()
        && last.duration_ns.0 < before.duration_ns.0 / 2
    {
        let end = merged(&[*before, *last]);
        slices.truncate(slices.len() - 2);
        slices.push(end);
    }
}

/// Neighbouring slices, of which there is at least one, as one.
fn merged(slices: &[Interval]) -> Interval {
    let sum = |of: fn(&Interval) -> u64| slices.iter().map(of).fold(0, u64::saturating_add);
    Interval {
        start_ns: slices[0].start_ns,
        duration_ns: Nanos(sum(|slice| slice.duration_ns.0)),
        ops: sum(|slice| slice.ops),
        bytes: Bytes(sum(|slice| slice.bytes.0)),
        latency_max_ns: slices.iter().map(|slice| slice.latency_max_ns).max().unwrap_or_default(),
    }
}

/// The slices of one column, of which there is at least one.
fn column(slices: &[Interval], is_told_in_iops: bool) -> Column {
    let rate = |slice: &Interval| {
        let moved = if is_told_in_iops { slice.ops } else { slice.bytes.0 };
        moved as f64 / slice.duration_ns.as_secs_f64()
    };
    let whole = merged(slices);
    Column {
        start: whole.start_ns,
        end: whole.start_ns.saturating_add(whole.duration_ns),
        mean: rate(&whole),
        low: slices.iter().map(rate).fold(f64::INFINITY, f64::min),
        high: slices.iter().map(rate).fold(0.0, f64::max),
        wait: whole.latency_max_ns,
    }
}

/// The rate over time of the phase at `index`, if it kept a time series.
pub(crate) fn rate_over_time(record: &Record, index: usize) -> Option<Chart> {
    let phase = record.phases.get(index)?;
    let columns = columns(phase, COLUMNS_MAX);
    let highest = columns.iter().map(|column| column.high).fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let mut layers = pauses(record, index);
    if columns.iter().any(|column| column.low < column.high) {
        layers.push(Layer::Band { points: band(&columns), tone: Tone::Line(0) });
    }
    layers
        .push(Layer::Steps { points: steps(&columns, |column| column.mean), tone: Tone::Line(0) });
    let tick: fn(f64) -> String = if is_told_in_iops(phase) { short } else { megabytes };
    let what = if is_told_in_iops(phase) { "operations a second" } else { "MB a second" };
    Some(Chart {
        title: format!("{}: {what} over time", one_line(&phase.name)),
        width: WIDTH,
        height: HEIGHT,
        x: time_axis(&columns)?,
        y: Axis { scale: Scale::Linear, low: 0.0, high: highest * 1.08, tick },
        layers,
    })
}

/// Whether `phase` kept a time series.
pub(crate) fn has_course(phase: &Phase) -> bool {
    !columns(phase, COLUMNS_MAX).is_empty()
}

/// The rates over time of phases of several records in one chart, each in its own stroke; `None` where
/// none kept a time series.
pub(crate) fn rates_together(phases: &[(&Phase, Tone, Dashes)]) -> Option<Chart> {
    let series: Vec<(Vec<Column>, Tone, Dashes)> = phases
        .iter()
        .map(|&(phase, tone, dashes)| (columns(phase, COLUMNS_MAX), tone, dashes))
        .filter(|(columns, ..)| !columns.is_empty())
        .collect();
    let all = || series.iter().flat_map(|(columns, ..)| columns);
    let highest = all().map(|column| column.mean).fold(0.0, f64::max);
    let end = all().map(|column| column.end.as_secs_f64()).fold(0.0, f64::max);
    let line = |(columns, tone, dashes): &(Vec<Column>, Tone, Dashes)| Layer::Line {
        points: corners(columns, |column| column.mean),
        tone: *tone,
        dashes: *dashes,
    };
    let chart = Chart {
        title: "operations a second over time, card by card".to_owned(),
        width: WIDTH,
        height: HEIGHT * 1.6,
        x: Axis { scale: Scale::Linear, low: 0.0, high: end, tick: seconds },
        y: Axis { scale: Scale::Linear, low: 0.0, high: highest * 1.08, tick: short },
        layers: series.iter().map(line).collect(),
    };
    (!chart.layers.is_empty() && chart.is_drawable()).then_some(chart)
}

/// The longest wait in each slice of the phase at `index`, if it kept a time series.
pub(crate) fn waits_over_time(record: &Record, index: usize) -> Option<Chart> {
    let phase = record.phases.get(index)?;
    let columns = columns(phase, COLUMNS_MAX);
    let waits = || columns.iter().map(|column| column.wait).filter(|wait| *wait > Nanos::ZERO);
    let (shortest, longest) = (waits().min()?.as_secs_f64(), waits().max()?.as_secs_f64());
    // Whole decades, so that the axis has labels; a line and no ground, which on a logarithmic axis
    // would begin at an arbitrary value.
    let (low, high) = (decade(shortest, f64::floor), decade(longest * 1.01, f64::ceil));
    let mut layers = pauses(record, index);
    // Where nothing ended there is no wait to show: a gap, and no fall to the axis, which would look fast.
    for columns in columns.split(|column| column.wait == Nanos::ZERO).filter(|it| !it.is_empty()) {
        let points = corners(columns, |column| column.wait.as_secs_f64());
        layers.push(Layer::Line { points, tone: Tone::Line(1), dashes: Dashes::Whole });
    }
    if high > FELT_PAUSE.as_secs_f64() {
        layers.push(Layer::LimitAcross { at: FELT_PAUSE.as_secs_f64(), label: None });
    }
    Some(Chart {
        title: format!("{}: longest latency over time", one_line(&phase.name)),
        width: WIDTH,
        height: HEIGHT,
        x: time_axis(&columns)?,
        y: Axis { scale: Scale::Logarithmic, low, high, tick: duration },
        layers,
    })
}

fn time_axis(columns: &[Column]) -> Option<Axis> {
    let end = columns.last()?.end.as_secs_f64();
    (end > 0.0).then_some(Axis { scale: Scale::Linear, low: 0.0, high: end, tick: seconds })
}

/// The pauses of the phase as shaded stretches, touching ones as one.
fn pauses(record: &Record, index: usize) -> Vec<Layer> {
    let mut stretches: Vec<(Nanos, Nanos)> = Vec::new();
    for pause in pauses_in(record, index) {
        let start = pause.end.saturating_sub(pause.length);
        match stretches.last_mut() {
            Some((_, end)) if *end >= start => *end = pause.end.max(*end),
            _ => stretches.push((start, pause.end)),
        }
    }
    let shade = |(from, to): (Nanos, Nanos)| Layer::Stretch {
        from: from.as_secs_f64(),
        to: to.as_secs_f64(),
        tone: Tone::Alarm,
    };
    stretches.into_iter().map(shade).collect()
}

fn steps(columns: &[Column], value: impl Fn(&Column) -> f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        columns.iter().map(|column| (column.start.as_secs_f64(), value(column))).collect();
    points.extend(columns.last().map(|column| (column.end.as_secs_f64(), value(column))));
    points
}

/// A line that stays level over each column, as the points that it goes through.
fn corners(columns: &[Column], value: impl Fn(&Column) -> f64) -> Vec<(f64, f64)> {
    let ends = |column: &Column| [column.start, column.end].map(Nanos::as_secs_f64);
    columns.iter().flat_map(|column| ends(column).map(|time| (time, value(column)))).collect()
}

/// The power of ten below or above `value`, as `round` says.
fn decade(value: f64, round: fn(f64) -> f64) -> f64 {
    10_f64.powf(round(value.log10()))
}

fn band(columns: &[Column]) -> Vec<(f64, f64, f64)> {
    let middle =
        |column: &Column| f64::midpoint(column.start.as_secs_f64(), column.end.as_secs_f64());
    columns.iter().map(|column| (middle(column), column.low, column.high)).collect()
}

fn seconds(value: f64) -> String {
    format!("{value} s")
}

fn short(value: f64) -> String {
    if value >= 10_000.0 { format!("{} k", value / 1e3) } else { value.to_string() }
}

fn megabytes(value: f64) -> String {
    (value / 1e6).to_string()
}

/// A length of time as an axis has room for: `10 ms`, not `10.0 ms`.
pub(super) fn duration(seconds: f64) -> String {
    let time = Nanos::from_secs_f64(seconds);
    if time < Nanos::from_micros(1) || time >= Nanos::from_secs(99) {
        return time.to_string();
    }
    let (value, unit, decimals) = time.scaled();
    let scale = 10_f64.powi(decimals as i32);
    format!("{} {unit}", (scale * value).round() / scale)
}

/// A rate in the phase's unit.
pub(crate) fn rate_text(phase: &Phase, per_second: f64) -> String {
    if is_told_in_iops(phase) {
        Iops(per_second).to_string()
    } else {
        Throughput(per_second).to_string()
    }
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records;

    use super::*;

    /// A phase of ten minutes in slices of 50 ms, in which nothing completes for 300 ms.
    fn long_phase_with_a_short_pause() -> Record {
        let mut record = records::typical_a1_card();
        record.phases.retain(|phase| phase.name == "random-write-4k-qd32");
        let silent = 7_000..7_006;
        let slice = |number: u64| Interval {
            start_ns: Nanos::from_millis(50) * number,
            duration_ns: Nanos::from_millis(50),
            ops: if silent.contains(&number) { 0 } else { 40 },
            bytes: Bytes::ZERO,
            latency_max_ns: match number {
                7_006 => Nanos::from_millis(340),
                number if silent.contains(&number) => Nanos::ZERO,
                _ => Nanos::from_millis(60),
            },
        };
        record.phases[0].intervals = (0..12_000).map(slice).collect();
        record.phases[0].ops = 40 * (12_000 - 6);
        record
    }

    #[test]
    fn a_short_pause_survives_in_a_long_phase() {
        let record = long_phase_with_a_short_pause();
        let columns = columns(&record.phases[0], COLUMNS_MAX);
        assert!(columns.len() <= COLUMNS_MAX);
        assert_eq!(columns.iter().filter(|column| column.low == 0.0).count(), 1);
        let longest = columns.iter().map(|column| column.wait).max();
        assert_eq!(longest, Some(Nanos::from_millis(340)));
        let chart = rate_over_time(&record, 0).unwrap();
        let is_pause = |layer: &&Layer| matches!(layer, Layer::Stretch { from, to, .. } if (*from, *to) == (350.0, 350.3));
        assert_eq!(chart.layers.iter().filter(is_pause).count(), 1);
    }

    #[test]
    fn columns_keep_every_operation_and_all_the_time() {
        let record = long_phase_with_a_short_pause();
        let columns = columns(&record.phases[0], 150);
        let seconds = |column: &Column| (column.end.saturating_sub(column.start)).as_secs_f64();
        let ops: f64 = columns.iter().map(|column| column.mean * seconds(column)).sum();
        assert!((ops - 479_760.0).abs() < 1e-3, "{ops}");
        assert_eq!(columns.last().unwrap().end, Nanos::from_secs(600));
    }

    #[test]
    fn slices_shorter_than_an_operation_do_not_look_like_pauses() {
        let record = records::slow_class4();
        let phase = record.phases.iter().find(|phase| phase.name == "sequential-write-1m").unwrap();
        assert!(columns(phase, COLUMNS_MAX).iter().all(|column| column.low > 0.0));
    }

    #[test]
    fn a_slice_cut_off_by_the_end_does_not_look_like_a_burst() {
        let mut record = long_phase_with_a_short_pause();
        record.phases[0].intervals.push(Interval {
            start_ns: Nanos::from_secs(600),
            duration_ns: Nanos::from_millis(1),
            ops: 30,
            ..Interval::default()
        });
        let columns = columns(&record.phases[0], COLUMNS_MAX);
        assert!(columns.iter().all(|column| column.high < 1_500.0));
        assert_eq!(columns.last().unwrap().end, Nanos::from_millis(600_001));
    }

    #[test]
    fn an_axis_leaves_out_needless_zeros() {
        let cases = [(0.01, "10 ms"), (0.0012, "1.2 ms"), (100.0, "1 min 40 s"), (0.2, "200 ms")];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }
}
