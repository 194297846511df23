//! Data checks: wrong data, and the smallest loss that the check detects.
//!
//! A record holds counts. The checked blocks are drawn at random from all written data. If the storage
//! lost the share `s` of it, `n` blocks find nothing with probability (1 - s)^n. The share detected with
//! 99 % confidence makes that 1 %; it is exact for independent blocks. A check that finds no loss does
//! not prove that there is none.

use cardproof_record::{DataCheck, Record, WarningCause, WarningCode};
use cardproof_units::Bytes;

use crate::doubts::Doubt;
use crate::findings::casts_doubt;

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

/// The first doubt about wrong data of `record`, and how many more there are; `None` if no wrong data was found.
pub(crate) fn wrong_data(record: &Record) -> Option<(Doubt, usize)> {
    let doubts = crate::doubts::doubts(record).into_iter();
    let mut wrong = doubts.filter(|doubt| doubt.warning.code == WarningCode::WrongData);
    let first = wrong.next()?;
    Some((first, wrong.count()))
}

/// How much another tool has read back and compared at the most, where nothing was found to be wrong; zero where it
/// does not say how much.
pub(crate) fn compared_elsewhere(record: &Record) -> Option<Bytes> {
    let compared = record.phases.iter().filter_map(|phase| phase.verification);
    let most = compared.map(|verification| verification.compared_bytes).max()?;
    (record.is_imported() && !casts_doubt(record)).then_some(most)
}

/// How much was read back and compared in the phases, 0 where nothing was.
pub(crate) fn compared_in_phases(record: &Record) -> Bytes {
    let compared = record.phases.iter().filter_map(|phase| phase.verification);
    compared.map(|verification| verification.compared_bytes).sum()
}

/// Whether the final check found all data correct.
pub(crate) fn is_all_right(record: &Record) -> bool {
    let is_right = |check: DataCheck| check.wrong_places + check.unreadable_places == 0;
    record.data_check.is_some_and(is_right) && wrong_data(record).is_none()
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
