//! Runs a profile on a target and fills a record with what it saw.
//!
//! The runner drives a device and a model of one alike. It tells an [`Observer`] what happens and
//! prints nothing; all its times are the target's. What it could not measure it says so of, with
//! the cause; it judges nothing.

mod account;
mod again;
mod anytime;
mod check;
mod events;
mod figures;
mod history;
mod jobs;
mod meter;
mod monitor;
mod parts;
mod phase;
mod plan;
mod pool;
mod repeat;
mod replay;
mod rest;
mod run;
mod shape;
mod span_state;
mod spread;
mod surroundings;
mod undisturbed;
mod warming;

pub use events::{Event, Observer, Progress, Silent};
pub use jobs::{JobProgress, JobWatch, run_job};
pub use monitor::{Monitor, MonitorCost, Observation, Watcher};
pub use plan::Plan;
pub use repeat::{Repeat, run_repeatedly};
pub use replay::{LayoutPlan, LayoutsTried, ReplayPlan, ReplayProgress, replay, replay_layouts};
pub use run::run;
