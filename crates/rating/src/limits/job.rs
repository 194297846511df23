//! What limited a job on files: it does one thing after the other, so what it did not compute it
//! waited for.

use cardproof_record::{
    DeviceActivity, DisturbanceKind, JobRun, Limit, LimitedBy, PhaseState, PhaseSurroundings,
    Record, Requests,
};
use cardproof_units::{Nanos, Throughput};

use super::storage::{kind, work_in_words};
use super::{CPU_FULL, cpu_in_words, limited, whole_percent};

/// What takes more of a job's time than this is what it is about.
const MOSTLY: f64 = 0.5;

/// What limited `run` of `record`; `None` where it has no time or nobody looked at the system
/// meanwhile.
#[must_use]
pub fn limit_of_job(record: &Record, run: &JobRun) -> Option<LimitedBy> {
    let is_timed = !matches!(run.state, PhaseState::NotMeasured { .. });
    let seen = run.surroundings.as_deref().filter(|_| is_timed && run.duration_ns > Nanos::ZERO)?;
    super::power(&seen.activity.climate)
        .or_else(|| super::heat(&seen.activity.climate))
        .or_else(|| super::memory(&seen.activity))
        .or_else(|| waits(record, run, seen))
        .or_else(|| cpu(record, run, seen))
        .or_else(|| other_waits(record, seen))
}

/// The job waited until something was durable: for writes, whatever others read meanwhile.
fn waits(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<LimitedBy> {
    let syncs = run.syncs.as_ref()?;
    let share = syncs.total_ns.as_secs_f64() / run.duration_ns.as_secs_f64();
    (share >= MOSTLY).then(|| {
        let device = seen.activity.devices.first();
        let waited = format!(
            "the job waited for {} syncs in {} of its time",
            syncs.count,
            whole_percent(share.min(1.0))
        );
        let others = disturbed(record, run, DisturbanceKind::OtherIo);
        let evidence =
            [Some(waited), others, device.map(work_in_words), cpu_words(record, run, seen)];
        LimitedBy {
            limit: device.map_or(Limit::StorageSmallWrite, kind_of_writes),
            device: device.map(|device| device.name.clone()),
            evidence: evidence.into_iter().flatten().filter(|words| !words.is_empty()).collect(),
        }
    })
}

/// By which writes `device` limits.
fn kind_of_writes(device: &DeviceActivity) -> Limit {
    if device.writes.count == 0 {
        return Limit::StorageSmallWrite;
    }
    kind(&DeviceActivity { reads: Requests::default(), ..device.clone() })
}

/// The job computed, or others left it no processor.
fn cpu(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<LimitedBy> {
    let cpu = seen.activity.cpu.as_ref()?;
    let own = seen.own_cpu.map(|share| share * f64::from(cpu.cpus));
    let own_words = own.map(|own| format!("the job used {} of one processor", whole_percent(own)));
    let is_own = own.is_some_and(|own| own >= MOSTLY);
    let others = disturbed(record, run, DisturbanceKind::CpuByOthers);
    // Work of lowered priority gives way.
    let is_full = cpu.busy() - cpu.nice >= CPU_FULL || others.is_some();
    (is_own || is_full).then(|| {
        let evidence = [own_words, cpu_words(record, run, seen)];
        limited(Limit::Cpu, evidence.into_iter().flatten().collect())
    })
}

/// Neither syncs nor the processor took the time: reads, or writes that the kernel held back.
fn other_waits(record: &Record, seen: &PhaseSurroundings) -> Option<LimitedBy> {
    let ceiling = |name: &str| {
        let device = &record.conditions.device;
        let is_it = device.name.as_deref() == Some(name);
        device.link_ceiling_bytes_per_s.filter(|_| is_it).map(|bytes| Throughput(bytes as f64))
    };
    let told = super::storage::limit(&seen.activity, &ceiling);
    told.or_else(|| seen.activity.devices.first().filter(|device| has_worked(device)).map(rest))
        .or_else(|| Some(super::nothing(&seen.activity)))
}

fn has_worked(device: &DeviceActivity) -> bool {
    device.reads.count > 0 || device.writes.count > 0
}

/// What is left is waiting for `device`.
fn rest(device: &DeviceActivity) -> LimitedBy {
    let waited = "the rest of its time the job waited for the storage".to_owned();
    LimitedBy {
        limit: kind(device),
        device: Some(device.name.clone()),
        evidence: vec![waited, work_in_words(device)],
    }
}

/// How busy the processors were, and what of it was others'.
fn cpu_words(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<String> {
    let words = cpu_in_words(seen.activity.cpu.as_ref()?);
    let others = disturbed(record, run, DisturbanceKind::CpuByOthers);
    Some(others.map_or(words.clone(), |others| format!("{words}; {others}")))
}

/// What of `kind` disturbed `run` of `record`, in words.
fn disturbed(record: &Record, run: &JobRun, kind: DisturbanceKind) -> Option<String> {
    let mut all = crate::disturbance::of_job(record, run).into_iter();
    all.find(|disturbance| disturbance.kind == kind).map(|disturbance| disturbance.to_string())
}
