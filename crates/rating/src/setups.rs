//! Which of the compared setups are faster, by what was surely measured.

use cardproof_record::{SetupComparison, SetupRatio, SetupResult};

/// Less of a gain than this is worth no change.
const GAIN_MIN: f64 = 1.05;

/// The setups that are surely faster at `job` than the one they are compared with, the fastest first; `None` where
/// nothing was compared.
pub(crate) fn gains<'c>(
    comparison: &'c SetupComparison,
    job: &str,
) -> Option<Vec<(&'c SetupResult, SetupRatio)>> {
    let ratios = comparison.of_job(job).filter_map(|result| Some((result, result.ratio?)));
    let ratios: Vec<(&SetupResult, SetupRatio)> = ratios.collect();
    if ratios.is_empty() {
        return None;
    }
    let mut faster: Vec<_> = ratios.into_iter().filter(|(_, ratio)| is_gain(*ratio)).collect();
    faster.sort_by(|a, b| b.1.estimate.total_cmp(&a.1.estimate));
    Some(faster)
}

/// Whether it is surely faster, and by enough to be worth it.
fn is_gain(ratio: SetupRatio) -> bool {
    ratio.low > 1.0 && ratio.estimate >= GAIN_MIN
}
