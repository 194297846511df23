//! Attributes of ATA drives: what the number of each means, by its name in smartctl's database.
//!
//! Makers use the same number for different things, so a number alone means nothing: 233 is the wear of
//! Intel's drives and an amount written of others.

use super::{BelowThreshold, DriveReport, DriveValueKind};

/// One attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'t> {
    pub(super) id: u64,
    pub(super) name: &'t str,
    /// The normalised value: as a rule from 100 down.
    pub(super) value: u64,
    pub(super) threshold: u64,
    /// The number in the maker's unit, where it is a plain one.
    pub(super) raw: Option<u64>,
    pub(super) line: usize,
}

/// Words in names of attributes whose normalised value is the life left in per cent.
const LIFE_LEFT: [&str; 8] = [
    "Wear_Leveling_Count",
    "SSD_Life_Left",
    "Percent_Lifetime_Remain",
    "Percent_Lifetime_Used",
    "Percent_Life_Remaining",
    "Media_Wearout_Indicator",
    "Remaining_Lifetime_Perc",
    "Drive_Life_Remaining",
];

/// Endings of names of amounts that the host has written, and what one of the unit is in bytes.
const WRITTEN: [(&str, f64, &str); 6] = [
    ("LBAs_Written", 512.0, "sectors of 512 bytes"),
    ("Writes_GiB", 1_073_741_824.0, "GiB"),
    ("Written_GiB", 1_073_741_824.0, "GiB"),
    ("Writes_32MiB", 33_554_432.0, "units of 32 MiB"),
    ("Written_32MiB", 33_554_432.0, "units of 32 MiB"),
    ("Writes_MiB", 1_048_576.0, "MiB"),
];

/// No drive has so many sectors replaced; larger numbers hold several in one.
const SECTORS_MAX: u64 = 1 << 32;

/// Takes over what `attribute` says. Of a model that smartctl does not know, a life that is still at 100
/// may be no life at all, and an amount has no known unit.
pub(super) fn note(attribute: &Attribute<'_>, report: &mut DriveReport) {
    let Attribute { id, name, value, threshold, raw, line } = *attribute;
    if threshold > 0 && value <= threshold {
        let name = name.to_owned();
        report.below_threshold.push(BelowThreshold { name, value, threshold, line });
    }
    let most = if report.is_unknown_model { 99 } else { 100 };
    if LIFE_LEFT.contains(&name) && value <= most {
        report.note(DriveValueKind::LifeLeftPercent, (value as f64, "%"), 1.0, line);
    }
    let Some(raw) = raw else { return };
    // Firmware writes have a name of their own: `NAND_Writes_GiB`, `Flash_Writes_GiB`.
    let is_of_host = !report.is_unknown_model
        && ["Host", "Total", "Lifetime"].iter().any(|word| name.starts_with(word));
    let unit = WRITTEN.iter().find(|(end, ..)| name.ends_with(end));
    if let Some((_, bytes, unit)) = unit.filter(|_| is_of_host) {
        report.note(DriveValueKind::BytesWritten, (raw as f64, unit), *bytes, line);
    }
    let kind = match id {
        5 if name.starts_with("Reall") || name.starts_with("Retired_Block") => {
            DriveValueKind::ReallocatedSectors
        }
        197 if name.contains("Pending") => DriveValueKind::PendingSectors,
        187 | 198 if name.contains("Uncorrect") => DriveValueKind::UncorrectableErrors,
        _ => return,
    };
    if raw < SECTORS_MAX {
        match report.values.iter_mut().find(|it| it.kind == kind) {
            // Two attributes count uncorrectable errors.
            Some(known) if raw as f64 > known.value => {
                (known.value, known.printed) = (raw as f64, Some((raw as f64, "")));
            }
            Some(_) => {}
            None => report.note(kind, (raw as f64, ""), 1.0, line),
        }
    }
}
