//! Sentences that apply to several phases, shown once with the names of the phases.
//!
//! A disturbed machine disturbs every phase, with different figures for each. Ten sentences that differ
//! only in their figures would hide the eleventh, so one of them stands for all.

use cardproof_rating::limits::{limit_of_job, limit_of_phase};
use cardproof_rating::wording;
use cardproof_rating::{Doubt, doubts};
use cardproof_record::{Limit, Record, WarningCode};

use crate::clean::one_line;
use crate::wrap::{is_unit, sentence};

/// If at most this many phases are not affected, these are named instead of the affected ones.
const LEFT_OUT_MAX: usize = 3;

/// What limited phases.
pub(crate) struct Limited {
    /// What.
    pub(crate) limit: Limit,
    /// The phases, in words.
    phases: String,
    /// The figures that show it, of the first phase where there are several.
    evidence: String,
}

impl Limited {
    /// With the figures that show it.
    pub(crate) fn in_full(&self) -> String {
        let (phases, evidence) = (&self.phases, sentence(&self.evidence));
        match self.limit {
            Limit::Nothing => format!("{phases}: nothing was at its limit. {evidence}"),
            Limit::Unknown => format!("{phases}: the limit is unknown. {evidence}"),
            limit => format!("{phases}: limited by {}. {evidence}", limit.words()),
        }
    }

    /// Whether the storage was at its own limit, as the table's figures tell as well.
    fn is_of_storage(limit: Limit) -> bool {
        let of_storage = [
            Limit::StorageRandomRead,
            Limit::StorageRandomWrite,
            Limit::StorageSequential,
            Limit::StorageStall,
        ];
        of_storage.contains(&limit)
    }
}

/// What limited, in short: of phases that the storage did, since the table has their figures. Of jobs
/// there is no table.
pub(crate) fn limits_in_short(record: &Record) -> Vec<String> {
    if record.phases.is_empty() {
        return limits(record).iter().map(Limited::in_full).collect();
    }
    let (of_storage, others): (Vec<_>, Vec<_>) =
        limited_phases(record).into_iter().partition(|(limit, ..)| Limited::is_of_storage(*limit));
    let mut short = Vec::new();
    if !of_storage.is_empty() {
        let held_back: Vec<String> = of_storage.into_iter().flat_map(|(.., names)| names).collect();
        let in_order = record.phases.iter().map(|phase| one_line(&phase.name));
        let names: Vec<String> = in_order.filter(|name| held_back.contains(name)).collect();
        short.push(format!("{}: the storage was the slowest part", which(&names, record)));
    }
    short.extend(in_words(others, record).iter().map(Limited::in_full));
    short
}

/// What limited, most phases first, each limit once.
pub(crate) fn limits(record: &Record) -> Vec<Limited> {
    in_words(limited_phases(record), record)
}

/// Each limit with its figures in the first phase or job that it held back, and those.
type LimitedPhases = (Limit, String, Vec<String>);

fn limited_phases(record: &Record) -> Vec<LimitedPhases> {
    let phases = record.phases.iter().map(|it| (&it.name, limit_of_phase(record, it)));
    let jobs = record.job_runs.iter().map(|it| (&it.name, limit_of_job(record, it)));
    let mut said: Vec<LimitedPhases> = Vec::new();
    for (name, limited) in phases.chain(jobs) {
        let (name, Some(limited)) = (one_line(name), limited) else { continue };
        match said.iter_mut().find(|(limit, ..)| *limit == limited.limit) {
            Some((.., names)) => names.push(name),
            None => said.push((limited.limit, limited.evidence.join("; "), vec![name])),
        }
    }
    said.sort_by_key(|(.., names)| std::cmp::Reverse(names.len()));
    said
}

fn in_words(limits: Vec<LimitedPhases>, record: &Record) -> Vec<Limited> {
    let in_words = limits.into_iter().map(|(limit, evidence, names)| {
        let example = match names.as_slice() {
            [first, _, ..] => format!("for example in {first}: "),
            _ => String::new(),
        };
        let evidence = format!("{example}{}", one_line(&evidence));
        Limited { limit, phases: which(&names, record), evidence }
    });
    in_words.collect()
}

/// A doubt, and the phases of which it is said.
struct Said {
    message: String,
    phases: Vec<String>,
    /// Whether it is said of all of them in the same words, figures included.
    is_same: bool,
}

/// The doubts in a sentence each, those first that forbid verdicts.
pub(crate) fn doubts_in_words(record: &Record) -> Vec<String> {
    let mut doubts = doubts(record);
    doubts.sort_by_key(|doubt| !doubt.warning.code.forbids_verdict());
    let mut said: Vec<((WarningCode, String), Said)> = Vec::new();
    for doubt in &doubts {
        let message = one_line(&doubt.warning.message);
        let phase = doubt.phase.and_then(|index| record.phases.get(index));
        let phase = phase.map(|phase| one_line(&phase.name));
        let kind = (doubt.warning.code, kind_of(doubt, &message));
        match said.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, said)) => {
                said.is_same &= said.message == message;
                said.phases.extend(phase);
            }
            None => {
                let phases = phase.into_iter().collect();
                said.push((kind, Said { message, phases, is_same: true }));
            }
        }
    }
    said.into_iter().map(|(_, said)| said.in_words(record)).collect()
}

