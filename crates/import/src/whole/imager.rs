//! The export of Raspberry Pi Imager's figures (`performancestats.cpp`, version 3 of its document): how fast
//! an image was written to a card, and read back.
//!
//! Its means are those of samples and in KiB/s. The time of a download is no figure of the card.

use cardproof_record::{ErrorCause, Finding, FindingKind, OpName, PatternName, WarningCode};
use cardproof_units::{Bytes, Nanos};
use serde_json::Value as Json;

use super::index_of;
use crate::ForeignTool;
use crate::cut_json::closed_json;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::Line;
use crate::readers::failed::io_errors;
use crate::view::Needle;

const TOOL: ForeignTool = ForeignTool::RpiImager;

/// The phases that are of the card, by their names.
const PHASES: [(&str, OpName); 2] = [("write", OpName::Write), ("verify", OpName::Read)];

/// The record in the document, with the index of its first line.
pub(super) fn read(lines: &[Line]) -> Vec<(usize, RecordDraft)> {
    const RATE: Needle = Needle::new("\"avgThroughputKBps\"");
    if !lines.iter().any(|line| line.view().holds(&RATE)) {
        return Vec::new();
    }
    let starts = lines.iter().enumerate().filter(|(_, line)| line.shown() == "{");
    starts.filter_map(|(at, _)| document(lines, at)).take(1).collect()
}

/// The document that begins at the line `at`.
fn document(lines: &[Line], at: usize) -> Option<(usize, RecordDraft)> {
    let text: String = lines[at..].iter().map(|line| format!("{}\n", line.text)).collect();
    let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Json>();
    let (root, length) = match stream.next()? {
        Ok(root) => (root, stream.byte_offset()),
        Err(_) => (serde_json::from_str(&closed_json(&text)?).ok()?, text.len()),
    };
    let summary = root.get("summary")?;
    let phases = summary.get("phases")?;
    let mut draft = RecordDraft::new(TOOL);
    let cache = match root.pointer("/system/writeConfig/directIOEnabled").and_then(Json::as_bool) {
        Some(true) => Cache::Bypassed,
        Some(false) => Cache::Used("Raspberry Pi Imager wrote through the page cache"),
        None => Cache::Unknown("the export does not tell whether the page cache was in use"),
    };
    draft
        .phases
        .extend(PHASES.iter().filter_map(|(name, op)| phase(phases.get(*name)?, *op, cache)));
    describe(&root, &mut draft);
    fault(summary, lines[at].number, &mut draft);
    let count = text[..length].lines().count();
    let found = draft.has_content().then_some((index_of(lines, lines[at].number), draft));
    if found.is_some() {
        lines[at..].iter().take(count).for_each(Line::claim);
    }
    found
}

fn phase(told: &Json, op: OpName, cache: Cache) -> Option<PhaseDraft> {
    let rate = told.get("avgThroughputKBps")?.as_f64()?;
    let number = |name: &str| told.get(name).and_then(Json::as_u64);
    let name = if op == OpName::Write { "writing" } else { "verifying" };
    let printed = Printed::new(name, rate, "KiB/s").in_bytes_per_s(1024.0);
    let phase = PhaseDraft {
        bytes: Bytes(number("bytesTotal").unwrap_or_default()),
        duration: Nanos::from_millis(number("durationMs").unwrap_or_default().min(1 << 40)),
        depth: 1,
        cache,
        ..PhaseDraft::new(op, PatternName::Sequential)
    };
    Some(phase.at(rate * 1024.0, printed))
}

fn describe(root: &Json, draft: &mut RecordDraft) {
    let text = |pointer: &str| root.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    draft.version = text("/system/imager/version");
    draft.began = text("/exportTime");
    let device = &mut draft.conditions.device;
    device.model = text("/system/targetDevice/description").filter(|name| !name.is_empty());
    device.size_bytes =
        root.pointer("/system/targetDevice/sizeBytes").and_then(Json::as_u64).map(Bytes);
    device.name = text("/system/targetDevice/path").and_then(|it| crate::text::kernel_name(&it));
}

/// What went wrong, by Imager's own words.
fn fault(summary: &Json, line: usize, draft: &mut RecordDraft) {
    if summary.get("success").and_then(Json::as_bool) != Some(false) {
        return;
    }
    draft.is_partial = true;
    let message = summary.get("errorMessage").and_then(Json::as_str).unwrap_or_default();
    let lower = message.to_ascii_lowercase();
    let io = |op| io_errors(op, 1, ErrorCause::Unknown);
    let what = if lower.contains("different from what was written") {
        FindingKind::Damaged
    } else if lower.contains("error writing") || lower.contains("write failed") {
        io(OpName::Write)
    } else if lower.contains("error reading from storage") {
        io(OpName::Read)
    } else {
        draft.warn(WarningCode::Other, "Raspberry Pi Imager did not finish");
        return;
    };
    draft.add_finding(Finding::at(what, TOOL.name(), line));
}
