//! Summaries and pages of records, from good ones to hostile ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod every_field;
mod hostile;
mod jobs;
mod later;
mod metrics;
mod page;
mod reports;
