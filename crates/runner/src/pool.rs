//! Several runs of one profile as one record.
//!
//! Each phase of the record holds all its runs together and, beside that, the figures of each. Its
//! rate is the geometric mean of the runs' rates, and its interval is that of several runs: it
//! allows for what varies from run to run, which no single run can show. So whatever judges,
//! compares or shows a phase need not know that it was repeated, and does not pick the best run.
//!
//! Percentiles of all runs together come from their buckets and are the ends of these, at most an
//! eighth above the truth and never below it; those of the single runs are exact.

use std::collections::BTreeMap;

use cardproof_record::{
    Bucket, DataCheck, Disturbance, Estimate, Interval, Latency, Level, MonitorSummary, Phase,
    PhaseRun, PhaseState, PhaseSurroundings, Record, RunCost, State, Verification, Warning,
    WarningCause,
};
use cardproof_stats::{RunRate, Variation};
use cardproof_units::{Iops, Nanos, Throughput};

/// A record of one run, and when it began, from the start of the first.
pub(crate) struct Turn {
    pub(crate) record: Record,
    pub(crate) start: Nanos,
}

/// All `turns` as one record, with the phases in the order of `names`, whose figures rest on the
/// turns from `first_that_counts` on. Without turns it is `draft`.
pub(crate) fn pooled(
    draft: &Record,
    turns: &[Turn],
    names: &[String],
    first_that_counts: usize,
) -> Record {
    let Some(last) = turns.last() else { return draft.clone() };
    let mut record = Record { seed: draft.seed, ..last.record.clone() };
    record.phases = names.iter().filter_map(|name| phase(name, turns, first_that_counts)).collect();
    record.bytes_written = turns.iter().map(|turn| turn.record.bytes_written).sum();
    record.bytes_read = turns.iter().map(|turn| turn.record.bytes_read).sum();
    record.measured_to_bytes = turns.iter().filter_map(|t| t.record.measured_to_bytes).max();
    record.data_check = checks(turns.iter().filter_map(|turn| turn.record.data_check));
    record.monitor = monitor(turns, &last.record.monitor);
    for warning in turns.iter().flat_map(|turn| &turn.record.warnings) {
        if !record.warnings.contains(warning) {
            record.warnings.push(warning.clone());
        }
    }
    if turns.iter().any(|turn| turn.record.state == State::Failed) {
        record.state = State::Failed;
    }
    record
}

/// The cost of all runs, and what was seen beside any of them.
fn monitor(turns: &[Turn], last: &RunCost) -> RunCost {
    let sum = |cost: fn(&RunCost) -> Option<Nanos>| {
        let costs: Option<Vec<Nanos>> =
            turns.iter().map(|turn| cost(&turn.record.monitor)).collect();
        Some(costs?.into_iter().fold(Nanos::ZERO, Nanos::saturating_add))
    };
    RunCost {
        cpu_user_ns: sum(|monitor| monitor.cpu_user_ns),
        cpu_system_ns: sum(|monitor| monitor.cpu_system_ns),
        memory_peak_bytes: turns.iter().filter_map(|t| t.record.monitor.memory_peak_bytes).max(),
        seen: seen(turns),
        ..last.clone()
    }
}

/// What was seen in all `turns`. The monitor counts its own looks and their cost from the first on.
fn seen(turns: &[Turn]) -> Option<MonitorSummary> {
    let of_turns = turns.iter().filter_map(|turn| turn.record.monitor.seen);
    of_turns.reduce(|before, last| MonitorSummary {
        temperature_max_celsius: [before.temperature_max_celsius, last.temperature_max_celsius]
            .into_iter()
            .flatten()
            .reduce(f64::max),
        clock_min_hz: [before.clock_min_hz, last.clock_min_hz].into_iter().flatten().min(),
        clock_max_hz: before.clock_max_hz.max(last.clock_max_hz),
        disturbed_phases: before.disturbed_phases.saturating_add(last.disturbed_phases),
        repeated_phases: before.repeated_phases.saturating_add(last.repeated_phases),
        ..last
    })
}

/// A phase of one run, and its place in the order of all.
struct Run<'t> {
    phase: &'t Phase,
    position: u32,
    start: Nanos,
    counts: bool,
}

