//! h2testw's text: the speed of filling a medium and reading it back, and what was lost.
//!
//! Its MByte are MiB and its GByte GiB; the sectors beside them are exact. It is a program of Windows,
//! in English or German, and prints either order of speeds and findings.

use cardproof_record::{ErrorCause, FindingKind, OpName, PatternName};
use cardproof_units::Bytes;

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::{quantities, whole};
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
pub(crate) fn is_start(view: &View) -> bool {
    begins(view.text)
}

/// Whether `text` tells a speed.
pub(crate) fn is_speed(text: &str) -> bool {
    speed_of(text).is_some()
}

fn begins(text: &str) -> bool {
    if !BEGINNINGS.begin(text) {
        return false;
    }
    // Other programs warn as well, but not of MByte.
    let is_warning = text.starts_with("Warning:") || text.starts_with("Achtung:");
    !is_warning || text.contains("MByte")
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
struct Data<'l, 't> {
    sound: Option<u64>,
    lost: Option<(&'l Line<'t>, u64)>,
    /// Where h2testw says that the medium is likely to be defective.
    defective: Option<&'l Line<'t>>,
    /// Whether it says that there was no error.
    is_right: bool,
    /// How much it says that it tested.
    tested: Option<u64>,
    /// The address of the first error.
    first_wrong: Option<u64>,
}

impl Data<'_, '_> {
    /// How much is right, where nothing is right behind the first error, and much of the device is behind it.
    fn right_to(&self, lost: u64) -> Option<Bytes> {
        let (first, sound) = self.first_wrong.zip(self.sound)?;
        let is_all_before = first as f64 >= NEARLY_ALL * sound as f64;
        (is_all_before && lost as f64 >= MUCH * sound as f64).then_some(Bytes(sound))
    }
}

/// What a counterfeit lacks at least, beside what it holds.
const MUCH: f64 = 0.1;

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut data = Data::default();
    // Where the output that is being read begins among the phases.
    let mut first = 0;
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
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
            read_data(line, &mut data, &mut draft);
            read_fault(line, &mut draft);
        }
    }
    settle(&mut draft, first, data);
    if !draft.has_content() {
        let expected = "'Writing speed: N MByte/s' or 'Reading speed: N MByte/s'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// Ends an output: its phases from the one at `first` on moved all data, and what was lost is a finding.
fn settle(draft: &mut RecordDraft, first: usize, data: Data<'_, '_>) {
    let lost = data.lost.map_or(0, |(_, lost)| lost);
    let of_bytes = Bytes(data.sound.unwrap_or(0).saturating_add(lost));
    for phase in draft.phases.iter_mut().skip(first) {
        phase.bytes = of_bytes;
    }
    if data.is_right && lost == 0 && data.defective.is_none() {
        let right = Bytes(data.tested.unwrap_or(0));
        let reads = draft.phases.iter_mut().skip(first).filter(|phase| phase.op == OpName::Read);
        reads.for_each(|phase| phase.right = Some(right));
    }
    match (data.lost, data.defective) {
        (Some((line, lost)), _) if lost > 0 => {
            let right_to_bytes = data.right_to(lost);
            let lost_bytes = Bytes(lost);
            draft.find(line, FindingKind::DataLost { lost_bytes, of_bytes, right_to_bytes });
        }
        (_, Some(line)) => draft.find(line, FindingKind::LikelyDefective),
        _ => {}
    }
}

/// Takes over a read or write that failed, and how much was left untested.
fn read_fault(line: &Line, draft: &mut RecordDraft) {
    const ERRORS: [(&str, OpName); 4] = [
        ("Error reading file ", OpName::Read),
        ("Error writing file ", OpName::Write),
        ("Fehler beim Lesen der Datei ", OpName::Read),
        ("Fehler beim Schreiben der Datei ", OpName::Write),
    ];
    let text = line.shown();
    if let Some((rest, op)) =
        ERRORS.iter().find_map(|(start, op)| Some((text.strip_prefix(start)?, *op)))
    {
        draft.find(line, error_of(rest, op));
    } else if begins(text)
        && let [tested, all] = quantities(text).as_slice()
        && tested.value < all.value * NEARLY_ALL
    {
        let bytes = |mib: f64| Some(Bytes((mib * 1_048_576.0) as u64));
        let (tested_bytes, of_bytes) = (bytes(tested.value), bytes(all.value));
        draft.find(line, FindingKind::Unfinished { tested_bytes, of_bytes });
    }
}

/// A file system keeps some blocks to itself, which is no reason to test again.
const NEARLY_ALL: f64 = 0.98;

/// The error in `'E:\3.h2w', code 23 at offset 0x3ff00000.`
fn error_of(rest: &str, op: OpName) -> FindingKind {
    let name = rest.split('\'').nth(1).unwrap_or_default();
    let name = name.rsplit(['\\', '/']).next().unwrap_or_default();
    let file = name.split('.').next().and_then(whole);
    let lower = rest.to_ascii_lowercase();
    let code = lower.split_once("code ").and_then(|(_, rest)| {
        whole(rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default())
    });
    let offset = lower.split_once("offset 0x").and_then(|(_, rest)| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        u64::from_str_radix(&rest[..end], 16).ok()
    });
    FindingKind::IoErrors {
        op,
        count: 1,
        cause: code.map_or(ErrorCause::Unknown, windows_cause),
        files: file.into_iter().collect(),
        after_bytes: None,
        offset_bytes: offset.map(Bytes),
    }
}

