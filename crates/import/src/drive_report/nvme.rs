//! The SMART log of NVMe drives: the names that smartctl and nvme-cli give to its fields.

use super::{DriveReport, DriveValueKind};

/// One unit of data is a thousand sectors of 512 bytes (NVM Express, SMART log).
pub(super) const DATA_UNIT_BYTES: f64 = 512_000.0;

/// The names of fields in texts, without case and with a space for a low line.
const NAMES: [(&str, DriveValueKind); 9] = [
    ("critical warning", DriveValueKind::CriticalWarning),
    ("available spare", DriveValueKind::SpareLeftPercent),
    ("available spare threshold", DriveValueKind::SpareThresholdPercent),
    ("percentage used", DriveValueKind::LifeUsedPercent),
    ("data units written", DriveValueKind::BytesWritten),
    ("media and data integrity errors", DriveValueKind::MediaErrors),
    ("media errors", DriveValueKind::MediaErrors),
    ("percentage used endurance indicator", DriveValueKind::LifeUsedPercent),
    ("elements in grown defect list", DriveValueKind::ReallocatedSectors),
];

/// What the field called `name` in a text says.
pub(super) fn field(name: &str) -> Option<DriveValueKind> {
    let is_it = |known: &str| {
        known.len() == name.len()
            && known.bytes().zip(name.bytes()).all(|(known, byte)| {
                let byte = if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() };
                known == byte
            })
    };
    NAMES.iter().find(|(known, _)| is_it(known)).map(|(_, kind)| *kind)
}

/// Takes over the number of a field, which counts units of data where it counts data.
pub(super) fn note(kind: DriveValueKind, number: f64, line: usize, report: &mut DriveReport) {
    let is_percent =
        matches!(kind, DriveValueKind::SpareLeftPercent | DriveValueKind::SpareThresholdPercent);
    if is_percent && number > 100.0 {
        return;
    }
    let unit = if kind == DriveValueKind::BytesWritten { DATA_UNIT_BYTES } else { 1.0 };
    report.note(kind, (number, kind.unit()), unit, line);
}
