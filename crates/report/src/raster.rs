//! A drawing of ours as PNG, since a page without a script cannot make one, and not every forum takes SVG.
//!
//! This reads the part of SVG that this crate writes, and nothing more: lines, rectangles, polygons, circles,
//! text, shifts, clips by a rectangle. The font has the letters of Western Europe; others are boxes. Colours are those of the page by day.

mod canvas;
pub(crate) mod font;
mod markup;
mod outline;
mod png;

use canvas::{Canvas, Clip, Colour};
use font::Weight;
use markup::{Element, elements};
use outline::{Outline, along_path, dashed, disc, numbers, rectangle};

/// Pixels for each of the drawing's units: sharp on a telephone too.
const SCALE_MAX: f64 = 3.0;

/// No picture is larger, in pixels either way: a longer drawing, such as the bars of 200 cards, has fewer
/// pixels for each unit.
const SIDE_MAX: f64 = 8192.0;

/// Why a drawing cannot be made into PNG.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the drawing has no size that a picture can have")]
pub struct RasterError;

/// What an element inherits, and its own.
#[derive(Clone)]
struct State {
    shift: (f64, f64),
    fill: Option<Colour>,
    anchor: String,
    font_size: f64,
    weight: Weight,
    clip: Option<Clip>,
}

/// `svg`, one element as this crate draws it, as PNG: `width_px` wide, or as large as suits a chart.
///
/// # Errors
/// It has no sensible size.
pub(crate) fn png(svg: &str, width_px: Option<u32>) -> Result<Vec<u8>, RasterError> {
    let mut painter = Painter { width_px, ..Painter::default() };
    for element in elements(svg) {
        painter.element(&element)?;
    }
    let canvas = painter.canvas.ok_or(RasterError)?;
    Ok(png::encode(canvas.width, canvas.height, &canvas.pixels()))
}

#[derive(Default)]
struct Painter {
    canvas: Option<Canvas>,
    /// How wide the picture is to be.
    width_px: Option<u32>,
    /// Pixels for each unit.
    scale: f64,
    /// The states of the open elements.
    states: Vec<State>,
    /// Clips by their names.
    clips: Vec<(String, Clip)>,
    /// The clip whose rectangle comes next.
    clip_to_come: Option<String>,
    /// The place of a text whose letters come next.
    text_at: Option<(f64, f64)>,
    /// What is inside is not drawn.
    is_silent: bool,
}

impl Painter {
    fn element(&mut self, element: &Element<'_>) -> Result<(), RasterError> {
        match element {
            Element::Text(text) => self.letters(text),
            Element::Close(name) => {
                match *name {
                    "title" | "style" => self.is_silent = false,
                    "text" => self.text_at = None,
                    _ => {}
                }
                self.states.pop();
            }
            Element::Open { name, is_closed, .. } => {
                let state = self.state_of(element);
                self.states.push(state);
                if *name == "svg" && self.canvas.is_none() {
                    let (canvas, scale) = canvas_of(element, self.width_px)?;
                    (self.canvas, self.scale) = (Some(canvas), scale);
                }
                self.draw(name, element);
                if *is_closed {
                    self.states.pop();
                }
            }
        }
        Ok(())
    }

    fn state_of(&self, element: &Element<'_>) -> State {
        let mut state = self.states.last().cloned().unwrap_or(State {
            shift: (0.0, 0.0),
            fill: Some(Colour::BLACK),
            anchor: "start".to_owned(),
            font_size: 12.0,
            weight: Weight::Regular,
            clip: None,
        });
        if let Some(shift) = element.attribute("transform").map(|it| numbers(&it))
            && let [x, y] = shift[..]
        {
            state.shift = (state.shift.0 + x, state.shift.1 + y);
        }
        if let Some(fill) = element.attribute("fill") {
            state.fill = Colour::parse(&fill);
        }
        if let Some(anchor) = element.attribute("text-anchor") {
            state.anchor = anchor;
        }
        state.font_size = element.number("font-size").unwrap_or(state.font_size);
        if element.attribute("font-weight").as_deref() == Some("bold") {
            state.weight = Weight::Bold;
        }
        if let Some(name) = element.attribute("clip-path") {
            let name = name.trim_start_matches("url(#").trim_end_matches(')').to_owned();
            let known = self.clips.iter().find(|(known, _)| *known == name);
            state.clip = known.map(|(_, clip)| *clip).or(state.clip);
        }
        state
    }

