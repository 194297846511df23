//! A log of iostat as a record: what a system did with its devices, one phase for each.
//!
//! iostat watches and measures nothing: its rates are those of the work that was to be done, and
//! only while that work waited for the storage are they the storage's own. So a phase says neither
//! what was done nor in which order, and its rates are means over the reports; what limited them is
//! for `cardproof watch --explain`, which reads the same logs. The report that counts since boot is
//! left out. Single reports are not kept as a series, in which idle time would pass for pauses.

use std::collections::HashMap;

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use crate::draft::{Cache, PhaseDraft, RecordDraft};
use crate::iostat::{self, IostatError, IostatLog, IostatReport, IostatRow};
use crate::lines::{Line, last_number};
use crate::text::kernel_name;
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError, MEASUREMENTS_MAX};
use cardproof_record::{Finding, FindingKind, OpName, PatternName, Stated, WarningCode};

const TOOL: ForeignTool = ForeignTool::Iostat;

/// What stands at the head of iostat's JSON.
const HEAD: Needle = Needle::new("\"sysstat\":");

pub(super) fn is_sign(view: &View) -> bool {
    const DEVICE: Needle = Needle::new("Device");
    const DEVICE_OF_SAR: Needle = Needle::new("DEV ");
    let may_be_heading = view.holds(&DEVICE) || view.holds(&DEVICE_OF_SAR);
    may_be_heading && iostat::is_heading(view.text) || view.holds(&HEAD)
}

/// The record of a log.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut loads = Loads::default();
    let log = if let Some(head) = lines.iter().position(|line| line.view().holds(&HEAD)) {
        read_document(&lines[head.saturating_sub(1)..], &mut loads)
    } else {
        let shown = lines.iter().map(|line| &*line.text);
        let claim = |index| lines.get(index).into_iter().for_each(Line::claim);
        iostat::table(shown, claim, |report, is_since_boot| loads.add(report, is_since_boot))
    };
    let log = log.map_err(|error| refused(&error, lines))?;
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.host.cpus = log.cpus;
    draft.conditions.host.kernel = lines.iter().find_map(|line| kernel(&line.text));
    let devices = loads.finish();
    draft.phases.extend(devices.iter().enumerate().map(|(index, load)| load.phase(index)));
    if let [load] = &devices[..] {
        draft.conditions.device.name = kernel_name(&format!("/dev/{}", load.device));
    }
    if draft.phases.is_empty() {
        return Err(refused(&IostatError::Empty, lines));
    }
    for load in devices.iter().filter(|load| load.stalled > 0) {
        let what = FindingKind::Stalled { reports: load.stalled, waiting: load.waiting };
        let device = kernel_name(&format!("/dev/{}", load.device));
        let mut finding = Finding::at(what, TOOL.name(), 1);
        (finding.device, finding.line) = (device, None);
        draft.add_finding(finding);
    }
    if devices.iter().any(|load| load.includes_discards) {
        draft.warn(
            WarningCode::Other,
            "what was written includes what was discarded (iostat -s adds them)",
        );
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

/// Reads the document that begins near the first of `lines`.
fn read_document(lines: &[Line], loads: &mut Loads) -> Result<IostatLog, IostatError> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    let (mut log, length) = iostat::document(&text)?;
    let count = text[..length].lines().count();
    lines.iter().take(count).for_each(Line::claim);
    let reports = std::mem::take(&mut log.reports);
    for (index, report) in reports.into_iter().enumerate() {
        loads.add(report, index == 0 && log.first_is_since_boot);
    }
    Ok(log)
}

/// A device's name, without the serial number that a persistent one (`iostat -j`) holds.
fn harmless(device: &str, index: usize) -> String {
    let is_kernel_s = kernel_name(&format!("/dev/{device}")).is_some();
    if is_kernel_s { device.to_owned() } else { format!("device-{}", index + 1) }
}

/// What all devices of a log did.
#[derive(Default)]
struct Loads {
    /// By their first reports.
    devices: Vec<Load>,
    /// Where each stands among them.
    places: HashMap<String, usize>,
    /// The report that counts since boot, which counts only where there is no other.
    since_boot: Option<IostatReport>,
}

impl Loads {
    fn add(&mut self, report: IostatReport, is_since_boot: bool) {
        if is_since_boot {
            self.since_boot = Some(report);
            return;
        }
        for row in &report.rows {
            match self.places.get(&row.device) {
                Some(place) => self.devices[*place].add(row),
                // More than a record can show are refused as soon as they are counted.
                None if self.devices.len() > MEASUREMENTS_MAX => {}
                None => {
                    self.places.insert(row.device.clone(), self.devices.len());
                    let mut load = Load { device: row.device.clone(), ..Load::default() };
                    load.add(row);
                    self.devices.push(load);
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Load> {
        if let Some(report) = self.since_boot.take().filter(|_| self.devices.is_empty()) {
            self.add(report, false);
        }
        self.devices
    }
}

/// What one device did: sums over the reports.
#[derive(Default)]
struct Load {
    device: String,
    reports: u32,
    transactions_per_s: f64,
    moved_per_s: f64,
    /// Where all reports tell them.
    reads_per_s: Option<f64>,
    writes_per_s: Option<f64>,
    bytes: u64,
    duration: Nanos,
    /// Reports in which requests waited and none ended, and the most that waited.
    stalled: u64,
    waiting: f64,
    includes_discards: bool,
}

/// Fewer requests a second than this are none, and a share of the time from this on is all of it.
const STALL: (f64, f64) = (0.5, 0.8);

impl Load {
    fn add(&mut self, row: &IostatRow) {
        self.includes_discards |= row.includes_discards;
        let waiting = row.queue.filter(|queue| *queue >= 1.0);
        let is_busy = row.utilisation.is_some_and(|share| share >= STALL.1);
        if let Some(waiting) = waiting.filter(|_| is_busy && row.transactions_per_s.0 < STALL.0) {
            self.stalled += 1;
            self.waiting = self.waiting.max(waiting);
        }
        let before = |sum: Option<f64>| if self.reports == 0 { Some(0.0) } else { sum };
        let with = |sum: Option<f64>, iops: Option<Iops>| Some(before(sum)? + iops?.0);
        self.reads_per_s = with(self.reads_per_s, row.reads_per_s);
        self.writes_per_s = with(self.writes_per_s, row.writes_per_s);
        self.reports += 1;
        self.transactions_per_s += row.transactions_per_s.0;
        self.moved_per_s += row.moved_per_s().0;
        let moved = || Some(row.read?.0.saturating_add(row.written?.0));
        self.bytes = self.bytes.saturating_add(moved().unwrap_or(0));
        self.duration = self.duration.saturating_add(row.window().unwrap_or(Nanos::ZERO));
    }

    /// The means over the reports, of the device at `index` among all.
    fn phase(&self, index: usize) -> PhaseDraft {
        let mean = |sum: f64| sum / f64::from(self.reports);
        let mut phase = PhaseDraft::new(OpName::Unknown, PatternName::Unknown);
        phase.note = harmless(&self.device, index).into();
        phase.cache = Cache::Unknown("iostat does not tell which program used a device");
        phase.bytes = Bytes(self.bytes);
        phase.duration = self.duration;
        phase.stated = Stated {
            iops: Some(Iops(mean(self.transactions_per_s))),
            throughput_bytes_per_s: Some(Throughput(mean(self.moved_per_s))),
            read_iops: self.reads_per_s.map(|sum| Iops(mean(sum))),
            write_iops: self.writes_per_s.map(|sum| Iops(mean(sum))),
        };
        phase
    }
}
