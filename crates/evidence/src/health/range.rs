//! Where the true number is that a device tells in steps.

use super::{Unit, Value};

/// The width of an eMMC's bands of used life, in per cent (JESD84-B51, `DEVICE_LIFE_TIME_EST_TYP_A`).
const BAND_PERCENT: f64 = 10.0;

/// From here on a band of used life has no upper end: beyond the specified life.
const SPECIFIED_LIFE_PERCENT: f64 = 100.0;

/// The largest number of a field of one byte, which stands for all above as well.
const BYTE_FULL: f64 = 255.0;

/// How exactly a device tells a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// It is the number.
    Exact,
    /// It is rounded to a multiple of this step, up, down or to the nearest: nobody tells which.
    Rounded(f64),
    /// It is the upper end of a band of 10 %.
    Band,
    /// It stands for all numbers between these.
    Between(f64, f64),
}

impl Value {
    /// A value that counts each one.
    #[must_use]
    pub const fn exact(name: &'static str, value: f64, unit: Unit) -> Self {
        Self { name, value, unit, precision: Precision::Exact }
    }

    /// A value that is rounded to multiples of `step`.
    #[must_use]
    pub const fn rounded(name: &'static str, value: f64, unit: Unit, step: f64) -> Self {
        Self { name, value, unit, precision: Precision::Rounded(step) }
    }

    /// The band of used life that an eMMC means by `code`: 0x01 is 0 to 10 %, 0x0a is 90 to 100 %, and 0x0b is
    /// beyond the specified life, which nothing bounds.
    #[must_use]
    pub fn band(name: &'static str, code: u8) -> Self {
        let value = BAND_PERCENT * f64::from(code);
        Self { name, value, unit: Unit::RatedLifeUsed, precision: Precision::Band }
    }

    /// How far apart two numbers can be that are told alike.
    #[must_use]
    pub const fn step(&self) -> f64 {
        match self.precision {
            Precision::Exact => 0.0,
            Precision::Rounded(step) => step,
            Precision::Band => BAND_PERCENT,
            Precision::Between(low, high) => high - low,
        }
    }

    /// At least so much, and at most so much; `None` where nothing bounds it above.
    #[must_use]
    pub fn bounds(&self) -> (f64, Option<f64>) {
        match self.precision {
            Precision::Exact => (self.value, Some(self.value)),
            Precision::Between(low, high) => (low, Some(high)),
            Precision::Rounded(step) => {
                let may_exceed = self.unit == Unit::RatedLifeUsed;
                let most = if may_exceed { f64::INFINITY } else { self.value.max(100.0) };
                let high = (!may_exceed || self.value < BYTE_FULL).then_some(self.value + step);
                ((self.value - step).max(0.0), high.map(|high| high.min(most)))
            }
            Precision::Band => {
                let low = (self.value - BAND_PERCENT).max(0.0);
                (low, (low < SPECIFIED_LIFE_PERCENT).then_some(self.value))
            }
        }
    }

    /// Whether the rated or specified life is over, however the number was rounded.
    #[must_use]
    pub fn is_beyond_life(&self) -> bool {
        self.unit == Unit::RatedLifeUsed && self.bounds().0 >= SPECIFIED_LIFE_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bands_of_an_emmc_are_those_of_the_standard() {
        for (code, bounds, is_over) in [
            (0x01, (0.0, Some(10.0)), false),
            (0x04, (30.0, Some(40.0)), false),
            (0x0a, (90.0, Some(100.0)), false),
            (0x0b, (100.0, None), true),
        ] {
            let band = Value::band("life_used_a", code);
            assert_eq!((band.bounds(), band.is_beyond_life()), (bounds, is_over), "{code:#04x}");
        }
    }

    #[test]
    fn a_rounded_number_may_be_a_step_off_and_never_below_nothing() {
        for (value, unit, bounds) in [
            (3.0, Unit::RatedLifeUsed, (2.0, Some(4.0))),
            (0.0, Unit::RatedLifeUsed, (0.0, Some(1.0))),
            (100.0, Unit::RatedLifeUsed, (99.0, Some(101.0))),
            (255.0, Unit::RatedLifeUsed, (254.0, None)),
            (100.0, Unit::PercentLeft, (99.0, Some(100.0))),
        ] {
            let value = Value::rounded("life", value, unit, 1.0);
            assert_eq!(value.bounds(), bounds, "{value:?}");
        }
    }
}
