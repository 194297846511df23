//! Draws a chart as one SVG element of a page.
//!
//! Many charts share one page, so their ids differ; they grow and shrink with it; they have a name
//! for those who do not see them; and they are small: numbers have at most two decimals, and the
//! grid is one path.

use std::fmt::{self, Display, Write};

use super::labels::{Area, Label, beside};
use super::ticks::ticks;
use super::{Axis, Chart, Dashes, Layer, PlotError, Scale, Tone};
use crate::clean::Html;

pub(super) const FONT_SIZE: f64 = 11.0;

/// The mean width of a letter or digit of a page's font, as a share of its size.
pub(super) const LETTER_WIDTH: f64 = 0.56;

/// Room for the longest word on a vertical axis, `0.0001 %`; the same in all charts, so that those
/// above one another have one time axis.
const MARGIN_LEFT: f64 = 60.0;
const MARGIN_RIGHT: f64 = 16.0;
const MARGIN_TOP: f64 = 8.0;
const MARGIN_BOTTOM: f64 = 22.0;

/// The length of a tick, and the room between it and its word.
const TICK: f64 = 5.0;
const TICK_GAP: f64 = 3.0;

/// How far a point reaches from its middle, how far the one that the chart is about, and one of many.
const POINT_RADIUS: f64 = 3.5;
const MAIN_RADIUS: f64 = 7.8;
const DOT_RADIUS: f64 = 2.5;

/// A place that lies farther outside a chart than this is drawn at this distance, so that no value
/// makes a number of hundreds of digits.
const OUTSIDE_MAX: f64 = 1e5;

/// Appends the drawing of `chart` to `page` under the name `id`, which no other chart has.
///
/// Its colours are those of [`Tone::css`] and, for text, axes and grid, `var(--ink)`, `var(--axis)`
/// and `var(--grid)`.
///
/// # Errors
/// The chart is not drawable.
pub(crate) fn draw(page: &mut String, chart: &Chart, id: &str) -> Result<(), PlotError> {
    if !chart.is_drawable() {
        return Err(PlotError);
    }
    // Writing to a string cannot fail.
    let _ = Frame::new(chart).write(page, id);
    Ok(())
}

