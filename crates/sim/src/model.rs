//! The parameters of a card's model: what a card is made of, with every quantity in its unit.
//!
//! These are plain values. What they do to a request is in the folder `timing`, one
//! behaviour in a file; why these behaviours and not others is told in `docs/design/simulator.md`.

use cardproof_units::{Bytes, Nanos, Throughput};
use serde::{Deserialize, Serialize};

mod heat;
mod service;

pub use heat::{Heat, Throttle};
pub use service::{ByPattern, ByQueue, ServiceTimes};

/// The unit in which flash is addressed inside a card; what is smaller or off its grid costs
/// extra.
pub const PAGE: Bytes = Bytes::kib(4);

/// What a card's flash reads or programs at once over all its planes.
pub const STRIPE: Bytes = Bytes::kib(16);

/// The unit of addresses on the bus.
pub const LOGICAL_BLOCK: Bytes = Bytes(512);

/// A card without its host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// How many bytes it holds; a multiple of [`LOGICAL_BLOCK`].
    pub capacity: Bytes,
    /// The allocation unit: what is erased together. Any multiple of [`PAGE`], also not a power
    /// of two.
    pub allocation_unit: Bytes,
    /// How it reads.
    pub read: Reading,
    /// How it writes.
    pub write: Writing,
    /// The volatile write cache, if it has one.
    pub cache: Option<VolatileCache>,
    /// How many requests its flash can work on at once, 1 to 16; more than 1 is of use only
    /// to a host that queues commands.
    pub ways: u16,
    /// What a discard costs; `None` where the card cannot discard.
    pub discard: Option<Discarding>,
    /// How long it lives.
    pub endurance: Endurance,
    /// How often reads go wrong.
    pub read_errors: ReadErrors,
    /// How far service times scatter.
    pub noise: Noise,
    /// Service times by how a command arrives, where figures tell the arrivals apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceTimes>,
    /// How it warms and throttles, if heat matters to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
}

/// The time a card takes before the data flow, by the size of the request.
///
/// Between [`PAGE`] and [`STRIPE`] it is interpolated; from a stripe up it stays. A request off
/// the page grid is charged what a request below a page is charged more than a page, if it is
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Below one page.
    pub below_page: Nanos,
    /// One page.
    pub page: Nanos,
    /// A stripe or more.
    pub stripe: Nanos,
}

impl Latencies {
    /// No time at all.
    pub const NONE: Self = Self { below_page: Nanos::ZERO, page: Nanos::ZERO, stripe: Nanos::ZERO };
}

/// How a card reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// From the command to the first byte.
    pub latencies: Latencies,
    /// The card's own ceiling; the host's bus may be lower.
    pub rate: Throughput,
    /// The latency where nothing was ever written (or all was discarded).
    pub never_written: Nanos,
    /// What a read costs that lies on both sides of a boundary in the flash.
    pub boundaries: Boundaries,
}

/// What a read costs beside its latency when it lies on both sides of a boundary. Only the larger
/// of the two is charged, and once a command; nothing where nothing was ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boundaries {
    /// What the card reads at once, for its boundaries: a multiple of [`LOGICAL_BLOCK`].
    pub page: Bytes,
    /// The extra time of a read no longer than a page that touches two pages.
    pub page_crossing: Nanos,
    /// The extra time of a read that touches two allocation units.
    pub unit_crossing: Nanos,
}

impl Boundaries {
    /// Boundaries that no read shows.
    pub const NONE: Self =
        Self { page: PAGE, page_crossing: Nanos::ZERO, unit_crossing: Nanos::ZERO };
}

/// How a card writes: by one of two ways of keeping its map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// A map of allocation units with a log for small writes (before A1).
    Hybrid(Hybrid),
    /// A map of pages (A1 and later, eMMC).
    PageMap(PageMap),
}