impl Said {
    fn in_words(self, record: &Record) -> String {
        let Self { message, mut phases, is_same } = self;
        phases.dedup();
        match phases.as_slice() {
            [] => message,
            [first, _, ..] if !is_same => {
                format!("{}, such as {first}: {message}", which(&phases, record))
            }
            _ => format!("{}: {message}", which(&phases, record)),
        }
    }
}

/// The sentences that `told` has of phases, those that differ in their figures alone once.
pub(crate) fn said_once(
    told: impl Iterator<Item = (String, String)>,
    record: &Record,
) -> Vec<String> {
    let mut said: Vec<Said> = Vec::new();
    for (phase, message) in told {
        let kind = without_figures(&message);
        match said.iter_mut().find(|known| without_figures(&known.message) == kind) {
            Some(known) => {
                known.is_same &= known.message == message;
                known.phases.push(phase);
            }
            None => said.push(Said { message, phases: vec![phase], is_same: true }),
        }
    }
    said.into_iter().map(|said| said.in_words(record)).collect()
}

/// What is alike in doubts of one kind: their words up to the first figure, or all but the figures
/// where that comes first or the doubt has no code of its own.
fn kind_of(doubt: &Doubt, message: &str) -> String {
    let before: Vec<&str> = message.split(' ').take_while(|word| !is_figure(word)).collect();
    if doubt.warning.code != WarningCode::Other && !before.is_empty() {
        return before.join(" ");
    }
    without_figures(message)
}

/// `text` without its figures and their units.
pub(crate) fn without_figures(text: &str) -> String {
    let words = text.split(' ').filter(|word| !is_figure(word) && !is_unit(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether `word` is a figure, whatever stands about it.
fn is_figure(word: &str) -> bool {
    word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit())
}

/// The phases called `names`, of all of `record`, in words.
fn which(names: &[String], record: &Record) -> String {
    let others: Vec<String> = record
        .phases
        .iter()
        .map(|phase| one_line(&phase.name))
        .filter(|name| !names.contains(name))
        .collect();
    let list =
        |names: &[String]| wording::list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    match (names.len(), others.len()) {
        (2.., 0) if names.len() == record.phases.len() => "all phases".to_owned(),
        (some, 1..=LEFT_OUT_MAX) if others.len() < some => {
            format!("all phases except {}", list(&others))
        }
        _ => list(names),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::Warning;
    use cardproof_testkit::records;

    use super::*;

    /// The typical card, of whose phases the first `count` have a doubt in these words.
    fn doubted(code: WarningCode, count: usize, message: impl Fn(usize) -> String) -> Vec<String> {
        let mut record = records::typical_a1_card();
        for (index, phase) in record.phases.iter_mut().enumerate().take(count) {
            phase.warnings.push(Warning { code, message: message(index) });
        }
        doubts_in_words(&record)
    }

    #[test]
    fn sentences_that_differ_only_in_figures_are_shown_once() {
        let others = |index: usize| {
            let requests =
                if index == 2 { String::new() } else { format!(" in {index}7 requests") };
            format!("others also used sda1: they read {index} MiB{requests}")
        };
        assert_eq!(
            doubted(WarningCode::Disturbed, 10, others),
            [
                "all phases, such as sequential-write-1m: others also used sda1: they read 0 MiB in 07 requests"
            ]
        );
    }

    #[test]
    fn the_phases_are_named_by_the_shorter_list() {
        let same = |_| "the interval is wide".to_owned();
        let cases = [
            (1, "sequential-write-1m: the interval is wide"),
            (2, "sequential-write-1m and sequential-read-1m: the interval is wide"),
            (9, "all phases except mixed-70-30-4k-qd32: the interval is wide"),
            (10, "all phases: the interval is wide"),
        ];
        for (count, wanted) in cases {
            assert_eq!(doubted(WarningCode::FewOperations, count, same), [wanted], "{count}");
        }
    }

    #[test]
    fn different_words_stay_apart() {
        let different = |index: usize| match index {
            0 => "12 MiB were read by others".to_owned(),
            _ => "12 MiB were written by others".to_owned(),
        };
        assert_eq!(doubted(WarningCode::Other, 2, different).len(), 2);
        let heat = |index: usize| match index {
            0 => "the board throttled itself at 81 °C".to_owned(),
            _ => "other programs had 60 % of the processors' time".to_owned(),
        };
        assert_eq!(doubted(WarningCode::Disturbed, 2, heat).len(), 2);
    }

    #[test]
    fn doubts_that_prevent_a_verdict_come_first() {
        let mut record = records::typical_a1_card();
        let warning = |code, message: &str| Warning { code, message: message.to_owned() };
        record.warnings = vec![
            warning(WarningCode::Other, "a remark"),
            warning(WarningCode::Memory, "no storage was measured"),
        ];
        assert_eq!(doubts_in_words(&record), ["no storage was measured", "a remark"]);
    }
}
