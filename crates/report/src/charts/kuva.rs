//! The charts drawn by kuva.
//!
//! Kuva writes any colour it does not know into the SVG as it is, so the style sheet's variables
//! pass through. Its legend and titles are not used: in the page they are text.

use kuva::plot::annotations::Orientation;
use kuva::plot::annotations::{ReferenceLine, ShadedRegion, TextAnnotation};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{BandPlot, LinePlot, LineStyle, ScatterPlot};
use kuva::render::layout::{AxisLabelOverlap, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;

use super::{Axis, Chart, Dashes, Layer, PlotError, Plotter, Scale, Tone};

const FONT_SIZE: u32 = 11;

/// Room for the longest word on a vertical axis, `0.0001 %`; the same in all charts, so that those
/// above one another have one time axis.
const MARGIN_LEFT: f64 = 60.0;

/// The library, as a plotter.
pub(crate) struct Kuva;

impl Plotter for Kuva {
    fn draw(&self, chart: &Chart) -> Result<String, PlotError> {
        if !chart.is_drawable() {
            return Err(PlotError::Unplaceable);
        }
        let plots: Vec<Plot> = chart.layers.iter().filter_map(plot).collect();
        let mut layout = frame(chart, &plots);
        for layer in &chart.layers {
            layout = annotate(layout, layer);
        }
        let svg = kuva::render_to_svg(plots, layout);
        if svg.starts_with("<svg") { Ok(svg) } else { Err(PlotError::NoSvg) }
    }
}

/// The axes and their ground.
fn frame(chart: &Chart, plots: &[Plot]) -> Layout {
    let layout = Layout::auto_from_plots(plots)
        .with_theme(theme())
        .with_width(chart.width)
        .with_height(chart.height)
        .with_tick_size(FONT_SIZE)
        .with_force_margins(MARGIN_LEFT, 16.0)
        .with_force_margins_y(8.0, 22.0)
        .with_ticks(5)
        .with_x_label_overlap(AxisLabelOverlap::Thin)
        .with_x_axis_min(chart.x.low)
        .with_x_axis_max(chart.x.high)
        .with_y_axis_min(chart.y.low)
        .with_y_axis_max(chart.y.high)
        .with_x_tick_format(ticks(chart.x))
        .with_y_tick_format(ticks(chart.y));
    let layout = if chart.x.scale == Scale::Logarithmic { layout.with_log_x() } else { layout };
    if chart.y.scale == Scale::Logarithmic { layout.with_log_y() } else { layout }
}

fn theme() -> Theme {
    Theme {
        background: "none".to_owned(),
        axis_color: "var(--axis)".to_owned(),
        tick_color: "var(--axis)".to_owned(),
        grid_color: "var(--grid)".to_owned(),
        text_color: "var(--ink)".to_owned(),
        ..Theme::light()
    }
}

fn ticks(axis: Axis) -> TickFormat {
    TickFormat::Custom(std::sync::Arc::new(axis.tick))
}

/// The layer as a plot, if that is how kuva draws it.
fn plot(layer: &Layer) -> Option<Plot> {
    let plot = match layer {
        Layer::Band { points, tone } => {
            let x = points.iter().map(|point| point.0);
            let low = points.iter().map(|point| point.1);
            let high = points.iter().map(|point| point.2);
            BandPlot::new(x, low, high).with_color(tone.css()).with_opacity(0.25).into()
        }
        Layer::Steps { points, tone } => LinePlot::new()
            .with_data(points.iter().copied())
            .with_color(tone.css())
            .with_stroke_width(1.25)
            .with_step()
            .with_fill()
            .with_fill_opacity(0.18)
            .into(),
        Layer::Line { points, tone, dashes } => LinePlot::new()
            .with_data(points.iter().copied())
            .with_color(tone.css())
            .with_stroke_width(1.75)
            .with_line_style(line_style(*dashes))
            .into(),
        Layer::Point { at, tone, .. } => point(*at, *tone, MarkerShape::Circle, 3.5),
        Layer::MainPoint { at, tone } => point(*at, *tone, MarkerShape::Diamond, 6.0),
        Layer::Stretch { .. } | Layer::LimitAcross { .. } | Layer::LimitUp { .. } => return None,
    };
    Some(plot)
}

fn point(at: (f64, f64), tone: Tone, shape: MarkerShape, size: f64) -> Plot {
    let plot = ScatterPlot::new().with_data([at]).with_color(tone.css());
    plot.with_marker(shape).with_size(size).into()
}

/// The layer as an annotation, if that is how kuva draws it.
fn annotate(layout: Layout, layer: &Layer) -> Layout {
    let limit = |line: ReferenceLine, label: &Option<&str>| {
        let line = line.with_color("var(--axis)").with_dasharray("5 4");
        if let Some(label) = label { line.with_label(*label) } else { line }
    };
    match layer {
        Layer::Stretch { from, to, tone } => layout.with_shaded_region(ShadedRegion {
            orientation: Orientation::Vertical,
            min_val: *from,
            max_val: *to,
            color: tone.css(),
            opacity: 0.28,
        }),
        Layer::LimitAcross { at, label } => {
            layout.with_reference_line(limit(ReferenceLine::horizontal(*at), label))
        }
        Layer::LimitUp { at, label } => {
            layout.with_reference_line(limit(ReferenceLine::vertical(*at), label))
        }
        Layer::Point { at, label, .. } if !label.is_empty() => layout.with_annotation(
            TextAnnotation::new(label.as_str(), at.0, at.1).with_font_size(FONT_SIZE),
        ),
        Layer::Band { .. }
        | Layer::Steps { .. }
        | Layer::Line { .. }
        | Layer::Point { .. }
        | Layer::MainPoint { .. } => layout,
    }
}

fn line_style(dashes: Dashes) -> LineStyle {
    match dashes {
        Dashes::Whole => LineStyle::Solid,
        Dashes::Long => LineStyle::Dashed,
        Dashes::Short => LineStyle::Custom("2 3".to_owned()),
    }
}
