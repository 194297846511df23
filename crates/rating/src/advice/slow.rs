//! The advice for storage that is too slow for a system: another card comes before another test.

use cardproof_record::{Outcome, Transport, WarningCode};

use super::{Case, Step};
use crate::answer::{Answer, Fast};
use crate::meaning::{Grade, Purpose, grades};
use crate::transports::has_card_class;

/// Whether no longer test can make it fit for a system: it misses A1, a use of a system is slow on it, and nothing
/// disturbed the run.
pub(super) fn is_hopeless(case: &Case<'_>) -> bool {
    let is_slow =
        |purpose: Purpose, grade: Grade| purpose != Purpose::LargeFiles && grade == Grade::Poor;
    case.outcome("A1") == Some(Outcome::Misses)
        && !case.has(WarningCode::Disturbed)
        && case.speaks_of_storage()
        && grades(case.record).iter().any(|it| is_slow(it.purpose, it.grade))
}

/// What helps where it is hopeless.
pub(super) fn replace(case: &Case<'_>) -> Option<Step> {
    // The application classes are of SD cards.
    let may_be_sold_as_a1 =
        has_card_class(&case.record.conditions.device) && !case.record.is_simulated();
    is_hopeless(case).then_some(Step::ReplaceSlow { may_be_sold_as_a1 })
}

/// How to find out whether it is the card, where it is not fit for a system.
pub(super) fn choose_card(case: &Case<'_>) -> Option<Step> {
    if case.outcome("A1") != Some(Outcome::Misses) {
        return None;
    }
    let can_be_moved = matches!(case.transport(), Some(Transport::Sd | Transport::Usb))
        && !case.record.is_simulated();
    match (can_be_moved, is_hopeless(case)) {
        _ if can_be_moved && !has_card_class(&case.record.conditions.device) => {
            Some(Step::MeasureInOtherPort)
        }
        (true, true) => Some(Step::MeasureElsewhereToBeSure),
        (true, false) => Some(Step::MeasureElsewhere),
        (false, true) => None,
        (false, false) => Some(Step::ChooseFaster { system: fitness(case) }),
    }
}

/// How fit it is for a system, by the grade above the advice.
fn fitness(case: &Case<'_>) -> Grade {
    match Answer::of_record(case.record).and_then(|answer| answer.fast) {
        Some(Fast::Measured { system, .. }) => system,
        _ => Grade::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records;

    use super::*;
    use crate::judge::judge;
    use crate::words::next_steps;

    /// The application classes are of SD cards: nobody sells a USB stick as A1.
    #[test]
    fn only_a_card_is_given_back_because_of_its_class() {
        let mut record = records::slow_class4();
        let told = |record: &cardproof_record::Record| next_steps(record, &judge(record)).join(" ");
        assert!(told(&record).contains("sold as A1"), "{}", told(&record));
        record.conditions.device.transport = Some(Transport::Usb);
        record.conditions.device.model = Some("Ultra Fit".to_owned());
        let stick = told(&record);
        assert!(stick.contains("this storage is too slow"), "{stick}");
        assert!(!stick.contains("sold as A1") && !stick.contains("the card"), "{stick}");
    }
}
