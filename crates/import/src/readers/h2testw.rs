//! h2testw's text: the speed of filling a medium and reading it back, and what was lost.
//!
//! Its MByte are MiB and its GByte GiB; the sectors beside them are exact. It is a program of Windows,
//! in English or German, and prints either order of speeds and findings.

use cardproof_record::{OpName, PatternName, Warning, WarningCode};
use cardproof_units::Bytes;

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::H2testw;

/// How the lines of speeds begin, in both languages.
const SPEEDS: [(&str, OpName); 4] = [
    ("Writing speed:", OpName::Write),
    ("Reading speed:", OpName::Read),
    ("Schreibrate:", OpName::Write),
    ("Leserate:", OpName::Read),
];

/// Lines that only h2testw prints, beside those of [`SPEEDS`] with its own unit.
const SIGNS: Beginnings = Beginnings::new(&[
    "H2testw v",
    "H2testw V",
    "You can now delete the test files *.h2w",
    "Sie können die Testdateien *.h2w jetzt löschen",
]);

/// Lines with which its text begins.
const BEGINNINGS: Beginnings = Beginnings::new(&[
    "Warning: Only ",
    "Achtung: Nur ",
    "Test finished without errors",
    "Fertig, kein Fehler aufgetreten",
    "Test fehlerfrei",
    "The media is likely to be defective",
    "Der Datenträger ist wahrscheinlich defekt",
]);

pub(super) fn is_sign(view: &View) -> bool {
    let text = view.text;
    SIGNS.begin(text)
        || begins(text)
        || speed_of(text).is_some_and(|(figures, _)| figures.contains("Byte/s"))
}

/// Whether another output begins with a line.
pub(super) fn is_start(view: &View) -> bool {
    begins(view.text)
}

fn begins(text: &str) -> bool {
    // Other programs warn as well, but not of MByte.
    let is_warning = text.starts_with("Warning:") || text.starts_with("Achtung:");
    BEGINNINGS.begin(text) && (!is_warning || text.contains("MByte"))
}

fn speed_of(text: &str) -> Option<(&str, OpName)> {
    const NAMES: Beginnings =
        Beginnings::new(&["Writing speed:", "Reading speed:", "Schreibrate:", "Leserate:"]);
    if !NAMES.begin(text) {
        return None;
    }
    SPEEDS.iter().find_map(|(name, op)| Some((text.strip_prefix(name)?, *op)))
}

