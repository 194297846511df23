//! Times as tracing tools print them: seconds with a fraction.

use cardproof_units::Nanos;

/// Seconds with a fraction of one to nine digits, exactly; `None` for anything else.
pub(crate) fn nanos(text: &str) -> Option<Nanos> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_of_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_of_digits(seconds) || !is_of_digits(fraction) || !(1..=9).contains(&fraction.len()) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    Some(Nanos(seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_digits_are_a_time() {
        assert_eq!(nanos("1.000001"), Some(Nanos(1_000_001_000)));
        assert_eq!(nanos("0.123456789"), Some(Nanos(123_456_789)));
        for text in ["1", "1.", ".5", "+1.5", "1.-5", "1.0000000001", "99999999999999999999.0"] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }
}
