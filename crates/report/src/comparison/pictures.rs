//! The charts of a comparison beside the bars: random reads against writes, price against the figure of
//! the use, and for a few cards their waits and rates over time, overlaid.

use cardproof_rating::compare::{CardFigures, Column, Comparison, Use};
use cardproof_record::{OpName, Phase, Record};

use super::save::{self, Page};
use crate::charts::{
    self, Axis, Chart, Dashes, Layer, Scale, class_corners, has_course, has_tail, rates_together,
    tails_together,
};
use crate::clean::csv_quoted as quoted;
use crate::clean::one_line;
use crate::drawing::{Anchor, Drawing, LINE_TONES, Letters, Shape, Tone};
use crate::html::HtmlError;
use crate::kept::{ChartFile, Entry, csv_of, mark, with_legend, write_mark};
use crate::markup::markup;

/// More lines than this cannot be told apart.
const LINES_MAX: usize = 4;

/// A card in a scatter: its number, its name, its place.
struct Dot {
    name: String,
    at: (f64, f64),
}

/// Appends the charts of `comparison`; `records` are the first of each card, in its order.
pub(super) fn write(
    page: &mut Page,
    comparison: &Comparison,
    wanted: Use,
    records: &[&Record],
) -> Result<(), HtmlError> {
    let rate = |card: &CardFigures, column: Column| {
        let figure = card.figures.iter().find(|figure| figure.column == column)?;
        (figure.rate > 0.0 && figure.doubt.is_none()).then_some(figure.rate)
    };
    let dots: Vec<Dot> = comparison
        .figures
        .iter()
        .filter_map(|card| {
            let at = (rate(card, Column::RandomRead)?, rate(card, Column::RandomWrite)?);
            Some(Dot { name: one_line(&card.name), at })
        })
        .collect();
    if dots.len() > 1 {
        let about = "4 KiB random reads (to the right) and writes (upwards), one at a time, IOPS. \
                     The dashed corners are the limits of A1 and A2, which are for many in flight.";
        scatter(page, ("scatter", "Reads against writes", about), &dots, class_corners())?;
    }
    prices(page, comparison, wanted)?;
    if (2..=LINES_MAX).contains(&records.len()) {
        overlaid(page, comparison, records)?;
    }
    Ok(())
}

fn prices(page: &mut Page, comparison: &Comparison, wanted: Use) -> Result<(), HtmlError> {
    let ranking = comparison.rankings.iter().find(|ranking| ranking.by == wanted);
    let dots: Vec<Dot> = ranking
        .into_iter()
        .flat_map(|ranking| &ranking.cards)
        .filter_map(|card| Some(Dot { name: one_line(&card.name), at: (card.price?, card.value) }))
        .collect();
    if dots.len() < 2 {
        return Ok(());
    }
    let better = if wanted.is_better_low() { "lower is better" } else { "higher is better" };
    let about = format!("Price (to the right) and {} (upwards; {better}).", wanted.formula());
    scatter(page, ("prices", "Price against the work", &about), &dots, Vec::new())
}

/// A scatter with numbered points and the list of their names.
fn scatter(
    page: &mut Page,
    (id, heading, about): (&str, &str, &str),
    dots: &[Dot],
    mut layers: Vec<Layer>,
) -> Result<(), HtmlError> {
    layers.extend(dots.iter().enumerate().map(|(at, dot)| Layer::Point {
        at: dot.at,
        tone: Tone::Line(0),
        label: (at + 1).to_string(),
    }));
    let chart = Chart {
        title: format!("{heading} of {} cards", dots.len()),
        width: 320.0,
        height: 270.0,
        x: axis(dots.iter().map(|dot| dot.at.0)),
        y: axis(dots.iter().map(|dot| dot.at.1)),
        layers,
    };
    markup!(
        page.text,
        "<section id=\"{}\">\n<h2>{}</h2>\n<figure>\n<div class=\"field\"><div>\n",
        id,
        heading
    );
    let picture = drawn(&chart)?;
    page.text.drawing(&picture, &format!("{id}-chart"));
    page.text.literal("</div>\n<ol class=\"names\">\n");
    for dot in dots {
        markup!(page.text, "<li>{}</li>\n", &dot.name);
    }
    markup!(page.text, "</ol></div>\n<figcaption><p>{}</p></figcaption>\n", about);
    let name = |(at, dot): (usize, &Dot)| {
        let number = format!("{}.", at + 1);
        (Shape::word((0.0, 4.0), &number, Letters::at(Anchor::Start)), dot.name.clone())
    };
    let names: Vec<Entry> = dots.iter().enumerate().map(name).collect();
    let file = ChartFile::new(heading, about, with_legend(picture, names), csv(dots));
    save::write(page, heading, file);
    page.text.literal("</figure>\n</section>\n");
    Ok(())
}

