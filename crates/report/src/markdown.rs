//! The record in Markdown, for a forum post or a bug report.

use std::fmt::Write;

use cardproof_rating::wording;
use cardproof_rating::words::data::ALARM;
use cardproof_record::{Record, Verdict};

use crate::answer::words::grade_in_words;
use crate::clean::Markdown;
use crate::contents::{Contents, GEOMETRY_HEADING, MEANING_NOTE, Recording, VERDICT_NOTE};
use crate::rows::{Cells, Row, shown};
use crate::wrap::sentence;
use crate::yardstick::verdict_in_words;

/// The record in Markdown (with tables as GitHub and most forums read them), ending in a newline.
/// Text from the record cannot make markup.
#[must_use]
pub fn markdown(record: &Record, verdicts: &[Verdict]) -> String {
    let contents = Contents::from_record(record, verdicts);
    let mut out = String::with_capacity(4096);
    // Writing to a string cannot fail.
    let _ = write_all(&mut out, &contents);
    out
}

fn write_all(out: &mut String, contents: &Contents) -> std::fmt::Result {
    writeln!(out, "# {}\n", Markdown(&contents.title))?;
    if let Some(lead) = &contents.lead {
        writeln!(out, "**{}**: {}\n", lead.headline, Markdown(&lead.what))?;
    }
    if let Some(alarm) = &contents.alarm {
        writeln!(out, "**{}**\n", Markdown(&format!("{ALARM} {alarm}")))?;
    }
    if contents.lead.is_none()
        && let Some(answer) = &contents.answer
    {
        writeln!(out, "**{answer}**\n")?;
    }
    let is_said = |it: &crate::lead::Lead| contents.headline.starts_with(it.headline);
    if !contents.headline.is_empty() && !contents.lead.as_ref().is_some_and(is_said) {
        writeln!(out, "**{}**\n", Markdown(&contents.headline))?;
    }
    write_list(out, contents.capacity_heading, &contents.capacity)?;
    write_list(out, GEOMETRY_HEADING, &contents.geometry)?;
    write_list(out, crate::jobs::HEADING, &contents.jobs)?;
    for (heading, items) in &contents.setups {
        write_list(out, heading, items)?;
    }
    write_verdicts(out, contents)?;
    if !contents.is_jobs_only {
        write_meanings(out, contents)?;
    }
    write_list(out, "How long jobs would take", &contents.predictions_in_full())?;
    if !contents.predictions.is_empty() {
        writeln!(out, "\n{}", contents.prediction_note())?;
    }
    write_list(out, crate::flushes::HEADING, &contents.flushes)?;
    write_list(out, "What set the figures", &contents.limits_in_full())?;
    write_list(out, "Doubts", &contents.doubts)?;
    write_list(out, "Next", &contents.steps)?;
    if !contents.is_jobs_only {
        write_rows(out, contents)?;
    }
    write_list(out, crate::replays::HEADING, &contents.replays)?;
    write_list(out, contents.figures_heading, &contents.figures)?;
    write_list(out, contents.course_heading, &contents.course)?;
    let facts = contents.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text));
    write_list(out, "Conditions", &facts.collect::<Vec<_>>())
}

fn write_meanings(out: &mut String, contents: &Contents) -> std::fmt::Result {
    writeln!(out, "\n## Daily use\n")?;
    for meaning in &contents.meanings {
        let grade = grade_in_words(meaning.purpose, meaning.grade);
        let text = meaning.text();
        let text = Markdown(&text);
        writeln!(out, "- **{}: {grade}.** {text}", meaning.topic)?;
    }
    writeln!(out, "\n{MEANING_NOTE}")
}

fn write_rows(out: &mut String, contents: &Contents) -> std::fmt::Result {
    let interval = match &contents.confidence {
        Some(confidence) => format!("interval ({confidence})"),
        None => "interval".to_owned(),
    };
    writeln!(out, "\n## Measured\n")?;
    writeln!(out, "| phase | rate | {interval} | p50 | p99.9 | max |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
    for row in &contents.rows {
        write_row(out, row)?;
    }
    if let Some(note) = &contents.rows_note {
        writeln!(out, "\n{}", Markdown(note))?;
    }
    Ok(())
}

fn write_row(out: &mut String, row: &Row) -> std::fmt::Result {
    let part = if row.is_part { "&nbsp;&nbsp;" } else { "" };
    write!(out, "| {part}{} |", Markdown(&row.name))?;
    match &row.cells {
        Cells::NotMeasured(cause) => {
            writeln!(out, " not measured | {} | | | |", Markdown(cause))
        }
        Cells::Figures { rate, interval, latency } => {
            write!(out, " {rate} | {} |", interval.as_deref().unwrap_or_default())?;
            match latency {
                Some(latency) => {
                    let [p50, p999, max] = shown(latency);
                    writeln!(out, " {p50} | {p999} | {max} |")
                }
                None => writeln!(out, " | | |"),
            }
        }
    }
}

fn write_verdicts(out: &mut String, contents: &Contents) -> std::fmt::Result {
    if !contents.has_verdicts() {
        return Ok(());
    }
    writeln!(out, "\n## Verdicts\n")?;
    for verdict in &contents.verdicts {
        let words = verdict_in_words(&[&*verdict.rule], verdict.outcome, contents.is_card);
        writeln!(out, "- **{}**", Markdown(&words))?;
        for reason in &verdict.reasons {
            writeln!(out, "  - {}", Markdown(&reason.text))?;
        }
    }
    if let Some(recording) = &contents.recording {
        write_recording(out, recording)?;
    }
    if let Some(reason) = &contents.no_verdicts {
        writeln!(out, "- {}", Markdown(reason))?;
    }
    for indication in &contents.indications {
        writeln!(out, "- {}", Markdown(&indication.label))?;
        for basis in &indication.basis {
            writeln!(out, "  - {}", Markdown(basis))?;
        }
    }
    for claim in &contents.claims {
        writeln!(out, "- {}", Markdown(claim))?;
    }
    if let Some(scope) = &contents.scope {
        writeln!(out, "\n{}.", Markdown(&sentence(scope)))?;
    }
    writeln!(out, "\n{VERDICT_NOTE}")
}

fn write_recording(out: &mut String, recording: &Recording) -> std::fmt::Result {
    writeln!(out, "- **{}**", Markdown(&recording.text))?;
    for ruling in &recording.rulings {
        let words = wording::outcome(ruling.outcome);
        let reason = ruling.reasons.first().map_or("", |reason| &*reason.text);
        writeln!(out, "  - {}: {words} ({})", Markdown(&ruling.rule), Markdown(reason))?;
    }
    Ok(())
}

fn write_list(out: &mut String, heading: &str, items: &[String]) -> std::fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## {}\n", Markdown(heading))?;
    for item in items {
        writeln!(out, "- {}", Markdown(item))?;
    }
    Ok(())
}
