//! Makes a chart into shapes.
//!
//! The grid is one shape, and words that would cover one another are left out.

use super::labels::{Area, Label, beside};
use super::ticks::ticks;
use super::{Axis, Chart, Layer, PlotError, Scale, Tone};
use crate::drawing::{Anchor, Colour, Drawing, Letters, Paint, Place, Rectangle, Shape, Weight};

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

/// The line of a limit.
const LIMIT: (f64, f64) = (5.0, 4.0);

/// A place that lies farther outside a chart than this is drawn at this distance, so that no value
/// makes a number of hundreds of digits.
const OUTSIDE_MAX: f64 = 1e5;

/// The drawing of `chart`.
///
/// # Errors
/// The chart is not drawable.
pub(crate) fn draw(chart: &Chart) -> Result<Drawing, PlotError> {
    if !chart.is_drawable() {
        return Err(PlotError);
    }
    Ok(Frame::new(chart).drawing())
}

/// The shape of a main point around `middle` that reaches `radius` far.
pub(crate) fn diamond((x, y): Place, radius: f64, tone: Tone) -> Shape {
    let corners = vec![(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
    Shape::polygon(corners, Paint::filled(Colour::Tone(tone)))
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

    fn x(&self, value: f64) -> f64 {
        near(self.left + self.chart.x.share(value) * (self.right - self.left))
    }

    fn y(&self, value: f64) -> f64 {
        near(self.bottom - self.chart.y.share(value) * (self.bottom - self.top))
    }

    fn place(&self, (x, y): (f64, f64)) -> Place {
        (self.x(x), self.y(y))
    }

    /// The places of `points`.
    fn places(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<Place> {
        points.map(|point| self.place(point)).collect()
    }

    fn drawing(&self) -> Drawing {
        let Chart { title, width, height, layers, .. } = self.chart;
        let mut inside = Vec::new();
        for layer in layers {
            self.layer(&mut inside, layer);
        }
        self.labels(&mut inside);
        let mut shapes = self.axes();
        shapes.push(Shape::Group {
            shift: (0.0, 0.0),
            within: Some(Rectangle {
                corner: (self.left, self.top),
                size: (self.right - self.left, self.bottom - self.top),
            }),
            font_size: None,
            shapes: inside,
        });
        Drawing { title: title.clone(), size: (*width, *height), font_size: FONT_SIZE, shapes }
    }

    /// The grid, the axes with their ticks, and the words beside these.
    fn axes(&self) -> Vec<Shape> {
        let Self { left, right, top, bottom, .. } = *self;
        let (across, up) = (ticks(&self.chart.x), ticks(&self.chart.y));
        let mut grid = Vec::new();
        let mut axes = vec![vec![(left, top), (left, bottom), (right, bottom)]];
        for x in across.iter().map(|value| self.x(*value)) {
            axes.push(vec![(x, bottom), (x, bottom + TICK)]);
            if x > left {
                grid.push(vec![(x, top), (x, bottom)]);
            }
        }
        for y in up.iter().map(|value| self.y(*value)) {
            axes.push(vec![(left, y), (left - TICK, y)]);
            if y < bottom {
                grid.push(vec![(left, y), (right, y)]);
            }
        }
        let lines = |lines, colour| {
            let paint = Paint::line(colour, 1.0);
            Shape::Lines { lines, is_closed: false, paint }
        };
        vec![
            lines(grid, Colour::Grid),
            lines(axes, Colour::Axis),
            self.words_across(&across),
            self.words_up(&up),
        ]
    }

    /// The words below the horizontal axis, without those that would cover the one before. On a linear
    /// axis the words have equal steps, so that nobody misreads a missing one.
    fn words_across(&self, values: &[f64]) -> Shape {
        let steps = match self.chart.x.scale {
            Scale::Linear | Scale::Bytes | Scale::LogarithmicBytes => 1..=values.len().max(1),
            Scale::Logarithmic => 1..=1,
        };
        let all = |step: &usize| values.iter().step_by(*step);
        let fits = |step: &usize| self.without_overlap(all(step)).len() == all(step).count();
        let step = steps.clone().find(fits).unwrap_or(*steps.start());
        let words = self.without_overlap(all(&step));
        Shape::Words { words, letters: Letters::at(Anchor::Middle) }
    }

    /// The words of `values` with their places, without those that would cover the one before.
    fn without_overlap<'v>(&self, values: impl Iterator<Item = &'v f64>) -> Vec<(Place, String)> {
        let base = self.bottom + TICK + TICK_GAP + 0.65 * FONT_SIZE;
        let mut end = f64::NEG_INFINITY;
        let mut words = Vec::new();
        for value in values {
            let (x, word) = (self.x(*value), (self.chart.x.tick)(*value));
            let half = word.chars().count() as f64 * LETTER_WIDTH * FONT_SIZE / 2.0;
            if x - half >= end + TICK_GAP {
                end = x + half;
                words.push(((x, base), word));
            }
        }
        words
    }

    fn words_up(&self, values: &[f64]) -> Shape {
        let x = self.left - TICK - TICK_GAP;
        let place = |value: &f64| (x, self.y(*value) + 0.36 * FONT_SIZE);
        let words = values.iter().map(|value| (place(value), (self.chart.y.tick)(*value)));
        Shape::Words { words: words.collect(), letters: Letters::at(Anchor::End) }
    }

    /// Appends the shapes of `layer`.
    fn layer(&self, shapes: &mut Vec<Shape>, layer: &Layer) {
        match layer {
            Layer::Stretch { from, to, tone } => {
                let (from, to) = (self.x(*from), self.x(*to));
                let size = (to - from, self.bottom - self.top);
                let paint = Paint::filled(Colour::Tone(*tone)).faint(0.28);
                shapes.push(Shape::rectangle((from, self.top), size, paint));
            }
            Layer::Band { points, tone } => {
                let upper = points.iter().map(|&(x, _, high)| (x, high));
                let lower = points.iter().rev().map(|&(x, low, _)| (x, low));
                let paint = Paint::filled(Colour::Tone(*tone)).faint(0.25);
                shapes.push(Shape::polygon(self.places(upper.chain(lower)), paint));
            }
            Layer::Steps { points, tone } => self.steps(shapes, points, *tone),
            Layer::Line { points, tone, dashes } => {
                let paint = Paint::line(Colour::Tone(*tone), 1.75).dashed(dashes.lengths());
                shapes.push(Shape::line(self.places(points.iter().copied()), paint));
            }
            Layer::Point { at, tone, .. } => shapes.push(Shape::Discs {
                middles: vec![self.place(*at)],
                radius: POINT_RADIUS,
                paint: Paint::filled(Colour::Tone(*tone)),
            }),
            Layer::Dots { points, tone } => shapes.push(Shape::Discs {
                middles: self.places(points.iter().copied()),
                radius: DOT_RADIUS,
                paint: Paint::filled(Colour::Tone(*tone)).faint(0.35),
            }),
            Layer::AxisNames { across, up } => {
                let (end, start) = (Letters::at(Anchor::End), Letters::at(Anchor::Start));
                shapes.push(Shape::word((self.right - 4.0, self.bottom - 5.0), across, end));
                shapes.push(Shape::word((self.left + 4.0, self.top + FONT_SIZE), up, start));
            }
            Layer::MainPoint { at, tone, .. } => {
                shapes.push(diamond(self.place(*at), MAIN_RADIUS, *tone));
            }
            Layer::Corner { at, label } => {
                let (x, y) = self.place(*at);
                let corner = vec![(x, self.top), (x, y), (self.right, y)];
                self.limit(shapes, corner, Some(label));
            }
            Layer::LimitAcross { at, label } => {
                let y = self.y(*at);
                self.limit(shapes, vec![(self.left, y), (self.right, y)], *label);
            }
        }
    }

    fn steps(&self, shapes: &mut Vec<Shape>, points: &[(f64, f64)], tone: Tone) {
        let Some((&first, &last)) = points.first().zip(points.last()) else { return };
        let mut corners = Vec::with_capacity(2 * points.len());
        for pair in points.windows(2) {
            corners.extend([pair[0], (pair[1].0, pair[0].1)]);
        }
        corners.push(last);
        let ground = self.chart.y.low.max(0.0);
        let line = self.places(corners.into_iter());
        let below = self.places([(last.0, ground), (first.0, ground)].into_iter());
        let colour = Colour::Tone(tone);
        let area = [line.as_slice(), &below].concat();
        shapes.push(Shape::polygon(area, Paint::filled(colour).faint(0.18)));
        shapes.push(Shape::line(line, Paint::line(colour, 1.25)));
    }

    /// A limit through `places`, with its name above its end.
    fn limit(&self, shapes: &mut Vec<Shape>, places: Vec<Place>, label: Option<&str>) {
        let level = places.last().map_or(self.top, |place| place.1);
        let paint = Paint::line(Colour::Axis, 1.0).dashed(Some(LIMIT));
        shapes.push(Shape::line(places, paint));
        if let Some(label) = label {
            let place = (self.right - 4.0, level - 4.0);
            shapes.push(Shape::word(place, label, Letters::at(Anchor::End)));
        }
    }

    /// The words of the points: first of those that the chart is about, which find room first.
    fn labels(&self, shapes: &mut Vec<Shape>) {
        let mut main = Vec::new();
        let mut others = Vec::new();
        for layer in &self.chart.layers {
            let (labels, at, reach, word) = match layer {
                Layer::Point { at, label, .. } => (&mut others, at, POINT_RADIUS, label),
                Layer::MainPoint { at, label, .. } => (&mut main, at, MAIN_RADIUS, label),
                _ => continue,
            };
            labels.push(Label { at: self.place(*at), reach, word });
        }
        let Self { left, top, right, bottom, .. } = *self;
        let labels = [main.as_slice(), &others].concat();
        let places = beside(&labels, Area { left, top, right, bottom });
        for (number, (Label { word: text, .. }, place)) in labels.iter().zip(places).enumerate() {
            let Some(place) = place else { continue };
            let weight = if number < main.len() { Weight::Bold } else { Weight::Regular };
            let letters = Letters { weight, ..Letters::at(Anchor::Middle) };
            shapes.push(Shape::word(place, text, letters));
        }
    }
}

/// `place`, or the nearest that is worth drawing; what is no number lies outside.
#[allow(clippy::manual_clamp, reason = "clamp keeps what is no number")]
fn near(place: f64) -> f64 {
    place.max(-OUTSIDE_MAX).min(OUTSIDE_MAX)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::Dashes;
    use crate::drawing::svg;

    fn axis(low: f64, high: f64) -> Axis {
        Axis { scale: Scale::Linear, low, high, tick: |value| value.to_string() }
    }

    fn drawn(x: Axis, y: Axis, layers: Vec<Layer>) -> Result<String, PlotError> {
        let title = "a <b>".to_owned();
        let chart = Chart { title, width: 176.0, height: 130.0, x, y, layers };
        Ok(svg::element(&draw(&chart)?, "c7"))
    }

    /// What is drawn between the axes; 100 units wide and high, from 60 and 8.
    fn inside(layer: Layer) -> String {
        let page = drawn(axis(0.0, 10.0), axis(0.0, 10.0), vec![layer]).unwrap();
        let (_, inside) = page.split_once("<g clip-path=\"url(#c7-area-1)\">").unwrap();
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
                let shape = page.split("d=\"M").skip(1).flat_map(|text| text.split('"').next());
                let is_between = |c: char| matches!(c, ' ' | 'M' | 'L' | 'H' | 'V' | 'z');
                let numbers = shape.flat_map(|list| list.split(is_between));
                for number in numbers.filter(|number| !number.is_empty()) {
                    assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{number}: {page}");
                    assert!(number.len() <= 10, "{number}");
                }
            }
        }
    }
}