/// What an error code of Windows means (System Error Codes, winerror.h).
const fn windows_cause(code: u64) -> ErrorCause {
    match code {
        23 => ErrorCause::Crc,
        121 | 1460 => ErrorCause::Timeout,
        19 => ErrorCause::ReadOnly,
        21 | 433 | 1167 => ErrorCause::Gone,
        _ => ErrorCause::Io,
    }
}

/// Whether a line is one of h2testw's findings.
fn is_part(view: &View) -> bool {
    const PARTS: [Needle; 24] = [
        Needle::new("Error reading file '"),
        Needle::new("Error writing file '"),
        Needle::new("Fehler beim Lesen der Datei '"),
        Needle::new("Fehler beim Schreiben der Datei '"),
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
        "Error reading file '",
        "Error writing file '",
        "Fehler beim Lesen der Datei '",
        "Fehler beim Schreiben der Datei '",
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

/// What h2testw says where there was no error.
const SOUND: Beginnings = Beginnings::new(&[
    "Test finished without errors",
    "Fertig, kein Fehler aufgetreten",
    "Test fehlerfrei",
]);

/// What it says where it did not test all.
const WARNINGS: Beginnings = Beginnings::new(&["Warning: Only ", "Achtung: Nur "]);

/// What stands before the address of the first error.
const OFFSETS: [&str; 2] = ["First error at offset", "Erster Fehler bei Offset"];

fn read_data<'l, 't>(line: &'l Line<'t>, data: &mut Data<'l, 't>, draft: &mut RecordDraft) {
    let text = line.shown();
    let is_defective = ["likely to be defective", "wahrscheinlich defekt"];
    if is_defective.iter().any(|words| text.contains(words)) {
        data.defective = Some(line);
    }
    data.is_right |= SOUND.begin(text);
    let offset = OFFSETS.iter().find_map(|name| text.strip_prefix(name));
    data.first_wrong = data.first_wrong.or_else(|| {
        let digits = offset?.trim_start_matches(':').trim().strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    });
    let numbers = quantities(text);
    let is_sectors = |unit: &str| matches!(unit, "sectors" | "sector" | "Sektoren");
    if let ([tested, _], true) = (numbers.as_slice(), WARNINGS.begin(text)) {
        data.tested = Some((tested.value * 1_048_576.0) as u64);
    }
    let Some(sectors) = numbers.iter().find(|it| is_sectors(it.unit)).map(|it| it.value) else {
        return;
    };
    let bytes = Some((sectors as u64).saturating_mul(512));
    let name = if text.contains("DATA LOST") || text.contains("DATEN VERLOREN") {
        data.lost = bytes.map(|bytes| (line, bytes));
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
