//! Indications in sentences: where a stated figure lies beside a limit.

use std::fmt;

use cardproof_record::{Indication, Record};

use crate::indications::{But, Ground, Indicated, Nothing, Place, indicated, telling};
use crate::quantity::Rate;
use crate::stated::NoPass;

/// The indications of `record` for each class, in the order of the classes. A class without a figure has
/// none. There are none at all if the figures have intervals or if wrong data was found.
#[must_use]
pub fn indications(record: &Record) -> Vec<Indication> {
    indicated(record).iter().map(in_words).collect()
}

/// Those indications of `record` that tell something: of the application classes, unless they are unclear because nothing
/// random was measured, and of the most demanding recording class that is likely met and the least demanding that is
/// likely missed.
#[must_use]
pub fn telling_indications(record: &Record) -> Vec<Indication> {
    telling(record).iter().map(in_words).collect()
}

fn in_words(indicated: &Indicated) -> Indication {
    Indication {
        rule: indicated.class.name.to_owned(),
        outcome: indicated.outcome,
        basis: indicated.basis.iter().map(ToString::to_string).collect(),
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Includes(class) => {
                write!(f, "{class}, which this class includes, is probably not passed")
            }
            Self::PublishedHave(slowest) => write!(
                f,
                "sequential write: not measured; every published card with such random writes has {slowest} or more"
            ),
            Self::Nothing { quantity, why } => {
                write!(f, "{}, which decides, was {}", quantity.label(), why.words())
            }
            Self::Figure { quantity, rate, tool, count, at_least, place, is_cache_unknown } => {
                let cache = if *is_cache_unknown {
                    "; it is unknown whether the page cache was used"
                } else {
                    ""
                };
                let (label, source) = (quantity.label(), source(tool, *count));
                write!(f, "{label}: {rate} ({source}), {}{cache}", place.in_words(*at_least))
            }
        }
    }
}

impl Nothing {
    const fn words(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured",
            Self::RateLimited => "measured under a limit of its own rate",
            Self::Synced => "measured with syncs, which cost more than the class allows for",
            Self::Buffered => "measured through the page cache",
            Self::DepthUnknown => "measured at a queue depth that is not told",
        }
    }
}

impl Place {
    fn in_words(self, limit: Rate) -> String {
        let but = |but: Option<But>| but.map_or("", But::words);
        match self {
            Self::Above(why) => format!("well above the limit of {limit}{}", but(why)),
            Self::Near => format!("too close to the limit of {limit}"),
            Self::Below(None) => format!("well below the limit of {limit}"),
            Self::Below(why) => format!("below the limit of {limit}{}", but(why)),
        }
    }
}

impl But {
    /// The end of a sentence.
    const fn words(self) -> &'static str {
        match self {
            Self::PageCache => ", but the page cache may have been used, so it may be of memory",
            Self::NoPass(NoPass::Short) => ", but the test took less than a second",
            Self::NoPass(NoPass::PerhapsMemory) => {
                ", but the data may have been written to memory alone (the page cache)"
            }
            Self::OtherDepth => ", which is for queue depth 32",
            Self::QueueUnknown => {
                ", but it is unknown whether the host used the card's command queue"
            }
            Self::QueueUnused => ", but the host did not use the card's command queue",
            Self::SmallBlocks => ", but larger blocks may be faster",
        }
    }
}

/// Such as `one iozone figure`.
fn source(tool: &str, count: usize) -> String {
    match count {
        1 => format!("one {tool} figure"),
        _ => format!("mean of {count} {tool} figures"),
    }
}
