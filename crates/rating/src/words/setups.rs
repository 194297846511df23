//! What follows from compared setups, in words: only what was surely measured, and with its price.

use cardproof_record::{SetupComparison, SetupRatio, SetupResult, SetupUse};
use cardproof_units::{rounded_down, rounded_up};

use crate::setups::gains;

use super::wording;

/// What to make of `comparison`, in sentences; nothing where its figures are in doubt.
#[must_use]
pub fn setup_advice(comparison: &SetupComparison) -> Vec<String> {
    if !comparison.doubts.is_empty() {
        return Vec::new();
    }
    comparison.jobs().iter().flat_map(|(job, deed)| of_job(comparison, job, deed)).collect()
}

fn of_job(comparison: &SetupComparison, job: &str, deed: &str) -> Vec<String> {
    let Some(faster) = gains(comparison, job) else { return Vec::new() };
    let (deed, baseline) = (wording::sentence(deed), &comparison.baseline);
    if faster.is_empty() {
        return vec![format!("{deed}: nothing was faster than {baseline} with certainty.")];
    }
    faster.iter().map(|(result, ratio)| sentence(&deed, result, *ratio, baseline)).collect()
}

fn sentence(deed: &str, result: &SetupResult, ratio: SetupRatio, baseline: &str) -> String {
    let SetupResult { setup, costs, .. } = result;
    let faster = format!("{deed}: {setup} is {} as fast as {baseline}", ratio_in_words(ratio));
    match result.fit_for {
        SetupUse::Anything => format!("{faster}. What it means: {costs}."),
        SetupUse::StorageOnly => {
            format!("{faster}. Use it for files only: {costs}.")
        }
        SetupUse::Nothing => {
            format!("{faster}, but this is not recommended: {costs}.")
        }
    }
}

/// An interval over more than this says nothing but its ends.
const UNEVEN_FROM: f64 = 10.0;

/// How many times as fast a setup is, such as `2.00 times (1.90 to 2.10)`. Of an interval over an order of magnitude
/// only what is certain is told: `more than 13 times`.
#[must_use]
pub fn ratio_in_words(ratio: SetupRatio) -> String {
    let SetupRatio { estimate, low, high } = ratio;
    if high <= UNEVEN_FROM * low {
        let (low, high) = (rounded_down(low, digits(low)), rounded_up(high, digits(high)));
        return format!("{estimate:.*} times ({low} to {high})", digits(estimate));
    }
    match (low, high) {
        (low, _) if low >= 2.0 => format!("more than {} times", rounded_down(low, 0)),
        (low, _) if low > 1.0 => format!("more than {} times", rounded_down(low, 1)),
        (_, high) if high < 1.0 => format!("less than {} times", rounded_up(high, 2)),
        _ => "too uneven to compare".to_owned(),
    }
}

/// How many decimals of a ratio a reader needs.
fn digits(ratio: f64) -> usize {
    if ratio < 9.995 { 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use cardproof_record::{Warning, WarningCode};

    use super::*;

    fn result(setup: &str, rate: f64, ratio: Option<[f64; 3]>) -> SetupResult {
        SetupResult {
            setup: setup.to_owned(),
            job: "fsync-4k".to_owned(),
            deed: "4 KiB writes, fsync after each".to_owned(),
            unit: "writes/s".to_owned(),
            rates: vec![rate],
            mean: Some(rate),
            ratio: ratio.map(|[estimate, low, high]| SetupRatio { estimate, low, high }),
            not_measured: None,
            costs: "its price".to_owned(),
            fit_for: SetupUse::Anything,
        }
    }

    /// ext4, and f2fs that is surely twice as fast.
    fn comparison() -> SetupComparison {
        SetupComparison {
            title: "File systems".to_owned(),
            baseline: "ext4".to_owned(),
            confidence: 0.95,
            results: vec![result("ext4", 50.0, None), result("f2fs", 100.0, Some([2.0, 1.9, 2.1]))],
            doubts: Vec::new(),
        }
    }

    #[test]
    fn only_a_setup_that_is_faster_with_certainty_is_advised() {
        let mut comparison = comparison();
        comparison.results.push(result("vfat", 60.0, Some([1.2, 0.9, 1.6])));
        assert_eq!(
            setup_advice(&comparison),
            ["4 KiB writes, fsync after each: f2fs is 2.00 times (1.90 to 2.10) as fast as ext4. \
              What it means: its price."]
        );
    }

    #[test]
    fn of_an_uneven_ratio_only_what_is_certain_is_told() {
        let words = |estimate, low, high| ratio_in_words(SetupRatio { estimate, low, high });
        assert_eq!(words(60.57, 13.43, 273.20), "more than 13 times");
        assert_eq!(words(6.0, 1.29, 28.0), "more than 1.2 times");
        assert_eq!(words(0.01, 0.001, 0.151), "less than 0.16 times");
        assert_eq!(words(2.0, 0.5, 8.0), "too uneven to compare");
        assert_eq!(words(12.3, 11.4, 13.6), "12 times (11 to 14)");
    }

    #[test]
    fn an_uncertain_gain_is_no_advice() {
        let mut comparison = comparison();
        comparison.results[1].ratio = Some(SetupRatio { estimate: 3.0, low: 0.9, high: 9.0 });
        let advice = setup_advice(&comparison);
        assert_eq!(advice.len(), 1);
        assert!(advice[0].ends_with("nothing was faster than ext4 with certainty."), "{advice:?}");
    }

    #[test]
    fn figures_in_doubt_are_no_ground_for_advice() {
        let mut comparison = comparison();
        let message = "it is all memory".to_owned();
        comparison.doubts.push(Warning::stated(WarningCode::Memory, message));
        assert_eq!(setup_advice(&comparison), Vec::<String>::new());
    }

    #[test]
    fn a_setup_that_loses_data_is_never_advised() {
        let mut comparison = comparison();
        comparison.results[1].fit_for = SetupUse::Nothing;
        assert!(setup_advice(&comparison)[0].contains("not recommended: its price"));
    }
}
