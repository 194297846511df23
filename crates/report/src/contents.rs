//! The words of every report, before they are laid out for a terminal, a forum or a browser.

use cardproof_rating::compare::{Position, positions};
use cardproof_rating::prediction::{Prediction, predictions};
use cardproof_rating::{
    Class, Meaning, claims, comparison_only, geometry, geometry_in_short, geometry_in_words,
    has_card_class, indications, is_recording, limiting_bus, meaning, recording_classes, scope,
    telling_indications, wording,
};
use cardproof_record::{Indication, Likelihood, Outcome, Reason, Record, Verdict};

use crate::answer::steps::steps;
use crate::capacity;
use crate::clean::one_line;
use crate::course::{course, course_in_short, pauses_in_words};
use crate::facts::{Fact, facts, title};
use crate::figures::{self, figures};
use crate::flushes::flush_lines;
use crate::jobs;
use crate::lead::{self, Lead};
use crate::replays;
use crate::rows::{self, Row, confidence, rows};
use crate::setups;
use crate::shared::{self, Limited};
use crate::wrap::sentence;

/// The note below the verdicts of every report.
pub(crate) const VERDICT_NOTE: &str = "The limits are those of the SD Association. Its full test \
    procedure is not public, so this result is not a certificate.";

/// The note below the daily use of every report.
pub(crate) const MEANING_NOTE: &str = "These grades compare with published figures. They do not \
    predict times on your computer.";

/// The note below the predicted times of every report.
const PREDICTION_NOTE: &str = "These times are predicted for the board of the published \
    measurements (NanoPi M4, 2018), not for this computer. They are computed from the figures of this storage \
    and of eight published cards. The true time should lie in the range. The range includes the errors of \
    this method on those eight cards and the uncertainty of this measurement.";

/// The same where figures have no intervals.
const UNBOUNDED_PREDICTION_NOTE: &str = "These times are predicted for a NanoPi M4 (2018), not for \
    this computer. They are computed from the stated figures and from eight published cards. The stated \
    figures have no intervals, so the ranges only allow for the usual variation between runs.";

/// The contents of a report.
pub(crate) struct Contents {
    /// What was measured.
    pub(crate) title: String,
    /// What is bad; it leads every report.
    pub(crate) lead: Option<Lead>,
    /// The alarm about wrong data, which follows it.
    pub(crate) alarm: Option<String>,
    /// The result of a passed data check, in a few words.
    pub(crate) data: Option<String>,
    /// How fit it is for a system, in capitals, where that was measured and nothing bad was found.
    pub(crate) answer: Option<&'static str>,
    /// The verdicts in one sentence.
    pub(crate) headline: String,
    /// Device, computer and conditions.
    pub(crate) facts: Vec<Fact>,
    /// The heading above the verdict on the capacity.
    pub(crate) capacity_heading: &'static str,
    /// Why the capacity is judged so.
    pub(crate) capacity: Vec<String>,
    /// The card's geometry from timings.
    pub(crate) geometry: Vec<String>,
    /// The times of the jobs that were run.
    pub(crate) jobs: Vec<String>,
    /// Whether jobs were run and no phase: then there are no rates, classes and grades.
    pub(crate) is_jobs_only: bool,
    /// The table of phases.
    pub(crate) rows: Vec<Row>,
    /// The note below the table.
    pub(crate) rows_note: Option<String>,
    /// What verdicts on SD classes mean for this storage, if it is not seen to be an SD card.
    pub(crate) comparison_only: Option<&'static str>,
    /// Whether it may be an SD card, so that it may have a class.
    pub(crate) is_card: bool,
    /// The confidence of the table's intervals, if it has any.
    pub(crate) confidence: Option<String>,
    /// Figures in the units of the tools whose method was followed.
    pub(crate) figures: Vec<String>,
    /// Their heading.
    pub(crate) figures_heading: &'static str,
    /// Recorded jobs that were replayed, in lines.
    pub(crate) replays: Vec<String>,
    /// Compared setups: headings, each with its items.
    pub(crate) setups: Vec<setups::List>,
    /// The verdicts that are shown in full.
    pub(crate) verdicts: Vec<Ruling>,
    /// The verdicts on the recording classes.
    pub(crate) recording: Option<Recording>,
    /// Why there are indications in place of verdicts.
    pub(crate) no_verdicts: Option<String>,
    /// Indications for the classes, from stated figures.
    pub(crate) indications: Vec<Indicated>,
    /// The classes that the card claims, with the result of each.
    pub(crate) claims: Vec<String>,
    /// The test range, such as `test range: the first 256 MiB of 29.7 GiB`; none if it is the whole
    /// storage.
    pub(crate) scope: Option<String>,
    /// Daily use.
    pub(crate) meanings: Vec<Meaning>,
    /// Its rough places among published measurements, in a sentence each.
    pub(crate) positions: Vec<String>,
    /// The pauses of the storage in a few words; empty where they are not known.
    pub(crate) pauses: String,
    /// The result of each test without phases: its sentence, then lines that explain it.
    pub(crate) results: Vec<Vec<String>>,
    /// What bursts with flushes show.
    pub(crate) flushes: Vec<String>,
    /// The heading of the course.
    pub(crate) course_heading: &'static str,
    /// Changes of rates, and differences between runs.
    pub(crate) course: Vec<String>,
    /// The same in short.
    pub(crate) course_in_short: Vec<String>,
    /// How long jobs would take; empty where nothing can be predicted.
    pub(crate) predictions: Vec<Prediction>,
    /// The board of this computer, where it is known and not the one that predictions are for.
    pub(crate) other_board: Option<String>,
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
    pub(crate) reasons: Vec<Reason>,
}

