//! Doubts about a record: those that it holds, and those that follow from its figures and conditions.
//!
//! The runner stores the doubts that it finds during the run. This file checks the finished record, also
//! one from another program or an older version, for figures that storage cannot have or that are not
//! the storage's own. A doubt proves nothing; it only prevents a verdict or weakens it.

use std::collections::HashSet;

use cardproof_record::{
    DeviceInfo, Disturbance, FilesystemInfo, Finding, JobRun, OpName, Phase, Record, TargetKind,
    Transport, Verification, Warning, WarningCause, WarningCode,
};
use cardproof_units::{Bytes, Throughput};

use crate::ceilings::ceiling_of;
use crate::data;
use crate::disturbance;
use crate::filesystems;
use crate::findings;
use crate::pick::BoundedRate;
use crate::precision;
use crate::transports::{storage, transports};
use crate::words::findings::sentence;

/// A doubt, and which part of the record it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The phase's place in the record; `None` for the run as a whole.
    pub phase: Option<usize>,
    /// The doubt.
    pub warning: Warning,
}

impl Doubt {
    pub(crate) fn new(phase: Option<usize>, warning: impl Into<Warning>) -> Self {
        Self { phase, warning: warning.into() }
    }

    fn of_run(warning: impl Into<Warning>) -> Self {
        Self::new(None, warning)
    }

    fn of_phase(phase: usize, warning: impl Into<Warning>) -> Self {
        Self::new(Some(phase), warning)
    }

    /// Whether it forbids a verdict on the phase at `index`. Wrong data, memory and impossible
    /// rates in one phase speak against the whole path to the storage, and so against them all.
    pub(crate) fn forbids_verdict_on(&self, index: usize) -> bool {
        let reaches_all =
            matches!(self.warning.code, WarningCode::WrongData | WarningCode::AboveLink)
                || self.warning.code == WarningCode::Memory;
        self.warning.code.forbids_verdict()
            && (reaches_all || self.phase.is_none_or(|phase| phase == index))
    }

    /// Whether it forbids every verdict on the record, and any word about its storage.
    #[must_use]
    pub fn forbids_all(&self) -> bool {
        self.forbids_verdict_on(usize::MAX)
    }

    /// The phase of `record` that it is about.
    pub(crate) fn phase_of<'r>(&self, record: &'r Record) -> Option<&'r Phase> {
        self.phase.and_then(|index| record.phases.get(index))
    }
}

/// Every doubt about `record`: first those it holds, then those that follow from it.
#[must_use]
pub fn doubts(record: &Record) -> Vec<Doubt> {
    let mut doubts = stored(record);
    let known = known(&doubts);
    let new: Vec<_> =
        derived(record).into_iter().filter(|doubt| !is_known(doubt, &known)).collect();
    doubts.extend(new);
    doubts
}

/// The doubts that follow from `record` and that it does not hold yet, such as figures above the
/// ceiling of the link or from memory.
pub(crate) fn not_held(record: &Record) -> Vec<Doubt> {
    let known = known(&stored(record));
    derived(record).into_iter().filter(|doubt| !is_known(doubt, &known)).collect()
}

fn stored(record: &Record) -> Vec<Doubt> {
    let of_jobs = record.job_runs.iter().flat_map(|run| warnings_of_job(record, run));
    let of_findings = record.findings.iter().filter_map(doubt_of_finding);
    let of_run = of_findings.chain(record.warnings.iter().cloned()).chain(of_jobs);
    let of_run = of_run.map(|warning| Doubt { phase: None, warning });
    let of_phases = record.phases.iter().enumerate().flat_map(|(index, phase)| {
        let warnings = warnings_of_phase(record, phase);
        warnings.into_iter().map(move |warning| Doubt { phase: Some(index), warning })
    });
    of_run.chain(of_phases).collect()
}

/// What another tool has found is told as its words are.
fn doubt_of_finding(finding: &Finding) -> Option<Warning> {
    Some(Warning::stated(findings::doubt(finding)?, sentence(finding)))
}

/// `record` with the doubts that follow from the counts of its phases and jobs among their warnings, for
/// output.
#[must_use]
pub fn with_doubts(record: &Record) -> Record {
    let mut told = record.clone();
    for (phase, of) in told.phases.iter_mut().zip(&record.phases) {
        phase.warnings = warnings_of_phase(record, of);
        phase.disturbances = disturbance::of_phase(record, of);
    }
    for (run, of) in told.job_runs.iter_mut().zip(&record.job_runs) {
        run.warnings = warnings_of_job(record, of);
        run.disturbances = disturbance::of_job(record, of);
    }
    for (replay, of) in told.replays.iter_mut().zip(&record.replays) {
        replay.disturbances = disturbance::of_replay(record, of);
    }
    told
}

