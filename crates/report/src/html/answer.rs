//! What a page opens with: the verdict on the whole, the reply to each question, the figure to quote, what to
//! do next, and the storage's place among published cards.

use cardproof_rating::answer::Standing;
use cardproof_rating::{Doubt, Finding, PUBLISHED_CARDS, PUBLISHED_SOURCE, doubts, shown_rate};
use cardproof_record::{OpName, Record};
use cardproof_units::Iops;

use super::HtmlError;
use super::parts::{About, Charts, close_table, open_table};
use crate::answer::{AnswerPage, is_of_check, words};
use crate::charts::{OURS, RatePoint, field};
use crate::clean::one_line;
use crate::drawing::Tone;
use crate::kept::main_mark;
use crate::lead::{self, Lead};
use crate::markup::{Markup, markup};
use crate::published::{Place, places};
use crate::wrap::bound;

/// Appends the answer of `answer`, with the chart of `record` beside it.
pub(super) fn write(
    page: &mut Markup,
    charts: &mut Charts,
    answer: &AnswerPage<'_>,
    record: Option<&Record>,
) -> Result<(), HtmlError> {
    let overall = answer.answer.overall;
    let standing = class(overall.map_or(Standing::Unknown, words::standing));
    markup!(page, "<section id=\"answer\" class=\"wide {}\">\n", standing);
    if let Some(headline) = answer.headline_in_words() {
        markup!(page, "<h2 class=\"verdict\">{}</h2>\n", headline);
    }
    if let Some(quote) = words::quote_in_page(answer.answer) {
        markup!(page, "<p class=\"quote\">{}</p>\n", &bound(&quote));
    }
    if let Some(reserve) = answer.reserve() {
        markup!(page, "<p class=\"quote\">{}</p>\n", &bound(&format!("{reserve}.")));
    }
    page.literal("<div class=\"lead\">\n<div>\n");
    replies(page, answer);
    // Of another record than a check's the page has a list of its own.
    if record.is_none_or(is_of_check) {
        steps(page, answer);
    }
    page.literal("</div>\n");
    if let Some(record) = record.filter(|record| !record.phases.is_empty()) {
        among_published(page, charts, record)?;
    }
    page.literal("</div>\n</section>\n");
    Ok(())
}

/// Appends what is bad, where there is no answer to the questions.
pub(super) fn write_lead(page: &mut Markup, lead: &Lead) {
    markup!(
        page,
        "<section id=\"answer\" class=\"wide {}\">\n<h2 class=\"verdict\">{}</h2>\n<p class=\"quote\">{}</p>\n</section>\n",
        class(lead.standing),
        lead.headline,
        &bound(&lead.what)
    );
}

/// The colour of a reply.
pub(super) const fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Good => "good",
        Standing::Warning => "fair",
        Standing::Bad => "poor",
        Standing::Unknown => "unknown",
    }
}

fn replies(page: &mut Markup, answer: &AnswerPage<'_>) {
    page.literal("<dl class=\"replies\">\n");
    for reply in answer.replies() {
        markup!(
            page,
            "<div class=\"{}\"><dt>{}</dt><dd><strong>{}</strong><ul>\n",
            class(reply.standing),
            reply.question_in_words(),
            reply.verdict
        );
        for detail in &reply.details {
            markup!(page, "<li>{}</li>\n", &bound(&one_line(detail)));
        }
        page.literal("</ul></dd></div>\n");
    }
    page.literal("</dl>\n");
}

fn steps(page: &mut Markup, answer: &AnswerPage<'_>) {
    let steps = answer.steps_in_words();
    if steps.is_empty() {
        return;
    }
    page.literal("<h3>Next</h3>\n<ol class=\"next\">\n");
    for step in steps {
        match step.command {
            Some(command) => {
                let command = one_line(&command);
                markup!(
                    page,
                    "<li>{}<code>{}</code> ({})</li>\n",
                    step.place,
                    &command,
                    step.action
                );
            }
            None => markup!(page, "<li>{}{}</li>\n", step.place, step.action),
        }
    }
    page.literal("</ol>\n");
}

/// The storage's small reads and writes, where both were measured one at a time and neither is in doubt.
pub(crate) fn our_place(record: &Record) -> Option<RatePoint> {
    if doubts(record).iter().any(Doubt::forbids_all) {
        return None;
    }
    let iops = |op| {
        let phase = Finding::of_random_4k(record, op, 1).measured()?;
        let is_sound = phase.warnings.iter().all(|warning| !warning.code.forbids_verdict());
        let rate = shown_rate(phase).filter(|_| is_sound)?;
        Some(Iops(rate.estimate.per_second())).filter(|iops| iops.0 > 0.0)
    };
    Some(RatePoint { read: iops(OpName::Read)?, write: iops(OpName::Write)? })
}

fn among_published(
    page: &mut Markup,
    charts: &mut Charts,
    record: &Record,
) -> Result<(), HtmlError> {
    let Some(ours) = our_place(record) else {
        page.literal("<p class=\"note\">");
        let lead = Lead::from_record(record);
        match doubts(record).iter().find(|doubt| doubt.forbids_all()) {
            Some(_) if lead::is_bad(lead.as_ref()) => {
                markup!(page, "Not compared with published cards: {}.", lead::SPEED_SAYS_NOTHING);
            }
            Some(doubt) => {
                markup!(
                    page,
                    "Not compared with published cards: {}.",
                    &one_line(&doubt.text(record))
                );
            }
            None => page.literal(
                "Not compared with published cards: this needs small random reads and writes, \
                 one at a time, and the record does not have both.",
            ),
        }
        page.literal("</p>\n");
        return Ok(());
    };
    page.literal("<figure>\n<figcaption><h3>Among published cards</h3></figcaption>\n");
    let named = PUBLISHED_CARDS.iter().map(|card| card.name);
    let names = ["another published card"].into_iter().chain(named).chain([OURS]);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let legend = vec![(main_mark(Tone::Line(0)), OURS.to_owned())];
    let about = About {
        name: "among published cards",
        caption: "among published cards: small reads (to the right) and writes (upwards) a second",
    };
    charts.draw(page, &field(&ours), about, &names, legend)?;
    list(page, &ours);
    markup!(
        page,
        "<p class=\"note\">Blocks of 4 KiB, one at a time. The named cards were measured by {}. Each faint \
         dot is another published card, on another computer.</p>\n",
        PUBLISHED_SOURCE
    );
    page.literal("</figure>\n");
    Ok(())
}

/// The published cards by their small writes, with this storage in its place.
fn list(page: &mut Markup, ours: &RatePoint) {
    let places = places(ours);
    let summary = format!("All {} published results", places.len() - 1);
    let headings = ["", "card", "small writes", "small reads", "computer"];
    open_table(page, &summary, &summary, &headings);
    for Place { number, name, write, read, board } in &places {
        page.literal(if number.is_some() { "<tr>" } else { "<tr class=\"ours\">" });
        markup!(
            page,
            "<td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>\n",
            number.map_or_else(String::new, |number| number.to_string()),
            name,
            write,
            read.map_or_else(String::new, |read| read.to_string()),
            board
        );
    }
    close_table(page);
}
