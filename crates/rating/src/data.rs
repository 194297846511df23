//! Data checks: wrong data, and the smallest loss that the check detects.
//!
//! A record holds counts. The checked blocks are drawn at random from all written data. If the storage
//! lost the share `s` of it, `n` blocks find nothing with probability (1 - s)^n. The share detected with
//! 99 % confidence makes that 1 %; it is exact for independent blocks. A check that finds no loss does
//! not prove that there is none.

use cardproof_facts::CONFIDENCE;
use cardproof_record::{DataCheck, Phase, Record, WarningCause, WarningCode};
use cardproof_units::Bytes;

use crate::doubts::Doubt;
use crate::findings::casts_doubt;
use crate::scope::size_beyond_range;
use crate::wording;

/// The least share of lost data, 0 to 1, that `places` random blocks detect with `confidence` (0 to 1);
/// 1 without a block.
#[must_use]
pub fn share_found(places: u64, confidence: f64) -> f64 {
    if places == 0 { 1.0 } else { 1.0 - (1.0 - confidence).powf(1.0 / places as f64) }
}

/// The doubts that the data checks of `record` and of its phases raise.
pub(crate) fn doubts(record: &Record) -> Vec<Doubt> {
    let of_run = record.data_check.iter().flat_map(|check| of_check(check, None));
    let of_phases = record.phases.iter().enumerate().flat_map(|(index, phase)| {
        phase.data_check.iter().flat_map(move |check| of_check(check, Some(index)))
    });
    of_run.chain(of_phases).collect()
}

fn of_check(check: &DataCheck, phase: Option<usize>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if check.wrong_places > 0 {
        doubts.push(Doubt::new(phase, wrong(check)));
    }
    if check.unreadable_places > 0 {
        let DataCheck { places, place_bytes, unreadable_places: unreadable, .. } = *check;
        let cause = WarningCause::CheckedUnreadable { unreadable, places, place_bytes };
        doubts.push(Doubt::new(phase, cause));
    }
    doubts
}

fn wrong(check: &DataCheck) -> WarningCause {
    let DataCheck { places, place_bytes, wrong_places: wrong, .. } = *check;
    WarningCause::CheckedWrong { wrong, places, place_bytes, first_bytes: check.first_wrong_bytes }
}

/// What stands before the [`alarm`].
pub const ALARM: &str = "LOSES DATA:";

/// The alarm about wrong data that leads a report; `None` if no wrong data was found.
#[must_use]
pub fn alarm(record: &Record) -> Option<String> {
    let doubts = crate::doubts::doubts(record);
    let mut wrong = doubts.iter().filter(|doubt| doubt.warning.code == WarningCode::WrongData);
    let first = wrong.next()?;
    let text = first.text(record);
    let more = match wrong.count() {
        0 => String::new(),
        1 => "; another check found wrong data too".to_owned(),
        count => format!("; {count} other checks found wrong data too"),
    };
    Some(format!(
        "{text}{more}. This storage loses data. Its real capacity may be smaller than \
         announced, or it is damaged. Do not store data on it, and copy your files to another \
         device. Check the capacity with `cardproof verify`."
    ))
}

