//! What limited a job on files: it does one thing after the other, so what it did not compute it
//! waited for.

use cardproof_record::{
    DeviceActivity, Disturbance, DisturbanceKind, JobRun, Limit, PhaseState, PhaseSurroundings,
    Record, Requests,
};
use cardproof_units::{Nanos, Throughput};

use super::storage::{has_work, kind};
use super::{CPU_FULL, Evidence, Limiting, limited};

/// What takes more of a job's time than this is what it is about.
const MOSTLY: f64 = 0.5;

/// What limited `run` of `record`; `None` where it has no time or nobody looked at the system
/// meanwhile.
#[must_use]
pub fn limit_of_job(record: &Record, run: &JobRun) -> Option<Limiting> {
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
fn waits(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<Limiting> {
    let syncs = run.syncs.as_ref()?;
    let share = syncs.total_ns.as_secs_f64() / run.duration_ns.as_secs_f64();
    (share >= MOSTLY).then(|| {
        let device = seen.activity.devices.first();
        let waited = Evidence::WaitedForSyncs { count: syncs.count, share: share.min(1.0) };
        let others = disturbed(record, run, DisturbanceKind::OtherIo).map(Evidence::Disturbed);
        let work = device.filter(|device| has_work(device)).cloned().map(Evidence::Work);
        let evidence = [Some(waited), others, work, cpu_evidence(record, run, seen)];
        Limiting {
            limit: device.map_or(Limit::StorageSmallWrite, kind_of_writes),
            device: device.map(|device| device.name.clone()),
            evidence: evidence.into_iter().flatten().collect(),
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
fn cpu(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<Limiting> {
    let cpu = seen.activity.cpu.as_ref()?;
    let own = seen.own_cpu.map(|share| share * f64::from(cpu.cpus));
    let is_own = own.is_some_and(|own| own >= MOSTLY);
    let others = disturbed(record, run, DisturbanceKind::CpuByOthers);
    // Work of lowered priority gives way.
    let is_full = cpu.busy() - cpu.nice >= CPU_FULL || others.is_some();
    (is_own || is_full).then(|| {
        let evidence = [own.map(Evidence::JobUsed), cpu_evidence(record, run, seen)];
        limited(Limit::Cpu, evidence.into_iter().flatten().collect())
    })
}

/// Neither syncs nor the processor took the time: reads, or writes that the kernel held back.
fn other_waits(record: &Record, seen: &PhaseSurroundings) -> Option<Limiting> {
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
fn rest(device: &DeviceActivity) -> Limiting {
    Limiting {
        limit: kind(device),
        device: Some(device.name.clone()),
        evidence: vec![Evidence::RestWaited, Evidence::Work(device.clone())],
    }
}

/// How busy the processors were, and what of it was others'.
fn cpu_evidence(record: &Record, run: &JobRun, seen: &PhaseSurroundings) -> Option<Evidence> {
    let cpu = seen.activity.cpu?;
    let others = disturbed(record, run, DisturbanceKind::CpuByOthers);
    Some(others.map_or(Evidence::Cpu(cpu), |others| Evidence::CpuBeside(cpu, others)))
}

/// What of `kind` disturbed `run` of `record`.
fn disturbed(record: &Record, run: &JobRun, kind: DisturbanceKind) -> Option<Disturbance> {
    let mut all = crate::disturbance::of_job(record, run).into_iter();
    all.find(|disturbance| disturbance.kind == kind)
}
