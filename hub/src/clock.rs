//! The time of day: the only place that asks for it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 in UTC.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A moment as RFC 3339, to the second.
#[must_use]
pub fn rfc3339(ms: i64) -> String {
    let moment = jiff::Timestamp::from_second(ms.div_euclid(1000)).unwrap_or_default();
    moment.to_string()
}

/// The day of a moment: `2026-11-22`.
#[must_use]
pub fn day(ms: i64) -> String {
    rfc3339(ms).chars().take(10).collect()
}

/// The month of a moment: `2026-11`.
#[must_use]
pub fn month(ms: i64) -> String {
    rfc3339(ms).chars().take(7).collect()
}

/// The quarter of a moment: `2026-Q4`.
#[must_use]
pub fn quarter(ms: i64) -> String {
    let month = month(ms);
    let (year, number) = month.split_once('-').unwrap_or((&month, ""));
    format!("{year}-Q{}", (number.parse::<u32>().unwrap_or(1) - 1) / 3 + 1)
}

/// The days from 1970 to the day called `text`, such as `2026-01-31`.
#[must_use]
pub fn days(text: &str) -> Option<i32> {
    let day: jiff::civil::Date = text.parse().ok()?;
    Some((day - jiff::civil::date(1970, 1, 1)).get_days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_days_and_months() {
        let ms = 1_795_346_038_123;
        assert_eq!(rfc3339(ms), "2026-11-22T11:13:58Z");
        assert_eq!((day(ms).as_str(), month(ms).as_str()), ("2026-11-22", "2026-11"));
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!((quarter(ms).as_str(), quarter(0).as_str()), ("2026-Q4", "1970-Q1"));
        assert_eq!((days("1970-01-02"), days("2026-02-30")), (Some(1), None));
    }
}