/// The result of the data checks and the least loss that they detect, in one sentence; `None` if
/// nothing was compared.
#[must_use]
pub fn in_words(record: &Record) -> Option<String> {
    if record.is_imported() {
        return right_elsewhere(record);
    }
    let in_full: Bytes = record
        .phases
        .iter()
        .filter_map(|phase| phase.verification)
        .map(|verification| verification.compared_bytes)
        .sum();
    let in_full = (in_full > Bytes::ZERO)
        .then(|| format!("in the phases, {in_full} were read back and compared"));
    let of_phases = record.phases.iter().filter_map(|phase: &Phase| phase.data_check);
    let sampled = match record.data_check {
        Some(check) => Some(sample(&check, "at the end")),
        // A run that was stopped has no check at its end.
        None => {
            of_phases.max_by_key(|check| check.places).map(|check| sample(&check, "after a phase"))
        }
    };
    let parts: Vec<String> = [sampled, in_full].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What another tool that read everything back found right, as a sentence; `None` where it did not, or where anything
/// was found to be wrong.
#[must_use]
pub fn right_elsewhere(record: &Record) -> Option<String> {
    let compared = record.phases.iter().filter_map(|phase| phase.verification);
    let most = compared.map(|verification| verification.compared_bytes).max()?;
    if !record.is_imported() || casts_doubt(record) {
        return None;
    }
    let tool = &record.tool.name;
    Some(if most > Bytes::ZERO {
        format!(
            "{tool} read back {most} ({}), and all of it was as written. A card that is sold with about this \
             capacity, or less, is no fake.",
            most.in_decimal()
        )
    } else {
        format!(
            "all that {tool} read back was as written. The text does not say how much that was, so the rest of \
             the card may still be missing: `cardproof verify` tests it."
        )
    })
}

/// As [`in_words`] in a few words, if the final check found all data correct; `None` otherwise.
#[must_use]
pub fn in_short(record: &Record) -> Option<String> {
    let check = record.data_check?;
    let is_right = check.wrong_places + check.unreadable_places == 0 && alarm(record).is_none();
    // What was written for the check alone reaches beyond the test range, so the two ranges differ.
    let range = match size_beyond_range(record) {
        Some(_) if check.spread_bytes > Bytes::ZERO => format!(
            " (first {}, with {} written for this check alone)",
            check.to_bytes, check.spread_bytes
        ),
        Some(_) => format!(" (first {})", check.to_bytes),
        None => String::new(),
    };
    is_right
        .then(|| format!("Data check{range}: all {} blocks were read back correctly", check.places))
}

fn sample(check: &DataCheck, when: &str) -> String {
    let DataCheck { places, wrong_places, unreadable_places, .. } = check;
    let right = places.saturating_sub(wrong_places + unreadable_places);
    let share = wording::percent_of_loss(share_found(*places, CONFIDENCE));
    let through =
        if check.direct { "" } else { ", read through the page cache, which proves little" };
    let result = if right == *places {
        let confidence = wording::percent(CONFIDENCE);
        format!(
            "all are correct; a loss of {share} or more would have been found with {confidence} confidence"
        )
    } else {
        format!("{right} are correct, so data was lost")
    };
    let spread = if check.spread_bytes > Bytes::ZERO {
        format!(
            " ({} of it for this check alone, where the tests had not written everything)",
            check.spread_bytes
        )
    } else {
        String::new()
    };
    format!(
        "{when}, {places} blocks chosen at random from what was written in the first {}{spread} were \
         read{through}: {result}",
        check.to_bytes
    )
}

#[cfg(test)]
mod tests {
    use cardproof_record::{Finding, FindingKind, Verification};

    use super::*;

    #[test]
    fn the_share_found_is_that_of_independent_places() {
        // (1 - 0.0046)^1000 = 0.01; one place finds 99 % of losses of 99 %.
        assert!((share_found(1000, 0.99) - 0.004_594_6).abs() < 1e-6);
        assert!((share_found(1, 0.99) - 0.99).abs() < 1e-9);
        assert!((share_found(0, 0.99) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_written_for_the_check_alone_is_told_apart() {
        let mut record = cardproof_testkit::records::typical_a1_card();
        let check = record.data_check.as_mut().unwrap();
        (check.to_bytes, check.spread_bytes) = (Bytes::mib(255), Bytes::ZERO);
        let told = in_words(&record).unwrap();
        assert!(told.contains("from what was written in the first 255 MiB were read"), "{told}");
        record.data_check.as_mut().unwrap().spread_bytes = Bytes::mib(4);
        let told = in_words(&record).unwrap();
        assert!(told.contains("the first 255 MiB (4 MiB of it for this check alone"), "{told}");
        let told = in_short(&record).unwrap();
        let why = "Data check (first 255 MiB, with 4 MiB written for this check alone): all ";
        assert!(told.starts_with(why), "{told}");
        record.data_check.as_mut().unwrap().spread_bytes = Bytes::ZERO;
        let told = in_short(&record).unwrap();
        assert!(told.starts_with("Data check (first 255 MiB): all "), "{told}");
    }

    #[test]
    fn what_another_tool_found_right_is_told_where_nothing_was_wrong() {
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.tool.name = "f3".to_owned();
        assert_eq!(right_elsewhere(&record), None, "nothing was compared");
        record.phases[0].verification = Some(Verification::all_right(Bytes(31_890_341_888)));
        let told = right_elsewhere(&record).unwrap();
        assert!(told.starts_with("f3 read back 29.7 GiB (31.9 GB), and all"), "{told}");
        record.phases[0].verification = Some(Verification::all_right(Bytes::ZERO));
        let told = right_elsewhere(&record).unwrap();
        assert!(told.contains("does not say how much"), "{told}");
        let lost = FindingKind::MediaErrors { count: 3 };
        record.findings.push(Finding::at(lost, "f3", 1));
        assert_eq!(right_elsewhere(&record), None, "something is wrong");
    }
}