/// A map of allocation units: a few are open and written from front to back; any other write
/// copies a unit. Small writes go to a log, whose merging copies units later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// The time of every write command.
    pub latency: Nanos,
    /// The rate at which data from the host are programmed.
    pub rate: Throughput,
    /// The rate at which the card copies its own data.
    pub copy_rate: Throughput,
    /// The time to erase an allocation unit.
    pub erase: Nanos,
    /// How many allocation units may be open, 1 to 32.
    pub open_units: u16,
    /// Non-sequential writes shorter than this go to the log.
    pub log_below: Bytes,
    /// How many slots the log has.
    pub log_slots: u32,
    /// How many bytes a slot takes; a write takes whole slots.
    pub log_slot: Bytes,
    /// How many allocation units may have data in the log at a time; `None` for any number.
    pub log_units: Option<u16>,
    /// The extra time of a write to the log.
    pub log_latency: Nanos,
    /// The front part of the card that copes with small writes, for the file allocation table.
    pub fat_zone: Bytes,
}

/// A map of pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMap {
    /// The time of a write command beside its data.
    pub latencies: Latencies,
    /// The rate at which data are programmed.
    pub rate: Throughput,
    /// The extra time of a write that continues none of the recent ones.
    pub random: Nanos,
    /// The fast part of the flash, if there is one.
    pub slc: Option<SlcCache>,
    /// Pauses to tidy up, if any.
    pub garbage: Option<GarbageCollection>,
    /// The part of the map held in the controller's memory, if not all of it.
    pub map_cache: Option<MapCache>,
}

/// Flash used with one bit a cell: fast until it is full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// How many bytes fit.
    pub size: Bytes,
    /// The rate at which data are written when it is full.
    pub rate_when_full: Throughput,
    /// The rate at which an idle card empties it.
    pub idle_fold_rate: Throughput,
}

/// A pause after so many bytes of non-sequential writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GarbageCollection {
    /// How many bytes of pages are written out of sequence between pauses, on average. Writes of
    /// 128 KiB and more do not count.
    pub every: Bytes,
    /// How long a pause takes on average. The SD specification lets a card be busy for 250 ms.
    pub pause: Nanos,
}

/// How much of the map is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapCache {
    /// How many bytes of the card the map at hand covers.
    pub reach: Bytes,
    /// How many bytes of the card one fetched piece of the map covers.
    pub segment: Bytes,
    /// The time to fetch a piece.
    pub miss: Nanos,
}

/// Memory that answers writes before the flash has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolatileCache {
    /// How many bytes fit.
    pub size: Bytes,
    /// The time of a flush beside the writing itself.
    pub flush: Nanos,
    /// What a write from the cache takes beside its data, in percent of what it takes without:
    /// less than 100 where the card combines writes.
    pub latency_percent: u32,
}

/// What a discard costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discarding {
    /// The time of every discard command.
    pub latency: Nanos,
    /// The time for each allocation unit touched.
    pub per_unit: Nanos,
    /// Whether as much as was discarded can be written again before the card tidies up; for cards with a
    /// page map.
    #[serde(default)]
    pub frees_room: bool,
}

/// How long a card lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endurance {
    /// How often an allocation unit can be erased.
    pub cycles: u32,
    /// How many units stand in for worn ones; with the last of them the card turns read-only.
    pub spare_units: u32,
}

/// How often a read needs a second attempt, or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadErrors {
    /// Reads in a million that are tried again.
    pub retries_ppm: u32,
    /// The time of another attempt.
    pub retry: Nanos,
    /// Reads in a thousand million that fail on new flash.
    pub lost_ppb_new: u32,
    /// Reads in a thousand million that fail at the end of the rated life; between, in
    /// proportion to the wear.
    pub lost_ppb_worn: u32,
}

impl ReadErrors {
    /// Reads that never go wrong.
    pub const NONE: Self =
        Self { retries_ppm: 0, retry: Nanos::ZERO, lost_ppb_new: 0, lost_ppb_worn: 0 };
}

/// How far service times scatter around the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// One standard deviation of a service time, in thousandths of it; at most 250.
    pub spread_permille: u32,
    /// How far the speed wanders to either side, in thousandths; at most 500.
    pub drift_permille: u32,
    /// How long it takes to wander there and back.
    pub drift_period: Nanos,
}

impl Noise {
    /// The same request always takes the same time.
    pub const NONE: Self =
        Self { spread_permille: 0, drift_permille: 0, drift_period: Nanos::from_secs(1) };
}
