//! What every report says, in words, before it is set for a terminal, a forum or a browser.

use cardproof_rating::limits::{limit_of_job, limit_of_phase};
use cardproof_rating::prediction::predictions;
use cardproof_rating::{
    Meaning, claims, doubts, is_recording, meaning, next_steps, recording_classes, wording,
};
use cardproof_record::{Limit, LimitedBy, Outcome, Record, Verdict};

use crate::clean::one_line;
use crate::course::course;
use crate::facts::{Fact, facts, title};
use crate::figures::figures;
use crate::jobs;
use crate::replays;
use crate::rows::{Row, confidence, rows};

/// What stands under the verdicts of every report.
pub(crate) const VERDICT_NOTE: &str = "Limits of the SD Association's classes, as measured on this host under the conditions stated here; the Association's own \
    test conditions are not public, so this is no certificate.";

/// What stands under the daily use of every report.
pub(crate) const MEANING_NOTE: &str = "Comparisons with published figures, no predictions: other \
    hosts and other systems differ.";

/// What stands under the predicted times of every report.
pub(crate) const PREDICTION_NOTE: &str = "Predicted for a NanoPi M4 of 2018 from the figures above \
    and from eight published cards. Each range is as wide as the errors on those eight, the \
    intervals of the figures included. Another computer takes other times.";

/// Of which more than so many phases the same is said, they are counted, not named.
const NAMED_MAX: usize = 4;

/// The contents of a report.
pub(crate) struct Contents {
    /// What was measured.
    pub(crate) title: String,
    /// The verdicts in one sentence.
    pub(crate) headline: String,
    /// On what and how.
    pub(crate) facts: Vec<Fact>,
    /// What the jobs took that were run.
    pub(crate) jobs: Vec<String>,
    /// Whether jobs were run and no phase: then a table of phases, classes and daily use say nothing.
    pub(crate) is_jobs_only: bool,
    /// The table of phases.
    pub(crate) rows: Vec<Row>,
    /// The confidence of the table's intervals, if it is the same for all.
    pub(crate) confidence: Option<String>,
    /// Figures in the units of the tools whose method was followed.
    pub(crate) figures: Vec<String>,
    /// Recorded jobs that were replayed, in lines.
    pub(crate) replays: Vec<String>,
    /// The verdicts that are told in full.
    pub(crate) verdicts: Vec<Ruling>,
    /// The verdicts on the recording classes.
    pub(crate) recording: Option<Recording>,
    /// The classes that the card claims, against what it did.
    pub(crate) claims: Vec<String>,
    /// Daily use.
    pub(crate) meanings: Vec<Meaning>,
    /// Where rates changed, and what several runs show.
    pub(crate) course: Vec<String>,
    /// How long jobs would take, in a sentence each; empty where nothing can be predicted.
    pub(crate) predictions: Vec<String>,
    /// What limited the phases and jobs.
    pub(crate) limits: Vec<String>,
    /// Doubts.
    pub(crate) doubts: Vec<String>,
    /// What to do next.
    pub(crate) steps: Vec<String>,
}

/// A verdict in words.
pub(crate) struct Ruling {
    pub(crate) rule: String,
    pub(crate) outcome: Outcome,
    pub(crate) reasons: Vec<String>,
}

/// The classes that all limit the sequential write, told together.
pub(crate) struct Recording {
    /// Which are met and which are not, in one sentence.
    pub(crate) text: String,
    /// Each of them.
    pub(crate) rulings: Vec<Ruling>,
}

impl Recording {
    fn of(verdicts: &[Verdict]) -> Option<Self> {
        let text = format!("Recording classes: {}", recording_classes(verdicts)?);
        let rulings = verdicts.iter().filter(|verdict| is_recording(verdict)).map(ruling);
        Some(Self { text, rulings: rulings.collect() })
    }
}