/// What was found of the data, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Data {
    sound: Option<u64>,
    lost: Option<u64>,
    /// Whether h2testw says that the medium is likely to be defective.
    is_defective: bool,
}

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut data = Data::default();
    // Where the output that is being read begins among the phases.
    let mut first = 0;
    for line in lines {
        draft.check_count()?;
        let text = line.text.trim();
        if begins(text) && draft.phases.len() > first {
            settle(&mut draft, first, std::mem::take(&mut data));
            first = draft.phases.len();
        }
        if let Some((figures, op)) = speed_of(text) {
            line.claim();
            draft.phases.push(phase(line, figures, op)?);
        } else if let Some(version) = text.strip_prefix("H2testw ") {
            line.claim();
            let version = version.trim_start_matches(|c: char| c.is_alphabetic()).trim();
            draft.version = Some(version.to_owned());
        } else if is_part(&View::of(text)) {
            line.claim();
            read_data(text, &mut data, &mut draft);
        }
    }
    settle(&mut draft, first, data);
    if draft.phases.is_empty() && draft.warnings.is_empty() {
        let expected = "'Writing speed: N MByte/s' or 'Reading speed: N MByte/s'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// Ends an output: its phases from the one at `first` on moved all data, and what was lost leads the
/// record.
fn settle(draft: &mut RecordDraft, first: usize, data: Data) {
    let lost = data.lost.unwrap_or(0);
    let all = Bytes(data.sound.unwrap_or(0).saturating_add(lost));
    for phase in draft.phases.iter_mut().skip(first) {
        phase.bytes = all;
    }
    if lost > 0 {
        let message = format!("h2testw lost {} of {all}", Bytes(lost));
        draft.lead_with(Warning { code: WarningCode::WrongData, message });
    } else if data.is_defective {
        draft.warn(WarningCode::WrongData, "h2testw calls the medium likely to be defective");
    }
}

/// Whether a line is one of h2testw's findings.
fn is_part(view: &View) -> bool {
    const PARTS: [Needle; 20] = [
        Needle::new("DATA LOST"),
        Needle::new("DATEN VERLOREN"),
        Needle::new("Byte OK"),
        Needle::new("sectors)"),
        Needle::new("Sektoren)"),
        Needle::new("Test finished without errors"),
        Needle::new("Test fehlerfrei"),
        Needle::new("likely to be defective"),
        Needle::new("wahrscheinlich defekt"),
        Needle::new("First error at offset"),
        Needle::new("Expected: 0x"),
        Needle::new("Found: 0x"),
        Needle::new("*.h2w"),
        Needle::new("Erster Fehler bei Offset"),
        Needle::new("Soll: 0x"),
        Needle::new("Ist: 0x"),
        Needle::new("nochmals überprüfen"),
        Needle::new("Details:"),
        Needle::new("8 bit/sector"),
        Needle::new("8 Bit/Sektor"),
    ];
    begins(view.text) || PARTS.iter().any(|part| view.holds(part))
}

/// The same for a line of which no tool is known yet, without a search of the whole line.
pub(crate) fn is_finding(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&[
        "Details:",
        "First error at offset",
        "Expected: 0x",
        "Found: 0x",
        "Erster Fehler bei Offset",
        "Soll: 0x",
        "Ist: 0x",
        "nochmals überprüfen",
    ]);
    let has_sectors = || text.contains("sectors)") || text.contains("Sektoren)");
    begins(text)
        || STARTS.begin(text)
        || text.starts_with(|c: char| c.is_ascii_digit()) && has_sectors()
}

fn read_data(text: &str, data: &mut Data, draft: &mut RecordDraft) {
    data.is_defective |= ["likely to be defective", "wahrscheinlich defekt"]
        .iter()
        .any(|words| text.contains(words));
    let numbers = quantities(text);
    let is_sectors = |unit: &str| matches!(unit, "sectors" | "sector" | "Sektoren");
    let Some(sectors) = numbers.iter().find(|it| is_sectors(it.unit)).map(|it| it.value) else {
        return;
    };
    let bytes = Some((sectors as u64).saturating_mul(512));
    let name = if text.contains("DATA LOST") || text.contains("DATEN VERLOREN") {
        data.lost = bytes;
        "data lost"
    } else if text.contains("OK") {
        data.sound = bytes;
        "data ok"
    } else {
        return;
    };
    draft.figures.push(Printed::new(name, sectors, "sectors"));
}

fn phase(line: &Line, figures: &str, op: OpName) -> Result<PhaseDraft, ImportError> {
    let numbers = quantities(figures);
    let unit = |unit: &str| match unit {
        "GByte/s" => Some(1_073_741_824.0),
        "MByte/s" => Some(1_048_576.0),
        "KByte/s" => Some(1024.0),
        _ => None,
    };
    let parsed = numbers.first().and_then(|rate| Some((rate, unit(rate.unit)?)));
    let (rate, unit_bytes_per_s) = parsed.ok_or_else(|| {
        ImportError::unexpected(TOOL, line.number, "a speed such as '13.4 MByte/s'", figures)
    })?;
    let name = if op == OpName::Write { "writing speed" } else { "reading speed" };
    let figure = Printed::new(name, rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s);
    let draft = PhaseDraft {
        cache: Cache::Unknown("h2testw's text does not tell whether Windows' cache was in use"),
        ..PhaseDraft::new(op, PatternName::Sequential)
    };
    Ok(draft.at(rate.value * unit_bytes_per_s, figure))
}
