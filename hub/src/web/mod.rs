//! The HTTP side: what is answered, and how the hub stays upright under hostile clients.

mod admin;
mod api;
mod body;
mod crowd;
mod data;
mod guard;
mod html;
pub mod limits;
pub mod metrics;
mod ops;
mod rankings;
mod routes;
mod server;

pub use routes::router;
pub use server::{Limits, serve};

use std::sync::Arc;

use crate::db::Db;
use crate::dump::Dump;
use crate::store::catalogue::Catalogue;
use crate::store::keep::Keeper;
use metrics::Metrics;
use rankings::Rankings;

/// What every request has.
#[derive(Clone, Debug)]
pub struct Hub {
    /// The database.
    pub db: Db,
    /// Where new submissions are handed in.
    pub keeper: Keeper,
    /// The names of all models.
    pub catalogue: Arc<Catalogue>,
    /// Rankings that are shown again.
    pub rankings: Arc<Rankings>,
    /// The dump.
    pub dump: Arc<Dump>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// How often each client has tried to submit.
    pub attempts: Arc<limits::Attempts>,
    /// What the operator has chosen.
    pub options: Arc<Options>,
    /// How many bodies of each client are in memory.
    pub bodies: Arc<crowd::Crowd>,
    /// Bytes of bodies that may be in memory at once.
    pub body_budget: Arc<tokio::sync::Semaphore>,
    /// Documents that may be read and judged at once.
    pub judges: Arc<tokio::sync::Semaphore>,
    /// Pages of cards that may be made at once. Each holds hundreds of figures; those that wait for the database hold
    /// nothing yet.
    pub cards: Arc<tokio::sync::Semaphore>,
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
}

/// Bytes of bodies that all requests together may hold.
pub const BODY_BUDGET_BYTES: usize = 32 << 20;

/// Pages of cards that are made at once: twice as many as there are connections to read with.
const CARDS_AT_ONCE: usize = 16;

/// Documents that are read and judged at once: one for each processor, at most four.
#[must_use]
pub fn judges() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().min(4))
}

impl Hub {
    /// A hub over `db`, on the runtime that this is called on.
    #[must_use]
    pub fn new(db: Db, dump: Dump, secret: &str, options: Options) -> Self {
        Self {
            keeper: Keeper::start(db.clone(), secret.into()),
            db,
            catalogue: Arc::default(),
            rankings: Arc::default(),
            dump: Arc::new(dump),
            metrics: Arc::default(),
            attempts: Arc::new(limits::Attempts::new(options.submissions_per_hour)),
            options: Arc::new(options),
            bodies: Arc::default(),
            body_budget: Arc::new(tokio::sync::Semaphore::new(BODY_BUDGET_BYTES)),
            judges: Arc::new(tokio::sync::Semaphore::new(judges())),
            cards: Arc::new(tokio::sync::Semaphore::new(CARDS_AT_ONCE)),
        }
    }
}