impl Contents {
    pub(crate) fn of(record: &Record, verdicts: &[Verdict]) -> Self {
        // Jobs measure themselves and nothing that verdicts or advice could rest on.
        let has_jobs = !record.job_runs.is_empty() || !record.replays.is_empty();
        let is_jobs_only = has_jobs && record.phases.is_empty();
        let verdicts = if is_jobs_only { &[] } else { verdicts };
        let in_full: Vec<&Verdict> =
            verdicts.iter().filter(|verdict| !is_recording(verdict)).collect();
        let headline = if is_jobs_only { of_jobs(record) } else { headline(&in_full) };
        Self {
            title: title(record),
            headline,
            facts: facts(record),
            jobs: jobs::jobs(record),
            is_jobs_only,
            rows: rows(record),
            confidence: confidence(record),
            figures: figures(record),
            replays: replays::replays(record),
            verdicts: in_full.into_iter().map(ruling).collect(),
            recording: Recording::of(verdicts),
            claims: claims(record, verdicts)
                .iter()
                .map(|claim| format!("The card {}", one_line(claim)))
                .collect(),
            meanings: meaning(record)
                .into_iter()
                .map(|meaning| Meaning { text: one_line(&meaning.text), ..meaning })
                .collect(),
            course: course(record),
            predictions: predictions_in_words(record),
            limits: limits_in_words(record),
            doubts: doubts_in_words(record),
            steps: next_steps(record, verdicts).iter().map(|step| one_line(step)).collect(),
        }
    }
}

/// Each job and each replay in a sentence.
fn of_jobs(record: &Record) -> String {
    let both = [jobs::headline(record), replays::headlines(record)];
    both.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

/// The predicted times. Why there are none is plain from the table and the doubts.
fn predictions_in_words(record: &Record) -> Vec<String> {
    let predictions = predictions(record).unwrap_or_default();
    predictions.iter().map(|prediction| format!("{}.", prediction.text())).collect()
}

/// What limited, most phases first, each limit once with the phases and jobs that it held back and
/// the figures of the first of them.
fn limits_in_words(record: &Record) -> Vec<String> {
    let mut said: Vec<(Limit, String, Vec<String>)> = Vec::new();
    for (name, limited) in limits(record) {
        match said.iter_mut().find(|(limit, ..)| *limit == limited.limit) {
            Some((.., names)) => names.push(name),
            None => said.push((limited.limit, limited.evidence.join("; "), vec![name])),
        }
    }
    said.sort_by_key(|(.., names)| std::cmp::Reverse(names.len()));
    said.into_iter()
        .map(|(limit, evidence, names)| {
            let first = names.first().cloned().unwrap_or_default();
            let which = match names.len() {
                count if count > 1 && count == record.phases.len() => "all phases".to_owned(),
                count if count > NAMED_MAX => format!("{count} of {} phases", record.phases.len()),
                _ => names.join(", "),
            };
            let example = if names.len() > 1 { format!("{first}: ") } else { String::new() };
            let evidence = one_line(&evidence);
            format!("{which}: by {} ({example}{evidence})", limit.words())
        })
        .collect()
}

/// Every phase and job of which it can be told what limited it, by name.
fn limits(record: &Record) -> Vec<(String, LimitedBy)> {
    let phases = record.phases.iter().map(|it| (&it.name, limit_of_phase(record, it)));
    let jobs = record.job_runs.iter().map(|it| (&it.name, limit_of_job(record, it)));
    phases.chain(jobs).filter_map(|(name, limited)| Some((one_line(name), limited?))).collect()
}

/// The doubts, with the phases of which the same is said named together.
fn doubts_in_words(record: &Record) -> Vec<String> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for doubt in doubts(record) {
        let message = one_line(&doubt.warning.message);
        let phase = doubt.phase.and_then(|index| record.phases.get(index));
        let phase = phase.map(|phase| one_line(&phase.name));
        match said.iter_mut().find(|(known, _)| *known == message) {
            Some((_, phases)) => phases.extend(phase),
            None => said.push((message, phase.into_iter().collect())),
        }
    }
    let words = said.into_iter().map(|(message, phases)| match phases.as_slice() {
        [] => message,
        phases if phases.len() > 1 && phases.len() == record.phases.len() => {
            format!("all phases: {message}")
        }
        phases if phases.len() > NAMED_MAX => {
            format!("{} of {} phases: {message}", phases.len(), record.phases.len())
        }
        phases => format!("{}: {message}", phases.join(", ")),
    });
    words.collect()
}

fn headline(verdicts: &[&Verdict]) -> String {
    let sentences: Vec<String> = verdicts
        .iter()
        .map(|verdict| {
            format!("{}: {}.", one_line(&verdict.rule), wording::outcome(verdict.outcome))
        })
        .collect();
    sentences.join(" ")
}

fn ruling(verdict: &Verdict) -> Ruling {
    Ruling {
        rule: one_line(&verdict.rule),
        outcome: verdict.outcome,
        reasons: verdict.reasons.iter().map(|reason| one_line(reason)).collect(),
    }
}
