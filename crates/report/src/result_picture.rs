//! The result in one picture, for a forum that takes no text of ours, and readable as a thumbnail: the card,
//! the verdict on the whole, the reply to each question, and its place among published cards.

use cardproof_rating::answer::{Answer, Standing};
use cardproof_record::Record;

use crate::answer::{AnswerPage, Reply, words};
use crate::charts::{draw, field};
use crate::drawing::{Anchor, Colour, Drawing, Letters, Paint, Shape, Weight};
use crate::html::our_place;
use crate::kept::ChartFile;
use crate::lead::Lead;
use crate::raster::font;
use crate::short::Short;

/// The picture's measures, in its own units, and its width in pixels: what forums and messengers show whole.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const WIDTH_PX: u32 = 1200;

const MARGIN: f64 = 30.0;

/// Where the chart begins.
const CHART: (f64, f64) = (412.0, 116.0);

/// Where the replies begin, and what is said in them.
const REPLIES_TOP: f64 = 142.0;
const SAID: f64 = 106.0;

/// Below the last reply, where the source stands.
const REPLIES_BOTTOM: f64 = HEIGHT - 18.0;

/// The sizes of what is said in the replies, the first that leaves room for all of it.
const SAID_SIZES: [f64; 5] = [12.0, 11.0, 10.0, 9.0, 8.0];

/// From the line of a verdict to what is said below it, and between two replies, in units of the letters' size.
const BELOW_VERDICT: f64 = 1.25;
const BETWEEN: f64 = 1.5;

/// From line to line, in units of the letters' size.
const LINE: f64 = 1.22;

/// Of words that stand back.
const QUIET: Colour = Colour::Fixed(0x55_5d68);

/// What ends a text that is cut off.
const MORE: char = '\u{2026}';

/// The answer of `record` alone in one picture: SVG, and PNG of 1200 × 630 pixels.
#[must_use]
pub fn result_picture(record: &Record) -> ChartFile {
    let answer = Answer::of_record(record);
    match &answer {
        Some(answer) => check_picture(
            &AnswerPage {
                answer,
                conditions: &record.conditions,
                target: "",
                is_saved: false,
                label: record.label.as_deref(),
            },
            Some(record),
        ),
        None => rows(record),
    }
}

/// A check in one picture, with the chart of the run that measured the speed, where there is one.
#[must_use]
pub fn check_picture(page: &AnswerPage<'_>, speed: Option<&Record>) -> ChartFile {
    let standing = page.answer.overall.map_or(Standing::Unknown, words::standing);
    let mut picture = Picture::new(colour(standing));
    let name = page.device();
    picture.line((MARGIN, 38.0), WIDTH - 2.0 * MARGIN, &Type::new(15.0), &name);
    let headline = page.headline_in_words().unwrap_or_default();
    let bold = Type { weight: Weight::Bold, colour: colour(standing), ..Type::new(34.0) };
    picture.line((MARGIN, 80.0), WIDTH - 2.0 * MARGIN, &bold, headline);
    let quote = page.quote_in_words();
    let has_quote = quote.is_some();
    if let Some(quote) = quote {
        picture.line((MARGIN, 106.0), WIDTH - 2.0 * MARGIN, &Type::new(18.0), &quote);
    }
    if let Some(reserve) = page.reserve() {
        let at = (MARGIN, if has_quote { 128.0 } else { 106.0 });
        picture.line(at, WIDTH - 2.0 * MARGIN, &Type::new(15.0), &reserve.to_string());
    }
    let chart = speed.and_then(our_place).and_then(|ours| draw(&field(&ours)).ok());
    let right = if chart.is_some() { CHART.0 } else { WIDTH - MARGIN };
    picture.replies(&page.replies(), right);
    if let Some(Drawing { font_size, shapes, .. }) = chart {
        let font_size = Some(font_size);
        picture.shapes.push(Shape::Group { shift: CHART, within: None, font_size, shapes });
    }
    let source = speed.map_or_else(String::new, |record| Short::from_record(record).source);
    picture.line((MARGIN, HEIGHT - 12.0), WIDTH - 2.0 * MARGIN, &Type::quiet(11.0), &source);
    picture.finish(&name)
}

