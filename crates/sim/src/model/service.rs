//! Service times by how a command arrives, for cards whose figures tell the arrivals apart.
//!
//! One latency and one extra time for random commands do not describe a card of today: some write
//! 4 KiB in sequence slower than at random, and what a command queue gains differs from one pattern to
//! the next. Here each pattern has its own times, alone and in a queue.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

use super::Latencies;

/// The times of a card's commands beside their data.
///
/// They take the place of [`Reading::latencies`](super::Reading::latencies), of
/// [`PageMap::latencies`](super::PageMap::latencies), of the extra times of random commands and of
/// [`Model::ways`](super::Model::ways). Only the first command of a request pays: the ones behind it
/// continue it without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceTimes {
    /// From this size up a latency stays the same, as from [`STRIPE`](super::STRIPE) on other cards;
    /// more than [`PAGE`](super::PAGE).
    pub stripe: Bytes,
    /// Of reads.
    pub read: ByPattern,
    /// Of writes.
    pub write: ByPattern,
}

/// Times by the place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByPattern {
    /// Where it continues an earlier one.
    pub sequential: ByQueue,
    /// Where it does not.
    pub random: ByQueue,
}

/// Times by what else the card has to do.
///
/// A card with a queue begins with a command while the one before is under way. Such a command takes
/// as long as one alone, but delays the next by less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByQueue {
    /// Of a command that is alone in the card, without the host's part.
    pub alone: Latencies,
    /// How long a command keeps the card from the next one of its queue, with the host's part.
    pub queued: Latencies,
}
