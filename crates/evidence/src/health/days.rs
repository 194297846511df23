//! Days left at the pace so far, from readings that tell the used life in steps.
//!
//! An eMMC tells its life in bands of 10 %, other devices in whole per cents. Two readings bound the pace from
//! both sides only if they are far enough apart. How a device rounds is not told, but it rounds all its
//! readings alike: so the pace follows from bands as wide as a step, and the life that is left from a step to
//! either side. The bounds hold without any assumption but that the pace stays; they are no confidence interval.

use super::{Precision, Unit, Value};

/// The used life at one time, in per cent, as a band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsedAt {
    /// When, in days on any clock.
    pub day: f64,
    /// At least so much is used, if the device rounds down.
    pub low_percent: f64,
    /// At most so much, if it rounds down; infinite where nothing bounds it.
    pub high_percent: f64,
    /// How far down the bands of all readings alike may lie, since the device may round up.
    pub shift_percent: f64,
}

impl UsedAt {
    /// The used life on `day` that `value` tells; `None` where it is no value of life.
    #[must_use]
    pub fn from_value(value: &Value, day: f64) -> Option<Self> {
        let used = match value.unit {
            Unit::RatedLifeUsed | Unit::PercentUsed if value.name.starts_with("life_used") => {
                value.value
            }
            Unit::PercentLeft if value.name == "life_left" => 100.0 - value.value,
            _ => return None,
        };
        let (low_percent, shift_percent) = match value.precision {
            Precision::Band => (value.bounds().0, 0.0),
            _ => (used, value.step()),
        };
        let is_bounded = value.bounds().1.is_some();
        let high_percent = if is_bounded { low_percent + value.step() } else { f64::INFINITY };
        Some(Self { day, low_percent, high_percent, shift_percent })
    }
}

/// What readings say of the days left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DaysLeft {
    /// The middle of what is possible; `None` where only a bound is known.
    pub estimate: Option<f64>,
    /// At least so many.
    pub low: Option<f64>,
    /// At most so many; `None` where nothing bounds them.
    pub high: Option<f64>,
    /// Wear in per cent a day: at least and at most.
    pub percent_a_day: Option<(f64, f64)>,
    /// Why it cannot be known, or what it rests on.
    pub basis: DaysBasis,
}

/// What days left rest on, or why they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DaysBasis {
    /// There is no value of the used life.
    #[default]
    NoValue,
    /// The rated life is used up.
    UsedUp,
    /// No reading has a value.
    NothingRead,
    /// The readings are of several devices.
    SeveralDevices,
    /// The readings have no date.
    Undated,
    /// There is one reading, and the pace needs two.
    OneReading,
    /// All readings are of one day.
    OneDay,
    /// The used life of the readings does not grow evenly.
    Contradictory,
    /// The used life has not changed.
    Unchanged,
    /// The pace between the readings.
    Pace,
    /// The used life has stayed in one band, which gives a lower bound.
    OneBand,
}

/// A shorter time says nothing of days.
const SPAN_DAYS_MIN: f64 = 0.5;

/// The days left that `readings` show, in any order.
#[must_use]
pub fn days_left(readings: &[UsedAt]) -> DaysLeft {
    let mut sorted = readings.to_vec();
    sorted.sort_by(|one, other| one.day.total_cmp(&other.day));
    let unknown = |basis| DaysLeft { basis, ..DaysLeft::default() };
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return unknown(DaysBasis::NoValue);
    };
    if last.low_percent - last.shift_percent >= 100.0 {
        let none = Some(0.0);
        let basis = DaysBasis::UsedUp;
        return DaysLeft { estimate: none, low: none, high: none, percent_a_day: None, basis };
    }
    if last.day - first.day < SPAN_DAYS_MIN {
        let is_one = sorted.len() == 1;
        return unknown(if is_one { DaysBasis::OneReading } else { DaysBasis::OneDay });
    }
    let pairs = || {
        sorted.iter().enumerate().flat_map(|(index, early)| {
            let later = sorted[index + 1..].iter();
            later
                .filter(|late| late.day - early.day >= SPAN_DAYS_MIN)
                .map(move |late| (early, late))
        })
    };
    let least = pairs()
        .map(|(early, late)| (late.low_percent - early.high_percent) / (late.day - early.day))
        .fold(0.0, f64::max);
    let most = pairs()
        .map(|(early, late)| (late.high_percent - early.low_percent) / (late.day - early.day))
        .fold(f64::INFINITY, f64::min);
    if most < least {
        return unknown(DaysBasis::Contradictory);
    }
    if most <= 0.0 {
        return unknown(DaysBasis::Unchanged);
    }
    let (used_low, used_high) = used_now(&sorted, last, least, most);
    let low = (100.0 - used_high).max(0.0) / most;
    let middle = |used: &UsedAt| f64::midpoint(used.low_percent, used.high_percent);
    let has_changed = last.low_percent > first.low_percent;
    let pace = (middle(last) - middle(first)) / (last.day - first.day);
    let least_used = (used_low - last.shift_percent).max(0.0);
    let high = (least > 0.0).then(|| (100.0 - least_used) / least);
    let likely_used = middle(last) - last.shift_percent / 2.0;
    let estimate = (has_changed && pace > 0.0).then(|| (100.0 - likely_used).max(0.0) / pace);
    let basis = if has_changed { DaysBasis::Pace } else { DaysBasis::OneBand };
    DaysLeft {
        estimate: estimate.map(|days| high.map_or(days, |high| days.clamp(low, high))),
        low: Some(low),
        high,
        percent_a_day: Some((least, most)),
        basis,
    }
}