/// An indication in words.
pub(crate) struct Indicated {
    /// Such as `A1: probably passed (indication)`.
    pub(crate) label: String,
    pub(crate) outcome: Likelihood,
    /// The reasons.
    pub(crate) basis: Vec<String>,
}

/// What stated figures make likely.
fn indicated(record: &Record) -> Vec<Indicated> {
    let of_one = |it: &Indication| Indicated {
        label: format!(
            "{}: {} (indication)",
            wording::class(&one_line(&it.rule)),
            wording::likelihood(it.outcome)
        ),
        outcome: it.outcome,
        basis: it.basis.iter().map(|basis| one_line(basis)).collect(),
    };
    telling_indications(record).iter().map(of_one).collect()
}

/// The verdicts of `verdicts` that say more than the indications of `record`, and why the others say
/// less.
fn beside_indications<'v>(
    record: &Record,
    verdicts: &'v [Verdict],
) -> (Vec<&'v Verdict>, Option<String>) {
    let all = indications(record);
    let has_recording = all.iter().any(|it| is_recording_class(&it.rule));
    let is_indicated = |rule: &str| {
        all.iter().any(|it| it.rule == rule) || has_recording && is_recording_class(rule)
    };
    let (less, more): (Vec<_>, Vec<_>) = verdicts.iter().partition(|verdict| {
        verdict.outcome == Outcome::NotTestable && is_indicated(&verdict.rule)
    });
    let reason = less.first().and_then(|verdict| verdict.reasons.first());
    (
        more,
        reason.map(|reason| format!("No verdicts, only indications: {}", one_line(&reason.text))),
    )
}

fn is_recording_class(rule: &str) -> bool {
    Class::named(rule).is_some_and(|class| !class.is_application())
}

/// The classes that all limit the sequential write, shown together.
pub(crate) struct Recording {
    /// Which passed and which did not, in one sentence.
    pub(crate) text: String,
    /// Each of them.
    pub(crate) rulings: Vec<Ruling>,
    /// Whether the run can tell of any.
    pub(crate) is_tested: bool,
}

impl Recording {
    fn from_record(record: &Record, verdicts: &[Verdict]) -> Option<Self> {
        let is_card = has_card_class(&record.conditions.device);
        let all = recording_classes(verdicts, is_card)?;
        let rulings = verdicts.iter().filter(|verdict| is_recording(verdict)).map(ruling);
        let rulings: Vec<Ruling> = rulings.collect();
        let is_tested = rulings.iter().any(|ruling| ruling.outcome != Outcome::NotTestable);
        let limited = out_of_reach(record, &rulings);
        let is_limited = |verdict: &&Verdict| limited.names.contains(&verdict.rule);
        let others: Vec<Verdict> = verdicts.iter().filter(|it| !is_limited(it)).cloned().collect();
        let sentences = match &limited.bus {
            None => vec![all],
            Some(bus) => recording_classes(&others, is_card)
                .into_iter()
                .chain([format!("{} cannot be tested: {bus}", limited.in_words())])
                .collect(),
        };
        Some(Self { text: format!("Speed classes: {}", sentences.join(". ")), rulings, is_tested })
    }
}

/// The classes that the bus cannot carry: otherwise the card would be blamed for it.
struct OutOfReach {
    names: Vec<String>,
    /// What it carries; `None` where it carries all.
    bus: Option<String>,
}

