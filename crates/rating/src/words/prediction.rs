//! Predicted times of jobs in words.

use std::fmt;

use cardproof_facts::PUBLISHED_CARDS;
use cardproof_units::Nanos;

use crate::prediction::{Method, NoPrediction, PredictedJob, Prediction};

impl fmt::Display for NoPrediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InDoubt { phase: Some(phase), doubt } => write!(f, "{phase}: {doubt}"),
            Self::InDoubt { phase: None, doubt } => doubt.fmt(f),
            Self::NoWrites(cause) => write!(f, "4 KiB random write, one at a time: {cause}"),
        }
    }
}

impl PredictedJob {
    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Boot => "Starting the system",
            Self::Install => "Installing a desktop (about 400 packages)",
            Self::Removal => "Removing 150 packages",
            Self::Reinstall => "Installing 150 packages again",
        }
    }

    /// As a noun within a sentence.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Boot => "system start",
            Self::Install => "desktop install (about 400 packages)",
            Self::Removal => "removing 150 packages",
            Self::Reinstall => "installing 150 packages again",
        }
    }
}

impl Method {
    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Requests => "cpu + requests (the model)",
            Self::Constant => "constant",
            Self::PerWrite => "c + N / (4k write IOPS)",
            Self::SequentialWrite => "c + N / (sequential write)",
        }
    }
}

impl Prediction {
    /// In a sentence, such as `Installing a desktop (about 400 packages): about 3 min (2.6 to 3.7); best
    /// published card 2.7 min, worst 18 min`.
    #[must_use]
    pub fn text(&self) -> String {
        let times = PUBLISHED_CARDS.map(|card| self.job.published(&card));
        let unit = Unit::from_time(self.time);
        let [best, worst] = [times.iter().min(), times.iter().max()]
            .map(|time| unit.number(time.copied().unwrap_or_default()));
        format!(
            "{}: {}; best published card {best} {unit}, worst {worst} {unit}",
            self.job.label(),
            self.time_in_words(),
            unit = unit.word(),
        )
    }

    /// The time and its range, such as `about 3 min (2.6 to 3.7)`; without the range where a
    /// figure has no interval.
    #[must_use]
    pub fn time_in_words(&self) -> String {
        let unit = Unit::from_time(self.time);
        let time = format!("about {} {}", unit.number(self.time), unit.word());
        match self.high {
            Some(high) if !self.is_bounded => {
                format!("{time} (likely {} to {})", unit.number(self.low), unit.number(high))
            }
            None if !self.is_bounded => time,
            Some(high) => format!("{time} ({} to {})", unit.number(self.low), unit.number(high)),
            None => format!("{time} (at least {})", unit.number(self.low)),
        }
    }
}

/// The unit in which a time is told.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Minutes,
}

impl Unit {
    const fn from_time(time: Nanos) -> Self {
        if time.0 < Nanos::from_secs(60).0 { Self::Seconds } else { Self::Minutes }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Minutes => "min",
        }
    }

    /// The number with as many digits as a prediction can carry: whole seconds, tenths of a
    /// minute below ten.
    fn number(self, time: Nanos) -> String {
        let seconds = time.as_secs_f64();
        match self {
            Self::Seconds => format!("{seconds:.0}"),
            Self::Minutes if seconds < 600.0 => {
                let minutes = seconds / 60.0;
                // Without a tenth that is zero.
                let decimals = usize::from((minutes - minutes.round()).abs() >= 0.05);
                format!("{minutes:.decimals$}")
            }
            Self::Minutes => format!("{:.0}", seconds / 60.0),
        }
    }
}