/// The phase called `name` of all turns together; `None` where none has it.
fn phase(name: &str, turns: &[Turn], first_that_counts: usize) -> Option<Phase> {
    let mut position = 0;
    let mut runs: Vec<Run<'_>> = Vec::with_capacity(turns.len());
    for (number, turn) in turns.iter().enumerate() {
        let counts = number >= first_that_counts;
        let mut start = turn.start;
        for phase in &turn.record.phases {
            if phase.name == name {
                runs.push(Run { phase, position, start, counts });
            }
            position += 1;
            start += phase.duration_ns;
        }
    }
    let measured: Vec<&Run<'_>> = runs.iter().filter(|run| run.phase.is_measured()).collect();
    match measured.as_slice() {
        [] => runs.first().map(|run| run.phase.clone()),
        [only] if runs.len() == 1 => Some(only.phase.clone()),
        measured => Some(together(measured, &runs)),
    }
}

/// The `measured` of `runs`, at least one, as one phase.
fn together(measured: &[&Run<'_>], runs: &[Run<'_>]) -> Phase {
    let has_counted = measured.iter().any(|run| run.counts);
    let counted: Vec<&Phase> =
        measured.iter().filter(|run| run.counts || !has_counted).map(|run| run.phase).collect();
    let phases = || counted.iter().copied();
    let mut phase = measured[measured.len() - 1].phase.clone();
    phase.ops = phases().map(|phase| phase.ops).sum();
    phase.bytes = phases().map(|phase| phase.bytes).sum();
    phase.duration_ns = phases().fold(Nanos::ZERO, |sum, phase| sum + phase.duration_ns);
    phase.flushes = phases().map(|phase| phase.flushes).sum();
    phase.iops = of_runs(phases().map(|phase| phase.iops), |iops| iops.0, Iops)
        .map(Estimate::<Iops>::within_reach);
    phase.throughput_bytes_per_s =
        of_runs(phases().map(|phase| phase.throughput_bytes_per_s), |rate| rate.0, Throughput)
            .map(Estimate::<Throughput>::within_reach);
    // A run's own interval knows nothing of how the runs vary.
    phase.anytime_iops = None;
    phase.undisturbed = None;
    phase.histogram = histogram(phases());
    phase.latency_ns = latency(&phase.histogram, &phases());
    phase.latency_intervals = None;
    // Directions and flushes are those of the last run, in which a mean over runs has no place.
    phase.intervals = intervals(phases());
    phase.levels = levels(phases());
    phase.verification =
        phases().filter_map(|phase| phase.verification).reduce(|a, b| Verification {
            compared_bytes: a.compared_bytes + b.compared_bytes,
            wrong_bytes: a.wrong_bytes + b.wrong_bytes,
        });
    phase.data_check = checks(phases().filter_map(|phase| phase.data_check));
    phase.disturbances = disturbances(phases());
    phase.warnings = warnings(runs);
    phase.runs = measured.iter().map(|run| phase_run(run)).collect();
    phase
}

/// The samples of several runs as one.
fn checks(checks: impl Iterator<Item = DataCheck>) -> Option<DataCheck> {
    checks.reduce(|a, b| DataCheck {
        places: a.places + b.places,
        place_bytes: b.place_bytes,
        wrong_places: a.wrong_places + b.wrong_places,
        unreadable_places: a.unreadable_places + b.unreadable_places,
        first_wrong_bytes: [a.first_wrong_bytes, b.first_wrong_bytes].into_iter().flatten().min(),
        from_bytes: a.from_bytes.min(b.from_bytes),
        to_bytes: a.to_bytes.max(b.to_bytes),
        spread_bytes: a.spread_bytes + b.spread_bytes,
        duration_ns: a.duration_ns + b.duration_ns,
        direct: a.direct && b.direct,
    })
}

fn phase_run(run: &Run<'_>) -> PhaseRun {
    let Run { phase, position, start, counts } = *run;
    PhaseRun {
        counts,
        position,
        start_ns: start,
        ops: phase.ops,
        bytes: phase.bytes,
        duration_ns: phase.duration_ns,
        iops: phase.iops,
        throughput_bytes_per_s: phase.throughput_bytes_per_s,
        latency_ns: phase.latency_ns,
        surroundings: phase
            .surroundings
            .as_deref()
            .map(|seen| Box::new(PhaseSurroundings { moments: Vec::new(), ..seen.clone() })),
    }
}