/// The warnings that `phase` of `record` holds, and those that follow from its counts.
fn warnings_of_phase(record: &Record, phase: &Phase) -> Vec<Warning> {
    let disturbances = disturbance::of_phase(record, phase);
    let stored = with_disturbances(&phase.warnings, &phase.disturbances, disturbances);
    with_new(stored, precision::of_phase(record, phase))
}

fn warnings_of_job(record: &Record, run: &JobRun) -> Vec<Warning> {
    let disturbances = disturbance::of_job(record, run);
    let stored = with_disturbances(&run.warnings, &run.disturbances, disturbances);
    with_new(stored, precision::of_job(run))
}

/// `stored` and those of `derived` whose kind is not among them.
fn with_new(mut stored: Vec<Warning>, derived: impl IntoIterator<Item = Warning>) -> Vec<Warning> {
    for warning in derived {
        if stored.iter().all(|known| known.code != warning.code) {
            stored.push(warning);
        }
    }
    stored
}

/// The `stored` warnings, with those about `stored_disturbances` replaced by `disturbances` where
/// these are others.
fn with_disturbances(
    stored: &[Warning],
    stored_disturbances: &[Disturbance],
    disturbances: Vec<Disturbance>,
) -> Vec<Warning> {
    if disturbances == stored_disturbances {
        return stored.to_vec();
    }
    let others = stored.iter().filter(|warning| warning.code != WarningCode::Disturbed);
    let disturbed = disturbances.into_iter().map(Warning::from);
    others.cloned().chain(disturbed).collect()
}

/// Whether the same is said already, of the same phase or of the run as a whole.
fn is_known(doubt: &Doubt, known: &Known) -> bool {
    let code = doubt.warning.code;
    code != WarningCode::Other
        && (known.contains(&(code, None)) || known.contains(&(code, doubt.phase)))
}

/// What doubts are about, and of which phase.
type Known = HashSet<(WarningCode, Option<usize>)>;

fn known(doubts: &[Doubt]) -> Known {
    doubts.iter().map(|doubt| (doubt.warning.code, doubt.phase)).collect()
}

fn derived(record: &Record) -> Vec<Doubt> {
    let conditions = &record.conditions;
    let filesystem = conditions.filesystem.as_ref().and_then(filesystems::doubt);
    let of_run = [
        null_target(record),
        filesystem.map(|warning| Doubt { phase: None, warning }),
        memory_device(record),
        unknown_layer(record),
        buffered(record),
        borrowed_storage(record),
    ];
    let mut doubts: Vec<Doubt> = data::doubts(record);
    for doubt in of_run.into_iter().flatten() {
        if !is_known(&doubt, &known(&doubts)) {
            doubts.push(doubt);
        }
    }
    let is_unwritten = is_unwritten(record);
    for (index, phase) in record.phases.iter().enumerate() {
        doubts.extend(never_written(is_unwritten, index, phase));
        doubts.extend(wrong_data(index, phase));
        doubts.extend(above_link(record, index, phase));
        doubts.extend(stated_by_memory(index, phase));
    }
    doubts
}

fn null_target(record: &Record) -> Option<Doubt> {
    let is_null = record.conditions.target.kind == TargetKind::Null;
    is_null.then(|| Doubt::of_run(WarningCause::NullTarget))
}

fn memory_device(record: &Record) -> Option<Doubt> {
    memory_beneath(&record.conditions.device).map(Doubt::of_run)
}

fn memory_beneath(device: &DeviceInfo) -> Option<Warning> {
    let is_memory = |transport: &&Transport| matches!(transport, Transport::Ram | Transport::Zram);
    let memory = transports(device).find(is_memory)?;
    let transport = Some(memory.clone()).filter(|_| transports(device).count() == 1);
    Some(WarningCause::DeviceInMemory { transport }.into())
}

fn unknown_layer(record: &Record) -> Option<Doubt> {
    unknown_beneath(&record.conditions.device).map(Doubt::of_run)
}

/// The doubt about a layer, such as a loop device or a mapped device, with nothing told beneath it. A
/// record that names no layer, as older ones and those of other tools, gives none.
fn unknown_beneath(device: &DeviceInfo) -> Option<Warning> {
    let lowest = device.lowest();
    let words = lowest.layer.as_deref().filter(|_| lowest.device_count.is_none())?;
    let what = if lowest.transport == Some(Transport::Loop) { "loop device" } else { words };
    Some(WarningCause::UnknownBelow { layer: what.to_owned() }.into())
}

/// The doubts about whatever is measured on `device`, in a file on `filesystem` where there is one:
/// the file system, or what the device rests on, stands between the figures and a storage. At most
/// one of a kind.
#[must_use]
pub fn doubts_of_place(device: &DeviceInfo, filesystem: Option<&FilesystemInfo>) -> Vec<Warning> {
    let mut doubts: Vec<_> = filesystem.and_then(filesystems::doubt).into_iter().collect();
    let memory = memory_beneath(device);
    doubts.extend(memory.filter(|memory| doubts.iter().all(|doubt| doubt.code != memory.code)));
    doubts.extend(unknown_beneath(device));
    doubts
}

