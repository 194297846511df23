//! What timings of boundaries and of long writes look like: the evidence for a card's geometry.

use cardproof_record::{Record, SweepRun};
use cardproof_units::{Bytes, Throughput};

use super::{Axis, Chart, Dashes, LINE_TONES, Layer, Scale, Tone};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 180.0;

/// The extra time of reads over boundaries by their alignment, a line for each pass.
pub(crate) fn boundaries(record: &Record) -> Option<Chart> {
    let passes: Vec<Vec<(f64, f64)>> = record
        .flash_timings
        .boundaries
        .iter()
        .map(|run| {
            let mut points: Vec<(f64, f64)> = run
                .rows
                .iter()
                .map(|row| (row.alignment_bytes.as_f64(), row.difference_ns / 1000.0))
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            points
        })
        .collect();
    let (x, y) = (range(&passes, |point| point.0)?, range(&passes, |point| point.1)?);
    let chart = Chart {
        title: "Extra time of reads across a boundary, in microseconds, by its alignment"
            .to_owned(),
        width: WIDTH,
        height: HEIGHT,
        x: Axis { scale: Scale::LogarithmicBytes, low: x.0, high: x.1, tick: size },
        y: Axis { scale: Scale::Linear, low: y.0.min(0.0), high: y.1.max(1.0) * 1.05, tick: whole },
        layers: lines(passes),
    };
    (x.0 > 0.0 && x.1 > x.0).then_some(chart)
}

/// The rate over long stretches that were written from front to back.
pub(crate) fn sweeps(record: &Record) -> Option<Chart> {
    let courses: Vec<Vec<(f64, f64)>> =
        record.flash_timings.probe.sweeps.iter().map(course).collect();
    let (x, y) = (range(&courses, |point| point.0)?, range(&courses, |point| point.1)?);
    let chart = Chart {
        title: "Rate of sequential writes in MB/s, by the amount written".to_owned(),
        width: WIDTH,
        height: HEIGHT,
        x: Axis { scale: Scale::Bytes, low: 0.0, high: x.1, tick: size },
        y: Axis { scale: Scale::Linear, low: 0.0, high: y.1 * 1.05, tick: whole },
        layers: lines(courses),
    };
    (x.1 > 0.0 && y.1 > 0.0).then_some(chart)
}

fn course(run: &SweepRun) -> Vec<(f64, f64)> {
    let parts = run.bytes_per_s.len().max(1) as f64;
    let place = |at: usize| run.written_bytes.as_f64() * (at as f64 + 0.5) / parts;
    let rate = |rate: &Throughput| rate.as_mb_per_s();
    run.bytes_per_s.iter().enumerate().map(|(at, each)| (place(at), rate(each))).collect()
}

fn lines(all: Vec<Vec<(f64, f64)>>) -> Vec<Layer> {
    let dashes = [Dashes::Whole, Dashes::Long, Dashes::Short];
    let line = |(number, points): (usize, Vec<(f64, f64)>)| Layer::Line {
        points,
        tone: Tone::Line(number % LINE_TONES),
        dashes: dashes[number % dashes.len()],
    };
    all.into_iter().filter(|points| points.len() > 1).enumerate().map(line).collect()
}

/// The least and the greatest of all points that are numbers; `None` of none.
fn range(lines: &[Vec<(f64, f64)>], of: fn(&(f64, f64)) -> f64) -> Option<(f64, f64)> {
    let values = || lines.iter().flatten().map(of);
    let is_sound = values().all(f64::is_finite);
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (is_sound && low <= high).then_some((low, high))
}

fn size(bytes: f64) -> String {
    Bytes(bytes.round() as u64).to_string()
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}