    fn draw(&mut self, name: &str, element: &Element<'_>) {
        let number = |name: &str| element.number(name).unwrap_or(0.0);
        let outline = match name {
            "title" | "style" => {
                self.is_silent = true;
                return;
            }
            "clipPath" => {
                self.clip_to_come = element.attribute("id");
                return;
            }
            "text" => {
                self.text_at = Some((number("x"), number("y")));
                return;
            }
            "rect" => {
                let corner = (number("x"), number("y"));
                let size = (number("width"), number("height"));
                if let Some(clip) = self.clip_to_come.take() {
                    let shift = self.states.last().map_or((0.0, 0.0), |state| state.shift);
                    let (left, top) = (corner.0 + shift.0, corner.1 + shift.1);
                    let ends = [left, top, left + size.0, top + size.1].map(|end| end * self.scale);
                    let [left, top, right, bottom] = ends;
                    self.clips.push((clip, Clip { left, top, right, bottom }));
                    return;
                }
                rectangle(corner, size)
            }
            "circle" => disc((number("cx"), number("cy")), number("r")),
            "polygon" | "polyline" => {
                let numbers = numbers(&element.attribute("points").unwrap_or_default());
                let (pairs, _) = numbers.as_chunks::<2>();
                Outline {
                    lines: vec![pairs.iter().map(|[x, y]| (*x, *y)).collect()],
                    is_closed: name == "polygon",
                }
            }
            "line" => Outline {
                lines: vec![vec![(number("x1"), number("y1")), (number("x2"), number("y2"))]],
                is_closed: false,
            },
            "path" => along_path(&element.attribute("d").unwrap_or_default()),
            _ => return,
        };
        self.paint(element, &outline);
    }

    /// Fills `outline` and draws its line, as `element` and what it inherits say.
    fn paint(&mut self, element: &Element<'_>, outline: &Outline) {
        let Some(state) = self.states.last().cloned() else { return };
        let Some(canvas) = &mut self.canvas else { return };
        let scale = self.scale;
        let opacity = element.number("opacity").unwrap_or(1.0);
        let place = |(x, y): (f64, f64)| ((x + state.shift.0) * scale, (y + state.shift.1) * scale);
        let placed: Vec<Vec<(f64, f64)>> =
            outline.lines.iter().map(|line| line.iter().copied().map(place).collect()).collect();
        if let Some(fill) = state.fill {
            let opacity = opacity * element.number("fill-opacity").unwrap_or(1.0);
            canvas.fill(&placed, fill, opacity, state.clip);
        }
        let Some(stroke) = element.attribute("stroke").and_then(|it| Colour::parse(&it)) else {
            return;
        };
        let width = element.number("stroke-width").unwrap_or(1.0) * scale;
        let dashes: Vec<f64> = numbers(&element.attribute("stroke-dasharray").unwrap_or_default())
            .iter()
            .map(|length| length * scale)
            .collect();
        let lines: Vec<Vec<(f64, f64)>> = placed
            .into_iter()
            .map(|mut line| {
                if outline.is_closed {
                    line.extend(line.first().copied());
                }
                line
            })
            .flat_map(|line| dashed(line, &dashes))
            .collect();
        canvas.stroke(&lines, width, stroke, opacity, state.clip);
    }

    fn letters(&mut self, text: &str) {
        let (Some((x, y)), Some(state)) = (self.text_at, self.states.last()) else { return };
        let (Some(canvas), Some(fill), false) = (&mut self.canvas, state.fill, self.is_silent)
        else {
            return;
        };
        let scale = self.scale;
        let width = font::width(text, state.font_size, state.weight);
        let start = match state.anchor.as_str() {
            "middle" => x - width / 2.0,
            "end" => x - width,
            _ => x,
        };
        let place = |(x, y): (f64, f64)| ((x + state.shift.0) * scale, (y + state.shift.1) * scale);
        let outlines: Vec<Vec<(f64, f64)>> =
            font::outlines(text, (start, y), state.font_size, state.weight)
                .into_iter()
                .map(|outline| outline.into_iter().map(place).collect())
                .collect();
        canvas.fill(&outlines, fill, 1.0, state.clip);
    }
}

