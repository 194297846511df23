//! The doubts about a record in few sentences: each kind once, with the number of tests that it is about.

use cardproof_rating::{Doubt, doubts};
use cardproof_record::{Record, Warning, WarningCode};

use crate::clean::one_line;
use crate::wrap::sentence;

/// The warnings, those first that forbid a verdict.
pub(crate) fn warnings(record: &Record) -> Vec<String> {
    let mut doubts = doubts(record);
    doubts.sort_by_key(|doubt| !doubt.warning.code.forbids_verdict());
    let mut told: Vec<Kind<'_>> = Vec::new();
    let mut sentences = Vec::new();
    for doubt in &doubts {
        let kind = Kind::from_doubt(doubt);
        if !told.contains(&kind) {
            sentences.push(in_words(&kind, &doubts, record.phases.len()));
            told.push(kind);
        }
    }
    sentences
}

/// Doubts that are told together.
#[derive(PartialEq)]
enum Kind<'d> {
    /// Other work on the computer.
    Disturbed,
    /// Too slow or too uneven for an exact figure.
    Inexact,
    /// Any other, in its own words.
    Own(&'d Warning),
}

impl<'d> Kind<'d> {
    fn from_doubt(doubt: &'d Doubt) -> Self {
        match doubt.warning.code {
            WarningCode::Disturbed => Self::Disturbed,
            WarningCode::FewOperations | WarningCode::Unsteady => Self::Inexact,
            _ => Self::Own(&doubt.warning),
        }
    }
}

fn in_words(kind: &Kind<'_>, doubts: &[Doubt], phases: usize) -> String {
    let mut of_phases: Vec<usize> = doubts
        .iter()
        .filter(|doubt| Kind::from_doubt(doubt) == *kind)
        .filter_map(|it| it.phase)
        .collect();
    of_phases.sort_unstable();
    of_phases.dedup();
    let tests = match (of_phases.len(), phases) {
        (count, phases) if count < phases => format!("{count} of {phases} tests"),
        _ => "all tests".to_owned(),
    };
    match kind {
        Kind::Disturbed => format!(
            "Other work on this computer disturbed {tests}, which can only have slowed them."
        ),
        Kind::Inexact => {
            format!("The speed was too low or too uneven for an exact figure in {tests}.")
        }
        Kind::Own(warning) => {
            let message = sentence(&one_line(&warning.to_string()));
            format!("{}.", message.trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records;

    use super::*;

    #[test]
    fn a_doubt_about_several_tests_is_told_once_with_their_number() {
        let mut record = records::typical_a1_card();
        let before = warnings(&record).len();
        for (index, phase) in record.phases.iter_mut().enumerate().take(3) {
            let message = format!("other programs read {index} MiB");
            phase.warnings.push(Warning::stated(WarningCode::CacheUnknown, message));
        }
        assert_eq!(warnings(&record).len(), before + 3, "words of their own");
        let mut record = records::typical_a1_card();
        let count = record.phases.len();
        for phase in record.phases.iter_mut().take(2) {
            let message = "only 9 operations completed".to_owned();
            phase.warnings.push(Warning::stated(WarningCode::FewOperations, message));
        }
        let told = warnings(&record);
        let expected = format!("in 2 of {count} tests.");
        assert_eq!(told.iter().filter(|it| it.ends_with(&expected)).count(), 1, "{told:?}");
    }
}
