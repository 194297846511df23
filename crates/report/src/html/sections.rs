//! The sections of words: verdicts, daily use, doubts, advice, the table of phases, conditions.

use cardproof_rating::{Grade, wording};
use cardproof_record::Outcome;

use crate::clean::{Html, HtmlSentence, put};
use crate::contents::{
    CAPACITY_HEADING, Contents, GEOMETRY_HEADING, MEANING_NOTE, Recording, Ruling, VERDICT_NOTE,
};
use crate::rows::{Cells, Row, shown};
use crate::wrap::{bound, sentence};

/// Appends everything before the charts, and opens the main part of the page.
pub(super) fn write(page: &mut String, contents: &Contents) {
    put!(
        page,
        "<header>\n<p class=\"kind\">cardproof report</p>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n<main>\n",
        Html(&contents.title),
        Html(&contents.headline)
    );
    if let Some(alarm) = &contents.alarm {
        put!(page, "<p class=\"alarm\"><strong>{}</strong></p>\n", Html(&bound(alarm)));
    }
    write_list(page, "capacity", CAPACITY_HEADING, &contents.capacity);
    write_list(page, "geometry", GEOMETRY_HEADING, &contents.geometry);
    write_list(page, "done", crate::jobs::HEADING, &contents.jobs);
    for (number, (heading, items)) in contents.setups.iter().enumerate() {
        write_list(page, &format!("setups-{number}"), heading, items);
    }
    write_verdicts(page, contents);
    if !contents.is_jobs_only {
        write_meanings(page, contents);
    }
    write_predictions(page, contents);
    write_list(page, "flushes", crate::flushes::HEADING, &contents.flushes);
    write_list(page, "limits", "What limited", &contents.limits_in_full());
    write_list(page, "doubts", "Doubts", &contents.doubts);
    write_list(page, "next", "What next", &contents.steps);
    if !contents.is_jobs_only {
        write_rows(page, contents);
    }
    write_list(page, "replays", crate::replays::HEADING, &contents.replays);
    write_list(page, "tools", contents.figures_heading, &contents.figures);
    write_list(page, "course", contents.course_heading, &contents.course);
}

fn write_verdicts(page: &mut String, contents: &Contents) {
    if !contents.has_verdicts() {
        return;
    }
    page.push_str("<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<div class=\"pair\">\n");
    for verdict in &contents.verdicts {
        write_verdict(page, verdict);
    }
    page.push_str("</div>\n");
    if let Some(recording) = &contents.recording {
        write_recording(page, recording);
    }
    if let Some(reason) = &contents.no_verdicts {
        put!(page, "<p>{}.</p>\n", Html(&bound(reason)));
    }
    for indication in &contents.indications {
        let basis = indication.basis.join("; ");
        put!(page, "<p>{}. {}</p>\n", Html(&indication.label), Html(&bound(&basis)));
    }
    for claim in &contents.claims {
        put!(page, "<p>{}</p>\n", Html(&bound(claim)));
    }
    if let Some(scope) = &contents.scope {
        put!(page, "<p>{}.</p>\n", Html(&bound(&sentence(scope))));
    }
    put!(page, "<p class=\"note\">{VERDICT_NOTE}</p>\n</section>\n");
}

fn write_verdict(page: &mut String, verdict: &Ruling) {
    let class = outcome_class(verdict.outcome);
    let (rule, words) = (Html(&verdict.rule), wording::outcome(verdict.outcome));
    put!(page, "<article class=\"card {class}\">\n<h3>{rule}: {words}</h3>\n<ul>\n");
    for reason in &verdict.reasons {
        put!(page, "<li>{}</li>\n", Html(&bound(reason)));
    }
    page.push_str("</ul>\n</article>\n");
}

/// The recording classes in a line, and a table of them for whoever opens it. Below the table is each
/// note once, with the classes that it applies to.
fn write_recording(page: &mut String, recording: &Recording) {
    put!(page, "<details>\n<summary>{}</summary>\n", Html(&recording.text));
    page.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Recording classes\"><table>\n\
         <thead><tr><th scope=\"col\">class</th><th scope=\"col\">result</th>\
         <th scope=\"col\">reason</th></tr></thead>\n<tbody>\n",
    );
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for Ruling { rule, outcome, reasons } in &recording.rulings {
        let (reason, others) =
            reasons.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
        put!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
            Html(rule),
            wording::outcome(*outcome),
            Html(&bound(reason))
        );
        for note in others {
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, rules)) => rules.push(rule),
                None => notes.push((note, vec![rule])),
            }
        }
    }
    page.push_str("</tbody>\n</table></div>\n<ul>\n");
    for (note, rules) in notes {
        let is_of_all = rules.len() == recording.rulings.len();
        let rules = if is_of_all { "all".to_owned() } else { wording::list(&rules) };
        put!(page, "<li>{}: {}</li>\n", Html(&rules), Html(&bound(note)));
    }
    page.push_str("</ul>\n</details>\n");
}

const fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Meets => "good",
        Outcome::Misses => "poor",
        Outcome::Undecided => "fair",
        Outcome::NotTestable | Outcome::Unknown => "unknown",
    }
}

fn write_meanings(page: &mut String, contents: &Contents) {
    page.push_str("<section id=\"daily-use\">\n<h2>Daily use</h2>\n<dl class=\"uses\">\n");
    for meaning in &contents.meanings {
        let grade = meaning.grade.word();
        let class = grade_class(meaning.grade);
        put!(
            page,
            "<div><dt>{} <span class=\"grade {class}\">{grade}</span></dt><dd>{}</dd></div>\n",
            Html(meaning.topic),
            Html(&bound(&meaning.text()))
        );
    }
    put!(page, "</dl>\n<p class=\"note\">{MEANING_NOTE}</p>\n</section>\n");
}

fn write_predictions(page: &mut String, contents: &Contents) {
    if contents.predictions.is_empty() {
        return;
    }
    page.push_str("<section id=\"jobs\">\n<h2>How long jobs would take</h2>\n<ul>\n");
    for prediction in contents.predictions_in_full() {
        put!(page, "<li>{}</li>\n", Html(&bound(&prediction)));
    }
    let note = contents.prediction_note();
    put!(page, "</ul>\n<p class=\"note\">{note}</p>\n</section>\n");
}

const fn grade_class(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "good",
        Grade::Fair | Grade::FairOrGood | Grade::PoorOrFair => "fair",
        Grade::Poor => "poor",
        Grade::Unknown => "unknown",
    }
}

fn write_list(page: &mut String, id: &str, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    put!(page, "<section id=\"{id}\">\n<h2>{}</h2>\n<ul>\n", Html(heading));
    for item in items {
        put!(page, "<li>{}</li>\n", HtmlSentence(&bound(item)));
    }
    page.push_str("</ul>\n</section>\n");
}

/// The table of phases. Its roles are spelled out, because the narrow page lays the rows out as
/// blocks, and some browsers then forget that they are rows.
fn write_rows(page: &mut String, contents: &Contents) {
    let interval = match &contents.confidence {
        Some(confidence) => format!("interval ({confidence})"),
        None => "interval".to_owned(),
    };
    page.push_str(
        "<section id=\"measured\">\n<h2>Measured</h2>\n<table class=\"phases\" role=\"table\">\n\
         <thead role=\"rowgroup\"><tr role=\"row\">",
    );
    for heading in ["phase", "rate", &interval, "p50", "p99.9", "max"] {
        put!(page, "<th role=\"columnheader\" scope=\"col\">{heading}</th>");
    }
    page.push_str("</tr></thead>\n<tbody role=\"rowgroup\">\n");
    for row in &contents.rows {
        write_row(page, row, &interval);
    }
    page.push_str("</tbody>\n</table>\n");
    if let Some(note) = &contents.rows_note {
        put!(page, "<p class=\"note\">{note}</p>\n");
    }
    page.push_str("</section>\n");
}

fn write_row(page: &mut String, row: &Row, interval_heading: &str) {
    let class = if row.is_part { " class=\"part\"" } else { "" };
    let name = Html(&row.name);
    put!(page, "<tr role=\"row\"{class}><th role=\"rowheader\" scope=\"row\">{name}</th>");
    match &row.cells {
        Cells::NotMeasured(cause) => {
            put!(
                page,
                "<td role=\"cell\" colspan=\"5\" class=\"cause\">not measured: {}</td>",
                Html(cause)
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
    page.push_str("</tr>\n");
}

fn write_cell(page: &mut String, heading: &str, text: &str) {
    put!(page, "<td role=\"cell\" data-label=\"{heading}\">{}</td>", Html(text));
}

/// Appends what was measured, on what and how.
pub(super) fn write_conditions(page: &mut String, contents: &Contents) {
    page.push_str("<section id=\"conditions\">\n<h2>Conditions</h2>\n<dl class=\"facts\">\n");
    for fact in &contents.facts {
        put!(page, "<div><dt>{}</dt><dd>{}</dd></div>\n", fact.label, Html(&bound(&fact.text)));
    }
    page.push_str("</dl>\n</section>\n");
}
