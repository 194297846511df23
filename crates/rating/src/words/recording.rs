//! The recording classes in one line.

use cardproof_record::{Outcome, ReasonCode, Verdict};

use crate::recording::{Recording, is_recording, recording};
use crate::wording;

/// The verdicts on recording classes in a sentence, such as `C10, U1 and V10 passed;
/// U3 and V30 not passed`; `None` where `verdicts` hold none of them. What is no card (not `is_card`) has no class, and
/// is only as fast as one asks.
#[must_use]
pub fn recording_classes(verdicts: &[Verdict], is_card: bool) -> Option<String> {
    let Recording::Judged { met, next } = recording(verdicts)? else {
        return Some("cannot be tested here".to_owned());
    };
    let is_open = met.is_empty() && next.iter().all(|(_, outcome)| *outcome == Outcome::Undecided);
    Some(match is_card {
        true => sentence(&met, &next),
        false if is_open => undecided(verdicts),
        false => as_fast_as(&met, &next),
    })
}

/// That nothing is known of storage that is no card, and why where the test range was too small.
fn undecided(verdicts: &[Verdict]) -> String {
    let mut reasons = verdicts.iter().filter(|it| is_recording(it)).flat_map(|it| &it.reasons);
    if reasons.any(|reason| reason.code == ReasonCode::RangeReduced) {
        "undecided, because the test range was too small".to_owned()
    } else {
        "undecided".to_owned()
    }
}

/// The same of storage that is no card.
fn as_fast_as(met: &[&str], next: &[(&str, Outcome)]) -> String {
    let with = |wanted| -> Vec<&str> {
        next.iter().filter(|(_, outcome)| *outcome == wanted).map(|(name, _)| *name).collect()
    };
    let parts = [
        ("as fast as", met.to_vec()),
        ("slower than", with(Outcome::Misses)),
        ("perhaps as fast as", with(Outcome::Undecided)),
    ];
    let said = parts.into_iter().filter(|(_, names)| !names.is_empty());
    said.map(|(words, names)| format!("{words} {}", wording::list(&names)))
        .collect::<Vec<_>>()
        .join("; ")
}

fn sentence(met: &[&str], next: &[(&str, Outcome)]) -> String {
    let with = |wanted| -> Vec<&str> {
        next.iter().filter(|(_, outcome)| *outcome == wanted).map(|(name, _)| *name).collect()
    };
    let parts = [
        (met.to_vec(), "passed"),
        (with(Outcome::Misses), "not passed"),
        (with(Outcome::Undecided), "undecided"),
        (with(Outcome::NotTestable), "cannot be tested here"),
    ];
    let said = parts.into_iter().filter(|(names, _)| !names.is_empty());
    said.map(|(names, word)| format!("{} {word}", wording::list(&names)))
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use cardproof_facts::{CLASSES, Class};
    use cardproof_record::Reason;

    use super::*;

    fn verdicts(rule: impl Fn(&Class) -> Outcome) -> Vec<Verdict> {
        let verdict = |class: &Class| Verdict {
            rule: class.name.to_owned(),
            outcome: rule(class),
            reasons: Vec::new(),
        };
        CLASSES.iter().map(verdict).collect()
    }

    fn of_card(verdicts: &[Verdict]) -> Option<String> {
        recording_classes(verdicts, true)
    }

    #[test]
    fn the_highest_passed_and_the_lowest_not_passed_are_named() {
        let at = |mb_per_s: f64| {
            of_card(&verdicts(|class| {
                if class.sequential_write.as_mb_per_s() <= mb_per_s {
                    Outcome::Meets
                } else {
                    Outcome::Misses
                }
            }))
        };
        let cases = [
            (1.0, "C2, U1 and V6 not passed"),
            (17.8, "C10, U1 and V10 passed; U3 and V30 not passed"),
            (95.0, "C10, U3 and V90 passed"),
        ];
        for (mb_per_s, expected) in cases {
            assert_eq!(at(mb_per_s).as_deref(), Some(expected), "{mb_per_s} MB/s");
        }
        assert_eq!(of_card(&[]), None);
    }

    #[test]
    fn a_failed_class_is_named_beside_undecided_ones() {
        let said = of_card(&verdicts(|class| match class.sequential_write.as_mb_per_s() {
            ..=10.0 => Outcome::Meets,
            ..=30.0 => Outcome::Undecided,
            _ => Outcome::Misses,
        }));
        let expected = "C10, U1 and V10 passed; V60 not passed; U3 and V30 undecided";
        assert_eq!(said.as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_card_passes_no_class() {
        let verdicts = verdicts(|class| match class.sequential_write.as_mb_per_s() {
            ..=10.0 => Outcome::Meets,
            ..=30.0 => Outcome::Undecided,
            _ => Outcome::Misses,
        });
        let said = recording_classes(&verdicts, false).unwrap();
        assert_eq!(
            said,
            "as fast as C10, U1 and V10; slower than V60; perhaps as fast as U3 and V30"
        );
    }

    #[test]
    fn what_is_no_card_is_not_perhaps_as_fast_as_the_lowest_classes() {
        let mut verdicts = verdicts(|_| Outcome::Undecided);
        assert_eq!(recording_classes(&verdicts, false).as_deref(), Some("undecided"));
        let code = ReasonCode::RangeReduced;
        verdicts[0].reasons = vec![Reason { code, rate: None, text: String::new() }];
        let said = recording_classes(&verdicts, false).unwrap();
        assert_eq!(said, "undecided, because the test range was too small");
    }

    #[test]
    fn an_untested_class_is_not_failed() {
        let all = of_card(&verdicts(|_| Outcome::NotTestable));
        assert_eq!(all.as_deref(), Some("cannot be tested here"));
    }
}
