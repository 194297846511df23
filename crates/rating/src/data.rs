//! What samples of data say of the storage: wrong data, and how small a loss would have been found.
//!
//! A record holds counts. Places were drawn at random from all that was written, so of storage that
//! lost the share `s` of it, `n` places find nothing with probability (1 - s)^n. The share found with
//! 99 % is where that is 1 %; it is exact for independent places, and no loss at all is implied by
//! none found.

use cardproof_record::{DataCheck, Phase, Record, WarningCode};
use cardproof_units::Bytes;

use crate::doubts::Doubt;
use crate::wording;

/// How surely a loss of the share that is told would have been found.
pub const CONFIDENCE: f64 = 0.99;

/// The share of lost data that `places` places drawn at random find with `confidence`, between 0 and
/// 1; 1 without a place.
#[must_use]
pub fn share_found(places: u64, confidence: f64) -> f64 {
    if places == 0 { 1.0 } else { 1.0 - (1.0 - confidence).powf(1.0 / places as f64) }
}

/// What the samples of `record` and of its phases say against it.
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
        doubts.push(Doubt::new(phase, WarningCode::WrongData, wrong(check)));
    }
    if check.unreadable_places > 0 {
        let DataCheck { places, place_bytes, unreadable_places, .. } = check;
        let message = format!(
            "{unreadable_places} of {places} places of {place_bytes} could not be read back after \
             they had been written"
        );
        doubts.push(Doubt::new(phase, WarningCode::Faults, message));
    }
    doubts
}

fn wrong(check: &DataCheck) -> String {
    let DataCheck { places, place_bytes, wrong_places, .. } = check;
    let first =
        check.first_wrong_bytes.map_or(String::new(), |first| format!(", the first at {first}"));
    format!(
        "{wrong_places} of {places} places of {place_bytes} that were read back do not hold what was \
         written there{first}"
    )
}

/// That data was wrong, in one sentence that leads a report; `None` where none was found wrong.
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
        "WRONG DATA: {text}{more}. This storage loses data: it may hold less than it announces, or be \
         broken. Trust it with nothing, and save what is on it."
    ))
}

/// What was compared and how small a loss it would have found, in one sentence; `None` where nothing
/// was compared.
#[must_use]
pub fn in_words(record: &Record) -> Option<String> {
    let in_full: Bytes = record
        .phases
        .iter()
        .filter_map(|phase| phase.verification)
        .map(|verification| verification.compared_bytes)
        .sum();
    let in_full = (in_full > Bytes::ZERO).then(|| format!("{in_full} compared in full"));
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

/// As [`in_words`] in a few words, where all that was compared at the end was right; `None` else.
#[must_use]
pub fn in_short(record: &Record) -> Option<String> {
    let check = record.data_check?;
    let share = wording::percent_of_loss(share_found(check.places, CONFIDENCE));
    let is_right = check.wrong_places + check.unreadable_places == 0 && alarm(record).is_none();
    is_right.then(|| format!("data right (losses of {share} would show)"))
}

fn sample(check: &DataCheck, when: &str) -> String {
    let DataCheck { places, wrong_places, unreadable_places, .. } = check;
    let right = places.saturating_sub(wrong_places + unreadable_places);
    let share = wording::percent_of_loss(share_found(*places, CONFIDENCE));
    let through = if check.direct { "" } else { ", through the page cache, which proves little" };
    let found = if right == *places {
        format!(
            "losses of {share} or more would have been found ({})",
            wording::percent(CONFIDENCE)
        )
    } else {
        "data was lost".to_owned()
    };
    format!(
        "{right} of {places} places up to {} were right {when}{through}; {found}",
        check.to_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_found_is_that_of_independent_places() {
        // (1 - 0.0046)^1000 = 0.01; one place finds 99 % of losses of 99 %.
        assert!((share_found(1000, 0.99) - 0.004_594_6).abs() < 1e-6);
        assert!((share_found(1, 0.99) - 0.99).abs() < 1e-9);
        assert!((share_found(0, 0.99) - 1.0).abs() < 1e-9);
    }
}
