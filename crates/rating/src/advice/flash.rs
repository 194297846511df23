//! Advice that rests on how the card manages its flash.

use cardproof_record::Record;

use super::range::{Room, room_for};
use super::{Case, say};
use crate::geometry::geometry;

/// Where the found geometry is of use.
pub(super) fn of_geometry(record: &Record) -> String {
    let has_unit = geometry(record).is_some_and(|found| {
        [&found.allocation_unit, &found.page].iter().any(|finding| finding.claim().is_some())
    });
    if has_unit {
        let device = typed_device(record);
        format!(
            "Plan partition, file system and settings for this card: `cardproof tune {device} --geometry latest`."
        )
    } else {
        "Nothing needs to be done: `cardproof tune` uses values that suit most cards.".to_owned()
    }
}

/// The device of `record` as a user types it.
fn typed_device(record: &Record) -> String {
    match &record.conditions.device.name {
        Some(name) if record.is_simulated() => name.clone(),
        Some(name) => format!("/dev/{name}"),
        None => "DEVICE".to_owned(),
    }
}

/// Advice where a quantity of the geometry needs a larger range, or none was found.
pub(super) fn complete_geometry(case: &Case<'_>) -> Option<String> {
    let geometry = geometry(case.record)?;
    let has_any = geometry.quantities().iter().any(|(_, finding)| finding.claim().is_some());
    let needed = case.record.flash_timings.probe.needed_range_bytes;
    match needed {
        Some(needed) => Some(match room_for(case, needed) {
            Room::Enough => format!(
                "The test range was too small for some quantities. Run again with --size {} or more.",
                needed.as_argument()
            ),
            Room::FileSmaller => format!(
                "The test range was too small for some quantities. Name a directory, or a file of at least {needed}."
            ),
            Room::StorageSmaller(size) => format!(
                "This storage ({size}) is too small for some quantities, which need a range of {needed}."
            ),
        }),
        None => say(
            !has_any,
            "Nothing needs to be done: `cardproof tune` uses values that suit most cards.",
        ),
    }
}
