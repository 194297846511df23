//! The sections of words: verdicts, daily use, doubts, advice, the table of phases, conditions.

use cardproof_rating::words::data::ALARM;
use cardproof_rating::{Grade, wording};
use cardproof_record::Outcome;

use super::parts::{close_fold, open_fold};
use crate::answer::words::grade_in_words;
use crate::contents::{Contents, GEOMETRY_HEADING, MEANING_NOTE, Recording, Ruling, VERDICT_NOTE};
use crate::markup::{Markup, Sentence, markup};
use crate::rows::{Cells, Row, shown};
use crate::wrap::{bound, sentence};
use crate::yardstick::verdict_in_words;

/// Appends the heading of the page, and opens its main part.
pub(super) fn write_header(page: &mut Markup, title: &str, below: &str) {
    markup!(page, "<header>\n<p class=\"kind\">cardproof report</p>\n<h1>{}</h1>\n", title);
    if !below.is_empty() {
        markup!(page, "<p>{}</p>\n", below);
    }
    page.literal("</header>\n<main class=\"report\">\n");
}

/// Appends the alarm about wrong data, and the results of tests without phases.
pub(super) fn write_results(page: &mut Markup, contents: &Contents) {
    if let Some(alarm) = &contents.alarm {
        markup!(page, "<p class=\"alarm\"><strong>{} {}</strong></p>\n", ALARM, &bound(alarm));
    }
    if !contents.has_verdicts() {
        write_list(page, "capacity", contents.capacity_heading, &contents.capacity);
    }
    write_list(page, "geometry", GEOMETRY_HEADING, &contents.geometry);
    write_list(page, "done", crate::jobs::HEADING, &contents.jobs);
    for (number, (heading, items)) in contents.setups.iter().enumerate() {
        write_list(page, &format!("setups-{number}"), heading, items);
    }
}

/// Appends what follows from the figures, and the figures.
pub(super) fn write(page: &mut Markup, contents: &Contents) {
    write_verdicts(page, contents);
    if !contents.is_jobs_only {
        write_meanings(page, contents);
    }
    write_list(page, "flushes", crate::flushes::HEADING, &contents.flushes);
    write_list(page, "doubts", "Doubts", &contents.doubts);
    write_list(page, "next", "Next", &contents.steps);
    if !contents.is_jobs_only {
        write_rows(page, contents);
    }
    write_list(page, "replays", crate::replays::HEADING, &contents.replays);
    write_list(page, "tools", contents.figures_heading, &contents.figures);
    write_predictions(page, contents);
    // A check says in its answer what came of the test of the capacity.
    if contents.has_verdicts() {
        write_folded(page, "capacity", contents.capacity_heading, &contents.capacity);
    }
    write_folded(page, "limits", "What set the figures", &contents.limits_in_full());
    write_folded(page, "course", contents.course_heading, &contents.course);
}

fn write_verdicts(page: &mut Markup, contents: &Contents) {
    if !contents.has_verdicts() {
        return;
    }
    page.literal("<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<div class=\"pair\">\n");
    for verdict in &contents.verdicts {
        write_verdict(page, verdict, contents.is_card);
    }
    page.literal("</div>\n");
    if let Some(recording) = &contents.recording {
        write_recording(page, recording, contents.is_card);
    }
    if let Some(reason) = &contents.no_verdicts {
        markup!(page, "<p>{}.</p>\n", &bound(reason));
    }
    for indication in &contents.indications {
        let basis = indication.basis.join("; ");
        markup!(page, "<p>{}. {}</p>\n", &indication.label, &bound(&basis));
    }
    for claim in &contents.claims {
        markup!(page, "<p>{}</p>\n", &bound(claim));
    }
    if let Some(scope) = &contents.scope {
        markup!(page, "<p>{}.</p>\n", &bound(&sentence(scope)));
    }
    markup!(page, "<p class=\"note\">{}</p>\n</section>\n", VERDICT_NOTE);
}

