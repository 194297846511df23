//! What a screen remembers of the windows before: one series for each thing worth a curve.

use std::collections::VecDeque;

use cardproof_record::{Activity, DeviceActivity};

/// More columns than any terminal has.
const LENGTH_MAX: usize = 512;

/// A curve, oldest value first.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    values: VecDeque<f64>,
}

impl Series {
    fn push(&mut self, value: f64) {
        if self.values.len() == LENGTH_MAX {
            self.values.pop_front();
        }
        self.values.push_back(value.max(0.0));
    }

    /// The last `columns` values in 1000ths of `full`, or of the highest of them.
    pub(super) fn heights(&self, columns: usize, full: Option<f64>) -> Vec<u64> {
        let from = self.values.len().saturating_sub(columns);
        let shown = || self.values.iter().skip(from);
        let full = full.unwrap_or_else(|| shown().copied().fold(0.0, f64::max));
        shown()
            .map(|value| if full > 0.0 { (1000.0 * value / full).round() as u64 } else { 0 })
            .collect()
    }

    /// The newest value.
    pub(super) fn last(&self) -> f64 {
        self.values.back().copied().unwrap_or_default()
    }
}

/// All curves.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Bytes read a second, over all devices.
    pub(super) read: Series,
    /// Bytes written a second, over all devices.
    pub(super) written: Series,
    /// The highest utilisation of any device.
    pub(super) busiest: Series,
    /// The share in which some task waited for I/O; iowait where there is no pressure.
    pub(super) waiting: Series,
    /// The share in which the processors were busy.
    pub(super) cpu: Series,
    /// Degrees Celsius; empty where no sensor tells.
    pub(super) temperature: Option<Series>,
}

impl History {
    /// Adds a window.
    pub(super) fn push(&mut self, activity: &Activity) {
        let sum = |rate: fn(&DeviceActivity) -> f64| activity.devices.iter().map(rate).sum::<f64>();
        self.read.push(sum(|device| device.reads.bytes_per_s.0));
        self.written.push(sum(|device| device.writes.bytes_per_s.0));
        let utilisations = activity.devices.iter().map(|device| device.utilisation);
        self.busiest.push(utilisations.fold(0.0, f64::max));
        let iowait = activity.cpu.map_or(0.0, |cpu| cpu.iowait);
        self.waiting.push(activity.pressure.io_some.unwrap_or(iowait));
        self.cpu.push(activity.cpu.map_or(0.0, |cpu| cpu.busy()));
        if let Some(celsius) = activity.climate.temperature_celsius {
            self.temperature.get_or_insert_default().push(celsius);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_values_are_shown_by_the_highest_of_them() {
        let mut series = Series::default();
        for value in [900.0, 1.0, 2.0, 4.0] {
            series.push(value);
        }
        assert_eq!(series.heights(3, None), [250, 500, 1000]);
        assert_eq!(series.heights(2, Some(8.0)), [250, 500]);
        assert_eq!(Series::default().heights(5, None), [0; 0]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut series = Series::default();
        (0..2 * LENGTH_MAX).for_each(|value| series.push(value as f64));
        assert_eq!(series.heights(usize::MAX, None).len(), LENGTH_MAX);
    }
}
