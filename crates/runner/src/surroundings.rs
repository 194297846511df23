//! Puts what the monitor saw beside a phase into its entry in the record.

use cardproof_io::Usage;
use cardproof_record::{
    Activity, Climate, ClimateExtremes, Disturbance, Moment, MonitorSummary, OwnActivity, Phase,
    PhaseSurroundings, Warning,
};
use cardproof_units::Nanos;

use crate::monitor::{MonitorCost, Observation};

/// The most points of a phase's time series.
const MOMENTS_MAX: usize = 100;

/// Notes in `phase` its `surroundings` and the `disturbances` that they are by the monitor's rules.
pub(crate) fn note(
    phase: &mut Phase,
    surroundings: PhaseSurroundings,
    disturbances: Vec<Disturbance>,
) {
    phase.warnings.extend(warnings(&disturbances));
    phase.disturbances = disturbances;
    phase.surroundings = Some(Box::new(surroundings));
}

/// A warning for each of `disturbances`.
pub(crate) fn warnings(disturbances: &[Disturbance]) -> impl Iterator<Item = Warning> {
    disturbances.iter().cloned().map(Warning::from)
}

/// What was `seen` of the system while a phase, a replay or a job did its `own` part with the share
/// `own_cpu` of all processors.
pub(crate) fn surroundings(
    seen: &Observation,
    own: OwnActivity,
    own_cpu: Option<f64>,
) -> PhaseSurroundings {
    PhaseSurroundings {
        activity: seen.whole.clone(),
        own_bytes: own.read_bytes + own.written_bytes,
        own_cpu,
        own: Some(own),
        processor_wait_ns: seen.processor_wait,
        climate: Some(extremes(seen)),
        moments: moments(&seen.windows),
    }
}

fn extremes(seen: &Observation) -> ClimateExtremes {
    let climates =
        || seen.windows.iter().chain([&seen.whole]).map(|window: &Activity| &window.climate);
    let count = |is_so: fn(&&Climate) -> bool| climates().filter(is_so).count() as u64;
    let is_slowed = |climate: &&Climate| {
        climate.clock_allowed_hz.is_some() && climate.clock_allowed_hz < climate.clock_max_hz
    };
    let temperatures = || climates().filter_map(|climate| climate.temperature_celsius);
    let slowed = climates().filter(is_slowed).filter_map(|climate| climate.temperature_celsius);
    let allowed = || climates().filter_map(|climate| climate.clock_allowed_hz);
    ClimateExtremes {
        under_voltage_windows: count(|climate| climate.under_voltage == Some(true)),
        throttled_windows: count(|climate| {
            let flags = [climate.throttled, climate.soft_temperature_limit, climate.clock_capped];
            flags.contains(&Some(true))
        }),
        temperature_max_celsius: temperatures().reduce(f64::max),
        temperature_max_slowed_celsius: slowed.reduce(f64::max),
        clock_allowed_min_hz: allowed().min(),
        clock_allowed_max_hz: allowed().max(),
    }
}

/// The share of all processors that the run used between two accounts of it.
pub(crate) fn own_cpu(
    before: Option<Usage>,
    after: Option<Usage>,
    whole: &Activity,
) -> Option<f64> {
    let time = |usage: Usage| usage.cpu_user + usage.cpu_system;
    let spent = time(after?).saturating_sub(time(before?));
    cpu_share(spent, whole.window_ns, whole.cpu.as_ref()?.cpus)
}

/// The share of `cpus` processors that `time` is of `window`.
fn cpu_share(time: Nanos, window: Nanos, cpus: u32) -> Option<f64> {
    let all = window.as_secs_f64() * f64::from(cpus);
    (all > 0.0).then(|| (time.as_secs_f64() / all).min(1.0))
}

/// The windows as a time series; of a long phase every second, third and so on.
fn moments(windows: &[Activity]) -> Vec<Moment> {
    let step = windows.len().div_ceil(MOMENTS_MAX).max(1);
    let mut end = Nanos::ZERO;
    let all = windows.iter().map(|window| {
        end += window.window_ns;
        Moment {
            end_ns: end,
            cpu_busy: window.cpu.map(|cpu| cpu.busy()),
            temperature_celsius: window.climate.temperature_celsius,
            clock_hz: window.climate.clock_hz,
        }
    });
    all.skip(step - 1).step_by(step).collect()
}

/// What was seen in all phases so far, first tries included.
pub(crate) fn summary(phases: &[Phase], cost: MonitorCost) -> MonitorSummary {
    let tries = || phases.iter().chain(phases.iter().filter_map(|p| p.disturbed_try.as_deref()));
    let moments =
        || tries().filter_map(|phase| phase.surroundings.as_deref()).flat_map(|seen| &seen.moments);
    let count = |is_so: fn(&Phase) -> bool| {
        u32::try_from(phases.iter().filter(|phase| is_so(phase)).count()).unwrap_or(u32::MAX)
    };
    MonitorSummary {
        samples: cost.samples,
        cpu_ns: cost.cpu,
        watched_ns: cost.watched,
        temperature_max_celsius: moments().filter_map(|m| m.temperature_celsius).reduce(f64::max),
        clock_min_hz: moments().filter_map(|moment| moment.clock_hz).min(),
        clock_max_hz: moments().filter_map(|moment| moment.clock_hz).max(),
        disturbed_phases: count(|phase| {
            !phase.disturbances.is_empty() || phase.disturbed_try.is_some()
        }),
        repeated_phases: count(|phase| phase.disturbed_try.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_phase_keeps_a_hundred_points_over_all_its_time() {
        let window = Activity { window_ns: Nanos::from_millis(500), ..Activity::default() };
        let moments = moments(&vec![window; 1000]);
        assert_eq!(moments.len(), MOMENTS_MAX);
        assert_eq!(moments.last().map(|moment| moment.end_ns), Some(Nanos::from_secs(500)));
    }
}
