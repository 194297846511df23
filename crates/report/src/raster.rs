//! A drawing as PNG, since a page without a script cannot make one, and not every forum takes SVG.
//!
//! The font has the letters of Western Europe; others are boxes. Colours are those of the page by day.

mod canvas;
pub(crate) mod font;
mod outline;
mod png;

use crate::drawing::{Anchor, Drawing, Letters, Paint, Place, Rectangle, Shape};
use canvas::{Canvas, Clip};
use outline::{dashed, disc, rectangle};

/// Pixels for each of the drawing's units: sharp on a telephone too.
const SCALE_MAX: f64 = 3.0;

/// No picture is larger, in pixels either way: a longer drawing, such as the bars of 200 cards, has fewer
/// pixels for each unit.
const SIDE_MAX: f64 = 8192.0;

/// Why a drawing cannot be made into PNG.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the drawing has no size that a picture can have")]
pub struct RasterError;

/// `drawing` as PNG: `width_px` wide, or as large as suits a chart.
///
/// # Errors
/// It has no sensible size.
pub(crate) fn png(drawing: &Drawing, width_px: Option<u32>) -> Result<Vec<u8>, RasterError> {
    let canvas = painted(drawing, width_px)?.canvas;
    Ok(png::encode(canvas.width, canvas.height, &canvas.pixels()))
}

fn painted(drawing: &Drawing, width_px: Option<u32>) -> Result<Painter, RasterError> {
    let (canvas, scale) = canvas_of(drawing.size, width_px)?;
    let mut painter = Painter { canvas, scale };
    let around = Around { shift: (0.0, 0.0), font_size: drawing.font_size, clip: None };
    painter.shapes(&drawing.shapes, around);
    Ok(painter)
}

/// What the groups around a shape say.
#[derive(Clone, Copy)]
struct Around {
    shift: Place,
    font_size: f64,
    clip: Option<Clip>,
}

struct Painter {
    canvas: Canvas,
    /// Pixels for each unit.
    scale: f64,
}

impl Painter {
    fn shapes(&mut self, shapes: &[Shape], around: Around) {
        for shape in shapes {
            self.shape(shape, around);
        }
    }

    fn shape(&mut self, shape: &Shape, around: Around) {
        match shape {
            Shape::Rectangle { area, paint } => {
                self.paint(vec![rectangle(area.corner, area.size)], true, paint, around);
            }
            Shape::Discs { middles, radius, paint } => {
                for middle in middles {
                    self.paint(vec![disc(*middle, *radius)], true, paint, around);
                }
            }
            Shape::Lines { lines, is_closed, paint } => {
                self.paint(lines.clone(), *is_closed, paint, around);
            }
            Shape::Words { words, letters } => {
                for (place, text) in words {
                    self.word(*place, text, letters, around);
                }
            }
            Shape::Group { shift, within, font_size, shapes } => {
                let (x, y) = around.shift;
                let shift = (x + shift.0, y + shift.1);
                let clip = within.map(|area| self.clip(area, shift)).or(around.clip);
                let font_size = font_size.unwrap_or(around.font_size);
                self.shapes(shapes, Around { shift, font_size, clip });
            }
        }
    }

    /// The pixels that `area` covers.
    fn clip(&self, Rectangle { corner, size }: Rectangle, shift: Place) -> Clip {
        let (left, top) = self.place(corner, shift);
        Clip { left, top, right: left + size.0 * self.scale, bottom: top + size.1 * self.scale }
    }

    /// The pixel of a place.
    fn place(&self, (x, y): Place, shift: Place) -> Place {
        ((x + shift.0) * self.scale, (y + shift.1) * self.scale)
    }

    /// The pixels of the places of `lines`.
    fn placed(&self, lines: Vec<Vec<Place>>, shift: Place) -> Vec<Vec<Place>> {
        let line = |line: Vec<Place>| line.into_iter().map(|at| self.place(at, shift)).collect();
        lines.into_iter().map(line).collect()
    }

    /// Fills the `lines` and draws them, as `paint` says.
    fn paint(&mut self, lines: Vec<Vec<Place>>, is_closed: bool, paint: &Paint, around: Around) {
        let mut placed = self.placed(lines, around.shift);
        if let Some(fill) = paint.fill {
            self.canvas.fill(&placed, fill.by_day(), paint.opacity, around.clip);
        }
        let Some(stroke) = &paint.stroke else { return };
        if is_closed {
            for line in &mut placed {
                line.extend(line.first().copied());
            }
        }
        if let Some((dash, gap)) = stroke.dashes {
            let lengths = (dash * self.scale, gap * self.scale);
            placed = placed.iter().flat_map(|line| dashed(line, lengths)).collect();
        }
        let (width, colour) = (stroke.width * self.scale, stroke.colour.by_day());
        self.canvas.stroke(&placed, width, colour, paint.opacity, around.clip);
    }

