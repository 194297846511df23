//! Why a phase has no figure, or none that is sound, in words.

use std::fmt;

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

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let doubt: &dyn fmt::Display = match self {
            Self::NoFigure(cause) => return cause.fmt(f),
            Self::InDoubt(warning) => warning,
            Self::RangeSmall => &"the test range was smaller than 16 MiB",
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
