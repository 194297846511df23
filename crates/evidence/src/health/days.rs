//! Days left at the pace so far, from readings that tell the used life in bands.
//!
//! An eMMC tells its life in steps of 10 %. Two readings bound the pace from both sides only if the band
//! has changed. The bounds hold without any assumption but that the pace stays; they are no confidence
//! interval.

/// The used life at one time, in per cent, between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsedAt {
    /// When, in days on any clock.
    pub day: f64,
    /// At least so much is used.
    pub low_percent: f64,
    /// At most so much.
    pub high_percent: f64,
}

/// What readings say of the days left.
#[derive(Clone, Debug, PartialEq)]
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
    pub reason: String,
}

/// A shorter time says nothing of days.
const SPAN_DAYS_MIN: f64 = 0.5;

/// The days left that `readings` show, in any order.
#[must_use]
pub fn days_left(readings: &[UsedAt]) -> DaysLeft {
    let mut sorted = readings.to_vec();
    sorted.sort_by(|one, other| one.day.total_cmp(&other.day));
    let unknown = |reason: &str| DaysLeft {
        estimate: None,
        low: None,
        high: None,
        percent_a_day: None,
        reason: reason.to_owned(),
    };
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return unknown("the device reports no usable wear value");
    };
    if last.day - first.day < SPAN_DAYS_MIN {
        return unknown(
            "there is one reading only, or all are of the same day: the pace needs two readings, days \
             apart",
        );
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
        return unknown("the readings contradict each other: the used life does not grow evenly");
    }
    if most <= 0.0 {
        return unknown("the used life has not changed: the card wears too slowly to tell");
    }
    let low = (100.0 - last.high_percent).max(0.0) / most;
    let middle = |used: &UsedAt| f64::midpoint(used.low_percent, used.high_percent);
    let has_changed = last.low_percent > first.low_percent;
    let pace = (middle(last) - middle(first)) / (last.day - first.day);
    let high = (least > 0.0).then(|| (100.0 - last.low_percent).max(0.0) / least);
    let estimate = (has_changed && pace > 0.0).then(|| (100.0 - middle(last)).max(0.0) / pace);
    let reason = if has_changed {
        "at the pace between the readings, if it stays"
    } else {
        "the used life has stayed in one band, so there is a lower bound only"
    };
    DaysLeft {
        estimate: estimate.map(|days| high.map_or(days, |high| days.clamp(low, high))),
        low: Some(low),
        high,
        percent_a_day: Some((least, most)),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(day: f64, high_percent: f64) -> UsedAt {
        UsedAt { day, low_percent: high_percent - 10.0, high_percent }
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

    #[test]
    fn exact_readings_give_exact_days() {
        let exact = |day, percent| UsedAt { day, low_percent: percent, high_percent: percent };
        let left = days_left(&[exact(0.0, 10.0), exact(100.0, 20.0)]);
        for days in [left.low, left.estimate, left.high] {
            assert!((days.unwrap() - 800.0).abs() < 1e-9, "{left:?}");
        }
    }

    #[test]
    fn what_cannot_be_known_says_why() {
        assert!(days_left(&[]).reason.contains("no usable wear value"));
        assert!(days_left(&[band(0.0, 30.0)]).reason.contains("two readings"));
        let same = days_left(&[band(0.0, 30.0), band(30.0, 30.0)]);
        assert_eq!((same.estimate, same.high), (None, None));
        assert_eq!(same.low, Some(70.0 / 10.0 * 30.0));
        assert!(same.reason.contains("lower bound"));
        let falling = days_left(&[band(0.0, 50.0), band(30.0, 20.0)]);
        assert!(falling.reason.contains("contradict"), "{falling:?}");
    }
}
