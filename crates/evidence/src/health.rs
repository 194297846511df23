//! Is what a card says of its wear plausible, and how long does it last at this pace?
//!
//! Cards answer a question for their health with nonsense and report success. Each value is checked by
//! itself, against its neighbours and against an earlier reading; one that fails is rejected with the
//! reason. [`days_left`] takes only what passed.

mod days;
mod range;

pub use days::{DaysBasis, DaysLeft, UsedAt, days_left};
pub use range::Precision;

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Per cent of the life that are used, at most 100.
    PercentUsed,
    /// Per cent of the rated life that are used, by a standard in which a device may outlive its rating: NVMe
    /// and ATA count up to 255 (NVM Express, SMART log, Percentage Used), and an eMMC has a band beyond its life
    /// (JESD84-B51, `DEVICE_LIFE_TIME_EST`).
    RatedLifeUsed,
    /// Per cent that are left, or good.
    PercentLeft,
    /// A number of things that only grows.
    Count,
    /// A number of things that may shrink, such as spare blocks.
    Level,
    /// Bytes written by the host, which only grow.
    BytesWritten,
}

impl Unit {
    /// A word for documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PercentUsed | Self::RatedLifeUsed => "percent_used",
            Self::PercentLeft => "percent_left",
            Self::Count => "count",
            Self::Level => "level",
            Self::BytesWritten => "bytes_written",
        }
    }
}

/// A value that a device tells of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its name in documents.
    pub name: &'static str,
    /// The number; of a band its upper end.
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
    /// How exactly it is told.
    pub precision: Precision,
}

/// A reading of all values of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The values.
    pub values: Vec<Value>,
    /// When it was read, in seconds on any clock, where that is known.
    pub time_s: Option<f64>,
    /// Why the reading as a whole says nothing, where that is clear from its bytes.
    pub rejected: Option<String>,
}

/// A value and whether it can be true.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The value.
    pub value: Value,
    /// Why it cannot be true; `None` where it can.
    pub reason: Option<Implausible>,
}

