//! The HTTP side: what is answered, and how the hub stays upright under hostile clients.

mod api;
mod body;
mod cards;
mod crowd;
mod data;
mod figures;
pub mod found;
mod guard;
mod hosts;
mod html;
pub mod limits;
pub mod metrics;
mod moderation;
mod ops;
mod pair;
mod query;
mod robots;
mod routes;
mod search;
mod server;
mod who;

pub use routes::router;
pub use server::{Limits, serve};

use std::sync::Arc;
use std::time::Instant;

use crate::db::Db;
use crate::dump::Dump;
use crate::index::Index;
use crate::ranking::Rankings;
use crate::store::keep::Keeper;
use crate::store::pseudonyms::Pseudonyms;
use metrics::Metrics;

/// What every request has.
#[derive(Clone, Debug)]
pub struct Hub {
    /// The database.
    pub db: Db,
    /// Where new submissions are handed in.
    pub keeper: Keeper,
    /// What all records say.
    pub index: Arc<Index>,
    /// Orders that are shown again.
    pub rankings: Arc<Rankings>,
    /// What tests of all cards have found.
    pub found: Arc<found::Found>,
    /// What stands for submitters.
    pub pseudonyms: Arc<Pseudonyms>,
    /// The dump.
    pub dump: Arc<Dump>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// How often each client has tried to submit.
    pub attempts: Arc<limits::Attempts>,
    /// What readers have reported today.
    pub reports: Arc<limits::Reports>,
    /// When this process began.
    pub started: Instant,
    /// What the operator has chosen.
    pub options: Arc<Options>,
    /// How many bodies of each client are in memory.
    pub bodies: Arc<crowd::Crowd>,
    /// Bytes of bodies that may be in memory at once.
    pub body_budget: Arc<tokio::sync::Semaphore>,
    /// Documents that may be read and judged at once.
    pub judges: Arc<tokio::sync::Semaphore>,
}

/// What the operator has chosen.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The address under which people reach the hub, without a slash at its end. No link follows what a client sends.
    pub public_url: String,
    /// Whether a proxy in front names the client in `X-Forwarded-For`.
    pub is_behind_proxy: bool,
    /// The most submissions of a client in an hour; 0 for no limit.
    pub submissions_per_hour: u32,
    /// How many submitters must agree before a board, a host or a name that they have written is shown.
    pub submitters_min: usize,
    /// The most records of a submitter that is new; more wait for an administrator's look.
    pub first_records: usize,
}

/// Bytes of bodies that all requests together may hold.
pub const BODY_BUDGET_BYTES: usize = 32 << 20;

/// Documents that are read and judged at once: one for each processor, at most four.
#[must_use]
pub fn judges() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().min(4))
}

impl Hub {
    /// A hub over `db`, on the runtime that this is called on.
    #[must_use]
    pub fn new(db: Db, index: Index, dump: Dump, secret: &str, options: Options) -> Self {
        let index = Arc::new(index);
        Self {
            keeper: Keeper::start(db.clone(), Arc::clone(&index), secret.into()),
            db,
            index,
            rankings: Arc::new(Rankings::new(options.submitters_min)),
            found: Arc::default(),
            pseudonyms: Arc::default(),
            dump: Arc::new(dump),
            metrics: Arc::default(),
            attempts: Arc::new(limits::Attempts::new(options.submissions_per_hour)),
            reports: Arc::default(),
            started: Instant::now(),
            options: Arc::new(options),
            bodies: Arc::default(),
            body_budget: Arc::new(tokio::sync::Semaphore::new(BODY_BUDGET_BYTES)),
            judges: Arc::new(tokio::sync::Semaphore::new(judges())),
        }
    }
}
