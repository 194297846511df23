//! A log of iostat as a record: what a system did with its devices, one phase for each.
//!
//! iostat watches and measures nothing: its rates are those of the work that was to be done, and
//! only while that work waited for the storage are they the storage's own. So a phase says neither
//! what was done nor in which order, and its rates are means over the reports; what limited them is
//! for `cardproof watch --explain`, which reads the same logs. The report that counts since boot is
//! left out. Single reports are not kept as a series, in which idle time would pass for pauses.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use super::draft::{Cache, PhaseDraft, RecordDraft};
use super::iostat::{IostatError, IostatLog, IostatRow, iostat};
use super::text::{Line, last_number};
use super::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, Stated, WarningCode};

const TOOL: ForeignTool = ForeignTool::Iostat;

pub(super) fn is_sign(line: &str) -> bool {
    let has_rates = ["tps", "r/s", "rkB/s"].iter().any(|column| line.contains(column));
    line.starts_with("Device") && has_rates || line.contains("\"sysstat\":")
}

/// The record of a log.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let shown: Vec<&str> = lines.iter().map(|line| &*line.text).collect();
    let log = iostat(&shown.join("\n")).map_err(|error| refused(&error, lines))?;
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.host.cpus = log.cpus;
    draft.conditions.host.kernel = lines.first().and_then(|line| kernel(&line.text));
    let reports = if log.first_is_since_boot && log.reports.len() > 1 { 1.. } else { 0.. };
    let reports = log.reports.get(reports).unwrap_or_default();
    let rows: Vec<&IostatRow> = reports.iter().flat_map(|report| &report.rows).collect();
    for device in devices(&log) {
        let own: Vec<&IostatRow> =
            rows.iter().copied().filter(|row| row.device == device).collect();
        draft.phases.extend(phase(device, &own));
    }
    if let [device] = devices(&log).as_slice() {
        draft.conditions.device.name = Some((*device).to_owned());
    }
    draft.warn(
        WarningCode::Other,
        "iostat watched what others did: these are loads, and not what the storage can do",
    );
    Ok(draft)
}

fn refused(error: &IostatError, lines: &[Line]) -> ImportError {
    let last = last_number(lines);
    let line = match error {
        IostatError::NoHeading { line }
        | IostatError::Columns { line, .. }
        | IostatError::Figure { line, .. }
        | IostatError::Heading { line, .. } => *line,
        IostatError::Json(_) => 1,
        IostatError::Empty => {
            let expected = "a row of a device under its heading".to_owned();
            return ImportError::Ends { tool: TOOL, line: last, expected };
        }
    };
    let message = error.to_string();
    let number = format!("line {line}: ");
    let what = message.strip_prefix(&number).unwrap_or(&message).to_owned();
    ImportError::Contradiction { tool: TOOL, line, what }
}

/// The kernel in `Linux 6.1.0-rpi7 (host) …`, without the host.
fn kernel(line: &str) -> Option<String> {
    let release = line.strip_prefix("Linux ")?.split_whitespace().next()?;
    Some(format!("Linux {release}"))
}

/// The devices, in the order of the log.
fn devices(log: &IostatLog) -> Vec<&str> {
    let mut devices: Vec<&str> = Vec::new();
    for row in log.reports.iter().flat_map(|report| &report.rows) {
        if !devices.contains(&row.device.as_str()) {
            devices.push(&row.device);
        }
    }
    devices
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
    phase.cache = Cache::Untold("iostat does not tell for whom a device worked");
    phase.bytes = Bytes(bytes);
    phase.duration = windows.fold(Nanos::ZERO, Nanos::saturating_add);
    phase.stated = Stated {
        iops: Some(Iops(mean(&|row| row.transactions_per_s.0))),
        throughput_bytes_per_s: Some(Throughput(mean(&|row| {
            row.read_per_s.0 + row.written_per_s.0
        }))),
        read_iops: mean_of_some(|row| row.reads_per_s),
        write_iops: mean_of_some(|row| row.writes_per_s),
    };
    Some(phase)
}
