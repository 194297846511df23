//! Charts: what is to be drawn, as data, and its drawing as shapes.
//!
//! Charts are small and many rather than large: each is legible at the width of a phone without
//! being scrolled.

mod cycles;
mod field;
mod geometry;
mod labels;
mod latency;
mod plot;
mod ticks;
mod time;

pub(crate) use cycles::{bad_over_cycles, speed_over_cycles};
pub(crate) use field::{OURS, RatePoint, class_corners, field};
pub(crate) use geometry::{boundaries, sweeps};
pub(crate) use latency::{Curve, has_tail, latency, tails_together};
pub(crate) use plot::{diamond, draw};
pub(crate) use time::{
    columns, has_course, rate_over_time, rate_text, rates_together, slice_length, waits_over_time,
};

use crate::drawing::{LINE_TONES, Tone};

/// Something to be drawn. Every number in it is finite, and positive where its scale is
/// logarithmic; [`Chart::is_drawable`] tells.
pub(crate) struct Chart {
    /// What it shows, for those who do not see it.
    pub(crate) title: String,
    /// Its width in user units, about the pixels of a phone.
    pub(crate) width: f64,
    /// Its height in user units.
    pub(crate) height: f64,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// What is drawn, the lowest first.
    pub(crate) layers: Vec<Layer>,
}

/// An axis.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    /// How values become lengths.
    pub(crate) scale: Scale,
    /// The value at its beginning.
    pub(crate) low: f64,
    /// The value at its end.
    pub(crate) high: f64,
    /// A value in words.
    pub(crate) tick: fn(f64) -> String,
}

/// How values become lengths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// Linear, of bytes: round in powers of two.
    Bytes,
    /// Logarithmic, of bytes.
    LogarithmicBytes,
    Logarithmic,
}

/// A part of a chart.
pub(crate) enum Layer {
    /// A stretch of the horizontal axis, shaded over the whole height.
    Stretch { from: f64, to: f64, tone: Tone },
    /// What lies between two values at each point.
    Band { points: Vec<(f64, f64, f64)>, tone: Tone },
    /// A line that stays level from each point to the next, with its ground filled.
    Steps { points: Vec<(f64, f64)>, tone: Tone },
    /// A line from point to point.
    Line { points: Vec<(f64, f64)>, tone: Tone, dashes: Dashes },
    /// A single point among others, with its word beside it where that covers nothing.
    Point { at: (f64, f64), tone: Tone, label: String },
    /// Many points, faint and without words, that others are seen among.
    Dots { points: Vec<(f64, f64)>, tone: Tone },
    /// The point that the chart is about, with its word beside it.
    MainPoint { at: (f64, f64), tone: Tone, label: String },
    /// What the axes are, inside of them: the horizontal one, the vertical one.
    AxisNames { across: &'static str, up: &'static str },
    /// What lies to the right of a place and above it, with its name.
    Corner { at: (f64, f64), label: &'static str },
    /// A dashed line over the whole width at a value of the vertical axis.
    LimitAcross { at: f64, label: Option<&'static str> },
}

/// How a line is broken, so that lines can be told apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dashes {
    Whole,
    Long,
    Short,
}

impl Dashes {
    /// The lengths of a dash and of the gap after it; `None` of a whole line.
    pub(crate) const fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Self::Whole => None,
            Self::Long => Some((8.0, 4.0)),
            Self::Short => Some((2.0, 3.0)),
        }
    }
}

/// A number of a chart cannot be placed on its axis.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a value lies outside what its axis can show")]
pub struct PlotError;

impl Scale {
    /// Whether equal steps are equal lengths.
    pub(crate) const fn is_linear(self) -> bool {
        matches!(self, Self::Linear | Self::Bytes)
    }
}

impl Axis {
    fn can_show(&self, value: f64) -> bool {
        value.is_finite() && (self.scale.is_linear() || value > 0.0)
    }

    fn is_drawable(&self) -> bool {
        self.can_show(self.low) && self.can_show(self.high) && self.low < self.high
    }
}

impl Chart {
    /// Whether every number can be placed, so that drawing need not check.
    pub(crate) fn is_drawable(&self) -> bool {
        self.x.is_drawable()
            && self.y.is_drawable()
            && self.layers.iter().all(|layer| self.can_show(layer))
    }

    fn can_show(&self, layer: &Layer) -> bool {
        let (x, y) = (|value| self.x.can_show(value), |value| self.y.can_show(value));
        match layer {
            Layer::Stretch { from, to, .. } => x(*from) && x(*to) && from <= to,
            Layer::Band { points, .. } => points.iter().all(|p| x(p.0) && y(p.1) && y(p.2)),
            Layer::Steps { points, .. }
            | Layer::Line { points, .. }
            | Layer::Dots { points, .. } => points.iter().all(|point| x(point.0) && y(point.1)),
            Layer::Point { at, .. } | Layer::MainPoint { at, .. } | Layer::Corner { at, .. } => {
                x(at.0) && y(at.1)
            }
            Layer::LimitAcross { at, .. } => y(*at),
            Layer::AxisNames { .. } => true,
        }
    }
}
