//! Data checks in words: wrong data, and the smallest loss that a check detects.

use cardproof_facts::CONFIDENCE;
use cardproof_record::{CapacityVerdict, DataCheck, Phase, Record};
use cardproof_units::Bytes;

use crate::capacity::capacity;
use crate::data::{compared_elsewhere, compared_in_phases, is_all_right, share_found, wrong_data};
use crate::scope::size_beyond_range;

use super::wording;

/// What stands before the [`alarm`].
pub const ALARM: &str = "LOSES DATA:";

/// The alarm about wrong data that leads a report; `None` if no wrong data was found.
#[must_use]
pub fn alarm(record: &Record) -> Option<String> {
    let (first, others) = wrong_data(record)?;
    let text = first.text(record);
    let more = match others {
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
    let in_full = compared_in_phases(record);
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
    let of_fake = is_fake(record).then(|| "this says nothing of the rest of this fake".to_owned());
    let of_fake = of_fake.filter(|_| sampled.is_some() || in_full.is_some());
    let parts: Vec<String> = [sampled, in_full, of_fake].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What another tool that read everything back found right, as a sentence; `None` where it did not, or where anything
/// was found to be wrong.
#[must_use]
pub fn right_elsewhere(record: &Record) -> Option<String> {
    let most = compared_elsewhere(record)?;
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

/// Whether the test of the capacity found that the storage holds less than it announces.
fn is_fake(record: &Record) -> bool {
    capacity(record).is_some_and(|found| found.verdict == CapacityVerdict::Fake)
}

/// As [`in_words`] in a few words, if the final check found all data correct; `None` otherwise. Of a fake it is said of
/// which range that is true, and nothing where that would be all of it.
#[must_use]
pub fn in_short(record: &Record) -> Option<String> {
    let check = record.data_check?;
    // What was written for the check alone reaches beyond the test range, so the two ranges differ.
    let range = match size_beyond_range(record) {
        Some(_) if check.spread_bytes > Bytes::ZERO => format!(
            " (first {}, with {} written for this check alone)",
            check.to_bytes, check.spread_bytes
        ),
        Some(_) => format!(" (first {})", check.to_bytes),
        None => String::new(),
    };
    let of_fake = match (is_fake(record), range.is_empty()) {
        (false, _) => "",
        (true, false) => " there; this says nothing of the rest of this fake",
        (true, true) => return None,
    };
    is_all_right(record).then(|| {
        format!("Data check{range}: all {} blocks were read back correctly{of_fake}", check.places)
    })
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
