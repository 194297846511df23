//! What every report says, in words, before it is set for a terminal, a forum or a browser.

use cardproof_rating::prediction::{Prediction, predictions};
use cardproof_rating::{
    Class, Meaning, claims, geometry, geometry_in_words, indications, is_recording, meaning,
    next_steps, recording_classes, scope, wording,
};
use cardproof_record::{Indication, Likelihood, Outcome, Record, Verdict};

use crate::clean::one_line;
use crate::course::{course, course_in_short};
use crate::facts::{Fact, facts, title};
use crate::figures::{self, figures};
use crate::jobs;
use crate::replays;
use crate::rows::{self, Row, confidence, rows};
use crate::setups;
use crate::shared::{self, Limited};

/// What stands under the verdicts of every report.
pub(crate) const VERDICT_NOTE: &str = "Limits of the SD Association's classes, as measured on this host under the conditions stated here; the Association's own \
    test conditions are not public, so this is no certificate.";

/// What stands under the daily use of every report.
pub(crate) const MEANING_NOTE: &str = "Comparisons with published figures, no predictions: other \
    hosts and other systems differ.";

/// What stands under the predicted times of every report.
const PREDICTION_NOTE: &str = "Predicted for a NanoPi M4 of 2018 from this storage's figures and \
    from eight published cards. Each range is as wide as the errors on those eight, the intervals \
    of the figures included. Another computer takes other times.";

/// The same where figures have no intervals.
const UNBOUNDED_PREDICTION_NOTE: &str = "Predicted for a NanoPi M4 of 2018 from the figures that \
    the tool stated and from eight published cards. The figures have no intervals, so no range can \
    be told. Another computer takes other times.";

/// The contents of a report.
pub(crate) struct Contents {
    /// What was measured.
    pub(crate) title: String,
    /// That data was wrong; it leads every report.
    pub(crate) alarm: Option<String>,
    /// That the data was right, in a few words.
    pub(crate) data: Option<String>,
    /// The verdicts in one sentence.
    pub(crate) headline: String,
    /// On what and how.
    pub(crate) facts: Vec<Fact>,
    /// What timings show of the card's geometry.
    pub(crate) geometry: Vec<String>,
    /// What the jobs took that were run.
    pub(crate) jobs: Vec<String>,
    /// Whether jobs were run and no phase: then a table of phases, classes and daily use say nothing.
    pub(crate) is_jobs_only: bool,
    /// The table of phases.
    pub(crate) rows: Vec<Row>,
    /// What is to be known of the table.
    pub(crate) rows_note: Option<&'static str>,
    /// The confidence of the table's intervals, if it is the same for all.
    pub(crate) confidence: Option<String>,
    /// Figures in the units of the tools whose method was followed.
    pub(crate) figures: Vec<String>,
    /// What stands over them.
    pub(crate) figures_heading: &'static str,
    /// Recorded jobs that were replayed, in lines.
    pub(crate) replays: Vec<String>,
    /// Compared setups: headings, each with its items.
    pub(crate) setups: Vec<setups::List>,
    /// The verdicts that are told in full.
    pub(crate) verdicts: Vec<Ruling>,
    /// The verdicts on the recording classes.
    pub(crate) recording: Option<Recording>,
    /// What stated figures make likely of the classes.
    pub(crate) indications: Vec<Indicated>,
    /// The classes that the card claims, against what it did.
    pub(crate) claims: Vec<String>,
    /// Over which part of the storage all this was measured, where it is larger.
    pub(crate) scope: Option<String>,
    /// Daily use.
    pub(crate) meanings: Vec<Meaning>,
    /// Where rates changed, and what several runs show.
    pub(crate) course: Vec<String>,
    /// The same in short.
    pub(crate) course_in_short: Vec<String>,
    /// How long jobs would take; empty where nothing can be predicted.
    pub(crate) predictions: Vec<Prediction>,
    /// What limited the phases.
    pub(crate) limits: Vec<Limited>,
    /// The same in short.
    pub(crate) limits_in_short: Vec<String>,
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

/// An indication in words.
pub(crate) struct Indicated {
    /// Such as `A1: likely meets the limits (an indication)`.
    pub(crate) label: String,
    pub(crate) outcome: Likelihood,
    /// On what it rests.
    pub(crate) basis: Vec<String>,
}

/// What stated figures make likely: of the application classes, and of the most demanding recording
/// class that is likely met and the least demanding that is likely missed.
fn indicated(record: &Record) -> Vec<Indicated> {
    let all = indications(record);
    let is_recording = |rule: &str| is_recording_class(rule);
    let of_recording =
        |outcome| move |it: &&Indication| is_recording_class(&it.rule) && it.outcome == outcome;
    let best = all.iter().rfind(of_recording(Likelihood::LikelyMeets));
    let worst = all.iter().find(of_recording(Likelihood::LikelyMisses));
    let application = all.iter().filter(|it| !is_recording(&it.rule));
    application
        .chain(best)
        .chain(worst)
        .map(|it| Indicated {
            label: format!(
                "{}: {} (an indication)",
                one_line(&it.rule),
                wording::likelihood(it.outcome)
            ),
            outcome: it.outcome,
            basis: it.basis.iter().map(|basis| one_line(basis)).collect(),
        })
        .collect()
}

fn is_recording_class(rule: &str) -> bool {
    Class::named(rule).is_some_and(|class| !class.is_application())
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
        let rulings: Vec<Ruling> = rulings.collect();
        // What the host cannot carry is said at once, or a card is blamed for it.
        let host = rulings
            .iter()
            .filter_map(|ruling| ruling.reasons.first())
            .find(|reason| reason.starts_with("no card can reach"));
        let text = host.map_or(text.clone(), |host| format!("{text} ({host})"));
        Some(Self { text, rulings })
    }
}

