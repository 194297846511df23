//! The output of smartctl and of `nvme smart-log` for people.

use std::borrow::Cow;

use super::ata::{self, Attribute};
use super::{DriveReport, DriveTool, NotRead, SelfTest, nvme};
use crate::text::{kernel_name, quantities};
use cardproof_units::Bytes;

/// No line of these programs is shorter, in bytes: `percentage_used:7`.
pub(crate) const SIGN_MIN: usize = 16;

/// Whether a line is one that only these programs print.
#[must_use]
pub fn is_sign(line: &str) -> bool {
    let text = line.trim();
    if text.len() < SIGN_MIN {
        return false;
    }
    is_banner(text)
        || is_heading(text)
        || attribute(text, 0).is_some()
        || is_data_units(text)
        || is_nvme_field(text)
        || self_test(text).is_some()
}

/// Whether a report begins with a line.
fn is_banner(text: &str) -> bool {
    let version = text.strip_prefix("smartctl ").unwrap_or_default();
    version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('[')
        || text.starts_with("Smart Log for NVME device:")
        || text.starts_with("Smart Log for NVMe device:")
}

/// Whether a line stands above or beside the values.
fn is_heading(text: &str) -> bool {
    [
        "=== START OF INFORMATION SECTION ===",
        "=== START OF READ SMART DATA SECTION ===",
        "=== START OF SMART DATA SECTION ===",
        "SMART/Health Information (NVMe Log 0x02",
        "SMART overall-health self-assessment test result:",
        "SMART Health Status:",
        "ID# ATTRIBUTE_NAME",
        "Vendor Specific SMART Attributes with Thresholds",
    ]
    .iter()
    .any(|heading| text.starts_with(heading))
}

/// Whether a line has the number of units and the amount in brackets.
fn is_data_units(text: &str) -> bool {
    let amount = text.strip_prefix("Data Units ").unwrap_or_default();
    amount.starts_with("Written:") && amount.trim_end().ends_with("B]")
}

/// Whether a line says which model a drive is. By itself it is no report.
fn is_of_model(text: &str) -> bool {
    ["Device Model:", "Model Number:", "Device is:"].iter().any(|name| text.starts_with(name))
}

/// Whether a line is a field that nvme-cli alone prints under this name.
fn is_nvme_field(text: &str) -> bool {
    let Some((name, value)) = text.split_once(':') else { return false };
    let name = name.trim_end();
    let is_own = ["critical_warning", "percentage_used", "available_spare"].contains(&name);
    is_own && amount(value.trim()).is_some()
}

/// How a test of the drive by itself ended, in a row of smartctl's list of them:
/// `# 1  Extended offline    Completed: read failure       60%      9871         180321344`.
fn self_test(text: &str) -> Option<SelfTest> {
    // The list of an NVMe drive has no mark before its numbers.
    let (rest, is_nvme) = match text.strip_prefix('#') {
        Some(rest) => (rest.trim_start(), false),
        None => (text, true),
    };
    let number = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| (1..=2).contains(end))?;
    let rest = rest[number..].trim_start();
    let kinds =
        ["Short", "Extended", "Conveyance", "Selective", "Background", "Foreground", "Offline"];
    if !kinds.iter().any(|kind| rest.starts_with(kind)) {
        return None;
    }
    let states = ["  Completed", "  Aborted", "  Interrupted", "  Fatal or unknown error"];
    if is_nvme && !states.iter().any(|state| rest.contains(state)) {
        return None;
    }
    let failed = [
        "Completed: read failure",
        "Completed: electrical failure",
        "Completed: servo/seek failure",
        "Completed: unknown failure",
        "Completed: handling damage",
        "Completed, segment failed",
        "Failed in segment",
        "Completed: failed segments",
        "Fatal or unknown error",
    ];
    let is_whole = rest.starts_with("Extended") || rest.starts_with("Background long");
    Some(if failed.iter().any(|status| rest.contains(status)) {
        SelfTest::Failed
    } else if is_whole && rest.contains("Completed without error") {
        SelfTest::PassedWhole
    } else {
        SelfTest::Other
    })
}

/// The reports in the numbered lines of a text; of several drives, one each.
pub fn read<'t>(lines: impl IntoIterator<Item = (usize, &'t str)>) -> Vec<DriveReport> {
    let mut reading = Reading::default();
    for (number, line) in lines {
        reading.add(number, line.trim());
    }
    reading.finish()
}