/// Why a value cannot be true.
#[derive(Clone, Debug, PartialEq)]
pub enum Implausible {
    /// The reading as a whole says nothing, for this reason.
    Rejected(String),
    /// This number is below 0 or not finite.
    NoNumber(f64),
    /// All bits of its field are set, which gives this number.
    AllBitsSet(f64),
    /// It is above the most that its field can mean.
    Above {
        /// The value, in per cent.
        percent: f64,
        /// The most, in per cent.
        most: f64,
    },
    /// Two counts of erases have the wrong order.
    Order {
        /// The count that must be the smaller one, and its value.
        small: (&'static str, f64),
        /// The count that must be the larger one, and its value.
        large: (&'static str, f64),
    },
    /// The used life and the life that is left do not add up.
    Sum {
        /// Used, in per cent.
        used: f64,
        /// Left, in per cent.
        left: f64,
    },
    /// The wear of an earlier reading was higher.
    Healed {
        /// The earlier value, in the unit of the judged one.
        from: f64,
        /// The judged value.
        to: f64,
    },
    /// The wear has grown faster than any card wears.
    TooFast {
        /// The earlier value, in per cent.
        from: f64,
        /// The judged value, in per cent.
        to: f64,
        /// The time between both, in seconds.
        seconds: f64,
    },
}

/// No card wears faster, in per cent an hour: writing a card of 64 MiB without pause comes near it.
const PERCENT_AN_HOUR_MAX: f64 = 5.0;

/// The most that the percentage used of an NVMe or ATA device can be: a field of one byte, which stays at 255
/// from there on.
const RATED_LIFE_USED_MAX: f64 = 255.0;

/// The numbers that fields of 16 bits in hundredths hold where all their bits are set.
const ALL_SET: [f64; 4] = [655.35, 65_535.0, 4_294_967_295.0, 255.0];

/// Judges `reading`, also against an `earlier` one of the same device.
#[must_use]
pub fn judge(reading: &Reading, earlier: Option<&Reading>) -> Vec<Judged> {
    let of_value = |value: &Value| {
        reading
            .rejected
            .clone()
            .map(Implausible::Rejected)
            .or_else(|| by_itself(value))
            .or_else(|| against_others(value, &reading.values))
            .or_else(|| against_earlier(value, reading, earlier?))
    };
    let values = reading.values.iter();
    values.map(|value| Judged { value: value.clone(), reason: of_value(value) }).collect()
}

fn by_itself(value: &Value) -> Option<Implausible> {
    let number = value.value;
    if !number.is_finite() || number < 0.0 {
        return Some(Implausible::NoNumber(number));
    }
    let (set, most) = match value.unit {
        Unit::PercentUsed | Unit::PercentLeft => (&ALL_SET[..], 100.0),
        Unit::RatedLifeUsed => (&ALL_SET[..3], RATED_LIFE_USED_MAX),
        Unit::Count | Unit::Level | Unit::BytesWritten => (&ALL_SET[1..3], f64::INFINITY),
    };
    if set.iter().any(|set| (number - set).abs() < 1e-6) {
        return Some(Implausible::AllBitsSet(number));
    }
    (number > most).then_some(Implausible::Above { percent: number, most })
}

/// Erase counts that contradict each other.
fn against_others(value: &Value, all: &[Value]) -> Option<Implausible> {
    let named = |name: &str| all.iter().find(|other| other.name == name).map(|other| other.value);
    let order = [
        ("erases_min", "erases_average"),
        ("erases_average", "erases_max"),
        ("erases_max", "erases_total"),
    ];
    for (small, large) in order {
        if (value.name == small || value.name == large)
            && let (Some(less), Some(more)) = (named(small), named(large))
            && less > more
        {
            return Some(Implausible::Order { small: (small, less), large: (large, more) });
        }
    }
    // Both ways of telling the same must agree, to what rounding does. A used up life has 0 % left.
    if let (Some(used), Some(left)) = (named("life_used"), named("life_left"))
        && matches!(value.name, "life_used" | "life_left")
        && (used.min(100.0) + left - 100.0).abs() > 11.0
    {
        return Some(Implausible::Sum { used, left });
    }
    None
}

fn against_earlier(value: &Value, reading: &Reading, earlier: &Reading) -> Option<Implausible> {
    if earlier.rejected.is_some() {
        return None;
    }
    let before = earlier.values.iter().find(|other| other.name == value.name)?;
    if by_itself(before).is_some() {
        return None;
    }
    let used = match value.unit {
        Unit::PercentUsed | Unit::RatedLifeUsed | Unit::Count | Unit::BytesWritten => {
            value.value - before.value
        }
        Unit::PercentLeft => before.value - value.value,
        Unit::Level => return None,
    };
    if used < 0.0 {
        return Some(Implausible::Healed { from: before.value, to: value.value });
    }
    let hours = (reading.time_s? - earlier.time_s?) / 3600.0;
    let is_percent =
        matches!(value.unit, Unit::PercentUsed | Unit::RatedLifeUsed | Unit::PercentLeft);
    // The next step may have been near.
    let step = value.step().max(1.0);
    if is_percent && hours >= 0.0 && used > step + PERCENT_AN_HOUR_MAX * hours {
        let (from, to) = (before.value, value.value);
        return Some(Implausible::TooFast { from, to, seconds: hours * 3600.0 });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(values: &[(&'static str, f64, Unit)], time_s: f64) -> Reading {
        let values = values
            .iter()
            .map(|&(name, value, unit)| Value::rounded(name, value, unit, 1.0))
            .collect();
        Reading { values, time_s: Some(time_s), rejected: None }
    }

    fn reasons(reading: &Reading, earlier: Option<&Reading>) -> Vec<Option<Implausible>> {
        judge(reading, earlier).into_iter().map(|judged| judged.reason).collect()
    }

    #[test]
    fn a_sound_reading_passes() {
        let sound = reading(
            &[
                ("life_left", 99.97, Unit::PercentLeft),
                ("erases_min", 1.0, Unit::Count),
                ("erases_average", 1.0, Unit::Count),
                ("erases_max", 5.0, Unit::Count),
                ("erases_total", 1380.0, Unit::Count),
            ],
            0.0,
        );
        assert!(reasons(&sound, None).iter().all(Option::is_none));
    }

    #[test]
    fn what_cannot_be_is_rejected_with_the_reason() {
        let used =
            |percent: f64, time: f64| reading(&[("life_used", percent, Unit::PercentUsed)], time);
        let healed = Implausible::Healed { from: 27.0, to: 20.0 };
        let fast = Implausible::TooFast { from: 27.0, to: 60.0, seconds: 36.0 };
        for (now, earlier, expected) in [
            (used(199.0, 36.0), Some(27.0), Implausible::Above { percent: 199.0, most: 100.0 }),
            (used(655.35, 0.0), None, Implausible::AllBitsSet(655.35)),
            (used(60.0, 36.0), Some(27.0), fast),
            (used(20.0, 1e6), Some(27.0), healed),
            (used(-1.0, 0.0), None, Implausible::NoNumber(-1.0)),
        ] {
            let earlier = earlier.map(|percent| used(percent, 0.0));
            assert_eq!(reasons(&now, earlier.as_ref()), [Some(expected)]);
        }
        let not_a_number = reasons(&used(f64::NAN, 0.0), None);
        assert!(matches!(not_a_number[..], [Some(Implausible::NoNumber(_))]), "{not_a_number:?}");
        let counts = [("erases_average", 900.0, Unit::Count), ("erases_max", 5.0, Unit::Count)];
        assert!(reasons(&reading(&counts, 0.0), None).iter().all(Option::is_some));
        let both = [("life_used", 80.0, Unit::PercentUsed), ("life_left", 90.0, Unit::PercentLeft)];
        assert!(reasons(&reading(&both, 0.0), None).iter().all(Option::is_some));
    }

    /// NVM Express allows 0 to 255: a device may work for long after its rated life.
    #[test]
    fn a_device_beyond_its_rated_life_is_a_reading() {
        for percent in [100.0, 101.0, 104.0, 123.0, 254.0, 255.0] {
            let now = reading(&[("life_used", percent, Unit::RatedLifeUsed)], 0.0);
            assert_eq!(reasons(&now, None), [None], "{percent}");
        }
        for impossible in [256.0, 300.0, 655.35, -1.0] {
            let now = reading(&[("life_used", impossible, Unit::RatedLifeUsed)], 0.0);
            assert!(reasons(&now, None)[0].is_some(), "{impossible}");
        }
    }

    /// From 9.9 % to 10.1 % is a step from one band to the next.
    #[test]
    fn a_band_may_change_within_a_minute() {
        let code = |code: u8, time_s| Reading {
            values: vec![Value::band("life_used_a", code)],
            time_s: Some(time_s),
            rejected: None,
        };
        assert_eq!(reasons(&code(2, 60.0), Some(&code(1, 0.0))), [None]);
        let jumped = reasons(&code(5, 60.0), Some(&code(1, 0.0)));
        assert!(matches!(jumped[..], [Some(Implausible::TooFast { .. })]), "{jumped:?}");
    }

    #[test]
    fn a_rejected_earlier_reading_accuses_nobody() {
        let wrong = reading(&[("life_used", 199.0, Unit::PercentUsed)], 0.0);
        let sound = reading(&[("life_used", 27.0, Unit::PercentUsed)], 36.0);
        assert_eq!(reasons(&sound, Some(&wrong)), [None]);
    }
}