impl OutOfReach {
    fn in_words(&self) -> String {
        wording::list(&self.names.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

fn out_of_reach(record: &Record, rulings: &[Ruling]) -> OutOfReach {
    let untested = rulings.iter().filter(|ruling| ruling.outcome == Outcome::NotTestable);
    let limited: Vec<(&Ruling, String)> =
        untested.filter_map(|ruling| Some((ruling, limiting_bus(record, &ruling.rule)?))).collect();
    OutOfReach {
        names: limited.iter().map(|(ruling, _)| ruling.rule.clone()).collect(),
        bus: limited.into_iter().next().map(|(_, bus)| one_line(&bus)),
    }
}

impl Contents {
    /// Whether there is anything on classes.
    pub(crate) const fn has_verdicts(&self) -> bool {
        !self.verdicts.is_empty() || self.recording.is_some() || !self.indications.is_empty()
    }

    pub(crate) fn from_record(record: &Record, verdicts: &[Verdict]) -> Self {
        let lead = Lead::from_record(record);
        let verdicts = &lead::told_once(lead.as_ref(), verdicts)[..];
        // Jobs measure themselves and nothing that verdicts or advice could rest on.
        let has_jobs = !record.job_runs.is_empty()
            || !record.findings.is_empty()
            || !record.replays.is_empty()
            || !record.flash_timings.is_empty()
            || record.trial.is_some();
        let is_jobs_only = has_jobs && record.phases.is_empty();
        let verdicts = if is_jobs_only { &[] } else { verdicts };
        let in_full: Vec<&Verdict> =
            verdicts.iter().filter(|verdict| !is_recording(verdict)).collect();
        let (shown, no_verdicts) = beside_indications(record, verdicts);
        let has_recording = shown.iter().any(|verdict| is_recording(verdict));
        let shown = shown.into_iter().filter(|verdict| !is_recording(verdict));
        let is_judged = verdicts.iter().any(|verdict| verdict.outcome != Outcome::NotTestable);
        let headline = match (is_jobs_only, &lead) {
            (true, _) => of_jobs(record).join(" "),
            (false, Some(_)) if !is_judged => String::new(),
            (false, _) => headline(&in_full),
        };
        Self {
            title: match record.label.as_deref().map(one_line) {
                Some(label) => format!("{label}: {}", title(record)),
                None => title(record),
            },
            answer: crate::answer::words::for_a_system(record).filter(|_| !is_jobs_only),
            alarm: lead::alarm(record),
            data: cardproof_rating::words::data::in_short(record),
            headline,
            facts: facts(record),
            capacity_heading: capacity::heading(record),
            capacity: capacity::lines(record),
            geometry: geometry_lines(record),
            jobs: jobs::jobs(record),
            is_jobs_only,
            rows_note: rows::note(record),
            comparison_only: comparison_only(record).filter(|_| is_judged),
            is_card: has_card_class(&record.conditions.device),
            rows: rows(record),
            confidence: confidence(record),
            figures: figures(record),
            figures_heading: figures::heading(record),
            replays: replays::replays(record),
            setups: lists(record),
            verdicts: shown.map(ruling).collect(),
            recording: Recording::from_record(record, verdicts).filter(|_| has_recording),
            no_verdicts,
            indications: indicated(record),
            claims: claims(record, verdicts)
                .iter()
                .map(|claim| format!("The card {}", one_line(claim)))
                .collect(),
            scope: scope(record).map(|scope| one_line(&scope)),
            meanings: meanings(record),
            positions: places(record, lead.as_ref()),
            pauses: pauses_in_words(record),
            results: results(record, lead.as_ref()),
            lead,
            flushes: flush_lines(record),
            course: course(record),
            course_heading: crate::course::heading(record),
            course_in_short: course_in_short(record),
            // Why there are none is plain from the table and the doubts.
            predictions: predictions(record).unwrap_or_default(),
            other_board: other_board(record),
            limits: shared::limits(record),
            limits_in_short: shared::limits_in_short(record),
            doubts: shared::doubts_in_words(&lead::without_findings(record)),
            steps: steps(record, verdicts),
        }
    }
}

/// The board of `record`, unless it is a NanoPi M4, on which the published jobs were timed.
fn other_board(record: &Record) -> Option<String> {
    let board = record.conditions.host.board.as_deref().map(one_line)?;
    (!record.is_simulated() && !board.contains("NanoPi M4")).then_some(board)
}

impl Contents {
    /// The note below the predicted times.
    pub(crate) fn prediction_note(&self) -> String {
        let is_bounded = self.predictions.iter().all(|prediction| prediction.is_bounded);
        let note = if is_bounded { PREDICTION_NOTE } else { UNBOUNDED_PREDICTION_NOTE };
        match &self.other_board {
            Some(board) => format!(
                "{note} How long these jobs take on a {board} is not known: nobody has published such times on it, \
                 so its processor's part is unknown. To know, time one such job on it."
            ),
            None => note.to_owned(),
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

/// The card's geometry from timings, in lines.
fn geometry_lines(record: &Record) -> Vec<String> {
    let lines = geometry(record).map(|geometry| geometry_in_words(&geometry)).unwrap_or_default();
    lines.iter().map(|line| one_line(line)).collect()
}

/// What the geometry says of partitions.
fn of_geometry(record: &Record) -> String {
    let lines = geometry(record).map_or_else(Vec::new, |geometry| geometry_in_short(&geometry));
    lines.first().map_or_else(String::new, |first| format!("{first}."))
}

/// What was found and compared, and what power cuts did: headings, each with its items.
fn lists(record: &Record) -> Vec<setups::List> {
    let mut lists = setups::setups(record);
    for (heading, items) in [
        (lead::HEADING, lead::found_in_words(record)),
        (ENDURANCE_HEADING, endurance_lines(record)),
        (crate::powercut::HEADING, crate::powercut::power_cut_lines(record)),
        (crate::integrity::HEADING, crate::integrity::lines(record)),
        (crate::layout::HEADING, crate::layout::layout_lines(record)),
    ] {
        if !items.is_empty() {
            lists.push((heading.into(), items));
        }
    }
    lists
}

/// What became of a card under endurance test, in sentences.
fn endurance_lines(record: &Record) -> Vec<String> {
    cardproof_rating::words::life::in_words(record).iter().map(|it| sentence(it)).collect()
}

/// What became of a card under endurance test, in one sentence.
fn of_endurance(record: &Record) -> String {
    let sentences = cardproof_rating::words::life::in_words(record);
    sentences.first().map_or_else(String::new, |sentence| format!("Endurance: {sentence}."))
}

/// The heading above the endurance in every report.
pub(crate) const ENDURANCE_HEADING: &str = "Endurance";

/// The results of an experiment without phases, a text for each part that has one.
pub(crate) fn of_jobs(record: &Record) -> Vec<String> {
    let mut all = vec![
        jobs::headline(record),
        replays::headlines(record),
        setups::headline(record),
        crate::powercut::sentence(record),
        crate::integrity::sentence(record),
        crate::layout::sentence(record),
        capacity::headline(record),
        of_geometry(record),
        of_endurance(record),
    ];
    all.retain(|text| !text.is_empty());
    all
}

/// The results of the tests in `record` that have no phases, each with what explains it.
fn results(record: &Record, lead: Option<&Lead>) -> Vec<Vec<String>> {
    let flushes: Vec<String> = flush_lines(record).into_iter().take(1).collect();
    let geometry = geometry(record).map_or_else(Vec::new, |geometry| geometry_in_short(&geometry));
    let mut results =
        vec![lead::found_in_words(record), capacity::below(record, lead), geometry, flushes];
    results.extend(jobs::briefly(record));
    let mut others: Vec<Vec<String>> = record.replays.iter().map(replays::briefly).collect();
    others.push(endurance_lines(record));
    others.push(crate::powercut::briefly(record));
    others.push(crate::integrity::lines(record));
    others.push(crate::layout::layout_lines(record));
    results.iter_mut().chain(&mut others).flatten().for_each(|line| *line = sentence(line));
    // The lines of setups begin with names, such as sqlite-delete, which stay as they are.
    results.extend(setups::briefly(record));
    results.extend(others);
    results.retain(|lines| !lines.is_empty());
    results
}

/// Its places among published measurements. A bad storage has none.
fn places(record: &Record, lead: Option<&Lead>) -> Vec<String> {
    let positions = if lead::is_bad(lead) { Vec::new() } else { positions(record) };
    positions.iter().map(Position::in_words).collect()
}

/// Daily use. If all uses are unknown for the same reason, they share one line.
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
        meanings.iter_mut().for_each(|meaning| meaning.topic = "All uses");
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
        reasons: verdict
            .reasons
            .iter()
            .map(|reason| Reason { text: one_line(&reason.text), ..reason.clone() })
            .collect(),
    }
}