/// A chart with the place of its axes, in its user units.
struct Frame<'c> {
    chart: &'c Chart,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl<'c> Frame<'c> {
    fn new(chart: &'c Chart) -> Self {
        Self {
            chart,
            left: MARGIN_LEFT,
            right: chart.width - MARGIN_RIGHT,
            top: MARGIN_TOP,
            bottom: chart.height - MARGIN_BOTTOM,
        }
    }

    fn x(&self, value: f64) -> Number {
        Number::near(self.left + self.chart.x.share(value) * (self.right - self.left))
    }

    fn y(&self, value: f64) -> Number {
        Number::near(self.bottom - self.chart.y.share(value) * (self.bottom - self.top))
    }

    fn write(&self, page: &mut String, id: &str) -> fmt::Result {
        let Chart { title, width, height, layers, .. } = self.chart;
        write!(
            page,
            "<svg role=\"img\" aria-labelledby=\"{id}\" viewBox=\"0 0 {width} {height}\" \
             fill=\"var(--ink)\" font-size=\"{FONT_SIZE}\"><title id=\"{id}\">{}</title>\
             <defs><clipPath id=\"{id}-plot\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
             </clipPath></defs>",
            Html(title),
            self.left,
            self.top,
            self.right - self.left,
            self.bottom - self.top,
        )?;
        self.axes(page)?;
        write!(page, "<g clip-path=\"url(#{id}-plot)\">")?;
        for layer in layers {
            self.layer(page, layer)?;
        }
        self.labels(page)?;
        page.push_str("</g></svg>\n");
        Ok(())
    }

    /// The grid, the axes with their ticks, and the words beside these.
    fn axes(&self, page: &mut String) -> fmt::Result {
        let Self { left, right, top, bottom, .. } = *self;
        let (across, up) = (ticks(&self.chart.x), ticks(&self.chart.y));
        page.push_str("<path fill=\"none\" stroke=\"var(--grid)\" d=\"");
        for place in across.iter().map(|value| self.x(*value)).filter(|x| x.0 > left) {
            write!(page, "M{place} {top}V{bottom}")?;
        }
        for place in up.iter().map(|value| self.y(*value)).filter(|y| y.0 < bottom) {
            write!(page, "M{left} {place}H{right}")?;
        }
        write!(
            page,
            "\"/><path fill=\"none\" stroke=\"var(--axis)\" d=\"M{left} {top}V{bottom}H{right}"
        )?;
        for value in &across {
            write!(page, "M{} {bottom}v{TICK}", self.x(*value))?;
        }
        for value in &up {
            write!(page, "M{left} {}h-{TICK}", self.y(*value))?;
        }
        page.push_str("\"/>");
        self.words_across(page, &across)?;
        self.words_up(page, &up)
    }

    /// The words below the horizontal axis, without those that would cover the one before. On a linear
    /// axis the words have equal steps, so that nobody misreads a missing one.
    fn words_across(&self, page: &mut String, values: &[f64]) -> fmt::Result {
        let steps = match self.chart.x.scale {
            Scale::Linear | Scale::Bytes | Scale::LogarithmicBytes => 1..=values.len().max(1),
            Scale::Logarithmic => 1..=1,
        };
        let all = |step: &usize| values.iter().step_by(*step);
        let fits = |step: &usize| self.without_overlap(all(step)).len() == all(step).count();
        let step = steps.clone().find(fits).unwrap_or(*steps.start());
        page.push_str("<g text-anchor=\"middle\">");
        for (place, word) in self.without_overlap(all(&step)) {
            let y = Number(self.bottom + TICK + TICK_GAP + 0.65 * FONT_SIZE);
            write!(page, "<text x=\"{place}\" y=\"{y}\">{}</text>", Html(&word))?;
        }
        page.push_str("</g>");
        Ok(())
    }

    /// The words of `values` with their places, without those that would cover the one before.
    fn without_overlap<'v>(&self, values: impl Iterator<Item = &'v f64>) -> Vec<(Number, String)> {
        let mut end = f64::NEG_INFINITY;
        let mut words = Vec::new();
        for value in values {
            let (place, word) = (self.x(*value), (self.chart.x.tick)(*value));
            let half = word.chars().count() as f64 * LETTER_WIDTH * FONT_SIZE / 2.0;
            if place.0 - half >= end + TICK_GAP {
                end = place.0 + half;
                words.push((place, word));
            }
        }
        words
    }

    fn words_up(&self, page: &mut String, values: &[f64]) -> fmt::Result {
        page.push_str("<g text-anchor=\"end\">");
        for value in values {
            let x = self.left - TICK - TICK_GAP;
            let y = Number(self.y(*value).0 + 0.36 * FONT_SIZE);
            let word = (self.chart.y.tick)(*value);
            write!(page, "<text x=\"{x}\" y=\"{y}\">{}</text>", Html(&word))?;
        }
        page.push_str("</g>");
        Ok(())
    }

    fn layer(&self, page: &mut String, layer: &Layer) -> fmt::Result {
        match layer {
            Layer::Stretch { from, to, tone } => self.stretch(page, (*from, *to), *tone),
            Layer::Band { points, tone } => self.band(page, points, *tone),
            Layer::Steps { points, tone } => self.steps(page, points, *tone),
            Layer::Line { points, tone, dashes } => {
                let dashes = match dashes {
                    Dashes::Whole => "",
                    Dashes::Long => " stroke-dasharray=\"8 4\"",
                    Dashes::Short => " stroke-dasharray=\"2 3\"",
                };
                page.push_str("<polyline fill=\"none\" points=\"");
                self.places(page, points.iter().copied())?;
                write!(page, "\" stroke=\"{}\" stroke-width=\"1.75\"{dashes}/>", tone.css())
            }
            Layer::Point { at, tone, .. } => {
                let (x, y) = (self.x(at.0), self.y(at.1));
                let fill = tone.css();
                write!(page, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{POINT_RADIUS}\" fill=\"{fill}\"/>")
            }
            Layer::Dots { points, tone } => self.dots(page, points, *tone),
            Layer::AxisNames { across, up } => {
                let below = (Number(self.right - 4.0), Number(self.bottom - 5.0));
                word(page, below, "end", across)?;
                word(page, (Number(self.left + 4.0), Number(self.top + FONT_SIZE)), "start", up)
            }
            Layer::MainPoint { at, tone, .. } => {
                const R: f64 = MAIN_RADIUS;
                let (x, y) = (self.x(at.0), Number(self.y(at.1).0 - R));
                let fill = tone.css();
                write!(page, "<path d=\"M{x} {y}l{R} {R}-{R} {R}-{R}-{R}z\" fill=\"{fill}\"/>")
            }
            Layer::Corner { at, label } => {
                let (x, y) = (self.x(at.0), self.y(at.1));
                write!(
                    page,
                    "<path fill=\"none\" stroke=\"var(--axis)\" stroke-dasharray=\"5 4\" \
                     d=\"M{x} {}V{y}H{}\"/>",
                    self.top, self.right
                )?;
                let place = (Number(self.right - 4.0), Number(y.0 - 4.0));
                word(page, place, "end", label)
            }
            Layer::LimitAcross { at, label } => {
                let y = self.y(*at);
                self.limit(page, (Number(self.left), y), (Number(self.right), y))?;
                let place = (Number(self.right - 4.0), Number(y.0 - 4.0));
                label.map_or(Ok(()), |label| word(page, place, "end", label))
            }
        }
    }

    fn stretch(&self, page: &mut String, (from, to): (f64, f64), tone: Tone) -> fmt::Result {
        let (from, to) = (self.x(from), self.x(to));
        write!(
            page,
            "<rect x=\"{from}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
             fill-opacity=\"0.28\"/>",
            self.top,
            Number(to.0 - from.0),
            self.bottom - self.top,
            tone.css()
        )
    }

    fn band(&self, page: &mut String, points: &[(f64, f64, f64)], tone: Tone) -> fmt::Result {
        let upper = points.iter().map(|&(x, _, high)| (x, high));
        let lower = points.iter().rev().map(|&(x, low, _)| (x, low));
        page.push_str("<polygon points=\"");
        self.places(page, upper.chain(lower))?;
        write!(page, "\" fill=\"{}\" fill-opacity=\"0.25\"/>", tone.css())
    }

    fn steps(&self, page: &mut String, points: &[(f64, f64)], tone: Tone) -> fmt::Result {
        let Some((&first, &last)) = points.first().zip(points.last()) else { return Ok(()) };
        let mut corners = Vec::with_capacity(2 * points.len());
        for pair in points.windows(2) {
            corners.extend([pair[0], (pair[1].0, pair[0].1)]);
        }
        corners.push(last);
        let ground = self.chart.y.low.max(0.0);
        page.push_str("<polygon points=\"");
        let below = [(last.0, ground), (first.0, ground)];
        self.places(page, corners.iter().copied().chain(below))?;
        write!(page, "\" fill=\"{}\" fill-opacity=\"0.18\"/>", tone.css())?;
        page.push_str("<polyline fill=\"none\" points=\"");
        self.places(page, corners.into_iter())?;
        write!(page, "\" stroke=\"{}\" stroke-width=\"1.25\"/>", tone.css())
    }

    fn dots(&self, page: &mut String, points: &[(f64, f64)], tone: Tone) -> fmt::Result {
        write!(page, "<g fill=\"{}\">", tone.css())?;
        for (x, y) in points {
            let (x, y) = (self.x(*x), self.y(*y));
            write!(page, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{DOT_RADIUS}\" opacity=\"0.35\"/>")?;
        }
        page.push_str("</g>");
        Ok(())
    }

    /// The words of the points: first of those that the chart is about, which find room first.
    fn labels(&self, page: &mut String) -> fmt::Result {
        let mut main = Vec::new();
        let mut others = Vec::new();
        for layer in &self.chart.layers {
            let (labels, at, reach, word) = match layer {
                Layer::Point { at, label, .. } => (&mut others, at, POINT_RADIUS, label),
                Layer::MainPoint { at, label, .. } => (&mut main, at, MAIN_RADIUS, label),
                _ => continue,
            };
            labels.push(Label { at: (self.x(at.0).0, self.y(at.1).0), reach, word });
        }
        let Self { left, top, right, bottom, .. } = *self;
        let labels = [main.as_slice(), &others].concat();
        let places = beside(&labels, Area { left, top, right, bottom });
        for (number, (Label { word: text, .. }, place)) in labels.iter().zip(places).enumerate() {
            let Some((x, y)) = place else { continue };
            let weight = if number < main.len() { " font-weight=\"bold\"" } else { "" };
            write!(
                page,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\"{weight}>{}</text>",
                Number(x),
                Number(y),
                Html(text)
            )?;
        }
        Ok(())
    }

    fn limit(
        &self,
        page: &mut String,
        from: (Number, Number),
        to: (Number, Number),
    ) -> fmt::Result {
        write!(
            page,
            "<path fill=\"none\" stroke=\"var(--axis)\" stroke-dasharray=\"5 4\" \
             d=\"M{} {}L{} {}\"/>",
            from.0, from.1, to.0, to.1
        )
    }

    /// The places of `points`, as the lists of SVG have them.
    fn places(&self, page: &mut String, points: impl Iterator<Item = (f64, f64)>) -> fmt::Result {
        for (index, (x, y)) in points.enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(page, "{gap}{},{}", self.x(x), self.y(y))?;
        }
        Ok(())
    }
}

