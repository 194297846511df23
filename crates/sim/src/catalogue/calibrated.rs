//! The eight devices whose figures were published, as models.
//!
//! What the figures tell is fitted and lies in [`super::fitted`]. What they cannot tell (open
//! units, the size of the allocation unit, garbage collection, the reach of the map, noise,
//! life) is assumed here, and each card lists it.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::{Card, Kind, Origin, fitted};
use crate::host::Host;
use crate::model::{
    Boundaries, Discarding, Endurance, GarbageCollection, Hybrid, Latencies, MapCache, Model,
    Noise, PageMap, ReadErrors, Reading, VolatileCache, Writing,
};

/// What the figures tell of a card with a hybrid map.
#[derive(Clone, Copy, Debug)]
pub(super) struct HybridFit {
    pub(super) read: Latencies,
    pub(super) read_rate: Throughput,
    pub(super) log_latency: Nanos,
    pub(super) log_slots: u32,
    pub(super) copy_rate: Throughput,
    pub(super) write_rate: Throughput,
}

/// What the figures tell of a card with a page map.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageMapFit {
    pub(super) read: Latencies,
    pub(super) read_rate: Throughput,
    pub(super) write: Latencies,
    pub(super) write_rate: Throughput,
}

const ASSUMED_HYBRID: &[&str] = &[
    "allocation unit",
    "open units",
    "threshold and slot of the log",
    "latency of a write command",
    "erase time",
    "latency where nothing was written",
    "noise",
    "life",
];

const ASSUMED_PAGE_MAP: &[&str] = &[
    "allocation unit",
    "extra time of random writes",
    "garbage collection",
    "reach of the map",
    "latency where nothing was written",
    "discard",
    "noise",
    "life",
];

/// Scatter as seen on real cards from one request to the next, and a slow drift.
pub(super) const NOISE: Noise =
    Noise { spread_permille: 30, drift_permille: 5, drift_period: Nanos::from_secs(20) };

const DISCARD: Discarding = Discarding {
    latency: Nanos::from_micros(800),
    per_unit: Nanos::from_micros(200),
    frees_room: false,
};

/// The cards, oldest first.
pub(super) const CARDS: [Card; 8] = [
    hybrid_card(
        "intenso-class-4",
        "Intenso Class 4, 4 GB (2015)",
        Bytes(3_965_190_144),
        Nanos::from_micros(2_300),
        4,
        fitted::INTENSO_CLASS_4,
    ),
    hybrid_card(
        "sandisk-ultra",
        "SanDisk Ultra, 8 GB (2016)",
        Bytes(7_948_206_080),
        Nanos::from_micros(1_300),
        5,
        fitted::SANDISK_ULTRA,
    ),
    page_map_card(
        "sandisk-industrial",
        "SanDisk Industrial, 8 GB (2018)",
        Bytes(7_948_206_080),
        Nanos::from_micros(130),
        fitted::SANDISK_INDUSTRIAL,
    ),
    page_map_card(
        "sandisk-extreme-plus",
        "SanDisk Extreme Plus, 16 GB (2015)",
        Bytes(15_931_539_456),
        Nanos::from_micros(420),
        fitted::SANDISK_EXTREME_PLUS,
    ),
    page_map_card(
        "sandisk-ultra-a1",
        "SanDisk Ultra A1, 32 GB (2017)",
        Bytes(31_914_983_424),
        Nanos::from_micros(280),
        fitted::SANDISK_ULTRA_A1,
    ),
    page_map_card(
        "sandisk-extreme-a1",
        "SanDisk Extreme A1, 32 GB (2017)",
        Bytes(31_914_983_424),
        Nanos::ZERO,
        fitted::SANDISK_EXTREME_A1,
    ),
    EXTREME_PRO_A2,
    Card {
        kind: Kind::Emmc,
        host: Host::HS400,
        ..page_map_card(
            "samsung-emmc",
            "Samsung eMMC, 8 GB (2018)",
            Bytes(7_818_182_656),
            Nanos::from_micros(40),
            fitted::SAMSUNG_EMMC,
        )
    },
];

