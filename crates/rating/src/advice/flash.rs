//! Advice that rests on how the card manages its flash.

use cardproof_record::Record;

use super::range::room_for;
use super::{Case, Step};
use crate::geometry::geometry;

/// Where the found geometry is of use.
pub(super) fn of_geometry(record: &Record) -> Step {
    let has_unit = geometry(record).is_some_and(|found| {
        [&found.allocation_unit, &found.page].iter().any(|finding| finding.claim().is_some())
    });
    if has_unit {
        Step::PlanByGeometry { device: typed_device(record) }
    } else {
        Step::UsualValuesSuit
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
pub(super) fn complete_geometry(case: &Case<'_>) -> Option<Step> {
    let geometry = geometry(case.record)?;
    let has_any = geometry.quantities().iter().any(|(_, finding)| finding.claim().is_some());
    let needed = case.record.flash_timings.probe.needed_range_bytes;
    match needed {
        Some(needed) => Some(Step::GeometryNeedsRange { needed, room: room_for(case, needed) }),
        None => (!has_any).then_some(Step::UsualValuesSuit),
    }
}
