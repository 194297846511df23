//! The advice for storage that is too slow for a system: another card comes before another test.

use cardproof_record::{Outcome, Transport, WarningCode};

use super::Case;
use crate::answer::{Answer, Fast};
use crate::meaning::{Grade, Purpose, meaning};
use crate::transports::has_card_class;

/// Whether no longer test can make it fit for a system: it misses A1, a use of a system is slow on it, and nothing
/// disturbed the run.
pub(super) fn is_hopeless(case: &Case<'_>) -> bool {
    let is_slow =
        |purpose: Purpose, grade: Grade| purpose != Purpose::LargeFiles && grade == Grade::Poor;
    case.outcome("A1") == Some(Outcome::Misses)
        && !case.has(WarningCode::Disturbed)
        && case.speaks_of_storage()
        && meaning(case.record).iter().any(|it| is_slow(it.purpose, it.grade))
}

/// What helps where it is hopeless.
pub(super) fn replace(case: &Case<'_>) -> Option<String> {
    // The application classes are of SD cards.
    let claim = match has_card_class(&case.record.conditions.device) && !case.record.is_simulated()
    {
        true => " If it is new and was sold as A1, give it back.",
        false => "",
    };
    is_hopeless(case).then(|| {
        format!(
            "For a system, use a card that passes A1, or an SSD: this storage is too slow.{claim}"
        )
    })
}

/// How to find out whether it is the card, where it is not fit for a system.
pub(super) fn choose_card(case: &Case<'_>) -> Option<String> {
    if case.outcome("A1") != Some(Outcome::Misses) {
        return None;
    }
    let can_be_moved = matches!(case.transport(), Some(Transport::Sd | Transport::Usb))
        && !case.record.is_simulated();
    let graded = format!("{} A card that passes A1, or an SSD, is faster.", fitness(case));
    let text = match (can_be_moved, is_hopeless(case)) {
        _ if can_be_moved && !has_card_class(&case.record.conditions.device) => {
            "To be sure that it is the storage itself, measure it again in another port or computer."
        }
        (true, true) => {
            "To be sure that it is the card, measure it again in another reader or board."
        }
        (true, false) => {
            "Measure again in another reader or board. If the card does not pass A1 there either, run the \
             system from a card that passes A1."
        }
        (false, true) => return None,
        (false, false) => &graded,
    };
    Some(text.to_owned())
}

/// How fit it is for a system, in a sentence that agrees with the grade above it.
fn fitness(case: &Case<'_>) -> &'static str {
    let system = match Answer::of_record(case.record).and_then(|answer| answer.fast) {
        Some(Fast::Measured { system, .. }) => system,
        _ => Grade::Unknown,
    };
    match system {
        Grade::Poor => "This storage is slow for an operating system.",
        Grade::PoorOrFair => "This storage is slow to fair for an operating system.",
        Grade::Fair => "This storage is only fair for an operating system.",
        Grade::FairOrGood | Grade::Good | Grade::Unknown => {
            "This storage does not reach A1, the class for an operating system."
        }
    }
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records;

    use super::*;
    use crate::advice::next_steps;
    use crate::judge::judge;

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
