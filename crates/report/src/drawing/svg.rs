//! A drawing as SVG: one element of a page, or a file.
//!
//! Many drawings share one page, so their ids differ; they grow and shrink with it; they have a name
//! for those who do not see them; and they are small: numbers have at most two decimals.

use std::fmt::{self, Display, Write};

use super::{Anchor, Colour, Drawing, Letters, NAMED, Paint, Place, Rectangle, Shape, Weight};
use crate::clean::Html;

/// The drawing as one element of a page, under the name `id`, which no other element there has.
pub(crate) fn element(drawing: &Drawing, id: &str) -> String {
    written(drawing, Frame { id, is_file: false })
}

/// The drawing as a file, in the colours of the page by day.
pub(crate) fn file(drawing: &Drawing) -> String {
    written(drawing, Frame { id: "picture", is_file: true })
}

/// `shapes` beside words that say the same, so that it needs no name; as large as `size`.
pub(crate) fn ornament((width, height): (f64, f64), shapes: &[Shape]) -> String {
    let mut writer = Writer { out: String::new(), id: "", clips: 0 };
    writer.put(format_args!("<svg aria-hidden=\"true\" viewBox=\"0 0 {width} {height}\">"));
    writer.shapes(shapes);
    writer.out.push_str("</svg>");
    writer.out
}

/// Where a drawing stands.
#[derive(Clone, Copy)]
struct Frame<'i> {
    id: &'i str,
    is_file: bool,
}