    fn word(&mut self, (x, y): Place, text: &str, letters: &Letters, around: Around) {
        let size = letters.size.unwrap_or(around.font_size);
        let width = font::width(text, size, letters.weight);
        let start = match letters.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let outlines = font::outlines(text, (start, y), size, letters.weight);
        let placed = self.placed(outlines, around.shift);
        self.canvas.fill(&placed, letters.colour.by_day(), 1.0, around.clip);
    }
}

/// An empty canvas for a drawing of the size `(width, height)`, and the pixels for each unit.
fn canvas_of(
    (width, height): (f64, f64),
    width_px: Option<u32>,
) -> Result<(Canvas, f64), RasterError> {
    let wanted = width_px.map_or(SCALE_MAX, |pixels| f64::from(pixels) / width);
    let scale = wanted.min(SIDE_MAX / width.max(height));
    let (width, height) = ((width * scale).round(), (height * scale).round());
    let is_sensible = |side: f64| (1.0..=SIDE_MAX).contains(&side);
    if is_sensible(width) && is_sensible(height) {
        Ok((Canvas::new(width as usize, height as usize), scale))
    } else {
        Err(RasterError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Colour, Tone};

    const SIZE: (f64, f64) = (20.0, 10.0);
    const BLUE: Colour = Colour::Tone(Tone::Line(0));

    fn drawing(size: (f64, f64), shapes: Vec<Shape>) -> Drawing {
        Drawing { title: String::new(), size, font_size: 12.0, shapes }
    }

    /// The colour at a place of a drawing of `shape`, in its units.
    fn colour_at(shape: Shape, (x, y): Place) -> u32 {
        let Painter { canvas, scale } = painted(&drawing(SIZE, vec![shape]), None).unwrap();
        let at = ((y * scale) as usize * canvas.width + (x * scale) as usize) * 3;
        let [red, green, blue] = canvas.pixels()[at..at + 3].try_into().unwrap();
        u32::from_be_bytes([0, red, green, blue])
    }

    #[test]
    fn each_shape_lies_where_it_is_drawn() {
        let blue = Paint::filled(BLUE);
        let whole = || Shape::rectangle((-9.0, 0.0), (40.0, 10.0), blue);
        let right = Rectangle { corner: (0.0, 0.0), size: (9.0, 9.0) };
        let group = |shift, within, shape| Shape::Group {
            shift,
            within,
            font_size: None,
            shapes: vec![shape],
        };
        let triangle = vec![(0.0, 0.0), (20.0, 0.0), (20.0, 10.0)];
        let cases = [
            (Shape::rectangle((2.0, 2.0), (4.0, 4.0), blue), true),
            (Shape::polygon(vec![(2.0, 2.0), (8.0, 2.0), (8.0, 8.0), (2.0, 8.0)], blue), true),
            (
                Shape::Discs { middles: vec![(9.0, 9.0), (4.0, 4.0)], radius: 2.0, paint: blue },
                true,
            ),
            (Shape::line(vec![(0.0, 4.0), (9.0, 4.0)], Paint::line(BLUE, 3.0)), true),
            (group((3.0, 3.0), None, Shape::rectangle((0.0, 0.0), (3.0, 3.0), blue)), true),
            (group((0.0, 0.0), Some(right), whole()), true),
            (group((9.0, 0.0), Some(right), whole()), false),
            (Shape::line(triangle, Paint { fill: None, stroke: None, opacity: 1.0 }), false),
        ];
        for (shape, is_drawn) in cases {
            let expected = if is_drawn { BLUE.by_day() } else { 0xff_ffff };
            assert_eq!(colour_at(shape.clone(), (4.0, 4.0)), expected, "{shape:?}");
        }
    }

    #[test]
    fn letters_leave_ink_and_a_drawing_without_a_size_is_refused() {
        let ink = |text: &str| -> usize {
            let word = Shape::word((1.0, 9.0), text, Letters::at(Anchor::Start));
            let pixels = painted(&drawing(SIZE, vec![word]), None).unwrap().canvas.pixels();
            pixels.chunks(3).filter(|pixel| pixel[0] < 200).count()
        };
        assert_eq!(ink(" "), 0);
        assert!(ink("W") > ink("l") && ink("l") > 0);
        assert!(ink("\u{4e2d}") > 0, "a letter that the font lacks is a box");
        for size in [(0.0, 0.0), (1e9, 5.0), (f64::NAN, 5.0)] {
            assert_eq!(png(&drawing(size, Vec::new()), None), Err(RasterError), "{size:?}");
        }
    }

    #[test]
    fn a_picture_is_png() {
        let bytes = png(&drawing(SIZE, Vec::new()), None).unwrap();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(bytes[16..24], [0, 0, 0, 60, 0, 0, 0, 30]);
        let bytes = png(&drawing(SIZE, Vec::new()), Some(200)).unwrap();
        assert_eq!(bytes[16..24], [0, 0, 0, 200, 0, 0, 0, 100]);
    }

    #[test]
    fn a_long_drawing_has_fewer_pixels_for_each_unit() {
        let bytes = png(&drawing((340.0, 6800.0), Vec::new()), None).unwrap();
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (410, 8192));
    }
}