/// The bounds of what is used at the `last` of `readings`: since each reading it has grown by at `least` and at `most`
/// so much a day. A band that was entered long ago is nearly through.
fn used_now(readings: &[UsedAt], last: &UsedAt, least: f64, most: f64) -> (f64, f64) {
    let since = |used: &UsedAt| last.day - used.day;
    let low = readings.iter().map(|used| used.low_percent + least * since(used));
    let high = readings.iter().map(|used| used.high_percent + most * since(used));
    (low.fold(last.low_percent, f64::max), high.fold(last.high_percent, f64::min))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(day: f64, high_percent: f64) -> UsedAt {
        UsedAt { day, low_percent: high_percent - 10.0, high_percent, shift_percent: 0.0 }
    }

    /// 30 %, and 40 % after 90 days: 0 to 20 % in that time, 10 most likely.
    #[test]
    fn two_bands_give_days_with_bounds() {
        let left = days_left(&[band(0.0, 30.0), band(90.0, 40.0)]);
        assert_eq!(left.low, Some(60.0 / 20.0 * 90.0));
        assert_eq!(left.estimate, Some(65.0 / 10.0 * 90.0));
        assert_eq!(left.high, None, "the change may have been the smallest one");
        let wider = days_left(&[band(0.0, 20.0), band(90.0, 40.0)]);
        assert_eq!(wider.high, Some(70.0 / 10.0 * 90.0));
    }

    /// A tenth in 10 days: at the end of the third band 30 % are used, and 70 days are left.
    #[test]
    fn a_band_that_was_entered_long_ago_is_nearly_through() {
        let readings: Vec<UsedAt> =
            (0..30).map(|day| band(f64::from(day) + 0.5, 10.0 * f64::from(day / 10 + 1))).collect();
        let left = days_left(&readings);
        let (low, high) = (left.low.unwrap(), left.high.unwrap());
        assert!(low < 70.5 && 70.5 < high && high - low < 25.0, "{low} to {high}");
    }

    #[test]
    fn exact_readings_give_exact_days() {
        let exact = |day, percent| UsedAt {
            day,
            low_percent: percent,
            high_percent: percent,
            shift_percent: 0.0,
        };
        let left = days_left(&[exact(0.0, 10.0), exact(100.0, 20.0)]);
        for days in [left.low, left.estimate, left.high] {
            assert!((days.unwrap() - 800.0).abs() < 1e-9, "{left:?}");
        }
    }

    /// Devices of known pace, read in whole per cents by each way of rounding: the true number of days is
    /// between the bounds, and these are no exact number.
    #[test]
    fn the_days_of_rounded_readings_are_bounded_by_what_rounding_allows() {
        for round in [f64::floor, f64::round, f64::ceil] {
            for (start, pace, days) in
                [(0.0, 0.01, 365.0), (3.0, 0.1, 100.0), (40.0, 0.017, 731.0), (90.0, 0.02, 400.0)]
            {
                let reading = |day: f64| {
                    let percent = round(start + pace * day);
                    let value = Value::rounded("life_used", percent, Unit::RatedLifeUsed, 1.0);
                    UsedAt::from_value(&value, day).unwrap()
                };
                let left = days_left(&[reading(days), reading(0.0)]);
                let truth = (100.0 - start - pace * days) / pace;
                let (low, high) = (left.low.unwrap(), left.high.unwrap_or(f64::INFINITY));
                assert!(low <= truth && truth <= high, "{start} {pace}: {truth} in {left:?}");
                assert!(high - low > 1.0, "{left:?}");
            }
        }
    }

    #[test]
    fn a_life_that_is_used_up_has_no_days_left() {
        let nvme = |day, percent| {
            UsedAt::from_value(&Value::rounded("life_used", percent, Unit::RatedLifeUsed, 1.0), day)
                .unwrap()
        };
        let emmc = UsedAt::from_value(&Value::band("life_used_a", 0x0b), 0.0).unwrap();
        for readings in
            [vec![nvme(0.0, 104.0)], vec![nvme(0.0, 99.0), nvme(90.0, 123.0)], vec![emmc]]
        {
            let left = days_left(&readings);
            assert_eq!((left.low, left.high), (Some(0.0), Some(0.0)), "{left:?}");
            assert_eq!(left.basis, DaysBasis::UsedUp);
        }
        let last_band = UsedAt::from_value(&Value::band("life_used_a", 0x0a), 0.0).unwrap();
        assert_eq!(days_left(&[last_band]).low, None, "90 to 100 % used");
    }

    #[test]
    fn what_cannot_be_known_says_why() {
        assert_eq!(days_left(&[]).basis, DaysBasis::NoValue);
        assert_eq!(days_left(&[band(0.0, 30.0)]).basis, DaysBasis::OneReading);
        let same = days_left(&[band(0.0, 30.0), band(30.0, 30.0)]);
        assert_eq!((same.estimate, same.high), (None, None));
        assert_eq!(same.low, Some(70.0 / 10.0 * 30.0));
        assert_eq!(same.basis, DaysBasis::OneBand);
        let falling = days_left(&[band(0.0, 50.0), band(30.0, 20.0)]);
        assert_eq!(falling.basis, DaysBasis::Contradictory);
    }
}