/// The points of a scatter, with the numbers that they have in it.
fn csv(dots: &[Dot]) -> String {
    let mut out = String::from("number,card,to_the_right,upwards\n");
    for (at, Dot { name, at: (x, y) }) in dots.iter().enumerate() {
        out.push_str(&format!("{},{},{x:.2},{y:.2}\n", at + 1, quoted(name)));
    }
    out
}

/// A logarithmic axis around `values`, half a decade at least.
fn axis(values: impl Iterator<Item = f64> + Clone) -> Axis {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
    let tick = |value: f64| {
        if value < 10.0 { format!("{value:.1}") } else { value.round().to_string() }
    };
    Axis { scale: Scale::Logarithmic, low: low / 2.0, high: high * 2.0, tick }
}

/// A chart of several cards: its name, its heading, whether a phase has what it draws, and how it is
/// drawn.
type Overlaid = (
    &'static str,
    &'static str,
    fn(&Phase) -> bool,
    fn(&[(&Phase, Tone, Dashes)]) -> Option<Chart>,
);

const OVERLAID: [Overlaid; 2] = [
    ("tails", "Share of operations that took longer", has_tail, tails_together),
    ("rates", "Operations a second over time", has_course, rates_together),
];

/// What a few cards are overlaid in.
const OVERLAID_PHASE: &str = "4 KiB random writes, one at a time";

/// The waits and the rates over time of a few cards, in 4 KiB random writes.
fn overlaid(
    page: &mut Page,
    comparison: &Comparison,
    records: &[&Record],
) -> Result<(), HtmlError> {
    let phases: Vec<(usize, &Phase)> = records
        .iter()
        .enumerate()
        .filter_map(|(card, record)| Some((card, &record.phases[random_write(record)?])))
        .collect();
    // A card whose phase has nothing to draw has no place in the legend and in the data either.
    let chart_of = |&(id, heading, is_drawn, draw): &Overlaid| {
        let shown = phases.iter().filter(|(_, phase)| is_drawn(phase));
        let lines: Vec<(&Phase, Tone, Dashes)> =
            shown.clone().map(|&(card, phase)| (phase, tone(card), dashes(card))).collect();
        let cards: Vec<usize> = shown.map(|&(card, _)| card).collect();
        Some((id, heading, cards, draw(&lines)?))
    };
    let charts: Vec<_> = OVERLAID.iter().filter_map(chart_of).collect();
    if phases.len() < 2 || charts.is_empty() {
        return Ok(());
    }
    markup!(
        page.text,
        "<section id=\"overlaid\">\n<h2>{}</h2>\n<div class=\"grid\">\n",
        OVERLAID_PHASE
    );
    for (id, heading, cards, chart) in &charts {
        markup!(page.text, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", heading);
        let picture = drawn(chart)?;
        page.text.drawing(&picture, &format!("overlaid-{id}"));
        page.text.literal("<ul class=\"legend\">\n");
        for &card in cards {
            page.text.literal("<li>");
            write_mark(&mut page.text, mark(tone(card), dashes(card)));
            markup!(page.text, "{}</li>\n", &one_line(&comparison.cards[card]));
        }
        page.text.literal("</ul>\n");
        let names: Vec<String> =
            cards.iter().map(|&card| one_line(&comparison.cards[card])).collect();
        let marks =
            cards.iter().map(|&card| mark(tone(card), dashes(card))).zip(names.iter().cloned());
        let marks: Vec<Entry> = marks.collect();
        let about = format!("{heading}: {OVERLAID_PHASE}");
        let alone = with_legend(picture, marks);
        save::write(page, heading, ChartFile::new(heading, &about, alone, csv_of(chart, &names)));
        page.text.literal("</figure>\n");
    }
    page.text.literal("</div>\n</section>\n");
    Ok(())
}

fn tone(card: usize) -> Tone {
    Tone::Line(card % LINE_TONES)
}

const fn dashes(card: usize) -> Dashes {
    match card % 3 {
        0 => Dashes::Whole,
        1 => Dashes::Long,
        _ => Dashes::Short,
    }
}

/// Where `record` has 4 KiB random writes, one at a time.
fn random_write(record: &Record) -> Option<usize> {
    record.phases.iter().position(|phase| {
        let is_random = phase.pattern == cardproof_record::PatternName::Random;
        let is_plain = phase.sync.fsync_every().is_none() && phase.queue_depth == 1;
        phase.op == OpName::Write
            && is_random
            && is_plain
            && phase.is_measured()
            && phase.block_size_bytes == cardproof_units::Bytes::kib(4)
    })
}

fn drawn(chart: &Chart) -> Result<Drawing, HtmlError> {
    charts::draw(chart).map_err(|source| HtmlError { chart: chart.title.clone(), source })
}
