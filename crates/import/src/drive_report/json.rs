//! `smartctl --json` and `nvme smart-log -o json`.

use serde_json::{Value as Json, json};

use super::ata::{self, Attribute};
use super::{DriveReport, DriveTool, DriveValueKind, NotRead, SelfTest, nvme};
use cardproof_units::Bytes;

/// The report in a JSON object; nothing where it is of neither program.
#[must_use]
pub fn of_json(object: &Json) -> Option<DriveReport> {
    if object.get("smartctl").is_some() || object.get("json_format_version").is_some() {
        return Some(of_smartctl(object));
    }
    let is_nvme = object.get("critical_warning").is_some()
        && (object.get("percent_used").is_some() || object.get("percentage_used").is_some());
    is_nvme.then(|| {
        let mut report = DriveReport::new(DriveTool::Nvme);
        smart_log(object, &mut report);
        report
    })
}

fn of_smartctl(object: &Json) -> DriveReport {
    let mut report = DriveReport::new(DriveTool::Smartctl);
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    let model = text("/model_name").or_else(|| text("/scsi_model_name"));
    report.model = model.map(|model| super::text::printable(&model));
    report.device = text("/device/name").and_then(|name| crate::text::kernel_name(&name));
    report.capacity_bytes =
        object.pointer("/user_capacity/bytes").and_then(Json::as_u64).map(Bytes);
    report.is_passed = object.pointer("/smart_status/passed").and_then(Json::as_bool);
    report.is_unknown_model =
        object.get("in_smartctl_database").and_then(Json::as_bool) == Some(false);
    report.unix_s = object.pointer("/local_time/time_t").and_then(Json::as_i64);
    if let Some(log) = object.get("nvme_smart_health_information_log") {
        smart_log(log, &mut report);
    }
    let table = object.pointer("/ata_smart_attributes/table").and_then(Json::as_array);
    for attribute in table.into_iter().flatten() {
        if let Some(attribute) = attribute_of(attribute) {
            ata::note(&attribute, &mut report);
        }
    }
    let indicator = object
        .pointer("/scsi_percentage_used_endurance_indicator")
        .or_else(|| object.pointer("/endurance_used/current_percent"));
    if let Some(used) = indicator.and_then(Json::as_f64) {
        report.note(DriveValueKind::LifeUsedPercent, (used, "%"), 1.0, 0);
    }
    let tests = object.pointer("/ata_smart_self_test_log/standard/table").and_then(Json::as_array);
    for test in tests.into_iter().flatten() {
        let kind = test.pointer("/type/string").and_then(Json::as_str).unwrap_or_default();
        let ended = match test.pointer("/status/passed").and_then(Json::as_bool) {
            Some(false) => SelfTest::Failed,
            Some(true) if kind.starts_with("Extended") => SelfTest::PassedWhole,
            Some(true) => SelfTest::Other,
            None => continue,
        };
        report.note_self_test(ended, 0);
    }
    if !report.has_content() {
        report.not_read = Some(not_read(object));
    }
    report
}

impl DriveReport {
    /// The report in the form of `smartctl --json`, whatever it was printed as, so that one reader does for
    /// all. Attributes of ATA are those of which the meaning is known.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let of = |kind| self.value(kind);
        let mut log = serde_json::Map::new();
        let fields = [
            ("percentage_used", of(DriveValueKind::LifeUsedPercent)),
            ("available_spare", of(DriveValueKind::SpareLeftPercent)),
        ];
        for (name, value) in fields {
            log.extend(value.map(|value| (name.to_owned(), Json::from(value as u64))));
        }
        let mut table = Vec::new();
        let left = of(DriveValueKind::LifeLeftPercent);
        table.extend(
            left.map(|left| json!({"id": 231, "name": "SSD_Life_Left", "value": left as u64})),
        );
        if let Some(bytes) = of(DriveValueKind::BytesWritten) {
            if (bytes / nvme::DATA_UNIT_BYTES).fract() == 0.0 && !log.is_empty() {
                let units = (bytes / nvme::DATA_UNIT_BYTES) as u64;
                log.insert("data_units_written".to_owned(), Json::from(units));
            } else {
                let raw = json!({"value": (bytes / 512.0) as u64});
                table.push(
                    json!({"id": 241, "name": "Total_LBAs_Written", "value": 100, "raw": raw}),
                );
            }
        }
        let mut object = json!({"smartctl": {}});
        if !log.is_empty() {
            object["nvme_smart_health_information_log"] = Json::Object(log);
        }
        if !table.is_empty() {
            object["ata_smart_attributes"] = json!({"table": table});
        }
        if let Some(seconds) = self.unix_s {
            object["local_time"] = json!({"time_t": seconds});
        }
        object
    }
}

/// The fields of an NVMe drive's log under the names of either program.
fn smart_log(log: &Json, report: &mut DriveReport) {
    let fields = [
        ("critical_warning", DriveValueKind::CriticalWarning),
        ("percentage_used", DriveValueKind::LifeUsedPercent),
        ("percent_used", DriveValueKind::LifeUsedPercent),
        ("available_spare", DriveValueKind::SpareLeftPercent),
        ("avail_spare", DriveValueKind::SpareLeftPercent),
        ("available_spare_threshold", DriveValueKind::SpareThresholdPercent),
        ("spare_thresh", DriveValueKind::SpareThresholdPercent),
        ("data_units_written", DriveValueKind::BytesWritten),
        ("media_errors", DriveValueKind::MediaErrors),
    ];
    for (name, kind) in fields {
        if let Some(number) = log.get(name).and_then(number_of) {
            nvme::note(kind, number, 0, report);
        }
    }
}

/// A number, also one that some versions put in quotes because it has 128 bits, or `{"value": 0}`.
fn number_of(value: &Json) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .or_else(|| value.get("value")?.as_f64())
        .filter(|number| *number >= 0.0)
}

fn attribute_of(attribute: &Json) -> Option<Attribute<'_>> {
    let number = |pointer: &str| attribute.pointer(pointer).and_then(Json::as_u64);
    Some(Attribute {
        id: number("/id")?,
        name: attribute.get("name").and_then(Json::as_str).unwrap_or_default(),
        value: number("/value")?,
        threshold: number("/thresh").unwrap_or(0),
        raw: number("/raw/value"),
        line: 0,
    })
}

/// Why there is nothing, by smartctl's messages.
fn not_read(object: &Json) -> NotRead {
    let messages = object.pointer("/smartctl/messages").and_then(Json::as_array);
    let texts: Vec<&str> = messages
        .into_iter()
        .flatten()
        .filter_map(|message| message.get("string").and_then(Json::as_str))
        .collect();
    let reason = texts.iter().find_map(|text| super::text::reason(text));
    reason.unwrap_or_else(|| match texts.first() {
        Some(text) => NotRead::Other((*text).to_owned()),
        None => NotRead::NoReport,
    })
}
