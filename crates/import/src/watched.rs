//! A log of iostat as a record: what a system did with its devices, one phase for each.
//!
//! iostat watches and measures nothing: its rates are those of the work that was to be done, and
//! only while that work waited for the storage are they the storage's own. So a phase says neither
//! what was done nor in which order, and its rates are means over the reports; what limited them is
//! for `cardproof watch --explain`, which reads the same logs. The report that counts since boot is
//! left out. Single reports are not kept as a series, in which idle time would pass for pauses.

use std::collections::HashMap;

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use super::draft::{Cache, PhaseDraft, RecordDraft};
use super::iostat::{self, IostatError, IostatLog, IostatRow};
use super::text::{Line, kernel_name, last_number};
use super::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, Stated, WarningCode};

const TOOL: ForeignTool = ForeignTool::Iostat;

pub(super) fn is_sign(line: &str) -> bool {
    iostat::is_heading(line) || line.contains("\"sysstat\":")
}

/// The record of a log.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let log = if let Some(head) = lines.iter().position(|line| line.text.contains("\"sysstat\":")) {
        read_document(&lines[head.saturating_sub(1)..])
    } else {
        let shown = lines.iter().map(|line| &*line.text);
        iostat::table(shown, |index| lines.get(index).into_iter().for_each(Line::claim))
    };
    let log = log.map_err(|error| refused(&error, lines))?;
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.host.cpus = log.cpus;
    draft.conditions.host.kernel = lines.iter().find_map(|line| kernel(&line.text));
    let reports = if log.first_is_since_boot && log.reports.len() > 1 { 1.. } else { 0.. };
    let reports = log.reports.get(reports).unwrap_or_default();
    let mut devices: Vec<&str> = Vec::new();
    let mut rows: HashMap<&str, Vec<&IostatRow>> = HashMap::new();
    for row in reports.iter().flat_map(|report| &report.rows) {
        let own = rows.entry(&row.device).or_default();
        if own.is_empty() {
            devices.push(&row.device);
        }
        own.push(row);
    }
    for (index, device) in devices.iter().enumerate() {
        let own = rows.get(device).map(Vec::as_slice).unwrap_or_default();
        draft.phases.extend(phase(&harmless(device, index), own));
    }
    if let [device] = devices[..] {
        draft.conditions.device.name = kernel_name(&format!("/dev/{device}"));
    }
    if draft.phases.is_empty() {
        return Err(refused(&IostatError::Empty, lines));
    }
    draft.warn(
        WarningCode::Other,
        "these figures show the load of other programs, not what the storage can do",
    );
    Ok(draft)
}

fn refused(error: &IostatError, lines: &[Line]) -> ImportError {
    let last = last_number(lines);
    let line = match error {
        IostatError::Heading { line, .. } => lines.get(line - 1).map_or(1, |line| line.number),
        IostatError::Json(_) => lines.first().map_or(1, |line| line.number),
        IostatError::Empty => {
            let expected = "a row of a device under its heading".to_owned();
            return ImportError::Ends { tool: TOOL, line: last, expected };
        }
    };
    ImportError::unexpected(TOOL, line, "iostat's own columns", &error.to_string())
}

/// The kernel in `Linux 6.1.0-rpi7 (host) …`, without the host.
fn kernel(line: &str) -> Option<String> {
    let release = line.strip_prefix("Linux ")?.split_whitespace().next()?;
    Some(format!("Linux {release}"))
}

/// The document that begins near the first of `lines`.
fn read_document(lines: &[Line]) -> Result<IostatLog, IostatError> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    let (log, length) = iostat::document(&text)?;
    let count = text[..length].lines().count();
    lines.iter().take(count).for_each(Line::claim);
    Ok(log)
}

/// A device's name, without the serial number that a persistent one (`iostat -j`) holds.
fn harmless(device: &str, index: usize) -> String {
    let is_kernel_s = kernel_name(&format!("/dev/{device}")).is_some();
    if is_kernel_s { device.to_owned() } else { format!("device-{}", index + 1) }
}

/// The means over the reports of one device; nothing where there is none.
fn phase(device: &str, rows: &[&IostatRow]) -> Option<PhaseDraft> {
    if rows.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&IostatRow) -> f64| {
        rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
    };
    let mean_of_some = |of: fn(&IostatRow) -> Option<Iops>| {
        let all: Option<Vec<f64>> = rows.iter().map(|row| of(row).map(|iops| iops.0)).collect();
        all.map(|all| Iops(all.iter().sum::<f64>() / all.len() as f64))
    };
    let windows = rows.iter().filter_map(|row| row.window());
    let moved = |row: &&IostatRow| Some(row.read?.0.saturating_add(row.written?.0));
    let bytes = rows.iter().filter_map(moved).fold(0, u64::saturating_add);
    let mut phase = PhaseDraft::new(OpName::Unknown, PatternName::Unknown);
    phase.note = device.to_owned().into();
    phase.cache = Cache::Unknown("iostat does not tell which program used a device");
    phase.bytes = Bytes(bytes);
    phase.duration = windows.fold(Nanos::ZERO, Nanos::saturating_add);
    phase.stated = Stated {
        iops: Some(Iops(mean(&|row| row.transactions_per_s.0))),
        throughput_bytes_per_s: Some(Throughput(mean(&|row| row.moved_per_s().0))),
        read_iops: mean_of_some(|row| row.reads_per_s),
        write_iops: mean_of_some(|row| row.writes_per_s),
    };
    Some(phase)
}
