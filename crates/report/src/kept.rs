//! Charts as files of their own: SVG, PNG, and their figures as CSV.

use crate::charts::{Chart, Dashes, Layer, diamond};
use crate::clean::csv_quoted;
use crate::drawing::{Anchor, Colour, Drawing, Letters, Paint, Shape, Tone, svg};
use crate::markup::Markup;
use crate::raster::{self, RasterError};
use crate::wrap::wrap_into;

/// A chart that can stand by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartFile {
    /// What the files are called, without an ending: small letters, digits and `-`.
    pub name: String,
    /// Its figures, with a line of headings.
    pub csv: String,
    drawing: Drawing,
    /// The width of its PNG; as large as suits a chart where none is given.
    width_px: Option<u32>,
}

impl ChartFile {
    /// The chart that `picture` shows, with `caption` above it; its files are called after `subject`.
    pub(crate) fn new(subject: &str, caption: &str, picture: Drawing, csv: String) -> Self {
        let drawing = with_caption(picture, caption);
        Self { name: file_name(subject), csv, drawing, width_px: None }
    }

    /// `drawing` as it is, which says by itself what it is, as PNG `width_px` wide.
    pub(crate) fn bare(subject: &str, drawing: Drawing, width_px: u32) -> Self {
        let (name, csv) = (file_name(subject), String::new());
        Self { name, csv, drawing, width_px: Some(width_px) }
    }

    /// The drawing as an SVG file, in the colours of the page by day.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::file(&self.drawing)
    }

    /// The drawing as PNG, as by day.
    ///
    /// # Errors
    /// It has no size that a picture can have.
    pub fn png(&self) -> Result<Vec<u8>, RasterError> {
        raster::png(&self.drawing, self.width_px)
    }
}

/// Room around a chart that stands by itself, and the height of a line of its caption and legend.
const MARGIN: f64 = 10.0;
const LINE: f64 = 16.0;

/// The size of a caption, and the letters of it that are as wide as one unit of the drawing.
const CAPTION_SIZE: f64 = 12.0;
const LETTERS_PER_UNIT: f64 = 0.14;

/// `picture` with room around it and `caption` above it.
fn with_caption(picture: Drawing, caption: &str) -> Drawing {
    let (width, height) = picture.size;
    let mut text = String::new();
    wrap_into(&mut text, "", caption, "", (width * LETTERS_PER_UNIT) as usize);
    let mut words = Vec::new();
    let mut above = MARGIN;
    for line in text.lines() {
        words.push(((MARGIN, LINE * (words.len() as f64 + 1.0)), line.to_owned()));
        above += LINE;
    }
    let letters = Letters { size: Some(CAPTION_SIZE), ..Letters::at(Anchor::Start) };
    let below = Shape::shifted((MARGIN, MARGIN + above), picture.shapes);
    Drawing {
        size: (width + 2.0 * MARGIN, height + above + 2.0 * MARGIN),
        shapes: vec![Shape::Words { words, letters }, below],
        ..picture
    }
}

/// A name of a legend after the mark that stands for it, which lies around (0, 0) and is at most 28 wide.
pub(crate) type Entry = (Shape, String);

/// `picture` with the names of `legend` below it.
pub(crate) fn with_legend(mut picture: Drawing, legend: Vec<Entry>) -> Drawing {
    let (width, height) = picture.size;
    picture.size = (width, height + LINE * legend.len() as f64 + 6.0);
    for (at, (mark, name)) in legend.into_iter().enumerate() {
        let name = Shape::word((34.0, 4.0), &name, Letters::at(Anchor::Start));
        let y = height + LINE * (at as f64 + 0.75);
        picture.shapes.push(Shape::shifted((10.0, y), vec![mark, name]));
    }
    picture
}

/// A short piece of a line, for a legend.
pub(crate) fn mark(tone: Tone, dashes: Dashes) -> Shape {
    let paint = Paint::line(Colour::Tone(tone), 2.5).dashed(dashes.lengths());
    Shape::line(vec![(0.0, 0.0), (28.0, 0.0)], paint)
}

/// A main point, for a legend.
pub(crate) fn main_mark(tone: Tone) -> Shape {
    diamond((6.0, 0.0), 6.0, tone)
}

/// Appends the mark of a legend to a page, where its name follows.
pub(crate) fn write_mark(page: &mut Markup, mark: Shape) {
    page.ornament((28.0, 8.0), &[Shape::shifted((0.0, 4.0), vec![mark])]);
}

/// `subject` as the name of a file: its letters and digits, small, with a `-` for whatever is between them.
fn file_name(subject: &str) -> String {
    let mut name = String::with_capacity(subject.len());
    let mut is_between = false;
    for c in subject.chars().flat_map(char::to_lowercase) {
        if !c.is_ascii_alphanumeric() {
            is_between = !name.is_empty();
            continue;
        }
        if is_between {
            name.push('-');
            is_between = false;
        }
        name.push(c);
    }
    name
}

/// The points of `chart`, each with the name of its line: those of `names` in the order of the lines.
pub(crate) fn csv_of(chart: &Chart, names: &[String]) -> String {
    let mut out = String::from("line,to_the_right,upwards,upwards_high\n");
    let mut lines = 0;
    let mut next = || {
        lines += 1;
        names.get(lines - 1).cloned().unwrap_or_else(|| format!("line {lines}"))
    };
    for layer in &chart.layers {
        match layer {
            Layer::Line { points, .. }
            | Layer::Steps { points, .. }
            | Layer::Dots { points, .. } => {
                let name = csv_quoted(&next());
                for (x, y) in points {
                    out.push_str(&format!("{name},{x},{y},\n"));
                }
            }
            Layer::Band { points, .. } => {
                for (x, low, high) in points {
                    out.push_str(&format!("between,{x},{low},{high}\n"));
                }
            }
            Layer::Point { at: (x, y), .. } | Layer::MainPoint { at: (x, y), .. } => {
                out.push_str(&format!("{},{x},{y},\n", csv_quoted(&next())));
            }
            Layer::Corner { at: (x, y), label } => {
                out.push_str(&format!("limit {label},{x},{y},\n"));
            }
            Layer::LimitAcross { at, label } => {
                out.push_str(&format!("limit {},,{at},\n", label.unwrap_or_default()));
            }
            Layer::AxisNames { .. } => {}
            Layer::Stretch { from, to, .. } => {
                out.push_str(&format!("pause,{from},,\npause,{to},,\n"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_stands_by_itself() {
        let picture = Drawing {
            title: "a".to_owned(),
            size: (400.0, 4.0),
            font_size: 11.0,
            shapes: Vec::new(),
        };
        let file = ChartFile::new("(4 KiB) random: write", "In IOPS", picture, String::new());
        let svg = file.svg();
        assert_eq!(file.name, "4-kib-random-write");
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role="));
        assert!(svg.contains("><style>svg{--ink"), "{svg}");
        assert!(svg.contains(">In IOPS</text>") && svg.ends_with("</g></svg>"));
        assert!(file.png().is_ok());
    }

    #[test]
    fn a_file_is_called_after_its_whole_subject() {
        assert_eq!(file_name("A rate: of all (small) writes."), "a-rate-of-all-small-writes");
        assert_eq!(file_name("Zürich"), "z-rich");
    }
}
