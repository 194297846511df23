//! Verdicts, limits, comparisons and predictions from records whose truth is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod advice;
mod diagnosis;
mod disturbance;
mod disturbed_cards;
mod flushes;
mod inclusion;
mod indications;
mod integrity;
mod likeness;
mod limits;
mod limits_of_logs;
mod log_causes;
mod meaning;
mod odd_records;
mod prediction;
mod ranges;
mod recording;
mod references;
mod replayed;
mod same_card;
mod stated;
mod test_ranges;
mod verdicts;