/// An empty canvas of the size that the drawing's view box has, and the pixels for each unit.
fn canvas_of(element: &Element<'_>, width_px: Option<u32>) -> Result<(Canvas, f64), RasterError> {
    let view = numbers(&element.attribute("viewBox").unwrap_or_default());
    let [_, _, width, height] = view[..] else { return Err(RasterError) };
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

    /// The colour at a place of `svg`, in its units.
    fn colour_at(svg: &str, (x, y): (f64, f64)) -> [u8; 3] {
        let mut painter = Painter::default();
        elements(svg).iter().for_each(|element| painter.element(element).unwrap());
        let canvas = painter.canvas.unwrap();
        let scale = painter.scale;
        let at = ((y * scale) as usize * canvas.width + (x * scale) as usize) * 3;
        canvas.pixels()[at..at + 3].try_into().unwrap()
    }

    const WHITE: [u8; 3] = [255, 255, 255];
    const BLUE: [u8; 3] = [0x0b, 0x5f, 0xc1];

    fn drawing(inside: &str) -> String {
        format!("<svg viewBox=\"0 0 20 10\" fill=\"var(--ink)\">{inside}</svg>")
    }

    #[test]
    fn each_shape_lies_where_it_is_drawn() {
        let cases = [
            ("<rect x=\"2\" y=\"2\" width=\"4\" height=\"4\" fill=\"var(--line-0)\"/>", true),
            ("<polygon points=\"2,2 8,2 8,8 2,8\" fill=\"var(--line-0)\"/>", true),
            ("<circle cx=\"4\" cy=\"4\" r=\"2\" fill=\"var(--line-0)\"/>", true),
            (
                "<path fill=\"none\" stroke=\"var(--line-0)\" stroke-width=\"3\" d=\"M0 4H9\"/>",
                true,
            ),
            (
                "<g transform=\"translate(3 3)\"><rect x=\"0\" y=\"0\" width=\"3\" height=\"3\" \
              fill=\"var(--line-0)\"/></g>",
                true,
            ),
            (
                "<defs><clipPath id=\"c\"><rect x=\"9\" y=\"0\" width=\"9\" height=\"9\"/></clipPath>\
              </defs><g clip-path=\"url(#c)\"><rect x=\"0\" y=\"0\" width=\"20\" height=\"10\" \
              fill=\"var(--line-0)\"/></g>",
                false,
            ),
            (
                "<g transform=\"translate(9 0)\"><defs><clipPath id=\"c\"><rect x=\"0\" y=\"0\" width=\"9\" \
                 height=\"9\"/></clipPath></defs><g clip-path=\"url(#c)\"><rect x=\"-9\" y=\"0\" \
                 width=\"20\" height=\"10\" fill=\"var(--line-0)\"/></g></g>",
                false,
            ),
            ("<title>a rect</title><path fill=\"none\" d=\"M0 0H20V10z\"/>", false),
        ];
        for (inside, is_drawn) in cases {
            let expected = if is_drawn { BLUE } else { WHITE };
            assert_eq!(colour_at(&drawing(inside), (4.0, 4.0)), expected, "{inside}");
        }
    }

    #[test]
    fn letters_leave_ink_and_a_page_without_a_size_is_refused() {
        let ink = |text: &str| -> usize {
            let svg = drawing(&format!("<text x=\"1\" y=\"9\">{text}</text>"));
            let mut painter = Painter::default();
            elements(&svg).iter().for_each(|element| painter.element(element).unwrap());
            let pixels = painter.canvas.unwrap().pixels();
            pixels.chunks(3).filter(|pixel| pixel[0] < 200).count()
        };
        assert_eq!(ink(" "), 0);
        assert!(ink("W") > ink("l") && ink("l") > 0);
        assert!(ink("\u{4e2d}") > 0, "a letter that the font lacks is a box");
        for svg in ["", "<p>no drawing</p>", "<svg viewBox=\"0 0 1e9 5\"></svg>"] {
            assert_eq!(png(svg, None), Err(RasterError), "{svg}");
        }
    }

    #[test]
    fn a_picture_is_png() {
        let bytes = png(&drawing(""), None).unwrap();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(bytes[16..24], [0, 0, 0, 60, 0, 0, 0, 30]);
        let bytes = png(&drawing(""), Some(200)).unwrap();
        assert_eq!(bytes[16..24], [0, 0, 0, 200, 0, 0, 0, 100]);
    }

    #[test]
    fn a_long_drawing_has_fewer_pixels_for_each_unit() {
        let bytes = png("<svg viewBox=\"0 0 340 6800\"></svg>", None).unwrap();
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (410, 8192));
    }
}