impl Contents {
    pub(crate) fn of(record: &Record, verdicts: &[Verdict]) -> Self {
        // Jobs measure themselves and nothing that verdicts or advice could rest on.
        let has_jobs = !record.job_runs.is_empty()
            || !record.replays.is_empty()
            || !record.flash_timings.is_empty()
            || record.endurance.is_some()
            || record.setups.is_some()
            || record.power_cuts.is_some();
        let is_jobs_only = has_jobs && record.phases.is_empty();
        let verdicts = if is_jobs_only { &[] } else { verdicts };
        let in_full: Vec<&Verdict> =
            verdicts.iter().filter(|verdict| !is_recording(verdict)).collect();
        let headline = if is_jobs_only { of_jobs(record) } else { headline(&in_full) };
        Self {
            title: match record.label.as_deref().map(one_line) {
                Some(label) => format!("{label}: {}", title(record)),
                None => title(record),
            },
            alarm: cardproof_rating::data::alarm(record).map(|alarm| one_line(&alarm)),
            data: cardproof_rating::data::in_short(record),
            headline,
            facts: facts(record),
            geometry: geometry_lines(record),
            jobs: jobs::jobs(record),
            is_jobs_only,
            rows_note: rows::note(&rows(record)),
            rows: rows(record),
            confidence: confidence(record),
            figures: figures(record),
            figures_heading: figures::heading(record),
            replays: replays::replays(record),
            setups: lists(record),
            verdicts: in_full.into_iter().map(ruling).collect(),
            recording: Recording::of(verdicts),
            indications: indicated(record),
            claims: claims(record, verdicts)
                .iter()
                .map(|claim| format!("The card {}", one_line(claim)))
                .collect(),
            scope: scope(record).map(|scope| one_line(&scope)),
            meanings: meanings(record),
            course: course(record),
            course_in_short: course_in_short(record),
            // Why there are none is plain from the table and the doubts.
            predictions: predictions(record).unwrap_or_default(),
            limits: shared::limits(record),
            limits_in_short: shared::limits_in_short(record),
            doubts: shared::doubts_in_words(record),
            steps: next_steps(record, verdicts).iter().map(|step| one_line(step)).collect(),
        }
    }
}

impl Contents {
    /// What stands under the predicted times.
    pub(crate) fn prediction_note(&self) -> &'static str {
        if self.predictions.iter().all(|prediction| prediction.is_bounded) {
            PREDICTION_NOTE
        } else {
            UNBOUNDED_PREDICTION_NOTE
        }
    }

    /// The predicted times, in a sentence each.
    pub(crate) fn predictions_in_full(&self) -> Vec<String> {
        self.predictions.iter().map(|prediction| format!("{}.", prediction.text())).collect()
    }

    /// What limited the phases, with figures.
    pub(crate) fn limits_in_full(&self) -> Vec<String> {
        self.limits.iter().map(Limited::in_full).collect()
    }
}

/// The heading above the geometry in every report.
pub(crate) const GEOMETRY_HEADING: &str = "Geometry";

/// What timings show of the card's geometry, in lines.
fn geometry_lines(record: &Record) -> Vec<String> {
    let lines = geometry(record).map(|geometry| geometry_in_words(&geometry)).unwrap_or_default();
    lines.iter().map(|line| one_line(line)).collect()
}

/// How many quantities of the geometry show.
fn of_geometry(record: &Record) -> String {
    geometry(record).map_or_else(String::new, |geometry| {
        let quantities = geometry.quantities();
        let seen = quantities.iter().filter(|(_, finding)| finding.claim().is_some()).count();
        format!("{seen} of {} quantities of the card's geometry show.", quantities.len())
    })
}

/// What was compared, and what power cuts did: headings, each with its items.
fn lists(record: &Record) -> Vec<setups::List> {
    let mut lists = setups::setups(record);
    for (heading, items) in [
        (crate::powercut::HEADING, crate::powercut::power_cut_lines(record)),
        (crate::layout::HEADING, crate::layout::layout_lines(record)),
    ] {
        if !items.is_empty() {
            lists.push((heading.into(), items));
        }
    }
    lists
}

/// Each job and each replay in a sentence, and what to make of compared setups.
/// The life of a card that was worn, in one sentence.
fn of_endurance(record: &Record) -> String {
    let sentences = cardproof_rating::life::in_words(record);
    sentences.first().map_or_else(String::new, |sentence| format!("Endurance: {sentence}."))
}

fn of_jobs(record: &Record) -> String {
    let all = [
        jobs::headline(record),
        replays::headlines(record),
        setups::headline(record),
        crate::powercut::sentence(record),
        crate::layout::sentence(record),
        of_geometry(record),
        of_endurance(record),
    ];
    all.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

/// Daily use. Where nothing is known of any use for one and the same cause, that is said once.
fn meanings(record: &Record) -> Vec<Meaning> {
    let mut meanings: Vec<Meaning> = meaning(record)
        .into_iter()
        .map(|meaning| Meaning {
            finding: one_line(&meaning.finding),
            comparison: one_line(&meaning.comparison),
            ..meaning
        })
        .collect();
    let is_same = |pair: &[Meaning]| pair[0].text() == pair[1].text();
    if meanings.windows(2).all(is_same) {
        meanings.truncate(1);
        meanings.iter_mut().for_each(|meaning| meaning.topic = "Every use");
    }
    meanings
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
