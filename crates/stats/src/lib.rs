//! What can be said of a measurement, and how surely: histograms of latencies, rates with
//! intervals that allow for a card's pauses and drift, levels, repeated runs, comparisons.
//!
//! Pure: numbers in, numbers out. Each method states what it assumes and where it is from.

mod batches;
mod boundary;
mod latency;
mod levels;
mod percentile;
mod rank;
mod rate;
mod ratio;
mod runs;
mod sequence;
mod series;
mod steady;
mod student;

pub use boundary::MixtureBoundary;
pub use latency::{LatencyBucket, LatencyHistogram, LatencySummary};
pub use levels::{LEAST_CHANGE, RateLevel, levels};
pub use percentile::LatencyInterval;
pub use rank::rank_correlation;
pub use rate::RateInterval;
pub use ratio::RatioInterval;
pub use runs::{RunRate, Variation, geometric_mean, outliers};
pub use sequence::RateSequence;
pub use series::{Slice, TimeSeries};
pub use steady::{STEADY_WINDOW, SteadyState};
pub use student::t_quantile;