/// The result of a test that measured no speed.
fn rows(record: &Record) -> ChartFile {
    let Short { name, lead, rows, source } = Short::from_record(record);
    let standing = lead.as_ref().map_or(Standing::Unknown, |lead| lead.standing);
    let mut picture = Picture::new(colour(standing));
    let width = WIDTH - 2.0 * MARGIN;
    let mut y = match lead {
        Some(Lead { headline, standing, what }) => {
            picture.line((MARGIN, 38.0), width, &Type::new(15.0), &name);
            let bold = Type { weight: Weight::Bold, colour: colour(standing), ..Type::new(34.0) };
            picture.line((MARGIN, 80.0), width, &bold, headline);
            picture.paragraph((MARGIN, 110.0), (width, 2), &Type::new(18.0), &what) + 14.0
        }
        None => {
            let heading = Type { weight: Weight::Bold, ..Type::new(22.0) };
            picture.paragraph((MARGIN, 46.0), (width, 2), &heading, &name) + 14.0
        }
    };
    for (what, said) in rows {
        picture.line((MARGIN, y), width, &Type::quiet(15.0), &what);
        y = picture.paragraph((MARGIN, y + 24.0), (width, 4), &Type::new(20.0), &said) + 12.0;
    }
    picture.line((MARGIN, HEIGHT - 12.0), width, &Type::quiet(11.0), &source);
    picture.finish(&name)
}

/// How a text is set.
#[derive(Clone, Copy)]
struct Type {
    size: f64,
    weight: Weight,
    colour: Colour,
}

impl Type {
    const fn new(size: f64) -> Self {
        Self { size, weight: Weight::Regular, colour: Colour::Ink }
    }

    const fn quiet(size: f64) -> Self {
        Self { colour: QUIET, ..Self::new(size) }
    }

    fn width(&self, text: &str) -> f64 {
        font::width(text, self.size, self.weight)
    }
}

/// The colours of the page by day.
const fn colour(standing: Standing) -> Colour {
    match standing {
        Standing::Good => Colour::Fixed(0x1a_6e3c),
        Standing::Warning => Colour::Fixed(0x8a_5300),
        Standing::Bad => Colour::Fixed(0xb3_261e),
        Standing::Unknown => QUIET,
    }
}

/// A picture being drawn.
struct Picture {
    shapes: Vec<Shape>,
}

impl Picture {
    /// White, with an edge of this colour.
    fn new(edge: Colour) -> Self {
        let white = Paint::filled(Colour::Fixed(0xff_ffff));
        let paper = Shape::rectangle((0.0, 0.0), (WIDTH, HEIGHT), white);
        let edge = Shape::rectangle((0.0, 0.0), (10.0, HEIGHT), Paint::filled(edge));
        Self { shapes: vec![paper, edge] }
    }

    /// The replies, one below the other, up to the edge `right`. All that is said has room, for a caveat that is cut off
    /// is none: where there is much of it, its letters are smaller.
    fn replies(&mut self, replies: &[Reply], right: f64) {
        let width = right - SAID - 6.0;
        let said: Vec<String> = replies.iter().map(|it| it.details.join(" \u{b7} ")).collect();
        let broken = |size: f64| -> Vec<usize> {
            let set = Type::new(size);
            said.iter().map(|text| lines(text, width, usize::MAX, &set).len()).collect()
        };
        let height = |size: f64, lines: &[usize]| {
            let of_one = |lines: &usize| (BELOW_VERDICT + BETWEEN + LINE * *lines as f64) * size;
            lines.iter().map(of_one).sum::<f64>()
        };
        let room = REPLIES_BOTTOM - REPLIES_TOP;
        let [.., smallest] = SAID_SIZES;
        let fits = |size: &f64| height(*size, &broken(*size)) <= room;
        let size = SAID_SIZES.into_iter().find(fits).unwrap_or(smallest);
        let spare = (room - height(size, &broken(size))).max(0.0) / replies.len().max(4) as f64;
        let mut y = REPLIES_TOP;
        for (reply, said) in replies.iter().zip(&said) {
            let verdict =
                Type { weight: Weight::Bold, colour: colour(reply.standing), ..Type::new(17.0) };
            self.line((MARGIN, y), SAID - MARGIN, &Type::quiet(14.0), reply.question_in_words());
            self.line((SAID, y), width, &verdict, reply.verdict);
            let set = Type::new(size);
            let below = (SAID, y + BELOW_VERDICT * size);
            let room = (width, usize::MAX);
            y = self.paragraph(below, room, &set, said) + BETWEEN * size + spare;
        }
    }

