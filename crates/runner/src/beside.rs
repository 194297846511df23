//! Puts what the monitor saw beside a phase into its entry in the record.

use cardproof_io::Usage;
use cardproof_record::{
    Activity, Moment, MonitorSummary, Phase, PhaseSurroundings, Record, Warning, WarningCode,
};
use cardproof_units::Nanos;

use crate::disturbance::{Own, cpu_share, disturbances};
use crate::monitor::{MonitorCost, Observation};

/// The most points of a phase's time series.
const MOMENTS_MAX: usize = 100;

/// File systems that write data where they are told and little else. Others copy on write, pack
/// or log, and the device does more than the run asks for.
const PLAIN_FILESYSTEMS: [&str; 7] = ["ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "msdos"];

/// Notes in `phase` what was `seen` while the run did its `own` part.
pub(crate) fn note(phase: &mut Phase, seen: &Observation, own: &Own) {
    phase.disturbances = disturbances(seen, own);
    phase.warnings.extend(phase.disturbances.iter().map(|disturbance| Warning {
        code: WarningCode::Disturbed,
        message: disturbance.message.clone(),
    }));
    phase.surroundings = Some(Box::new(surroundings(seen, own)));
}

/// What was `seen` of the system while a phase or a replay did its `own` part.
pub(crate) fn surroundings(seen: &Observation, own: &Own) -> PhaseSurroundings {
    PhaseSurroundings {
        activity: seen.whole.clone(),
        own_bytes: own.read + own.written,
        own_cpu: own.cpu,
        moments: moments(&seen.windows),
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

/// Whether what the run asks for is what its device does.
pub(crate) fn is_plain(record: &Record, is_direct: bool) -> bool {
    let filesystem = record.conditions.filesystem.as_ref();
    is_direct && is_plain_on(filesystem.map(|known| &*known.kind))
}

/// Whether `filesystem`, as the kernel calls it, writes little but what it is told; without one
/// nothing is between.
pub(crate) fn is_plain_on(filesystem: Option<&str>) -> bool {
    filesystem.is_none_or(|kind| PLAIN_FILESYSTEMS.contains(&kind))
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