fn written(drawing: &Drawing, frame: Frame<'_>) -> String {
    let Drawing { title, size: (width, height), font_size, shapes } = drawing;
    let id = frame.id;
    let mut writer = Writer { out: String::new(), id, clips: 0 };
    let namespace = if frame.is_file { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    writer.put(format_args!(
        "<svg{namespace} role=\"img\" aria-labelledby=\"{id}\" viewBox=\"0 0 {} {}\" \
         fill=\"var(--ink)\" font-size=\"{font_size}\">",
        Number(*width),
        Number(*height)
    ));
    if frame.is_file {
        writer.style();
    }
    writer.put(format_args!("<title id=\"{id}\">{}</title>", Html(title)));
    writer.shapes(shapes);
    writer.out.push_str("</svg>");
    if !frame.is_file {
        writer.out.push('\n');
    }
    writer.out
}

struct Writer<'i> {
    out: String,
    id: &'i str,
    /// How many areas have a name so far.
    clips: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    /// What a page says for all its drawings, and a file must say itself.
    fn style(&mut self) {
        self.out.push_str("<style>svg{");
        for (_, name, by_day) in NAMED {
            self.put(format_args!("{name}:#{by_day:06x};"));
        }
        self.out.push_str("font-family:sans-serif;background:#ffffff}</style>");
    }

    fn shapes(&mut self, shapes: &[Shape]) {
        for shape in shapes {
            self.shape(shape);
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { area, paint } => {
                self.out.push_str("<rect");
                self.area(area);
                self.paint(paint);
                self.out.push_str("/>");
            }
            Shape::Discs { middles, radius, paint } => self.discs(middles, *radius, paint),
            Shape::Lines { lines, is_closed, paint } => {
                self.out.push_str("<path d=\"");
                for line in lines {
                    self.line(line);
                    self.out.push_str(if *is_closed { "z" } else { "" });
                }
                self.out.push('"');
                self.paint(paint);
                self.out.push_str("/>");
            }
            Shape::Words { words, letters } => self.words(words, letters),
            Shape::Group { shift, within, font_size, shapes } => {
                let clip = within.as_ref().map(|area| self.clip(area));
                self.out.push_str("<g");
                if let Some(number) = clip {
                    let id = self.id;
                    self.put(format_args!(" clip-path=\"url(#{id}-area-{number})\""));
                }
                if *shift != (0.0, 0.0) {
                    let (x, y) = (Number(shift.0), Number(shift.1));
                    self.put(format_args!(" transform=\"translate({x} {y})\""));
                }
                if let Some(size) = font_size {
                    self.put(format_args!(" font-size=\"{size}\""));
                }
                self.out.push('>');
                self.shapes(shapes);
                self.out.push_str("</g>");
            }
        }
    }

    /// Names an area of which alone is seen what follows; its number.
    fn clip(&mut self, area: &Rectangle) -> usize {
        self.clips += 1;
        let (id, number) = (self.id, self.clips);
        self.put(format_args!("<clipPath id=\"{id}-area-{number}\"><rect"));
        self.area(area);
        self.out.push_str("/></clipPath>");
        number
    }

    fn area(&mut self, Rectangle { corner: (x, y), size: (width, height) }: &Rectangle) {
        let [x, y, width, height] = [x, y, width, height].map(|length| Number(*length));
        self.put(format_args!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""));
    }

    /// Several share what they have in common.
    fn discs(&mut self, middles: &[Place], radius: f64, paint: &Paint) {
        if let [middle] = middles {
            self.disc(*middle, radius);
            self.paint(paint);
            self.out.push_str("/>");
            return;
        }
        // Not the opacity: that of a group does not add up where its discs overlap.
        self.out.push_str("<g");
        self.paint(&Paint { opacity: 1.0, ..*paint });
        self.out.push('>');
        for middle in middles {
            self.disc(*middle, radius);
            self.opacity(paint);
            self.out.push_str("/>");
        }
        self.out.push_str("</g>");
    }

    fn disc(&mut self, (x, y): Place, radius: f64) {
        let [x, y, radius] = [x, y, radius].map(Number);
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""));
    }

    /// The commands of a path, those across and down in their short form.
    fn line(&mut self, places: &[Place]) {
        let mut places = places.iter().map(|&(x, y)| (Number(x), Number(y)));
        let Some(first) = places.next() else { return };
        self.put(format_args!("M{} {}", first.0, first.1));
        let (mut last, mut is_short) = (first, false);
        for place in places {
            let (x, y) = place;
            match (x.is_drawn_as(last.0), y.is_drawn_as(last.1)) {
                (false, true) => self.put(format_args!("H{x}")),
                (true, false) => self.put(format_args!("V{y}")),
                _ => self.put(format_args!("{}{x} {y}", if is_short { "L" } else { " " })),
            }
            is_short = x.is_drawn_as(last.0) != y.is_drawn_as(last.1);
            last = place;
        }
    }

    /// Several share what they have in common.
    fn words(&mut self, words: &[(Place, String)], letters: &Letters) {
        let is_one = words.len() == 1;
        if !is_one {
            self.out.push_str("<g");
            self.letters(letters);
            self.out.push('>');
        }
        for ((x, y), text) in words {
            self.put(format_args!("<text x=\"{}\" y=\"{}\"", Number(*x), Number(*y)));
            if is_one {
                self.letters(letters);
            }
            self.put(format_args!(">{}</text>", Html(text)));
        }
        if !is_one {
            self.out.push_str("</g>");
        }
    }

    fn letters(&mut self, Letters { anchor, size, weight, colour }: &Letters) {
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.out.push_str(" text-anchor=\"end\""),
        }
        if let Some(size) = size {
            self.put(format_args!(" font-size=\"{size}\""));
        }
        if *weight == Weight::Bold {
            self.out.push_str(" font-weight=\"bold\"");
        }
        if *colour != Colour::Ink {
            self.put(format_args!(" fill=\"{colour}\""));
        }
    }

    fn paint(&mut self, paint: &Paint) {
        match paint.fill {
            Some(Colour::Ink) => {}
            Some(colour) => self.put(format_args!(" fill=\"{colour}\"")),
            None => self.out.push_str(" fill=\"none\""),
        }
        if let Some(stroke) = &paint.stroke {
            self.put(format_args!(" stroke=\"{}\"", stroke.colour));
            if stroke.width != 1.0 {
                self.put(format_args!(" stroke-width=\"{}\"", Number(stroke.width)));
            }
            if let Some((dash, gap)) = stroke.dashes {
                self.put(format_args!(" stroke-dasharray=\"{dash} {gap}\""));
            }
        }
        self.opacity(paint);
    }

    fn opacity(&mut self, paint: &Paint) {
        if paint.opacity != 1.0 {
            self.put(format_args!(" opacity=\"{}\"", paint.opacity));
        }
    }
}

impl Display for Colour {
    /// As an attribute has it: a variable of the page, or the colour itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry() {
            Some((_, name, _)) => write!(f, "var({name})"),
            None => write!(f, "#{:06x}", self.by_day()),
        }
    }
}

/// A length or place, written with at most two decimals.
#[derive(Clone, Copy)]
struct Number(f64);

impl Number {
    fn hundredths(self) -> f64 {
        (self.0 * 100.0).round()
    }

    /// Whether both are the same text.
    fn is_drawn_as(self, other: Self) -> bool {
        self.hundredths() == other.hundredths()
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Adding zero turns the negative zero into the other one.
        write!(f, "{}", self.hundredths() / 100.0 + 0.0)
    }
}
