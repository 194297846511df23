//! Facts that measuring, judging and the experiments share, each in one place.

mod classes;

pub use classes::{
    A1, A1_RATES, A2, A2_RATES, CLASSES, Class, Family, RANDOM_BLOCK, RANDOM_QUEUE_DEPTH,
    RANDOM_SPAN, RandomRates,
};

/// The confidence of intervals, verdicts and comparisons, unless the user asks for another.
pub const CONFIDENCE: f64 = 0.99;
