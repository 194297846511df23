//! Health reports of drives as records: the values as the program printed them, and what is wrong as
//! findings.

use cardproof_record::{Finding, WarningCode};

use super::index_of;
use crate::ForeignTool;
use crate::draft::{Printed, RecordDraft};
use crate::drive_report::{self, DriveReport, DriveTool, NotRead};
use crate::lines::Line;
use crate::view::Needle;

/// A record for each report, with the index of its first line.
pub(super) fn read(lines: &[Line], tool: Option<ForeignTool>) -> Vec<(usize, RecordDraft)> {
    if !lines.iter().any(|line| may_be_sign(line) && drive_report::is_sign(line.shown())) {
        return Vec::new();
    }
    let numbered = lines.iter().map(|line| (line.number, &*line.text));
    let reports = drive_report::read(numbered);
    let own = reports.into_iter().filter(|it| tool.is_none_or(|tool| tool == tool_of(it)));
    own.map(|report| {
        for number in &report.lines {
            lines.get(index_of(lines, *number)).into_iter().for_each(Line::claim);
        }
        let first = report.lines.first().copied().unwrap_or(1);
        (index_of(lines, first), draft(&report))
    })
    .collect()
}

/// Whether a line is a row of a table or has a word without which no line is a report's sign.
fn may_be_sign(line: &Line) -> bool {
    const WORDS: [Needle; 9] = [
        Needle::new("smartctl "),
        Needle::new("Smart Log for NVM"),
        Needle::new("=== START OF "),
        Needle::new("SMART"),
        Needle::new("ID# ATTRIBUTE_NAME"),
        Needle::new("Data Units "),
        Needle::new("critical_warning"),
        Needle::new("percentage_used"),
        Needle::new("available_spare"),
    ];
    let view = line.view();
    if view.text.len() < drive_report::SIGN_MIN {
        return false;
    }
    matches!(view.text.as_bytes()[0], b'0'..=b'9' | b'#')
        || WORDS.iter().any(|word| view.holds(word))
}

const fn tool_of(report: &DriveReport) -> ForeignTool {
    match report.tool {
        DriveTool::Smartctl => ForeignTool::Smartctl,
        DriveTool::Nvme => ForeignTool::Nvme,
    }
}

fn draft(report: &DriveReport) -> RecordDraft {
    let tool = tool_of(report);
    let mut draft = RecordDraft::new(tool);
    let device = &mut draft.conditions.device;
    device.name = report.device.clone();
    device.model = report.model.clone();
    device.size_bytes = report.capacity_bytes;
    for value in &report.values {
        if let Some((number, unit)) = value.printed {
            draft.figures.push(Printed::new(value.kind.name(), number, unit));
        }
    }
    for (what, line) in report.findings() {
        let finding = Finding::at(what, tool.name(), line);
        draft.add_finding(Finding { device: report.device.clone(), ..finding });
    }
    if report.is_passed == Some(true) {
        draft.warn(WarningCode::Other, "the drive's own assessment says that it passed");
    }
    if report.is_unknown_model {
        draft.warn(
            WarningCode::Other,
            "smartctl does not know this model, so what its attributes are called is a guess: amounts and a \
             life that is still full are left out",
        );
    }
    if let Some(reason) = &report.not_read {
        draft.warn(WarningCode::Other, remedy(reason));
    }
    draft
}

/// Why nothing could be read, and the command that can.
fn remedy(reason: &NotRead) -> String {
    match reason {
        NotRead::UnknownBridge => {
            "smartctl does not know the USB bridge and read nothing; try \
             `sudo smartctl -d sat --json -a` and the device's name"
        }
        NotRead::NotPermitted => {
            "smartctl was not allowed to read the device; run `sudo smartctl --json -a` and the \
             device's name"
        }
        NotRead::NoReport => "the device gives no health report that smartctl can read",
        NotRead::Other(_) => {
            "smartctl could not open the device; run `sudo smartctl --json -a` and the device's name"
        }
    }
    .to_owned()
}
