//! Many records at once: a row for each, with its card, its verdicts and the figures by which cards are
//! chosen.
//!
//! The rows are one type, so that terminal, CSV, Markdown, HTML and JSON never say different things.
//! A figure in doubt stands in no row.

mod forms;

use std::collections::BTreeMap;

use cardproof_rating::compare::Column;
use cardproof_rating::{CLASSES, Class, Defect, Family};
use cardproof_record::{Outcome, Record, State};
use cardproof_units::Bytes;
use serde::Serialize;

use crate::clean::one_line;
use crate::columns::beginning;
use crate::contents::of_jobs;
use crate::day::day_of;
use crate::ended::ended;
use crate::facts::{title, title_in_short};
use crate::yardstick::{Reached, as_yardstick};

pub use forms::{
    inventory_csv, inventory_html, inventory_markdown, inventory_table, inventory_text,
};

/// The name and version of the form of a list.
pub const LIST_SCHEMA: &str = "cardproof.list/1";

/// A list of records, as it is handed to other programs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct List<'e> {
    /// The form: `cardproof.list/1`.
    pub schema: &'static str,
    /// One for each record.
    pub records: &'e [Entry],
}

/// One record in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The record's name.
    pub id: String,
    /// How many words more of the id a list shows than of most, since another id has the same end.
    #[serde(skip)]
    pub(crate) id_words: usize,
    /// What its user called it.
    pub label: Option<String>,
    /// When it was made, RFC 3339; null for the run of a simulated card, which is of no day.
    pub created: Option<String>,
    /// The day that another tool printed with its figures.
    #[serde(skip)]
    pub(crate) measured_on: Option<String>,
    /// Whether the card is simulated. Such a run has no date.
    pub is_simulated: bool,
    /// The program that measured.
    pub tool: String,
    /// What was run.
    pub profile: String,
    /// Whether the run reached its end.
    pub is_complete: bool,
    /// How the run ended, where it did not reach its end.
    #[serde(skip)]
    pub(crate) ended: Option<&'static str>,
    /// The card, in words.
    pub card: String,
    /// The same for a narrow line.
    #[serde(skip)]
    pub(crate) card_in_short: String,
    /// The size of the card.
    pub size_bytes: Option<Bytes>,
    /// The verdict of `verify` in a few words, on the capacity, the queue or discards; absent where nothing was
    /// verified.
    pub capacity: Option<String>,
    /// What of that stands beside a class.
    #[serde(skip)]
    pub(crate) genuine: Option<&'static str>,
    /// Why nobody should use the card, by this record or another with its label; absent where nothing is known
    /// against it.
    pub defect: Option<Defect>,
    /// What a job, a replay or a test without rates found, in sentences; absent for all else.
    pub found: Option<String>,
    /// The first part of that.
    #[serde(skip)]
    pub(crate) found_first: Option<String>,
    /// The gravest finding of another tool in a few words, with its weight; or what power cuts did.
    #[serde(skip)]
    pub(crate) finding: Option<String>,
    /// Whether it is an SD card, or may be one: only such storage has a class.
    #[serde(skip)]
    pub(crate) is_card: bool,
    /// The highest class of each kind that is met as measured; of what is no SD card, how fast it is.
    pub met: Vec<String>,
    /// The lowest class of each kind that is missed.
    pub missed: Vec<String>,
    /// The lowest class of each kind that is undecided.
    pub undecided: Vec<String>,
    /// 4 KiB random reads a second, one in flight.
    pub random_read_iops: Option<f64>,
    /// 4 KiB random writes a second, one in flight.
    pub random_write_iops: Option<f64>,
    /// 4 KiB writes a second, a flush after each.
    pub synced_write_iops: Option<f64>,
    /// Sequential read, in bytes a second.
    pub sequential_read_bytes_per_s: Option<f64>,
    /// Sequential write, in bytes a second.
    pub sequential_write_bytes_per_s: Option<f64>,
    /// What puts the record in doubt, in words.
    pub doubts: Vec<String>,
}

/// What was found is told in so many columns.
const FOUND_MAX: usize = 48;

/// The end of an id has at least so many letters, as many as are drawn at random.
const SHORT_ID_MIN: usize = 8;

/// The end of the record's name `id`, by which it is found as well: whole words, and not so few letters that they mean
/// nothing.
#[must_use]
pub fn short_id(id: &str) -> &str {
    longer_id(id, 0)
}

/// As [`short_id`], with `more` words before it.
fn longer_id(id: &str, more: usize) -> &str {
    let mut ends = id.rmatch_indices('-').map(|(at, _)| &id[at + 1..]);
    ends.by_ref().filter(|end| end.len() >= SHORT_ID_MIN).nth(more).unwrap_or(id)
}

