//! What can be said of a measurement, and how surely: histograms of latencies, rates with
//! intervals that allow for a card's pauses and drift.
//!
//! Pure: numbers in, numbers out. Each method states what it assumes and where it is from.

mod latency;
mod rate;
mod series;

pub use latency::{LatencyBucket, LatencyHistogram, LatencySummary};
pub use rate::RateInterval;
pub use series::{Slice, TimeSeries};
