//! Bars with intervals, the longest first: one picture for each quantity.
//!
//! Twelve cards must read well on a phone, so a bar has its name above and its rate beside it, both as
//! text, and the picture is only as wide as a phone. Colours are variables of the page.

use cardproof_rating::compare::{CardFigure, Column, Comparison};

use super::names::{cut, shown};
use super::save::{self, Page};
use super::sections::told;
use crate::clean::csv_quoted as quoted;
use crate::drawing::{Anchor, Colour, Drawing, Letters, Paint, Shape, Tone};
use crate::kept::ChartFile;
use crate::markup::markup;

const WIDTH: f64 = 340.0;

/// The height of a name with its bar.
const ROW: f64 = 34.0;

/// Where bars begin below their row's top, and how high they are.
const BAR_TOP: f64 = 17.0;
const BAR: f64 = 9.0;

/// What is left for bars beside the rates.
const BAR_MAX: f64 = 250.0;

/// Longer names lose their middle.
const NAME_MAX: usize = 46;

/// A card's bar.
struct Bar<'c> {
    name: String,
    figure: &'c CardFigure,
}

/// Appends one picture for each column in which two cards or more have a figure.
pub(super) fn write(page: &mut Page, comparison: &Comparison) {
    let drawn: Vec<(Column, Vec<Bar<'_>>)> = Column::ALL
        .into_iter()
        .map(|column| (column, bars(comparison, column)))
        .filter(|(_, bars)| bars.len() > 1)
        .collect();
    if drawn.is_empty() {
        return;
    }
    page.text.literal(
        "<section id=\"bars\">\n<h2>Every quantity</h2>\n<p>The longest bar is the best. The thin \
         line is the interval. If two lines overlap widely, the cards may be equal. Figures in doubt are \
         grey.</p>\n<div class=\"grid\">\n",
    );
    for (number, (column, bars)) in drawn.iter().enumerate() {
        figure(page, *column, bars, number);
    }
    page.text.literal("</div>\n</section>\n");
}

fn bars(comparison: &Comparison, column: Column) -> Vec<Bar<'_>> {
    let mut bars: Vec<Bar<'_>> = comparison
        .figures
        .iter()
        .filter_map(|card| {
            let figure = card.figures.iter().find(|figure| figure.column == column)?;
            Some(Bar { name: shown(card), figure })
        })
        .filter(|bar| bar.figure.rate.is_finite() && bar.figure.rate > 0.0)
        .collect();
    bars.sort_by(|a, b| b.figure.rate.total_cmp(&a.figure.rate));
    bars
}

fn figure(page: &mut Page, column: Column, bars: &[Bar<'_>], number: usize) {
    let heading = sentence(column);
    let id = format!("bars-{number}");
    let picture = picture(column, bars);
    markup!(page.text, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", heading);
    page.text.drawing(&picture, &id);
    let file = ChartFile::new(column.label(), &heading, picture, csv(column, bars));
    save::write(page, column.label(), file);
    page.text.literal("</figure>\n");
}

fn sentence(column: Column) -> String {
    crate::wrap::sentence(column.label())
}

fn unit(column: Column) -> &'static str {
    if column.is_told_in_iops() { "IOPS" } else { "bytes/s" }
}

fn picture(column: Column, bars: &[Bar<'_>]) -> Drawing {
    let ends = |bar: &Bar<'_>| bar.figure.between.map_or(bar.figure.rate, |[_, high]| high);
    // An interval that reaches far beyond all rates would leave no room for the bars.
    let most = bars.iter().map(|bar| bar.figure.rate).fold(0.0, f64::max);
    let full = bars.iter().map(ends).fold(0.0, f64::max).min(1.3 * most);
    let length = |rate: f64| (rate.clamp(0.0, full) / full) * BAR_MAX;
    let letters = Letters::at(Anchor::Start);
    let mut shapes = Vec::new();
    for (at, bar) in bars.iter().enumerate() {
        let top = ROW * at as f64;
        let tone = if bar.figure.doubt.is_some() { Tone::Quiet } else { Tone::Line(0) };
        let end = length(bar.figure.rate);
        let paint = Paint::filled(Colour::Tone(tone));
        shapes.push(Shape::word((0.0, top + 12.0), &cut(&bar.name, NAME_MAX), letters));
        shapes.push(Shape::rectangle((0.0, top + BAR_TOP), (end, BAR), paint));
        let mut text_at = end;
        if let Some([low, high]) = bar.figure.between {
            let middle = top + BAR_TOP + BAR / 2.0;
            let interval = vec![(length(low), middle), (length(high), middle)];
            shapes.push(Shape::line(interval, Paint::line(Colour::Ink, 1.5)));
            text_at = text_at.max(length(high));
        }
        let rate = told(unit(column), bar.figure.rate).to_string();
        shapes.push(Shape::word((text_at + 6.0, top + BAR_TOP + BAR), &rate, letters));
    }
    Drawing {
        title: format!("{} of {} cards, the best first", sentence(column), bars.len()),
        size: (WIDTH, ROW * bars.len() as f64),
        font_size: 12.0,
        shapes,
    }
}

fn csv(column: Column, bars: &[Bar<'_>]) -> String {
    let mut out = format!("card,unit,{}\n", "rate,low,high");
    for bar in bars {
        let [low, high] = match bar.figure.between {
            Some(ends) => ends.map(|end| format!("{end:.2}")),
            None => Default::default(),
        };
        let rate = bar.figure.rate;
        out.push_str(&format!("{},{},{rate:.2},{low},{high}\n", quoted(&bar.name), unit(column)));
    }
    out
}