#[derive(Default)]
struct Reading {
    reports: Vec<DriveReport>,
    current: Option<DriveReport>,
    /// Names of fields and numbers of attributes that the current report has.
    seen: Vec<String>,
    /// The device in the last command.
    device: Option<String>,
}

impl Reading {
    fn finish(mut self) -> Vec<DriveReport> {
        self.end();
        self.reports
    }

    fn end(&mut self) {
        self.seen.clear();
        self.reports.extend(self.current.take().filter(DriveReport::has_content));
    }

    /// The report that a line belongs to, which is another one where `name` is already there.
    fn report(&mut self, tool: DriveTool, name: &str) -> &mut DriveReport {
        if self.seen.iter().any(|known| known == name) {
            self.end();
        }
        self.seen.push(name.to_owned());
        let device = &mut self.device;
        self.current
            .get_or_insert_with(|| DriveReport { device: device.take(), ..DriveReport::new(tool) })
    }

    fn add(&mut self, number: usize, text: &str) {
        if is_banner(text) {
            self.end();
            let tool =
                if text.starts_with("smartctl") { DriveTool::Smartctl } else { DriveTool::Nvme };
            let named =
                text.split_once("device:").and_then(|(_, rest)| rest.split_whitespace().next());
            let report = self.report(tool, "banner");
            report.lines.push(number);
            if let Some(name) = named {
                let name = name.trim_start_matches("/dev/");
                report.device = kernel_name(&format!("/dev/{name}"));
            }
        } else if let Some(device) = device_of_command(text) {
            self.device = Some(device);
        } else if is_heading(text) {
            self.heading(number, text);
        } else if let Some(attribute) = attribute(text, number) {
            let report = self.report(DriveTool::Smartctl, &format!("attribute {}", attribute.id));
            report.lines.push(number);
            ata::note(&attribute, report);
        } else if let Some(test) = self_test(text) {
            let name = text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
            let report = self.report(DriveTool::Smartctl, &name);
            report.lines.push(number);
            report.note_self_test(test, number);
        } else if self.current.is_some()
            || is_data_units(text)
            || is_nvme_field(text)
            || is_of_model(text)
        {
            self.field(number, text);
        }
    }

    fn heading(&mut self, number: usize, text: &str) {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let report = self.report(DriveTool::Smartctl, name);
        report.lines.push(number);
        let is_result = name == "SMART overall-health self-assessment test result"
            || name == "SMART Health Status";
        if is_result {
            report.is_passed = match rest.trim() {
                "PASSED" | "OK" => Some(true),
                result if result.starts_with("FAIL") => Some(false),
                _ => None,
            };
        }
    }

    /// A line `NAME: VALUE` below a heading or banner.
    fn field(&mut self, number: usize, text: &str) {
        if let Some(reason) = reason(text)
            && let Some(report) = self.current.as_mut()
        {
            report.lines.push(number);
            report.not_read.get_or_insert(reason);
            return;
        }
        let Some((name, value)) = text.split_once(':') else { return };
        let (name, value) = (name.trim_end(), value.trim());
        let tool = if name.contains('_') { DriveTool::Nvme } else { DriveTool::Smartctl };
        if let Some(kind) = nvme::field(name) {
            let Some(amount) = amount(value) else { return };
            let key = name.to_ascii_lowercase().replace('_', " ");
            let report = self.report(tool, &key);
            report.lines.push(number);
            nvme::note(kind, amount, number, report);
            return;
        }
        if name == "Device is" && value.starts_with("Not in smartctl database") {
            let report = self.report(tool, name);
            report.lines.push(number);
            report.is_unknown_model = true;
            return;
        }
        let is_model = ["Device Model", "Model Number", "Product"].contains(&name);
        let is_capacity =
            ["User Capacity", "Total NVM Capacity", "Namespace 1 Size/Capacity"].contains(&name);
        if !(is_model || is_capacity) {
            return;
        }
        let report = self.report(tool, name);
        report.lines.push(number);
        if is_model {
            report.model = Some(printable(value));
        } else {
            report.capacity_bytes =
                report.capacity_bytes.or_else(|| amount(value).map(|it| Bytes(it as u64)));
        }
    }
}

/// `text` without what could steer a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The device that a command of either program names.
fn device_of_command(text: &str) -> Option<String> {
    let is_command = |program: &str| {
        text.split_whitespace().any(|word| word.rsplit('/').next() == Some(program))
    };
    if !(is_command("smartctl") || is_command("nvme")) {
        return None;
    }
    text.split_whitespace().rev().find_map(kernel_name)
}

