//! The result in one picture, for a forum that takes no text of ours: the card, its verdicts, its rates.

use cardproof_record::{Outcome, Record, Verdict};

use crate::clean::Html;
use crate::clean::put;
use crate::kept::ChartFile;
use crate::short::Short;
use crate::wrap::wrap_into;

/// The picture's measures, in its own units.
const WIDTH: usize = 640;
const MARGIN: usize = 24;
const LINE: usize = 20;

/// Where what is said of something begins.
const SAID: usize = 240;

/// The letters of a line that fit, of the heading and beside the names.
const HEADING_LETTERS: usize = 58;
const SAID_LETTERS: usize = 50;

/// The result of `record` in one picture: SVG, and PNG of it.
#[must_use]
pub fn result_picture(record: &Record, verdicts: &[Verdict]) -> ChartFile {
    let Short { name, rows, source } = Short::of(record);
    let mut inside = String::new();
    let mut y = MARGIN + 12;
    for line in lines(&name, HEADING_LETTERS) {
        text(&mut inside, (MARGIN, y), 18, "var(--ink)", &line);
        y += 26;
    }
    y += 6;
    for (what, said) in &rows {
        text(&mut inside, (MARGIN, y), 13, "var(--quiet)", what);
        let colour = if what == "Verdicts" { colour(verdicts) } else { "var(--ink)" };
        for line in lines(said, SAID_LETTERS) {
            text(&mut inside, (SAID, y), 13, colour, &line);
            y += LINE;
        }
    }
    y += 8;
    for line in lines(&source, 2 * SAID_LETTERS) {
        text(&mut inside, (MARGIN, y), 11, "var(--quiet)", &line);
        y += LINE;
    }
    let mut svg = String::new();
    put!(
        svg,
        "<svg role=\"img\" viewBox=\"0 0 {WIDTH} {y}\" fill=\"var(--ink)\"><title>Result of {}</title>\
         <rect x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{y}\" fill=\"#ffffff\"/>\
         <rect x=\"0\" y=\"0\" width=\"6\" height=\"{y}\" fill=\"{}\"/>{inside}</svg>",
        Html(&name),
        colour(verdicts)
    );
    ChartFile::bare("result", &svg)
}

/// The colour of the verdicts together, where it holds for all of them: a failed or undecided class is not
/// told in green.
fn colour(verdicts: &[Verdict]) -> &'static str {
    let has = |outcome: Outcome| verdicts.iter().any(|verdict| verdict.outcome == outcome);
    if has(Outcome::Undecided) {
        return "var(--ink)";
    }
    match (has(Outcome::Meets), has(Outcome::Misses)) {
        (true, false) => "#1a6e3c",
        (false, true) => "#b3261e",
        (true, true) | (false, false) => "var(--ink)",
    }
}

/// `text` in lines of at most `letters`.
fn lines(text: &str, letters: usize) -> Vec<String> {
    let mut wrapped = String::new();
    wrap_into(&mut wrapped, "", text, "", letters);
    wrapped.lines().map(str::to_owned).collect()
}

fn text(svg: &mut String, (x, y): (usize, usize), size: usize, colour: &str, words: &str) {
    put!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\">{}</text>",
        Html(words)
    );
}
