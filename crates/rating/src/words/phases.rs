//! Why a phase has no figure, or none that is sound, in words.

use std::fmt;

use cardproof_facts::GRADED_RANGE_MIN;

use crate::pick::{NoFigure, OtherSequential};
use crate::sound::Unsound;

impl fmt::Display for NoFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StatedAlone => {
                "another tool stated the figure without an interval, so its uncertainty is unknown"
            }
            Self::Unusable => "its figure is unusable",
            Self::RunEnded => "the run ended before it",
            Self::NoSuchPhase => "this run has no such phase",
            Self::NotMeasured(cause) => cause,
            Self::CutShort => "the phase was cut short",
            Self::Missing => "its figure is missing",
            Self::OfNewerVersion => "its state is from a newer version of cardproof",
        })
    }
}

/// That the test range was too small for a grade.
#[must_use]
pub fn range_too_small() -> String {
    format!("the test range was smaller than {GRADED_RANGE_MIN}")
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doubt: &dyn fmt::Display = match self {
            Self::NoFigure(cause) => return cause.fmt(f),
            Self::InDoubt(warning) => warning,
            Self::RangeSmall => &range_too_small(),
            Self::Short => &"the test took less than a second",
        };
        write!(f, "its figure is in doubt: {doubt}")
    }
}

impl fmt::Display for OtherSequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.block {
            None => "through the page cache".to_owned(),
            Some(block) => format!("in blocks of {block}"),
        };
        write!(f, "measured only {how} ({}), which is not compared", self.rate)
    }
}