/// Why smartctl could read nothing, in one of its messages.
pub(super) fn reason(text: &str) -> Option<NotRead> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["Unknown USB bridge [", "Please specify device type with the -d option"]) {
        return Some(NotRead::UnknownBridge);
    }
    let is_of_opening = has(&["Smartctl open device:", "failed:", "open device"]);
    if is_of_opening && has(&["Permission denied", "Operation not permitted"]) {
        return Some(NotRead::NotPermitted);
    }
    if has(&["Unavailable - device lacks SMART capability", "SMART support is: Disabled"]) {
        return Some(NotRead::NoReport);
    }
    text.starts_with("Smartctl open device:").then(|| NotRead::Other(text.to_owned()))
}

/// An attribute in `  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0`
/// or in the brief form `  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0`.
fn attribute(text: &str, line: usize) -> Option<Attribute<'_>> {
    // The number is short.
    let is_end = |byte: u8| !byte.is_ascii_graphic();
    if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.bytes().take(8).any(is_end) {
        return None;
    }
    let mut words = text.split_whitespace();
    let id = hex_or_decimal(words.next()?).filter(|id| (1..=255).contains(id))?;
    let name = words.next().filter(|name| name.contains(['_', '-']) || name.len() > 6)?;
    let flags = words.next()?;
    let is_long = flags.len() == 6 && flags.starts_with("0x");
    let is_brief = flags.len() == 6 && flags.bytes().all(|byte| b"POSRCK-".contains(&byte));
    if !(is_long || is_brief) {
        return None;
    }
    let mut level = || hex_or_decimal(words.next()?).filter(|level| *level <= 255);
    let (value, _worst) = (level()?, level()?);
    let threshold = match words.next()? {
        "---" => 0,
        word => hex_or_decimal(word).filter(|level| *level <= 255)?,
    };
    // Type and update stand before what failed in the long form.
    if is_long {
        words.next().filter(|kind| ["Pre-fail", "Old_age"].contains(kind))?;
        words.next().filter(|update| ["Always", "Offline"].contains(update))?;
    }
    let _failed = words.next()?;
    let raw = words.next().and_then(crate::text::whole);
    Some(Attribute { id, name, value, threshold, raw, line })
}

fn hex_or_decimal(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => crate::text::whole(word),
    }
}

/// The number at the start of a value: `0x04`, `98%`, `1,892,791,876 [969 TB]`, `28149264 (14.41 TB)`.
/// Thousands have the marks of any country; what stands in brackets must agree.
fn amount(value: &str) -> Option<f64> {
    if let Some(hex) = value.strip_prefix("0x") {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return u64::from_str_radix(&hex[..end], 16).ok().map(|bits| bits as f64);
    }
    let end = value.find(['[', '(']).unwrap_or(value.len());
    let (number, rounded) = (value[..end].trim(), &value[end..]);
    let number = number.strip_suffix("bytes").unwrap_or(number).trim().trim_end_matches('%').trim();
    let plain = without_thousands(number)?;
    let amount = crate::text::whole(&plain)? as f64;
    let is_right = rounded_bytes(rounded).is_none_or(|bytes| {
        [1.0, nvme::DATA_UNIT_BYTES]
            .iter()
            .any(|unit| (amount * unit - bytes).abs() <= bytes * 0.06)
    });
    is_right.then_some(amount)
}

/// The bytes in `[969 TB]` or `(14.41 TB)`.
fn rounded_bytes(text: &str) -> Option<f64> {
    let inside = text.trim_start_matches(['[', '(']);
    let numbers = quantities(inside);
    let first = numbers.first()?;
    let unit = match first.unit {
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "PB" => 1e15,
        _ => return None,
    };
    Some(first.value * unit)
}

/// `number` without the marks between its groups of three; nothing where they do not part such groups.
fn without_thousands(number: &str) -> Option<Cow<'_, str>> {
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        return (!number.is_empty()).then_some(Cow::Borrowed(number));
    }
    let is_mark = |c: char| matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}');
    let groups: Vec<&str> = number.split(is_mark).collect();
    let is_group =
        |group: &&str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let (first, rest) = groups.split_first()?;
    let is_first =
        (1..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_digit());
    (is_first && rest.iter().all(is_group)).then(|| Cow::Owned(groups.concat()))
}
