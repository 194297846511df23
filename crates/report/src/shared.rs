//! Sentences that apply to several phases, shown once with the names of the phases.
//!
//! A disturbed machine disturbs every phase, with different figures for each. Ten sentences that differ
//! only in their figures would hide the eleventh, so one of them stands for all.

use cardproof_rating::disturbance::is_disturbed;
use cardproof_rating::doubts;
use cardproof_rating::wording;
use cardproof_rating::words::limits::{limit_of_job, limit_of_phase};
use cardproof_record::{Limit, Record};

use crate::clean::one_line;
use crate::wrap::sentence;

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
            Limit::Nothing => {
                format!("{phases}: neither storage, bus nor processor was at its limit. {evidence}")
            }
            Limit::Unknown => format!("{phases}: it is not known what set the figures. {evidence}"),
            limit => format!("{phases}: {} set the figures. {evidence}", limit.words()),
        }
    }
}

/// What limited, in short: of phases that the storage did, since the table has their figures. Of jobs
/// there is no table.
pub(crate) fn limits_in_short(record: &Record) -> Vec<String> {
    if record.phases.is_empty() {
        return limits(record).iter().map(Limited::in_full).collect();
    }
    let (of_storage, others): (Vec<_>, Vec<_>) =
        limited_phases(record).into_iter().partition(|(limit, ..)| limit.is_of_storage());
    let held_back: Vec<String> = of_storage.into_iter().flat_map(|(.., names)| names).collect();
    let phases = || record.phases.iter().filter(|phase| held_back.contains(&one_line(&phase.name)));
    let mut short = Vec::new();
    for (disturbed, what) in [
        (false, "the storage itself set the figures; neither the processor nor the bus did"),
        (true, "the storage itself or other programs set the figures"),
    ] {
        let of = phases().filter(|phase| is_disturbed(record, phase) == disturbed);
        let names: Vec<String> = of.map(|phase| one_line(&phase.name)).collect();
        if !names.is_empty() {
            short.push(format!("{}: {what}", which(&names, record)));
        }
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

/// A sentence, and the phases of which it is said.
struct SharedSentence<K> {
    kind: K,
    message: String,
    phases: Vec<String>,
    /// Whether it is said of all of them in the same words, figures included.
    is_same: bool,
}

/// The doubts in a sentence each, those first that forbid verdicts.
pub(crate) fn doubts_in_words(record: &Record) -> Vec<String> {
    let mut doubts = doubts(record);
    doubts.sort_by_key(|doubt| !doubt.warning.code.forbids_verdict());
    let told = doubts.iter().map(|doubt| {
        let phase = doubt.phase.and_then(|index| record.phases.get(index));
        let message = one_line(&doubt.warning.to_string());
        (phase.map(|phase| one_line(&phase.name)), &doubt.warning, message)
    });
    said_once(told, |a, b| a.is_like(b), record)
}

impl<K> SharedSentence<K> {
    fn in_words(self, record: &Record) -> String {
        let Self { message, mut phases, is_same, .. } = self;
        phases.dedup();
        match phases.as_slice() {
            [] => message,
            [first, _, ..] if !is_same => {
                format!("{}: {message} (in {first})", which(&phases, record))
            }
            _ => format!("{}: {message}", which(&phases, record)),
        }
    }
}

/// The sentences that `told` has of phases, or of the run as a whole, each with its kind: of one kind, the
/// first.
pub(crate) fn said_once<K>(
    told: impl Iterator<Item = (Option<String>, K, String)>,
    is_like: impl Fn(&K, &K) -> bool,
    record: &Record,
) -> Vec<String> {
    let mut said: Vec<SharedSentence<K>> = Vec::new();
    for (phase, kind, message) in told {
        match said.iter_mut().find(|known| is_like(&known.kind, &kind)) {
            Some(known) => {
                known.is_same &= known.message == message;
                known.phases.extend(phase);
            }
            None => {
                let phases = phase.into_iter().collect();
                said.push(SharedSentence { kind, message, phases, is_same: true });
            }
        }
    }
    said.into_iter().map(|said| said.in_words(record)).collect()
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
    use cardproof_record::{Disturbance, DisturbanceFigures, Warning, WarningCause, WarningCode};
    use cardproof_testkit::records;
    use cardproof_units::Bytes;

    use super::*;

    /// The typical card, of whose phases the first `count` have a doubt.
    fn doubted(count: usize, doubt: impl Fn(u64) -> Warning) -> Vec<String> {
        let mut record = records::typical_a1_card();
        for (index, phase) in record.phases.iter_mut().enumerate().take(count) {
            phase.warnings.push(doubt(index as u64));
        }
        doubts_in_words(&record)
    }

    #[test]
    fn sentences_that_differ_only_in_figures_are_shown_once() {
        let others = |index: u64| {
            let requests = (index != 2).then_some(10 * index);
            let (device, written_bytes) = ("sda1".to_owned(), Bytes::ZERO);
            let read_bytes = Bytes::mib(index + 1);
            let used = DisturbanceFigures::Used { device, read_bytes, written_bytes, requests };
            Disturbance::from(used).into()
        };
        let told = doubted(10, others);
        assert_eq!(told.len(), 1, "{told:?}");
        let start = "all phases: other programs or the file system also used sda1: they read 1 MiB";
        assert!(told[0].starts_with(start), "{}", told[0]);
        assert!(told[0].ends_with(" (in sequential-write-1m)"), "{}", told[0]);
    }

    #[test]
    fn the_phases_are_named_by_the_shorter_list() {
        let cases = [
            (1, "sequential-write-1m"),
            (2, "sequential-write-1m and sequential-read-1m"),
            (9, "all phases except mixed-70-30-4k-qd32"),
            (10, "all phases"),
        ];
        for (count, phases) in cases {
            let told = doubted(count, |_| WarningCause::FewOperations { ops: 9 }.into());
            let message = "only 9 operations completed, so the interval is wide";
            assert_eq!(told, [format!("{phases}: {message}")], "{count}");
        }
    }

    #[test]
    fn different_doubts_stay_apart() {
        let stated = |index: u64| match index {
            0 => Warning::stated(WarningCode::Other, "12 MiB were read by others"),
            _ => Warning::stated(WarningCode::Other, "12 MiB were written by others"),
        };
        assert_eq!(doubted(2, stated).len(), 2);
        let disturbed = |index: u64| {
            let figures = match index {
                0 => DisturbanceFigures::Heat { celsius: Some(81.0) },
                _ => DisturbanceFigures::Processors { share: 0.6 },
            };
            Disturbance::from(figures).into()
        };
        assert_eq!(doubted(2, disturbed).len(), 2);
        let uneven = |index: u64| match index {
            0 => WarningCause::Uneven { width: 0.3 }.into(),
            _ => WarningCause::Uneven { width: 1.9 }.into(),
        };
        assert_eq!(doubted(2, uneven).len(), 2, "one is a measurement, the other none");
    }

    #[test]
    fn doubts_that_prevent_a_verdict_come_first() {
        let mut record = records::typical_a1_card();
        record.warnings = vec![
            Warning::stated(WarningCode::Other, "a remark"),
            Warning::stated(WarningCode::Memory, "no storage was measured"),
        ];
        assert_eq!(doubts_in_words(&record), ["no storage was measured", "a remark"]);
    }
}