    /// `text` in one line, cut off where it does not fit in `width`.
    fn line(&mut self, at: (f64, f64), width: f64, set: &Type, text: &str) {
        self.paragraph(at, (width, 1), set, text);
    }

    /// `text` in lines as wide and as many as `room` says; where the next one would begin.
    fn paragraph(
        &mut self,
        (x, mut y): (f64, f64),
        (width, lines_max): (f64, usize),
        set: &Type,
        text: &str,
    ) -> f64 {
        let Type { size, weight, colour } = *set;
        let letters = Letters { anchor: Anchor::Start, size: Some(size), weight, colour };
        for line in lines(text, width, lines_max, set) {
            self.shapes.push(Shape::word((x, y), &line, letters));
            y += LINE * size;
        }
        y
    }

    fn finish(self, name: &str) -> ChartFile {
        let drawing = Drawing {
            title: format!("Result of {name}"),
            size: (WIDTH, HEIGHT),
            font_size: 12.0,
            shapes: self.shapes,
        };
        ChartFile::bare("result", drawing, WIDTH_PX)
    }
}

/// `text` in at most `lines_max` lines of at most `width`; what does not fit is cut off.
fn lines(text: &str, width: f64, lines_max: usize, set: &Type) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if set.width(&format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let is_cut = lines.len() > lines_max;
    lines.truncate(lines_max);
    let last = lines.len().saturating_sub(1);
    for (number, line) in lines.iter_mut().enumerate() {
        let is_cut_here = is_cut && number == last;
        if is_cut_here || set.width(line) > width {
            while !line.is_empty() && set.width(&format!("{line}{MORE}")) > width {
                line.pop();
            }
            line.push(MORE);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_caveat_of_a_reply_is_cut_off() {
        use cardproof_rating::answer::{Question, Standing};
        let reply = |question, verdict, details: &[&str]| Reply {
            question,
            standing: Standing::Good,
            verdict,
            details: details.iter().map(|&it| it.to_owned()).collect(),
        };
        let fast = [
            "starting programs good",
            "installing good",
            "databases fair to good",
            "no pauses of 250 ms or more",
            "video not known",
            "A1 not known (too uneven)",
            "A2 not known (too uneven)",
            "other programs disturbed 7 of 7 tests; without them it can only be faster, so it stays good",
        ];
        let health = ["no error in the kernel log", "test data was read back correctly"];
        let replies = [
            reply(
                Question::Real,
                "yes so far",
                &["samples over 14.9 GiB of 256 GiB were all correct"],
            ),
            reply(Question::Healthy, "yes so far", &health),
            reply(Question::Fast, "good", &fast),
            reply(
                Question::SetUp,
                "one thing",
                &["noatime is not set, so reading a file may write too"],
            ),
            reply(Question::Power, "not known", &["the computer does not tell"]),
        ];
        let mut picture = Picture::new(Colour::Ink);
        picture.replies(&replies, CHART.0);
        let text = format!("{:?}", picture.shapes);
        assert!(text.contains("7 of 7") && text.contains("does not tell"), "{text}");
        assert!(!text.contains(MORE), "{text}");
        let baseline = |shape: &Shape| match shape {
            Shape::Words { words, .. } => words.iter().map(|((_, y), _)| *y).reduce(f64::max),
            _ => None,
        };
        let lowest = picture.shapes.iter().filter_map(baseline).fold(0.0, f64::max);
        assert!(lowest <= REPLIES_BOTTOM, "{lowest}");
    }

    #[test]
    fn a_text_is_broken_by_its_width_and_cut_off_where_there_is_no_room() {
        let set = Type::new(10.0);
        let text = "one two three four five six seven eight";
        let broken = lines(text, 60.0, 9, &set);
        assert!(broken.len() > 2 && broken.iter().all(|line| set.width(line) <= 60.0));
        assert_eq!(broken.join(" "), text);
        let cut = lines(text, 60.0, 2, &set);
        assert!(cut.len() == 2 && cut[1].ends_with(MORE) && set.width(&cut[1]) <= 60.0, "{cut:?}");
        assert!(lines(&"w".repeat(99), 60.0, 2, &set)[0].ends_with(MORE));
        assert!(lines("", 60.0, 2, &set).is_empty());
    }
}
