//! How much is written and where: known before the first write.

use cardproof_units::{Bytes, Nanos, Seed};

/// What the probe may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope {
    /// How large the target is.
    pub size: Bytes,
    /// The unit of its addresses.
    pub logical_block: Bytes,
    /// Whether it may be overwritten.
    pub may_write: bool,
    /// Whether its first byte is the card's first byte.
    pub is_whole_device: bool,
    /// The allocation unit that the card's registers report, if they do.
    pub reported_unit: Option<Bytes>,
    /// Seed for addresses and data.
    pub seed: Seed,
}

/// What the probe will do within a scope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub(super) scope: Scope,
    /// How much one sweep writes at most.
    pub(super) sweep: Bytes,
    /// How long one sweep may take.
    pub(super) sweep_time: Nanos,
}

/// The most that one sweep writes: more than the SLC caches of cards of 64 GB and less.
const SWEEP_MOST: Bytes = Bytes::gib(2);

/// A sweep ends after this time: on a slow card, less is written.
const SWEEP_TIME: Nanos = Nanos::from_secs(150);

/// The smallest target in which anything is written: six allocation units of the smaller kind.
pub(super) const WRITABLE_LEAST: Bytes = Bytes::mib(64);

/// Enough for all quantities on cards with allocation units of 16 MiB and less.
const RANGE_WANTED: Bytes = Bytes::mib(768);

/// What all steps but the sweeps write at most: places in turn, sizes, the front.
const REST_MOST: Bytes = Bytes::mib(1400);

/// The sweeps that are announced: two whole ones, and as much again while the cache recovers.
const SWEEPS: u64 = 3;

impl Plan {
    /// What will be done within `scope`.
    #[must_use]
    pub fn new(scope: Scope) -> Self {
        let half = Bytes(scope.size.get() / 2).round_down_to(Bytes::mib(1));
        Self { scope, sweep: SWEEP_MOST.min(half), sweep_time: SWEEP_TIME }
    }

    /// Whether anything is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.scope.may_write && self.scope.size >= WRITABLE_LEAST
    }

    /// Whether writing is allowed, and only the size of the target forbids it.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        self.scope.may_write && !self.writes()
    }

    /// A range that suffices for all quantities on most cards.
    #[must_use]
    pub const fn range_wanted() -> Bytes {
        RANGE_WANTED
    }

    /// The most that is written.
    #[must_use]
    pub fn bytes_most(&self) -> Bytes {
        if self.writes() { Bytes(SWEEPS * self.sweep.get() + REST_MOST.get()) } else { Bytes::ZERO }
    }
}