fn write_verdict(page: &mut Markup, verdict: &Ruling, is_card: bool) {
    let class = outcome_class(verdict.outcome);
    let words = verdict_in_words(&[&*verdict.rule], verdict.outcome, is_card);
    markup!(page, "<article class=\"card {}\">\n<h3>{}</h3>\n<ul>\n", class, words);
    for reason in &verdict.reasons {
        markup!(page, "<li>{}</li>\n", &bound(&reason.text));
    }
    page.literal("</ul>\n</article>\n");
}

/// What a class came to, in the cell beside its name: of storage that is no card how fast it is.
fn reached(rule: &str, outcome: Outcome, is_card: bool) -> String {
    let is_judged = matches!(outcome, Outcome::Meets | Outcome::Misses | Outcome::Undecided);
    if is_card || !is_judged {
        return wording::outcome(outcome).to_owned();
    }
    verdict_in_words(&[rule], outcome, false)
}

/// The recording classes in a line, and a table of them for whoever opens it. Below the table is each
/// note once, with the classes that it applies to.
fn write_recording(page: &mut Markup, recording: &Recording, is_card: bool) {
    markup!(page, "<details>\n<summary>{}</summary>\n", &recording.text);
    page.literal(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Speed classes\"><table>\n\
         <thead><tr><th scope=\"col\">class</th><th scope=\"col\">result</th>\
         <th scope=\"col\" class=\"words\">reason</th></tr></thead>\n<tbody>\n",
    );
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for Ruling { rule, outcome, reasons } in &recording.rulings {
        let (reason, others) =
            reasons.split_first().map_or(("", &[][..]), |(first, others)| (&*first.text, others));
        markup!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"words\">{}</td></tr>\n",
            rule,
            &reached(rule, *outcome, is_card),
            &bound(reason)
        );
        for note in others {
            match notes.iter_mut().find(|(known, _)| *known == note.text) {
                Some((_, rules)) => rules.push(rule),
                None => notes.push((&note.text, vec![rule])),
            }
        }
    }
    page.literal("</tbody>\n</table></div>\n<ul>\n");
    for (note, rules) in notes {
        let is_of_all = rules.len() == recording.rulings.len();
        let rules = if is_of_all { "all".to_owned() } else { wording::list(&rules) };
        markup!(page, "<li>{}: {}</li>\n", &rules, &bound(note));
    }
    page.literal("</ul>\n</details>\n");
}

/// A class that is not passed is a fact about a card and no fault of it, so it has no colour of alarm.
const fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Meets => "good",
        Outcome::Undecided => "fair",
        Outcome::Misses | Outcome::NotTestable | Outcome::Unknown => "unknown",
    }
}

fn write_meanings(page: &mut Markup, contents: &Contents) {
    page.literal("<section id=\"daily-use\">\n<h2>Daily use</h2>\n<dl class=\"uses\">\n");
    for meaning in &contents.meanings {
        let grade = grade_in_words(meaning.purpose, meaning.grade);
        let class = grade_class(meaning.grade);
        markup!(
            page,
            "<div><dt>{} <span class=\"grade {}\">{}</span></dt><dd>{}</dd></div>\n",
            meaning.topic,
            class,
            grade,
            &bound(&meaning.finding)
        );
    }
    page.literal("</dl>\n<details>\n<summary>Beside published cards</summary>\n<ul>\n");
    for meaning in contents.meanings.iter().filter(|meaning| !meaning.comparison.is_empty()) {
        markup!(page, "<li>{}: {}</li>\n", meaning.topic, &bound(&meaning.comparison));
    }
    for position in &contents.positions {
        markup!(page, "<li>{}</li>\n", &bound(position));
    }
    markup!(page, "<li>{}</li>\n</ul>\n</details>\n</section>\n", MEANING_NOTE);
}

