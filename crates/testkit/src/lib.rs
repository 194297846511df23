//! Laboratories and instruments for cardproof's own tests.
//!
//! A laboratory is a piece of the system made for one test and taken down with its value: a loop
//! device, a limit set by the kernel, a mounted file system. Each needs something a machine may
//! lack (root, a controller, a file system); then it says so, and the test is skipped with that
//! reason, see [`lab_or_skip`]. Nothing here is part of the program: it is a development
//! dependency only.

mod browser;
mod command;
mod control_group;
mod error;
mod fio;
mod keeper;
mod kernel_throttle;
mod loop_device;
mod memory_limit;
mod mount;
mod noise;
mod orphans;
pub mod pastes;
pub mod records;
mod schema;
mod skip;
mod state;
mod thorough;
mod throttle;
mod usage;
mod waiting;

pub use browser::page_faults;
pub use command::{require_root, run, run_command};
pub use error::LabError;
pub use fio::{FioEnd, FioEngine, FioJob, FioPattern, FioResult};
pub use kernel_throttle::KernelThrottle;
pub use loop_device::{LoopDevice, identity};
pub use memory_limit::MemoryLimit;
pub use mount::{Filesystem, Mount};
pub use noise::{Noise, exploring_seed};
pub use schema::{schema_faults, schema_faults_of_pairs};
pub use skip::{SKIP_LOG, skip};
pub use state::{Contents, Tree};
pub use thorough::{THOROUGH, few_or_all, some_of};
pub use throttle::{Limits, Throttle};
pub use usage::{Usage, status_and_cpu};
pub use waiting::wait_until;