/// The rate of several runs, with the interval that they give together.
fn of_runs<Rate: Copy>(
    runs: impl Iterator<Item = Option<Estimate<Rate>>>,
    bare: impl Fn(Rate) -> f64,
    rate: impl Fn(f64) -> Rate,
) -> Option<Estimate<Rate>> {
    let runs: Vec<Estimate<Rate>> = runs.collect::<Option<_>>()?;
    let confidence = runs.first()?.confidence;
    if runs.len() == 1 {
        return runs.first().copied();
    }
    let rates: Vec<RunRate> = runs
        .iter()
        .map(|run| RunRate {
            rate: bare(run.estimate),
            half_width: Some((bare(run.high) - bare(run.estimate)) / bare(run.estimate)),
            confidence: run.confidence,
        })
        .collect();
    let all = Variation::new(&rates, confidence)?;
    Some(Estimate {
        estimate: rate(all.mean),
        low: rate(all.low),
        high: rate(all.high),
        confidence,
    })
}

fn histogram<'p>(phases: impl Iterator<Item = &'p Phase>) -> Vec<Bucket> {
    let mut buckets: BTreeMap<Nanos, u64> = BTreeMap::new();
    for bucket in phases.flat_map(|phase| &phase.histogram) {
        *buckets.entry(bucket.up_to_ns).or_default() += bucket.ops;
    }
    buckets.into_iter().map(|(up_to_ns, ops)| Bucket { up_to_ns, ops }).collect()
}

fn latency<'p>(
    histogram: &[Bucket],
    phases: &(impl Iterator<Item = &'p Phase> + Clone),
) -> Option<Latency> {
    let count: u64 = histogram.iter().map(|bucket| bucket.ops).sum();
    let of_runs = || phases.clone().filter_map(|phase| Some((phase.latency_ns?, phase.ops)));
    let (min, max) = of_runs().fold((Nanos(u64::MAX), Nanos::ZERO), |(min, max), (run, _)| {
        (min.min(run.min), max.max(run.max))
    });
    let ops: u64 = of_runs().map(|(_, ops)| ops).sum();
    if count == 0 || ops == 0 {
        return None;
    }
    let nanos: f64 = of_runs().map(|(run, ops)| run.mean.get() as f64 * ops as f64).sum();
    let at = |quantile: f64| {
        let rank = (quantile * count as f64).ceil() as u64;
        let mut seen = 0;
        let reached = histogram.iter().find(|bucket| {
            seen += bucket.ops;
            seen >= rank
        });
        reached.map_or(max, |bucket| bucket.up_to_ns).clamp(min, max)
    };
    Some(Latency {
        min,
        mean: Nanos((nanos / ops as f64) as u64),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max,
    })
}

/// The time series of the runs one after the other, without what lay between them.
fn intervals<'p>(phases: impl Iterator<Item = &'p Phase>) -> Vec<Interval> {
    let mut end = Nanos::ZERO;
    let mut all: Vec<Interval> = Vec::new();
    for phase in phases {
        let shifted = phase.intervals.iter();
        all.extend(shifted.map(|part| Interval { start_ns: part.start_ns + end, ..*part }));
        end = all.last().map_or(end, |last| last.start_ns + last.duration_ns);
    }
    all
}

/// The levels of the first run that has any, which began with the cache emptiest.
fn levels<'p>(mut phases: impl Iterator<Item = &'p Phase>) -> Vec<Level> {
    phases.find(|phase| !phase.levels.is_empty()).map_or(Vec::new(), |phase| phase.levels.clone())
}

/// The first disturbance of each kind in any of the runs.
fn disturbances<'p>(phases: impl Iterator<Item = &'p Phase>) -> Vec<Disturbance> {
    let mut all: Vec<Disturbance> = Vec::new();
    for disturbance in phases.flat_map(|phase| &phase.disturbances) {
        if all.iter().all(|known| known.kind != disturbance.kind) {
            all.push(disturbance.clone());
        }
    }
    all
}

/// What is doubted of any run, and which runs are missing.
fn warnings(runs: &[Run<'_>]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for warning in &run.phase.warnings {
            let is_known = warnings.iter().any(|known| known.code == warning.code);
            if !is_known {
                warnings.push(warning.clone().in_run(number + 1));
            }
        }
        if let PhaseState::NotMeasured { cause } = &run.phase.state
            && !run.phase.was_spared()
        {
            let cause = cause.clone();
            let missing =
                WarningCause::RunNotMeasured { number: number + 1, runs: runs.len(), cause };
            warnings.push(missing.into());
        }
    }
    warnings
}