/// The A2 card, on the host on which it was measured: its queue and cache lie idle.
const EXTREME_PRO_A2: Card = with_queue_and_cache(page_map_card(
    "sandisk-extreme-pro-a2",
    "SanDisk Extreme Pro A2, 64 GB (2018), host without command queue and cache",
    Bytes(63_864_569_856),
    Nanos::ZERO,
    fitted::SANDISK_EXTREME_PRO_A2,
));

/// The same card in a host that uses both. No figures of this were published with the others:
/// queue and cache are made so that it does what its class asks for.
pub(super) const EXTREME_PRO_A2_QUEUED: Card = Card {
    name: "sandisk-extreme-pro-a2-queued",
    title: "SanDisk Extreme Pro A2, 64 GB (2018), host with command queue and cache",
    origin: Origin::Typical,
    host: Host::SDR104_QUEUED,
    assumed: &["command queue", "volatile cache", "host"],
    ..EXTREME_PRO_A2
};

const fn with_queue_and_cache(card: Card) -> Card {
    let cache = VolatileCache {
        size: Bytes::kib(512),
        flush: Nanos::from_micros(400),
        latency_percent: 20,
    };
    Card { model: Model { ways: 3, cache: Some(cache), ..card.model }, ..card }
}

const fn hybrid_card(
    name: &'static str,
    title: &'static str,
    capacity: Bytes,
    latency: Nanos,
    open_units: u16,
    fit: HybridFit,
) -> Card {
    let write = Writing::Hybrid(Hybrid {
        latency,
        rate: fit.write_rate,
        copy_rate: fit.copy_rate,
        erase: Nanos::from_millis(3),
        open_units,
        log_below: Bytes::kib(16),
        log_slots: fit.log_slots,
        log_slot: Bytes::kib(1),
        log_units: None,
        log_latency: fit.log_latency,
        fat_zone: Bytes::ZERO,
    });
    Card {
        assumed: ASSUMED_HYBRID,
        ..card(name, title, model(capacity, fit.read, fit.read_rate, write))
    }
}

const fn page_map_card(
    name: &'static str,
    title: &'static str,
    capacity: Bytes,
    random: Nanos,
    fit: PageMapFit,
) -> Card {
    let write = Writing::PageMap(PageMap {
        latencies: fit.write,
        rate: fit.write_rate,
        random,
        slc: None,
        garbage: Some(GarbageCollection { every: Bytes::mib(4), pause: Nanos::from_millis(60) }),
        map_cache: Some(MapCache {
            reach: Bytes::gib(1),
            segment: Bytes::mib(4),
            miss: Nanos::from_micros(150),
        }),
    });
    let model = model(capacity, fit.read, fit.read_rate, write);
    let model = Model { discard: Some(DISCARD), ..model };
    Card { assumed: ASSUMED_PAGE_MAP, ..card(name, title, model) }
}

const fn model(
    capacity: Bytes,
    latencies: Latencies,
    read_rate: Throughput,
    write: Writing,
) -> Model {
    Model {
        capacity,
        allocation_unit: Bytes::mib(4),
        read: Reading {
            latencies,
            rate: read_rate,
            never_written: Nanos::from_micros(180),
            boundaries: Boundaries::NONE,
        },
        write,
        cache: None,
        ways: 1,
        discard: None,
        endurance: Endurance { cycles: 3000, spare_units: 20 },
        read_errors: ReadErrors::NONE,
        noise: NOISE,
        service: None,
        heat: None,
    }
}

const fn card(name: &'static str, title: &'static str, model: Model) -> Card {
    Card {
        name,
        title,
        kind: Kind::Sd,
        origin: Origin::Calibrated,
        model,
        host: Host::SDR104_CAPPED,
        fake: None,
        damage: crate::fault::Damage::NONE,
        life: crate::fault::Life::ENDLESS,
        power: None,
        queue: None,
        discard: None,
        assumed: &[],
    }
}
