//! Where an axis has its ticks: round values, about five on a linear axis, the decades on a
//! logarithmic one.

use super::{Axis, Scale};

/// About how many steps a linear axis has.
const STEPS: f64 = 5.0;

/// Up to this many decades, a logarithmic axis has ticks at 2 and 5 of each too.
const DETAILED_DECADES_MAX: i32 = 3;

/// About how many decades have room for a label.
const LABELLED_DECADES_MAX: i32 = 12;

/// A value may lie this share beyond the end of its axis: what rounding adds.
const ROUNDING: f64 = 1e-9;

/// The values at which `axis` has ticks, ascending, at most 30.
pub(super) fn ticks(axis: &Axis) -> Vec<f64> {
    let mut values = match axis.scale {
        Scale::Linear => linear(axis.low, axis.high),
        Scale::Logarithmic => logarithmic(axis.low, axis.high),
        Scale::Bytes => linear_bytes(axis.low, axis.high),
        Scale::LogarithmicBytes => powers_of_two(axis.low, axis.high),
    };
    // Near the ends of what a number can hold, a step or a decade is none.
    values.retain(|value| value.is_finite());
    values
}

/// The multiples of a round step.
fn linear(low: f64, high: f64) -> Vec<f64> {
    let rough = high / STEPS - low / STEPS;
    if !rough.is_normal() {
        return Vec::new();
    }
    let (units, power) = round_step(rough);
    let step = decimal(units, power);
    let first = (low / step - ROUNDING).ceil();
    let count = ((high / step + ROUNDING).floor() - first).clamp(0.0, 2.0 * STEPS);
    (0..=count as u32).map(|index| decimal((first + f64::from(index)) * units, power)).collect()
}

/// The multiples of a power of two.
fn linear_bytes(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / STEPS;
    if !rough.is_normal() || rough < 1.0 {
        return Vec::new();
    }
    let step = 2_f64.powi(rough.log2().round() as i32);
    let first = (low / step - ROUNDING).ceil();
    let count = ((high / step + ROUNDING).floor() - first).clamp(0.0, 2.0 * STEPS);
    (0..=count as u32).map(|index| (first + f64::from(index)) * step).collect()
}

/// About so many powers of two have room for a label.
const LABELLED_POWERS_MAX: i32 = 6;

/// Powers of two, each as many times the one before.
fn powers_of_two(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log2() - ROUNDING, high.log2() + ROUNDING);
    let (first, last) = (first.ceil() as i32, last.floor() as i32);
    let stride = 1 + (last - first).max(0) / LABELLED_POWERS_MAX;
    (first..=last)
        .step_by(stride.unsigned_abs() as usize)
        .map(|power| 2_f64.powi(power))
        .filter(|value| *value > 0.0)
        .collect()
}

/// The round step next to `rough`: how many units, and the unit's power of ten.
fn round_step(rough: f64) -> (f64, i32) {
    let power = rough.log10().floor() as i32;
    match rough / decimal(1.0, power) {
        leading if leading < 1.5 => (1.0, power),
        leading if leading < 2.25 => (2.0, power),
        leading if leading < 3.5 => (25.0, power - 1),
        leading if leading < 7.5 => (5.0, power),
        _ => (1.0, power + 1),
    }
}

fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = last - first;
    let parts: &[f64] = if decades <= DETAILED_DECADES_MAX { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = 1 + decades / LABELLED_DECADES_MAX;
    (first..=last)
        .step_by(stride.unsigned_abs() as usize)
        .flat_map(|power| parts.iter().map(move |part| decimal(*part, power)))
        .filter(|value| {
            (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(value) && *value > 0.0
        })
        .collect()
}

/// `units` times a power of ten as the number that its digits name: 3 and -1 are 0.3, not
/// 0.30000000000000004.
fn decimal(units: f64, power: i32) -> f64 {
    if power < 0 { units / 10_f64.powi(-power) } else { units * 10_f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scale: Scale, low: f64, high: f64) -> Vec<f64> {
        ticks(&Axis { scale, low, high, tick: |value| value.to_string() })
    }

    #[test]
    fn linear_ticks_are_round_and_without_noise() {
        let cases: [(f64, f64, &[f64]); 6] = [
            (0.0, 2.5, &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]),
            (0.0, 0.5, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
            (0.0, 3050.0, &[0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0]),
            (-1.0, 1.2, &[-1.0, -0.5, 0.0, 0.5, 1.0]),
            (0.0, 12.0, &[0.0, 2.5, 5.0, 7.5, 10.0]),
            (3.0, 17.0, &[5.0, 7.5, 10.0, 12.5, 15.0]),
        ];
        for (low, high, wanted) in cases {
            assert_eq!(of(Scale::Linear, low, high), wanted, "{low} to {high}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_decades_and_their_parts_where_there_is_room() {
        let cases: [(f64, f64, &[f64]); 3] = [
            (1e-4, 1e-2, &[1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2]),
            (1000.0, 8000.0, &[1000.0, 2000.0, 5000.0]),
            (0.07, 2000.0, &[0.1, 1.0, 10.0, 100.0, 1000.0]),
        ];
        for (low, high, wanted) in cases {
            assert_eq!(of(Scale::Logarithmic, low, high), wanted, "{low} to {high}");
        }
    }

    #[test]
    fn ticks_of_bytes_are_powers_of_two() {
        const MIB: f64 = 1_048_576.0;
        let wanted = [0.0, 256.0, 512.0, 768.0].map(|mib| mib * MIB);
        assert_eq!(of(Scale::Bytes, 0.0, 953.7 * MIB), wanted);
        let wanted = [8.0, 64.0, 512.0, 4096.0, 32_768.0].map(|kib| kib * 1024.0);
        assert_eq!(of(Scale::LogarithmicBytes, 8192.0, 64.0 * MIB), wanted);
    }

    #[test]
    fn absurd_axes_have_few_ticks() {
        let ends = [f64::MIN, -1e300, -1.0, 0.0, 5e-324, 1e-300, 1.0, 1e18, 1e300, f64::MAX];
        for (low, high) in ends.iter().flat_map(|low| ends.map(|high| (*low, high))) {
            let scales = [Scale::Linear, Scale::Logarithmic, Scale::Bytes, Scale::LogarithmicBytes];
            for scale in
                scales.into_iter().filter(|scale| low < high && (scale.is_linear() || low > 0.0))
            {
                let ticks = of(scale, low, high);
                assert!(ticks.len() <= 30, "{low} to {high}: {}", ticks.len());
                assert!(ticks.iter().all(|tick| tick.is_finite()), "{low} to {high}: {ticks:?}");
            }
        }
        assert!(of(Scale::Linear, 1.0, 1.0_f64.next_up()).len() <= 30);
    }
}
