//! Charts as files of their own: SVG, PNG, and their figures as CSV.

use crate::charts::{Chart, Dashes, Layer, Tone};
use crate::clean::Html;
use crate::clean::csv_quoted;
use crate::clean::put;
use crate::raster::{self, RasterError};
use crate::wrap::wrap_into;

/// The colours of a picture that stands outside of the page, and its font: those of the page by day.
const OUTSIDE: &str = "<style>svg{--ink:#1b1f24;--axis:#7a828d;--grid:#e3e7ec;--quiet:#7a828d;\
                       --alarm:#d9480f;--line-0:#0b5fc1;--line-1:#b4530a;--line-2:#0c7a6b;\
                       --line-3:#7b3fc4;--line-4:#b0205f;--line-5:#566270;font-family:sans-serif;\
                       background:#ffffff}</style>";

/// What an SVG file must begin with and a page need not.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A chart that can stand by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// What the files are called, without an ending: small letters, digits and `-`.
    pub name: String,
    /// The drawing, as a file.
    pub svg: String,
    /// Its figures, with a line of headings.
    pub csv: String,
    /// The width of its PNG; as large as suits a chart where none is given.
    pub width_px: Option<u32>,
}

impl ChartFile {
    /// The chart about `subject` that `picture`, one SVG element, draws, with `caption` above it.
    pub(crate) fn new(subject: &str, caption: &str, picture: &str, csv: String) -> Self {
        Self { name: file_name(subject), svg: alone(picture, caption), csv, width_px: None }
    }

    /// `picture` as it is, which says by itself what it is, as PNG `width_px` wide.
    pub(crate) fn bare(subject: &str, picture: &str, width_px: u32) -> Self {
        let (svg, csv) = (styled(picture), String::new());
        Self { name: file_name(subject), svg, csv, width_px: Some(width_px) }
    }

    /// The drawing as PNG, as by day.
    ///
    /// # Errors
    /// It has no size that a picture can have.
    pub fn png(&self) -> Result<Vec<u8>, RasterError> {
        raster::png(&self.svg, self.width_px)
    }
}

/// Room around a chart that stands by itself, and the height of a line of its caption and legend.
const MARGIN: f64 = 10.0;
const LINE: f64 = 16.0;

/// The size of a caption, and the letters of it that are as wide as one unit of the drawing.
const CAPTION_SIZE: f64 = 12.0;
const LETTERS_PER_UNIT: f64 = 0.14;

/// `picture` as a file, with `caption` above it.
fn alone(picture: &str, caption: &str) -> String {
    let Some((width, height)) = size(picture) else { return styled(picture) };
    let mut words = String::new();
    wrap_into(&mut words, "", caption, "", (width * LETTERS_PER_UNIT) as usize);
    let above = LINE * words.lines().count() as f64 + MARGIN;
    let whole = (width + 2.0 * MARGIN, height + above + 2.0 * MARGIN);
    let mut heading = String::new();
    for (line, words) in words.lines().enumerate() {
        let y = LINE * (line as f64 + 1.0);
        put!(
            heading,
            "<text x=\"{MARGIN}\" y=\"{y}\" font-size=\"{CAPTION_SIZE}\">{}</text>",
            Html(words)
        );
    }
    let view = |(width, height): (f64, f64)| format!("viewBox=\"0 0 {width} {height}\"");
    let picture = picture.trim_end().replacen(&view((width, height)), &view(whole), 1);
    let Some((begin, inside)) = picture.split_once('>') else { return styled(&picture) };
    let inside = inside.strip_suffix("</svg>").unwrap_or(inside);
    let shift = MARGIN + above;
    styled(&format!(
        "{begin}>{heading}<g transform=\"translate({MARGIN} {shift})\">{inside}</g></svg>"
    ))
}

/// Width and height of the view box of `picture`.
fn size(picture: &str) -> Option<(f64, f64)> {
    let (_, view) = picture.split_once("viewBox=\"0 0 ")?;
    let (width, height) = view.split_once('"')?.0.split_once(' ')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// `picture` with what a file needs and a page has already.
fn styled(picture: &str) -> String {
    let picture = picture.trim_end().replace("&#58;", ":");
    let namespace = if picture.contains("xmlns=") { "" } else { NAMESPACE };
    picture.replacen("<svg", &format!("<svg{namespace}"), 1).replacen(
        '>',
        &format!(">{OUTSIDE}"),
        1,
    )
}

/// `picture` of `chart` with `names` below it, each after the mark that stands for it: SVG that lies
/// around (0, 0) and is at most 28 wide.
pub(crate) fn with_legend(picture: &str, chart: &Chart, names: &[(String, String)]) -> String {
    let Chart { width, height, .. } = chart;
    let whole = height + LINE * names.len() as f64 + 6.0;
    let mut legend = String::new();
    for (at, (mark, name)) in names.iter().enumerate() {
        let y = height + LINE * (at as f64 + 0.75);
        put!(
            legend,
            "<g transform=\"translate(10 {y})\">{mark}<text x=\"34\" y=\"4\">{}</text></g>",
            Html(name)
        );
    }
    let end = format!("{legend}</svg>");
    let sizes = [*height, whole].map(|height| format!("viewBox=\"0 0 {width} {height}\""));
    let picture = picture.trim_end().replacen(&sizes[0], &sizes[1], 1);
    picture.strip_suffix("</svg>").map_or(picture.clone(), |inside| format!("{inside}{end}"))
}

/// A short piece of a line, for a legend.
pub(crate) fn mark(tone: Tone, dashes: Dashes) -> String {
    let stroke = match dashes {
        Dashes::Whole => "0",
        Dashes::Long => "8 4",
        Dashes::Short => "2 3",
    };
    format!(
        "<line x1=\"0\" y1=\"0\" x2=\"28\" y2=\"0\" stroke=\"{}\" stroke-width=\"2.5\" \
         stroke-dasharray=\"{stroke}\"/>",
        tone.css()
    )
}

/// A main point, for a legend.
pub(crate) fn main_mark(tone: Tone) -> String {
    format!("<path d=\"M0 0l6 -6 6 6-6 6z\" fill=\"{}\"/>", tone.css())
}

/// `subject`, up to a colon, as the name of a file.
fn file_name(subject: &str) -> String {
    let subject = subject.split_once(": ").map_or(subject, |(first, _)| first);
    let plain: String = subject
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
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
        let picture = "<svg role=\"img\" viewBox=\"0 0 400 4\"><title>a</title></svg>\n";
        let file = ChartFile::new("4 KiB random write: a rate", "In IOPS", picture, String::new());
        assert_eq!(file.name, "4-kib-random-write");
        assert!(file.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role="));
        assert!(file.svg.contains("><style>svg{--ink"), "{}", file.svg);
        assert!(file.svg.contains(">In IOPS</text>") && file.svg.ends_with("</g></svg>"));
        assert!(file.png().is_ok());
    }
}