fn buffered(record: &Record) -> Option<Doubt> {
    let target = &record.conditions.target;
    // Of a target that is not known each phase tells by itself, in its warnings.
    let is_real =
        !matches!(target.kind, TargetKind::Null | TargetKind::Simulated | TargetKind::Unknown);
    // A job uses files as programs do, through the page cache; what it waits for is the storage.
    let uses_files = !record.job_runs.is_empty() || record.setups().is_some();
    let is_job = record.phases.is_empty() && uses_files;
    let reason = &target.buffered_reason;
    (is_real && !target.direct && !is_job)
        .then(|| Doubt::of_run(WarningCause::Cached { reason: reason.clone() }))
}

/// A device that stands for other storage: what that is, and what caches it has, is not known.
fn borrowed_storage(record: &Record) -> Option<Doubt> {
    match storage(&record.conditions.device)? {
        Transport::Virtio => Some(Doubt::of_run(WarningCause::VirtualDisk)),
        Transport::Loop => Some(Doubt::of_run(WarningCause::LoopDevice)),
        _ => None,
    }
}

/// Reads of storage that this run has not written: a device may answer them without reading.
fn never_written(is_unwritten: bool, index: usize, phase: &Phase) -> Option<Doubt> {
    let is_blind = is_unwritten && phase.op == OpName::Read && phase.is_measured();
    is_blind.then(|| Doubt::of_phase(index, WarningCause::NothingWritten))
}

/// Whether nothing was written or read back and compared, and the file system does not say either that all was
/// written before.
fn is_unwritten(record: &Record) -> bool {
    let is_told = record.conditions.target.written_before;
    let has_verified = record.phases.iter().any(|phase| phase.verification.is_some());
    !is_told && !has_verified && !has_written(record)
}

/// Whether anything was written: how much, another tool may not tell.
fn has_written(record: &Record) -> bool {
    let writes = |phase: &Phase| matches!(phase.op, OpName::Write | OpName::Mixed);
    record.bytes_written > Bytes::ZERO
        || record.is_imported()
            && record.phases.iter().any(|phase| phase.is_measured() && writes(phase))
}

fn wrong_data(index: usize, phase: &Phase) -> Option<Doubt> {
    let Verification { wrong_bytes, compared_bytes } = phase.verification?;
    let wrong = WarningCause::ReadBackWrong { wrong_bytes, compared_bytes };
    (wrong_bytes > Bytes::ZERO).then(|| Doubt::of_phase(index, wrong))
}

/// One operation after the other, no storage answers more often: a read of 4 KiB takes the fastest (Optane)
/// about 8 us with the kernel's share. Page caches answer several times as often.
const ONE_AT_A_TIME_MOST: f64 = 150_000.0;

/// A rate that another tool states and that only memory can have, whatever the tool was asked for: on some
/// systems direct I/O does not pass the cache by.
fn stated_by_memory(index: usize, phase: &Phase) -> Option<Doubt> {
    let stated = phase.stated?;
    let block = phase.block_size_bytes;
    let iops = stated.iops?;
    let is_small = block > Bytes::ZERO && block <= Bytes::kib(4);
    (phase.queue_depth == 1 && is_small && iops.0 > ONE_AT_A_TIME_MOST)
        .then(|| Doubt::of_phase(index, WarningCause::StatedByMemory { iops }))
}

/// The rate of a phase that is above what its link can carry. A mixed phase is left out, since a
/// link may carry both directions at once.
fn above_link(record: &Record, index: usize, phase: &Phase) -> Option<Doubt> {
    if phase.op == OpName::Mixed || record.is_simulated() {
        return None;
    }
    let device = &record.conditions.device;
    let rate_bytes_per_s = Throughput(BoundedRate::of_throughput(phase)?.low.per_second());
    let of_bus = device.link_ceiling_bytes_per_s.map(|bytes| (Throughput(bytes as f64), None));
    let of_kind = device.transport.as_ref().and_then(ceiling_of);
    let of_kind = of_kind.map(|ceiling| (ceiling.rate, Some(ceiling.source.to_owned())));
    let ceilings = of_bus.into_iter().chain(of_kind);
    let (ceiling_bytes_per_s, source) = ceilings.min_by(|a, b| a.0.0.total_cmp(&b.0.0))?;
    let bus = device.link.clone();
    let cause = match source {
        Some(source) => {
            WarningCause::AboveBusKind { rate_bytes_per_s, ceiling_bytes_per_s, source }
        }
        None => WarningCause::AboveBus { rate_bytes_per_s, ceiling_bytes_per_s, bus },
    };
    (rate_bytes_per_s > ceiling_bytes_per_s).then(|| Doubt::of_phase(index, cause))
}
