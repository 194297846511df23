//! What limited a phase of a run: of a phase it is known what was asked for, so its figures are
//! put beside what the system did meanwhile.

use cardproof_record::{
    DisturbanceKind, Limit, OpName, PatternName, Phase, PhaseSurroundings, Record,
};
use cardproof_units::Throughput;

use super::{CPU_FULL, Evidence, Limiting, ONE_CPU_FULL, limited};
use crate::quantity::Rate;
use crate::shown::shown_rate;
use crate::transports::storage;

/// Real transfers reach 85 to 92 % of a bus's rate.
const BUS_FULL: f64 = 0.8;

/// What limited `phase` of `record`; `None` where it was not measured or nobody looked at the
/// system meanwhile.
#[must_use]
pub fn limit_of_phase(record: &Record, phase: &Phase) -> Option<Limiting> {
    let seen = phase.surroundings.as_deref().filter(|_| phase.is_measured())?;
    let climate = &seen.activity.climate;
    super::power(climate)
        .or_else(|| phase_heat(record, phase, seen))
        .or_else(|| bus(record, phase))
        .or_else(|| cpu(record, phase, seen))
        .or_else(|| Some(card(record, phase, seen)))
}

fn phase_heat(record: &Record, phase: &Phase, seen: &PhaseSurroundings) -> Option<Limiting> {
    super::heat(&seen.activity.climate).or_else(|| {
        let heat = |kind| kind == DisturbanceKind::Heat;
        let disturbances = crate::disturbance::of_phase(record, phase);
        let disturbance = disturbances.into_iter().find(|other| heat(other.kind))?;
        Some(limited(Limit::Heat, vec![Evidence::Disturbed(disturbance)]))
    })
}

fn bus(record: &Record, phase: &Phase) -> Option<Limiting> {
    let device = &record.conditions.device;
    let ceiling = Throughput(device.link_ceiling_bytes_per_s? as f64);
    let rate = shown_throughput(phase)?;
    (rate.0 >= BUS_FULL * ceiling.0).then(|| Limiting {
        limit: Limit::BusCeiling,
        device: device.name.clone(),
        evidence: vec![Evidence::RateOfBus { rate, ceiling, link: device.link.clone() }],
    })
}

/// The rate of `phase` that is shown, in bytes a second whatever its unit.
fn shown_throughput(phase: &Phase) -> Option<Throughput> {
    Some(match shown_rate(phase)?.estimate {
        Rate::Iops(iops) => Throughput(iops.0 * phase.block_size_bytes.as_f64()),
        Rate::Throughput(rate) => rate,
    })
}

/// The run itself kept a processor busy, or all of them were, or others had half of full ones: with that, no figure of
/// the run tells that the storage was slower.
fn cpu(record: &Record, phase: &Phase, seen: &PhaseSurroundings) -> Option<Limiting> {
    let cpu = seen.activity.cpu.as_ref()?;
    let own = seen.own_cpu.unwrap_or(0.0);
    let own_of_one = own * f64::from(cpu.cpus);
    let mut disturbances = crate::disturbance::of_phase(record, phase).into_iter();
    let others = disturbances.find(|it| it.kind == DisturbanceKind::CpuByOthers);
    // Work of lowered priority gives way.
    let is_full = cpu.busy() - cpu.nice >= CPU_FULL || others.is_some();
    if !is_full && own_of_one < ONE_CPU_FULL {
        return None;
    }
    let others = others.map(Evidence::Disturbed);
    let rate = shown_rate(phase).map(|rate| Evidence::RateWas(rate.estimate));
    let own = seen.own_cpu.map(|_| Evidence::RunUsed(own_of_one));
    let evidence = [Some(Evidence::Cpu(*cpu)), others, own, rate].into_iter().flatten().collect();
    Some(limited(Limit::Cpu, evidence))
}

/// Whatever the phase asked for, the storage gave no more of it.
fn card(record: &Record, phase: &Phase, seen: &PhaseSurroundings) -> Limiting {
    let limit = match (phase.pattern, writes_took_longer(phase)) {
        (PatternName::Sequential, _) => Limit::StorageSequential,
        (PatternName::Random, true) => Limit::StorageRandomWrite,
        (PatternName::Random, false) => Limit::StorageRandomRead,
        (PatternName::Unknown, _) => Limit::Unknown,
    };
    let rate = shown_rate(phase).map(|rate| Evidence::Rate(rate.estimate));
    let wait = phase.latency_ns.map(|latency| Evidence::EachWaited(latency.mean));
    let cpu = seen.activity.cpu.map(Evidence::Cpu);
    Limiting {
        limit,
        device: storage(&record.conditions.device).and(record.conditions.device.name.clone()),
        evidence: [rate, wait, cpu].into_iter().flatten().collect(),
    }
}

fn writes_took_longer(phase: &Phase) -> bool {
    match phase.op {
        // What another tool did is not known, and nothing is told of it.
        OpName::Read | OpName::Unknown => false,
        OpName::Write => true,
        OpName::Mixed => {
            let time = |direction: &cardproof_record::Direction| {
                direction.ops as f64 * direction.latency_ns.mean.as_secs_f64()
            };
            phase.writes.as_ref().map_or(0.0, time) >= phase.reads.as_ref().map_or(0.0, time)
        }
    }
}
