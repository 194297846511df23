//! What a record says, to wherever the user wants it: terminal, JSON, HTML, Markdown.

use std::path::Path;

use cardproof_record::{Likelihood, Outcome, Record, Trial, Verdict};
use cardproof_session::Store;

use crate::args::{MarkdownSink, OutputArgs};
use crate::charts;
use crate::exit::Failure;
use crate::output::{self, Sink};
use crate::talk::{self, Talk};

/// A class that a script insists on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    rule: String,
}

impl Requirement {
    /// The requirements called `names`.
    pub(crate) fn parse_all(names: &[String]) -> Result<Vec<Self>, Failure> {
        let known = || cardproof_rating::CLASSES.iter().map(|class| class.name);
        names
            .iter()
            .map(|name| match known().find(|known| known.eq_ignore_ascii_case(name)) {
                Some(known) => Ok(Self { rule: known.to_owned() }),
                None => Err(Failure::usage(format!(
                    "there is no class '{name}' to require; the classes are: {}",
                    known().collect::<Vec<_>>().join(", ")
                ))),
            })
            .collect()
    }

    /// The classes that `record` does not surely meet. With `accepts_indication`, it is enough if
    /// figures without intervals likely meet them.
    pub(crate) fn unmet<'a>(
        requirements: &'a [Self],
        record: &Record,
        accepts_indication: bool,
    ) -> Vec<&'a str> {
        let verdicts = cardproof_rating::judge(record);
        let indications =
            if accepts_indication { cardproof_rating::indications(record) } else { Vec::new() };
        let is_met = |requirement: &&Self| {
            let is_sure = verdicts.iter().any(|verdict| {
                verdict.rule == requirement.rule && verdict.outcome == Outcome::Meets
            });
            is_sure
                || indications.iter().any(|indication| {
                    indication.rule == requirement.rule
                        && indication.outcome == Likelihood::LikelyMeets
                })
        };
        requirements.iter().filter(|it| !is_met(it)).map(|it| &*it.rule).collect()
    }
}

/// Whether all of `outputs` can be written, found out before anything is measured.
pub(crate) fn check_outputs(outputs: &OutputArgs) -> Result<(), Failure> {
    let html = outputs.html.clone().map(Sink::File);
    let markdown = outputs.markdown.as_ref().map(|markdown| &markdown.sink);
    let picture = outputs.picture.as_ref().map(|picture| Sink::File(picture.path.clone()));
    let sinks = [outputs.json.as_ref(), html.as_ref(), markdown, picture.as_ref()];
    for sink in sinks.into_iter().flatten() {
        output::check(sink)?;
    }
    if outputs.json == Some(Sink::Stdout) && markdown == Some(&Sink::Stdout) {
        return Err(Failure::usage(
            "--json - and --markdown - cannot both go to standard output; name a file for one",
        ));
    }
    Ok(())
}

/// Shows a fresh record and keeps its report beside it.
pub(crate) fn publish(
    record: &Record,
    store: &Store,
    outputs: &OutputArgs,
    talk: Talk,
) -> Result<(), Failure> {
    let verdicts = cardproof_rating::judge(record);
    let report = store.report_path(&record.id);
    show(record, &verdicts, outputs, talk).map_err(|mut failure| {
        let kept = store.record_path(&record.id);
        failure.message.push_str(&format!("; the record is kept: {}", kept.display()));
        failure
    })?;
    if has_figures(record) {
        write_html(record, &verdicts, &report)?;
    }
    talk.note(&format!("\nRecord: {}", store.record_path(&record.id).display()));
    if report.exists() {
        talk.note(&format!("Report: {}", report.display()));
    }
    Ok(())
}

/// Whether there is anything to make a report of.
pub(crate) fn has_figures(record: &Record) -> bool {
    let of_trial = match &record.trial {
        Some(Trial::Setups(setups)) => setups.has_figures(),
        Some(Trial::Capacity(test)) => !test.regions.is_empty() || test.files.is_some(),
        Some(Trial::Endurance(_) | Trial::Integrity(_)) => true,
        // Sentences tell what power cuts did, and the figures of a layout are those of its replays.
        Some(Trial::PowerCuts(_) | Trial::Layout(_)) | None => false,
    };
    of_trial
        || !record.job_runs.is_empty()
        || !record.replays.is_empty()
        || !record.flash_timings.is_empty()
        || record.phases.iter().any(|phase| phase.ops > 0)
}