fn word(page: &mut String, (x, y): (Number, Number), anchor: &str, text: &str) -> fmt::Result {
    write!(page, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>", Html(text))
}

impl Axis {
    /// Where `value` lies on the axis: 0 at its beginning, 1 at its end.
    fn share(&self, value: f64) -> f64 {
        // Halves, so that the difference of the largest numbers is a number.
        let place = |value: f64| match self.scale {
            Scale::Linear | Scale::Bytes => value / 2.0,
            Scale::Logarithmic | Scale::LogarithmicBytes => value.log10(),
        };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

/// A length or place in user units, written with at most two decimals.
#[derive(Clone, Copy)]
struct Number(f64);

impl Number {
    /// `place`, or the nearest that is worth drawing; what is no number lies outside.
    #[allow(clippy::manual_clamp, reason = "clamp keeps what is no number")]
    fn near(place: f64) -> Self {
        Self(place.max(-OUTSIDE_MAX).min(OUTSIDE_MAX))
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (self.0 * 100.0).round();
        // Adding zero turns the negative zero into the other one.
        write!(f, "{}", hundredths / 100.0 + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64) -> Axis {
        Axis { scale: Scale::Linear, low, high, tick: |value| value.to_string() }
    }

    fn drawn(x: Axis, y: Axis, layers: Vec<Layer>) -> Result<String, PlotError> {
        let title = "a <b>".to_owned();
        let mut page = String::new();
        draw(&mut page, &Chart { title, width: 176.0, height: 130.0, x, y, layers }, "c7")?;
        Ok(page)
    }

    /// What is drawn between the axes; 100 units wide and high, from 60 and 8.
    fn inside(layer: Layer) -> String {
        let page = drawn(axis(0.0, 10.0), axis(0.0, 10.0), vec![layer]).unwrap();
        let (_, inside) = page.split_once("<g clip-path=\"url(#c7-plot)\">").unwrap();
        inside.strip_suffix("</g></svg>\n").unwrap().to_owned()
    }

    #[test]
    fn a_chart_has_a_name_a_grid_axes_and_words() {
        let page = drawn(axis(0.0, 2.0), axis(0.0, 0.31), Vec::new()).unwrap();
        insta::assert_snapshot!(page);
    }

    #[test]
    fn a_linear_axis_has_labels_at_equal_steps() {
        let x = Axis { tick: |value| format!("{value} seconds"), ..axis(0.0, 1.7) };
        let page = drawn(x, axis(0.0, 1.0), Vec::new()).unwrap();
        let labels: Vec<f64> = page
            .split('>')
            .filter_map(|part| part.split_once(" seconds")?.0.parse().ok())
            .collect();
        let steps: Vec<f64> = labels.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            !steps.is_empty() && steps.iter().all(|step| (step - steps[0]).abs() < 1e-9),
            "{labels:?}"
        );
    }

    #[test]
    fn each_layer_lies_where_its_values_are() {
        let tone = Tone::Line(0);
        let points = vec![(0.0, 1.0), (5.0, 10.0 / 3.0), (10.0, 2.0)];
        let layers = [
            Layer::Stretch { from: 2.0, to: 3.5, tone: Tone::Alarm },
            Layer::Band { points: vec![(0.0, 1.0, 2.0), (10.0, 3.0, 4.0)], tone },
            Layer::Steps { points: points.clone(), tone },
            Layer::Line { points, tone, dashes: Dashes::Short },
            Layer::Point { at: (5.0, 5.0), tone: Tone::Quiet, label: "1, <2>".to_owned() },
            Layer::MainPoint { at: (5.0, 5.0), tone, label: "this".to_owned() },
            Layer::Dots { points: vec![(5.0, 5.0), (0.0, 10.0)], tone: Tone::Quiet },
            Layer::AxisNames { across: "reads", up: "writes" },
            Layer::LimitAcross { at: 4.0, label: Some("A1") },
            Layer::Corner { at: (4.0, 4.0), label: "A2" },
        ];
        let drawn: Vec<String> = layers.into_iter().map(inside).collect();
        insta::assert_snapshot!(drawn.join("\n"));
    }

    #[test]
    fn a_value_without_a_place_is_refused() {
        for at in [f64::NAN, f64::INFINITY] {
            let layers = vec![Layer::Dots { points: vec![(1.0, at)], tone: Tone::Quiet }];
            assert_eq!(drawn(axis(0.0, 1.0), axis(0.0, 1.0), layers), Err(PlotError));
        }
        assert_eq!(drawn(axis(1.0, 1.0), axis(0.0, 1.0), Vec::new()), Err(PlotError));
    }

    #[test]
    fn absurd_values_make_no_long_numbers() {
        let ends = [f64::MIN, -1.0, 0.0, 5e-324, 1.0, 1.0_f64.next_up(), f64::MAX];
        for (low, high) in ends.iter().flat_map(|low| ends.map(|high| (*low, high))) {
            if low < high {
                let points = ends.map(|value| (value, value)).to_vec();
                let layers = vec![Layer::Steps { points, tone: Tone::Quiet }];
                let page = drawn(axis(low, high), axis(low, high), layers).unwrap();
                let shape = page.split("points=\"").skip(1).flat_map(|text| text.split('"').next());
                let numbers = shape.flat_map(|list| list.split([',', ' ']));
                for number in numbers {
                    assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{number}: {page}");
                    assert!(number.len() <= 10, "{number}");
                }
            }
        }
    }
}