fn write_predictions(page: &mut Markup, contents: &Contents) {
    if contents.predictions.is_empty() {
        return;
    }
    open_fold(page, "jobs", "How long jobs would take");
    page.literal("<ul>\n");
    for prediction in contents.predictions_in_full() {
        markup!(page, "<li>{}</li>\n", &bound(&prediction));
    }
    let note = contents.prediction_note();
    markup!(page, "</ul>\n<p class=\"note\">{}</p>\n", &note);
    close_fold(page);
}

const fn grade_class(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "good",
        Grade::Fair | Grade::FairOrGood | Grade::PoorOrFair => "fair",
        Grade::Poor => "poor",
        Grade::Unknown => "unknown",
    }
}

fn write_list(page: &mut Markup, id: &str, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    markup!(page, "<section id=\"{}\">\n<h2>{}</h2>\n<ul>\n", id, heading);
    for item in items {
        markup!(page, "<li>{}</li>\n", Sentence(&bound(item)));
    }
    page.literal("</ul>\n</section>\n");
}

fn write_folded(page: &mut Markup, id: &str, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    open_fold(page, id, heading);
    page.literal("<ul>\n");
    for item in items {
        markup!(page, "<li>{}</li>\n", Sentence(&bound(item)));
    }
    page.literal("</ul>\n");
    close_fold(page);
}

/// The table of phases. Its roles are spelled out, because the narrow page lays the rows out as
/// blocks, and some browsers then forget that they are rows.
fn write_rows(page: &mut Markup, contents: &Contents) {
    let interval = match &contents.confidence {
        Some(confidence) => format!("interval ({confidence})"),
        None => "interval".to_owned(),
    };
    page.literal(
        "<section id=\"measured\" class=\"wide\">\n<h2>Measured</h2>\n<table class=\"phases\" role=\"table\">\n\
         <thead role=\"rowgroup\"><tr role=\"row\">",
    );
    for heading in ["phase", "rate", &interval, "p50", "p99.9", "max"] {
        markup!(page, "<th role=\"columnheader\" scope=\"col\">{}</th>", heading);
    }
    page.literal("</tr></thead>\n<tbody role=\"rowgroup\">\n");
    for row in &contents.rows {
        write_row(page, row, &interval);
    }
    page.literal("</tbody>\n</table>\n");
    if let Some(note) = &contents.rows_note {
        markup!(page, "<p class=\"note\">{}</p>\n", note);
    }
    page.literal("</section>\n");
}

fn write_row(page: &mut Markup, row: &Row, interval_heading: &str) {
    page.literal(if row.is_part {
        "<tr role=\"row\" class=\"part\">"
    } else {
        "<tr role=\"row\">"
    });
    markup!(page, "<th role=\"rowheader\" scope=\"row\">{}</th>", row.name);
    match &row.cells {
        Cells::NotMeasured(cause) => {
            markup!(
                page,
                "<td role=\"cell\" colspan=\"5\" class=\"cause\">not measured: {}</td>",
                cause
            );
        }
        Cells::Figures { rate, interval, latency } => {
            write_cell(page, "rate", rate);
            write_cell(page, interval_heading, interval.as_deref().unwrap_or_default());
            let latencies = latency.as_ref().map(shown).map(|all| all.map(|one| one.to_string()));
            let latencies = latencies.unwrap_or_default();
            for (heading, latency) in ["p50", "p99.9", "max"].iter().zip(&latencies) {
                write_cell(page, heading, latency);
            }
        }
    }
    page.literal("</tr>\n");
}

fn write_cell(page: &mut Markup, heading: &str, text: &str) {
    markup!(page, "<td role=\"cell\" data-label=\"{}\">{}</td>", heading, text);
}

/// Appends what was measured, on what and how.
pub(super) fn write_conditions(page: &mut Markup, contents: &Contents) {
    open_fold(page, "conditions", "Conditions");
    page.literal("<dl class=\"facts\">\n");
    for fact in &contents.facts {
        markup!(page, "<div><dt>{}</dt><dd>{}</dd></div>\n", fact.label, &bound(&fact.text));
    }
    page.literal("</dl>\n");
    close_fold(page);
}