/// Shows more of the ids of those of `entries` whose ends are the same.
pub fn tell_ids_apart(entries: &mut [&mut Entry]) {
    const WORDS_MAX: usize = 8;
    for _ in 0..WORDS_MAX {
        let shown: Vec<String> = entries.iter().map(|it| it.short_id().to_owned()).collect();
        let is_shared = |id: &str| shown.iter().filter(|other| *other == id).count() > 1;
        if !shown.iter().any(|id| is_shared(id)) {
            return;
        }
        let shared = entries.iter_mut().zip(&shown).filter(|(_, id)| is_shared(id));
        shared.for_each(|(entry, _)| entry.id_words += 1);
    }
}

/// What `entries` are called in a table: by label, with the id where several have one label, or by id.
fn names(entries: &[Entry]) -> Vec<String> {
    let shares =
        |label: &str| entries.iter().filter(|it| it.label.as_deref() == Some(label)).count() > 1;
    let name = |entry: &Entry| match &entry.label {
        Some(label) if shares(label) => format!("{label} ({})", entry.short_id()),
        Some(label) => label.clone(),
        None => entry.short_id().to_owned(),
    };
    entries.iter().map(name).collect()
}

const FAMILIES: [Family; 4] = [Family::Application, Family::Speed, Family::Uhs, Family::Video];