/// Shows a record wherever `outputs` say, and on standard output if nothing else goes there.
pub(crate) fn show(
    record: &Record,
    verdicts: &[Verdict],
    outputs: &OutputArgs,
    talk: Talk,
) -> Result<(), Failure> {
    if write_outputs(record, verdicts, outputs)? || talk.is_quiet() {
        return Ok(());
    }
    print(record, verdicts, outputs.details)
}

/// Shows a record on standard output: the answer, or with `details` all that is known.
pub(crate) fn print(record: &Record, verdicts: &[Verdict], details: bool) -> Result<(), Failure> {
    let (width, is_styled) = (talk::width(), talk::is_styled());
    let text = if details {
        cardproof_report::summary(record, verdicts, width, is_styled)
    } else {
        // A check is shown as it was when it was made.
        cardproof_report::check_text(record, width, is_styled)
            .unwrap_or_else(|| cardproof_report::brief(record, verdicts, width, is_styled))
    };
    output::write(&Sink::Stdout, &format!("\n{text}"))
}

/// Names the files that were written.
pub(crate) fn tell_files(outputs: &OutputArgs, talk: Talk) {
    let file = |sink: &Option<Sink>| match sink {
        Some(Sink::File(path)) => Some(path.clone()),
        _ => None,
    };
    let markdown = outputs.markdown.as_ref().map(|markdown| markdown.sink.clone());
    for (what, path) in [
        ("Report", outputs.html.clone()),
        ("Markdown", file(&markdown)),
        ("JSON", file(&outputs.json)),
        ("Picture", outputs.picture.as_ref().map(|picture| picture.path.clone())),
    ] {
        if let Some(path) = path {
            talk.note(&format!("{what}: {}", path.display()));
        }
    }
}

/// Writes a record wherever `outputs` say; whether something went to standard output.
pub(crate) fn write_outputs(
    record: &Record,
    verdicts: &[Verdict],
    outputs: &OutputArgs,
) -> Result<bool, Failure> {
    if let Some(path) = &outputs.html {
        write_html(record, verdicts, path)?;
    }
    if let Some(picture) = &outputs.picture {
        charts::write_picture(picture, &cardproof_report::result_picture(record))?;
    }
    if let Some(sink) = &outputs.json {
        write_json(record, verdicts, sink)?;
    }
    if let Some(MarkdownSink { sink, is_short }) = &outputs.markdown {
        let text = if *is_short {
            cardproof_report::check_markdown(record)
                .unwrap_or_else(|| cardproof_report::markdown_short(record))
        } else {
            cardproof_report::markdown(record, verdicts)
        };
        output::write(sink, &text)?;
    }
    let markdown = outputs.markdown.as_ref().map(|markdown| &markdown.sink);
    Ok([outputs.json.as_ref(), markdown].into_iter().flatten().any(|sink| *sink == Sink::Stdout))
}

/// The record with its verdicts as JSON.
pub(crate) fn write_json(
    record: &Record,
    verdicts: &[Verdict],
    sink: &Sink,
) -> Result<(), Failure> {
    output::write(sink, &json(record, verdicts.to_vec())?)
}

/// The record with the verdicts of this version as JSON.
pub(crate) fn judged_json(record: &Record) -> Result<String, Failure> {
    json(record, cardproof_rating::judge(record))
}

/// The record with what is derived from it: verdicts, what limited it, and the card's
/// geometry.
pub(crate) fn judged(record: &Record, verdicts: Vec<Verdict>) -> Record {
    let indications = cardproof_rating::indications(record);
    Record {
        verdicts: Some(verdicts),
        quantities: cardproof_rating::quantities(record),
        indications: (!indications.is_empty()).then_some(indications),
        ..cardproof_rating::words::limits::with_limits(&cardproof_rating::with_doubts(record))
    }
}

fn json(record: &Record, verdicts: Vec<Verdict>) -> Result<String, Failure> {
    let judged = judged(record, verdicts);
    judged.to_json().map_err(Failure::because("the record cannot be put into JSON"))
}

pub(crate) fn write_html(
    record: &Record,
    verdicts: &[Verdict],
    path: &Path,
) -> Result<(), Failure> {
    let text = cardproof_report::html(record, verdicts)
        .map_err(Failure::because("the report cannot be drawn"))?;
    output::write(&Sink::File(path.to_owned()), &text)
}
