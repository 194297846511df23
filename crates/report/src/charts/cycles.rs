//! A card that is worn out: its bad pages and its speed over the cycles.

use cardproof_record::{EnduranceCycle, EnduranceRun};
use cardproof_units::Throughput;

use super::{Axis, Chart, Dashes, Layer, Scale, Tone};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 180.0;

/// The bad share in per cent over the cycles; `None` of fewer than two cycles.
pub(crate) fn bad_over_cycles(run: &EnduranceRun) -> Option<Chart> {
    let pages = run.pages.max(1) as f64;
    let share = |cycle: &EnduranceCycle| 100.0 * cycle.bad_pages as f64 / pages;
    let points: Vec<(f64, f64)> =
        run.course.iter().map(|cycle| (cycle.cycle as f64, share(cycle))).collect();
    let layers = vec![Layer::Steps { points, tone: Tone::Alarm }];
    chart("Bad pages in per cent over the cycles", run, layers, 0.1, percent, share)
}

/// The rates of writing and reading over the cycles.
pub(crate) fn speed_over_cycles(run: &EnduranceRun) -> Option<Chart> {
    let rate = |rate: f64| Throughput(rate).as_mb_per_s();
    let line = |of: fn(&EnduranceCycle) -> f64, tone, dashes| Layer::Line {
        points: run.course.iter().map(|cycle| (cycle.cycle as f64, rate(of(cycle)))).collect(),
        tone,
        dashes,
    };
    let layers = vec![
        line(|cycle| cycle.write_bytes_per_s, Tone::Line(0), Dashes::Whole),
        line(|cycle| cycle.read_bytes_per_s, Tone::Line(1), Dashes::Long),
    ];
    let most = |cycle: &EnduranceCycle| rate(cycle.write_bytes_per_s.max(cycle.read_bytes_per_s));
    chart(
        "Rates in MB/s over the cycles: writes, and reads (dashed)",
        run,
        layers,
        1.0,
        whole,
        most,
    )
}

fn chart(
    title: &str,
    run: &EnduranceRun,
    layers: Vec<Layer>,
    least: f64,
    tick: fn(f64) -> String,
    height: impl Fn(&EnduranceCycle) -> f64,
) -> Option<Chart> {
    let (first, last) = (run.course.first()?, run.course.last()?);
    let high = run.course.iter().map(height).fold(least, f64::max);
    let is_sound = high.is_finite() && last.cycle > first.cycle;
    is_sound.then(|| Chart {
        title: title.to_owned(),
        width: WIDTH,
        height: HEIGHT,
        x: Axis {
            scale: Scale::Linear,
            low: first.cycle as f64,
            high: last.cycle as f64,
            tick: whole,
        },
        y: Axis { scale: Scale::Linear, low: 0.0, high: high * 1.05, tick },
        layers,
    })
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn percent(value: f64) -> String {
    match value {
        1.0..10.0 => format!("{value:.1}"),
        0.0..1.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}
