//! A picture as shapes, from which a page gets SVG ([`svg`]) and a file SVG or PNG ([`crate::raster`]).
//!
//! Lengths and places are in the drawing's own units, from its left upper corner.

pub(crate) mod svg;

/// A place: to the right, and down.
pub(crate) type Place = (f64, f64);

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    /// What it shows, for those who do not see it.
    pub(crate) title: String,
    /// Its width and height.
    pub(crate) size: (f64, f64),
    /// The size of letters, where their shape names none.
    pub(crate) font_size: f64,
    /// What is drawn, the lowest first.
    pub(crate) shapes: Vec<Shape>,
}

/// A part of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A rectangle.
    Rectangle { area: Rectangle, paint: Paint },
    /// Discs of one size.
    Discs { middles: Vec<Place>, radius: f64, paint: Paint },
    /// Lines, each from place to place; closed, each ends where it began.
    Lines { lines: Vec<Vec<Place>>, is_closed: bool, paint: Paint },
    /// Words, each at the place where its line of letters has its anchor.
    Words { words: Vec<(Place, String)>, letters: Letters },
    /// Shapes that are shifted, or of which only what lies in an area is seen. The area is shifted too.
    Group { shift: Place, within: Option<Rectangle>, font_size: Option<f64>, shapes: Vec<Self> },
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rectangle {
    /// Its left upper corner.
    pub(crate) corner: Place,
    /// Its width and height.
    pub(crate) size: (f64, f64),
}

/// How a shape is painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Paint {
    /// The colour inside, where it has one.
    pub(crate) fill: Option<Colour>,
    /// The line around it, where it has one.
    pub(crate) stroke: Option<Stroke>,
    /// From 0, not seen, to 1, which hides what lies below.
    pub(crate) opacity: f64,
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    /// The lengths of a dash and of the gap after it; `None` of a whole line.
    pub(crate) dashes: Option<(f64, f64)>,
}

/// How words are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Letters {
    pub(crate) anchor: Anchor,
    /// `None`: as the drawing has it.
    pub(crate) size: Option<f64>,
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
}

/// How heavy letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// As in text.
    Regular,
    /// As in headings.
    Bold,
}

/// Where the place of a word lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A colour by its task; the page says what colour that is, by day, by night and on paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// The colour of one of several lines, from 0.
    Line(usize),
    /// What is there for comparison only.
    Quiet,
    /// What one should look at.
    Alarm,
}

/// How many lines can be told apart.
pub(crate) const LINE_TONES: usize = 6;

/// A colour; the page says what that is by day, by night and on paper, unless it is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Of words.
    Ink,
    /// Of axes.
    Axis,
    /// Of grids.
    Grid,
    /// By its task.
    Tone(Tone),
    /// The same everywhere: red, green and blue as 0xrrggbb.
    Fixed(u32),
}

/// The colours that a page names, and what they are by day.
pub(crate) const NAMED: [(Colour, &str, u32); 11] = [
    (Colour::Ink, "--ink", 0x1b_1f24),
    (Colour::Axis, "--axis", 0x7a_828d),
    (Colour::Grid, "--grid", 0xe3_e7ec),
    (Colour::Tone(Tone::Quiet), "--quiet", 0x7a_828d),
    (Colour::Tone(Tone::Alarm), "--alarm", 0xd9_480f),
    (Colour::Tone(Tone::Line(0)), "--line-0", 0x0b_5fc1),
    (Colour::Tone(Tone::Line(1)), "--line-1", 0xb4_530a),
    (Colour::Tone(Tone::Line(2)), "--line-2", 0x0c_7a6b),
    (Colour::Tone(Tone::Line(3)), "--line-3", 0x7b_3fc4),
    (Colour::Tone(Tone::Line(4)), "--line-4", 0xb0_205f),
    (Colour::Tone(Tone::Line(5)), "--line-5", 0x56_6270),
];

impl Colour {
    /// The colour on a page by day: red, green and blue as 0xrrggbb.
    pub(crate) fn by_day(self) -> u32 {
        match self {
            Self::Fixed(colour) => colour,
            named => named.entry().map_or(0, |(_, _, by_day)| by_day),
        }
    }

    /// Its row among the colours that a page names; `None` where it is fixed.
    fn entry(self) -> Option<(Self, &'static str, u32)> {
        let wanted = match self {
            Self::Tone(Tone::Line(number)) => Self::Tone(Tone::Line(number % LINE_TONES)),
            other => other,
        };
        NAMED.into_iter().find(|(colour, ..)| *colour == wanted)
    }
}

impl Paint {
    /// Filled, without a line.
    pub(crate) const fn filled(colour: Colour) -> Self {
        Self { fill: Some(colour), stroke: None, opacity: 1.0 }
    }

    /// A whole line `width` wide, and nothing inside.
    pub(crate) const fn line(colour: Colour, width: f64) -> Self {
        Self { fill: None, stroke: Some(Stroke { colour, width, dashes: None }), opacity: 1.0 }
    }

    /// The same with a line in dashes, where it has one.
    pub(crate) fn dashed(self, dashes: Option<(f64, f64)>) -> Self {
        Self { stroke: self.stroke.map(|stroke| Stroke { dashes, ..stroke }), ..self }
    }

    /// The same, and what lies below is seen through it.
    pub(crate) const fn faint(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

impl Letters {
    /// Words of the drawing's size in ink.
    pub(crate) const fn at(anchor: Anchor) -> Self {
        Self { anchor, size: None, weight: Weight::Regular, colour: Colour::Ink }
    }
}

impl Shape {
    /// A rectangle.
    pub(crate) const fn rectangle(corner: Place, size: (f64, f64), paint: Paint) -> Self {
        Self::Rectangle { area: Rectangle { corner, size }, paint }
    }

    /// One line through `places`.
    pub(crate) fn line(places: Vec<Place>, paint: Paint) -> Self {
        Self::Lines { lines: vec![places], is_closed: false, paint }
    }

    /// The area within `corners`.
    pub(crate) fn polygon(corners: Vec<Place>, paint: Paint) -> Self {
        Self::Lines { lines: vec![corners], is_closed: true, paint }
    }

    /// `text` at `place`.
    pub(crate) fn word(place: Place, text: &str, letters: Letters) -> Self {
        Self::Words { words: vec![(place, text.to_owned())], letters }
    }

    /// `shapes`, to the right and down by `shift`.
    pub(crate) const fn shifted(shift: Place, shapes: Vec<Self>) -> Self {
        Self::Group { shift, within: None, font_size: None, shapes }
    }
}
