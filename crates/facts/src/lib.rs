//! Facts that measuring, judging and the experiments share, each in one place.

mod classes;
mod published;

pub use classes::{
    A1, A1_RATES, A2, A2_RATES, CLASSES, Class, Family, GRADED_RANGE_MIN, RANDOM_BLOCK,
    RANDOM_QUEUE_DEPTH, RANDOM_SPAN, RandomRates,
};

pub use published::{PUBLISHED_CARDS, PUBLISHED_METHOD, PUBLISHED_SOURCE, PublishedCard};

/// The confidence of intervals, verdicts and comparisons, unless the user asks for another.
pub const CONFIDENCE: f64 = 0.99;
