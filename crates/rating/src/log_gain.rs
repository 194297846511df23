//! Does a log-structured layer pay? From the ratio of times that a trial measured.
//!
//! A trial begins with a new log, which has free segments enough. A log in use must clean. So a ratio
//! without cleaning is the best that the layer can do, and a small gain is none in use.

use cardproof_record::{LogTrial, TimeRatio};

/// A gain below this is not worth a layer, although it is measured.
const WORTH: f64 = 1.05;

/// What a full log writes for each block that it is given. The emptiest segment of a log that is full
/// to the share f, with writes spread evenly, is full to the share u where f = (u - 1) / ln u (Menon,
/// 1995); to win its free part the rest is moved, so a block costs 1 / (1 - u). Our log is full to 3/4
/// at most: u = 0.54, and 2.2 writes for each. Rounded down.
const FULL_LOG_WRITES: f64 = 2.0;

/// What a trial says of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogGain {
    /// There is a gain that lasts.
    Lasting(TimeRatio),
    /// There is a gain while the log is new, and cleaning costs more than that.
    WhileNew(TimeRatio),
    /// There is no gain.
    None(TimeRatio),
    /// The replays were not compared.
    Unknown,
}

/// Whether the layer of `trial` pays on the card that was tried.
#[must_use]
pub fn log_gain(trial: &LogTrial) -> LogGain {
    let Some(ratio) = trial.ratio else { return LogGain::Unknown };
    let least = if has_cleaned(trial) { WORTH } else { FULL_LOG_WRITES };
    match ratio {
        _ if ratio.low <= 1.0 || ratio.estimate < WORTH => LogGain::None(ratio),
        _ if ratio.estimate < least => LogGain::WhileNew(ratio),
        _ => LogGain::Lasting(ratio),
    }
}

/// Whether cleaning is in the times as it would be in use: at least half of what was written was
/// cleaned again.
const fn has_cleaned(trial: &LogTrial) -> bool {
    2 * trial.cleaned_segments * trial.segment_bytes.get() >= trial.written_bytes.get()
        && trial.cleaned_segments > 0
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;

    fn gain(low: f64, estimate: f64, cleaned_segments: u64) -> LogGain {
        let high = estimate + (estimate - low);
        log_gain(&LogTrial {
            mode: "barriers".to_owned(),
            ratio: Some(TimeRatio { estimate, low, high, confidence: 0.95 }),
            plain_ns: Vec::new(),
            log_ns: Vec::new(),
            written_bytes: Bytes::mib(400),
            asked_bytes: Bytes::mib(200),
            moved_bytes: Bytes::ZERO,
            cleaned_segments,
            segment_bytes: Bytes::mib(4),
            extra: Default::default(),
        })
    }

    #[test]
    fn a_gain_that_cleaning_takes_back_is_none_in_use() {
        assert!(matches!(gain(1.36, 1.43, 0), LogGain::WhileNew(_)));
        assert!(matches!(gain(1.36, 1.43, 49), LogGain::WhileNew(_)));
        assert!(matches!(gain(1.36, 1.43, 50), LogGain::Lasting(_)));
        assert!(matches!(gain(3.4, 4.4, 0), LogGain::Lasting(_)));
    }

    #[test]
    fn what_may_be_chance_or_is_tiny_is_none() {
        assert!(matches!(gain(0.9, 2.5, 0), LogGain::None(_)));
        assert!(matches!(gain(1.01, 1.02, 90), LogGain::None(_)));
        assert!(matches!(gain(0.7, 0.8, 0), LogGain::None(_)));
    }
}
