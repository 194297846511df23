//! Health reports of drives as readings, whichever program printed them in whichever form, and outputs that
//! say why there is none.

use cardproof_import::drive_report::{self, DriveReport, NotRead};
use cardproof_rating::words::findings::sentence;
use cardproof_record::{Finding, FindingKind};
use serde_json::Value as Json;

use super::Sourced;
use super::smartctl::of_smartctl;

/// The reports of smartctl and of `nvme smart-log` that a cleaned text holds in words.
pub(super) fn in_words(text: &str) -> Vec<Sourced> {
    if !text.lines().any(drive_report::is_sign) {
        return Vec::new();
    }
    let reports = drive_report::read((1..).zip(text.lines()));
    reports.iter().map(of_report).collect()
}

/// The report in an object of JSON; nothing where it is of neither program.
pub(super) fn of_json(object: &Json) -> Option<Sourced> {
    drive_report::of_json(object).map(|report| of_report(&report))
}

fn of_report(report: &DriveReport) -> Sourced {
    let mut sourced = of_smartctl(&report.to_json());
    let tool = report.tool.name();
    // A device beyond its rated life may work for long: the value tells it, and how much life is left.
    let is_fault = |what: &FindingKind| !matches!(what, FindingKind::LifeUsedUp { .. });
    let all = report.findings();
    sourced.is_report = report.not_read.is_none() && report.has_content();
    sourced.faults = all.iter().map(|(what, _)| what.clone()).collect();
    let faults = all.into_iter().filter(|(what, _)| is_fault(what));
    let findings = faults.map(|(what, line)| {
        let finding = Finding::at(what, tool, line);
        sentence(&Finding { device: report.device.clone(), ..finding })
    });
    sourced.findings = findings.collect();
    let is_empty = sourced.reading.values.is_empty();
    sourced.card.clone_from(&report.device);
    sourced.unread = report.not_read.as_ref().filter(|_| is_empty).map(not_read);
    sourced
}

/// Why a program read nothing, and what can read it.
fn not_read(reason: &NotRead) -> String {
    match reason {
        NotRead::UnknownBridge => "smartctl does not know the USB bridge and read nothing; try \
             `sudo smartctl -d sat --json -a` with the device's name"
            .to_owned(),
        NotRead::NotPermitted => {
            "smartctl may not read the device; run `sudo smartctl --json -a` with the \
             device's name"
                .to_owned()
        }
        NotRead::NoReport => "the device gives no health report that smartctl can read".to_owned(),
        NotRead::Other(text) => {
            let shown: String =
                text.chars().filter(|c| !cardproof_report::steers(*c)).take(120).collect();
            format!("smartctl could not read the device: {shown}")
        }
    }
}

/// sdmon's output of a card that does not answer; nothing for other objects.
pub(super) fn without_answer(object: &Json) -> Option<Sourced> {
    let is_sdmon = object.get("device").is_some() && object.get("version").is_some();
    let failed = ["error1", "error2", "error", "read_via_cmd56_arg_1"]
        .iter()
        .any(|key| object.get(*key).is_some());
    let is_open = object.get("error").and_then(Json::as_str) == Some("device open failed");
    let reason = if is_open {
        "sdmon could not open the device; run it with sudo, and name the card's device, such as /dev/mmcblk0"
    } else {
        "sdmon asked the card, and the card does not answer CMD56, so its wear cannot be read; `cardproof \
         endure` wears a card out to learn its life, and some industrial cards report theirs"
    };
    (is_sdmon && failed).then(|| Sourced { unread: Some(reason.to_owned()), ..Sourced::default() })
}