impl Entry {
    /// The row of `record`.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let rate =
            |column: Column| column.of(&[record]).filter(|it| it.doubt.is_none()).map(|it| it.rate);
        let verdicts = cardproof_rating::judge(record);
        let of = |outcome: Outcome, is_highest: bool| -> Vec<String> {
            let judged = |family: Family| {
                let names = CLASSES.iter().filter(|class| class.family == family);
                let mut found = names.map(|class| class.name).filter(|name| {
                    verdicts.iter().any(|it| it.rule == *name && it.outcome == outcome)
                });
                if is_highest { found.next_back() } else { found.next() }
            };
            FAMILIES.into_iter().filter_map(judged).map(str::to_owned).collect()
        };
        let doubts = cardproof_rating::doubts(record);
        let capacity = cardproof_rating::capacity(record);
        let found = of_jobs(record);
        let is_whole = |doubt: &&cardproof_rating::Doubt| doubt.warning.code.forbids_verdict();
        Self {
            id: one_line(&record.id),
            id_words: 0,
            label: record.label.as_deref().map(one_line),
            created: (!record.is_simulated()).then(|| one_line(&record.created)),
            measured_on: record.began_as_printed.as_deref().and_then(day_of),
            is_simulated: record.is_simulated(),
            tool: one_line(&record.tool.name),
            profile: one_line(&record.profile.name),
            is_complete: record.state == State::Complete,
            ended: ended(&record.state),
            card: title(record),
            card_in_short: title_in_short(record),
            size_bytes: record.conditions.device.size_bytes,
            capacity: capacity
                .as_ref()
                .map(cardproof_rating::Capacity::in_short)
                .or_else(|| crate::integrity::in_short(record)),
            genuine: capacity.as_ref().and_then(cardproof_rating::Capacity::beside_another),
            defect: cardproof_rating::defect(record),
            found: Some(found.join(" ")).filter(|found| !found.is_empty()),
            found_first: found.into_iter().next(),
            finding: crate::found::in_short(record),
            is_card: cardproof_rating::has_card_class(&record.conditions.device),
            met: of(Outcome::Meets, true),
            missed: of(Outcome::Misses, false),
            undecided: of(Outcome::Undecided, false),
            random_read_iops: rate(Column::RandomRead),
            random_write_iops: rate(Column::RandomWrite),
            synced_write_iops: rate(Column::SyncedWrite),
            sequential_read_bytes_per_s: rate(Column::SequentialRead),
            sequential_write_bytes_per_s: rate(Column::SequentialWrite),
            doubts: doubts
                .iter()
                .filter(is_whole)
                .map(|it| one_line(&it.warning.to_string()))
                .collect(),
        }
    }

    /// What it is called: its label, or its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    /// The end of its id, by which it is found as well.
    pub(crate) fn short_id(&self) -> &str {
        longer_id(&self.id, self.id_words)
    }

    /// What was verified, where that is the result: nothing else was measured, or the card has a defect.
    pub(crate) fn verified(&self) -> Option<String> {
        let has_classes =
            [&self.met, &self.missed, &self.undecided].iter().any(|it| !it.is_empty());
        match &self.defect {
            Some(defect) => Some(defect.words()),
            None => self.capacity.clone().filter(|_| !has_classes),
        }
    }

    /// The result in two to five words.
    fn result(&self) -> String {
        let application = |classes: &[String]| {
            let is_of = |name: &&String| Class::named(name).is_some_and(Class::is_application);
            classes.iter().find(is_of).cloned()
        };
        let classes = [&self.met, &self.missed, &self.undecided].map(|it| application(it));
        let result = match (self.verified(), classes) {
            (Some(verified), _) => verified,
            (None, [Some(met), ..]) if self.is_card => format!("{met} passed"),
            (None, [Some(met), ..]) => as_yardstick(&[&met], Reached::Yes),
            // A higher class that is not passed does not say that the lower one is.
            (None, [None, Some(missed), Some(undecided)]) if self.is_card && undecided < missed => {
                format!("{undecided} undecided")
            }
            (None, [None, Some(missed), _]) if self.is_card => format!("{missed} not passed"),
            (None, [None, Some(missed), _]) => as_yardstick(&[&missed], Reached::No),
            (None, [None, None, Some(undecided)]) if self.is_card => {
                format!("{undecided} undecided")
            }
            (None, [None, None, Some(undecided)]) => as_yardstick(&[&undecided], Reached::Perhaps),
            (None, [None, None, None]) => self.found_in_short(),
        };
        // What a check has found of the capacity stands beside the class.
        let result = match (self.genuine, self.verified()) {
            (Some(genuine), None) => format!("{result}, {genuine}"),
            _ => result,
        };
        match self.ended {
            None => result,
            Some(ended) => format!("{result}, {ended}"),
        }
    }

    /// What was found where no class was judged: the gravest finding, or the first part of what was found; else what was
    /// run.
    pub(crate) fn found_in_short(&self) -> String {
        let found = self.found_first.as_deref().map(|found| found.trim_end_matches('.'));
        let words = self.finding.as_deref().or(found).unwrap_or(&self.profile);
        let kept = beginning(words, FOUND_MAX);
        if kept == words { words.to_owned() } else { format!("{}\u{2026}", kept.trim_end()) }
    }

    /// The day it was measured, as far as that is known; of another tool's output without a day, that of the import. A
    /// simulated run has none.
    fn day(&self) -> &str {
        let made = self.created.as_deref().map(|time| time.get(..10).unwrap_or(time));
        match made {
            None => "simulated",
            Some(made) => self.measured_on.as_deref().unwrap_or(made),
        }
    }

    /// What is said of the classes that are passed, failed and undecided, each where there are any; `say` has the word
    /// and the classes of an SD card.
    pub(crate) fn of_classes(&self, say: impl Fn(&str, &[&str]) -> String) -> Vec<String> {
        let all = [
            ("passed", Reached::Yes, &self.met),
            ("not passed", Reached::No, &self.missed),
            ("undecided", Reached::Perhaps, &self.undecided),
        ];
        let some = all.into_iter().filter(|(.., classes)| !classes.is_empty());
        some.map(|(word, reached, classes)| {
            let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
            if self.is_card { say(word, &classes) } else { as_yardstick(&classes, reached) }
        })
        .collect()
    }

    /// The verdicts in a few words.
    fn verdicts(&self) -> String {
        // What a run that did not reach its end would have passed is not known.
        if self.ended.is_some() {
            return self.result();
        }
        let mut parts: Vec<String> = self.defect.iter().map(Defect::words).collect();
        parts.extend(
            self.capacity.iter().filter(|it| !parts.contains(it)).cloned().collect::<Vec<_>>(),
        );
        parts.extend(self.of_classes(|word, classes| format!("{word} {}", classes.join(" "))));
        if parts.is_empty() {
            parts.push(match self.found.as_ref().or(self.finding.as_ref()) {
                Some(found) => found.trim_end_matches('.').to_owned(),
                None => "no class verdict".to_owned(),
            });
        }
        if !self.doubts.is_empty() {
            parts.push("with doubts".to_owned());
        }
        parts.join("; ")
    }
}

/// Tells each of `entries` that another with its label shows a defect, since it is of the same card.
pub fn share_defects(entries: &mut [&mut Entry]) {
    let mut by_label: BTreeMap<String, Defect> = BTreeMap::new();
    for entry in entries.iter() {
        if let (Some(label), Some(defect)) = (&entry.label, &entry.defect) {
            let known = by_label.entry(label.clone()).or_insert_with(|| defect.clone());
            if defect.kind < known.kind {
                *known = defect.clone();
            }
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.defect.is_none()) {
        let shared = entry.label.as_ref().and_then(|label| by_label.get(label));
        entry.defect = shared.map(Defect::of_another_record);
    }
}

#[cfg(test)]
mod tests;
