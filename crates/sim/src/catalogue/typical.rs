//! Cards that behave as their kind does, after no particular product: all parameters assumed.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::calibrated::NOISE;
use super::{Card, Kind, Origin};
use crate::host::Host;
use crate::model::{
    Boundaries, Discarding, Endurance, GarbageCollection, Latencies, MapCache, Model, PageMap,
    ReadErrors, Reading, SlcCache, VolatileCache, Writing,
};

const ALL: &[&str] = &["all"];

/// A V30 A2 card with a TLC allocation unit, an SLC cache, a volatile cache and a queue. Public
/// measurements of such cards on a Raspberry Pi 5: about 3.3 k reads and 1 k writes a second
/// of 4 KiB without queue and cache, 9 k and 2.5 k with them at depth.
const V30_A2: Model = Model {
    capacity: Bytes(63_864_569_856),
    allocation_unit: Bytes::mib(24),
    read: Reading {
        latencies: Latencies {
            below_page: Nanos::from_micros(230),
            page: Nanos::from_micros(195),
            stripe: Nanos::from_micros(260),
        },
        rate: Throughput::from_mb_per_s(160.0),
        never_written: Nanos::from_micros(90),
        boundaries: Boundaries::NONE,
    },
    write: Writing::PageMap(PageMap {
        latencies: Latencies {
            below_page: Nanos::from_micros(1_500),
            page: Nanos::from_micros(820),
            stripe: Nanos::from_micros(1_000),
        },
        rate: Throughput::from_mb_per_s(80.0),
        random: Nanos::from_micros(30),
        slc: Some(SlcCache {
            size: Bytes::gib(1),
            rate_when_full: Throughput::from_mb_per_s(34.0),
            idle_fold_rate: Throughput::from_mb_per_s(34.0),
        }),
        garbage: Some(GarbageCollection { every: Bytes::mib(16), pause: Nanos::from_millis(150) }),
        map_cache: Some(MapCache {
            reach: Bytes::gib(4),
            segment: Bytes::mib(4),
            miss: Nanos::from_micros(120),
        }),
    }),
    cache: Some(VolatileCache {
        size: Bytes::kib(512),
        flush: Nanos::from_micros(400),
        latency_percent: 38,
    }),
    ways: 3,
    discard: Some(Discarding {
        latency: Nanos::from_micros(500),
        per_unit: Nanos::from_micros(100),
        frees_room: true,
    }),
    endurance: Endurance { cycles: 1000, spare_units: 40 },
    read_errors: ReadErrors::NONE,
    noise: NOISE,
    service: None,
    heat: None,
};

/// A stick of the cheap kind: slow at random, a small SLC cache, long pauses.
const USB_STICK: Model = Model {
    capacity: Bytes(30_765_219_840),
    allocation_unit: Bytes::mib(8),
    read: Reading {
        latencies: Latencies {
            below_page: Nanos::from_micros(640),
            page: Nanos::from_micros(600),
            stripe: Nanos::from_micros(650),
        },
        rate: Throughput::from_mb_per_s(110.0),
        never_written: Nanos::from_micros(300),
        boundaries: Boundaries::NONE,
    },
    write: Writing::PageMap(PageMap {
        latencies: Latencies {
            below_page: Nanos::from_micros(9_000),
            page: Nanos::from_micros(1_800),
            stripe: Nanos::from_micros(2_200),
        },
        rate: Throughput::from_mb_per_s(34.0),
        random: Nanos::from_micros(4_500),
        slc: Some(SlcCache {
            size: Bytes::mib(384),
            rate_when_full: Throughput::from_mb_per_s(9.0),
            idle_fold_rate: Throughput::from_mb_per_s(9.0),
        }),
        garbage: Some(GarbageCollection { every: Bytes::mib(4), pause: Nanos::from_millis(200) }),
        map_cache: Some(MapCache {
            reach: Bytes::mib(128),
            segment: Bytes::mib(2),
            miss: Nanos::from_micros(900),
        }),
    }),
    cache: None,
    ways: 1,
    discard: None,
    endurance: Endurance { cycles: 500, spare_units: 20 },
    read_errors: ReadErrors::NONE,
    noise: NOISE,
    service: None,
    heat: None,
};

/// A card for cameras that record all day: MLC or pseudo-SLC throughout, no cache to fill up.
const HIGH_ENDURANCE: Model = Model {
    capacity: Bytes(31_914_983_424),
    allocation_unit: Bytes::mib(4),
    read: Reading {
        latencies: Latencies {
            below_page: Nanos::from_micros(260),
            page: Nanos::from_micros(240),
            stripe: Nanos::from_micros(250),
        },
        rate: Throughput::from_mb_per_s(100.0),
        never_written: Nanos::from_micros(120),
        boundaries: Boundaries::NONE,
    },
    write: Writing::PageMap(PageMap {
        latencies: Latencies {
            below_page: Nanos::from_micros(1_700),
            page: Nanos::from_micros(1_050),
            stripe: Nanos::from_micros(1_200),
        },
        rate: Throughput::from_mb_per_s(45.0),
        random: Nanos::from_micros(60),
        slc: None,
        garbage: Some(GarbageCollection { every: Bytes::mib(32), pause: Nanos::from_millis(80) }),
        map_cache: Some(MapCache {
            reach: Bytes::gib(1),
            segment: Bytes::mib(4),
            miss: Nanos::from_micros(120),
        }),
    }),
    cache: None,
    ways: 1,
    discard: Some(Discarding {
        latency: Nanos::from_micros(500),
        per_unit: Nanos::from_micros(100),
        frees_room: true,
    }),
    endurance: Endurance { cycles: 20_000, spare_units: 40 },
    read_errors: ReadErrors::NONE,
    noise: NOISE,
    service: None,
    heat: None,
};

/// The cards.
pub(super) const CARDS: [Card; 5] = [
    typical(
        "v30-a2",
        "V30 A2 card, 64 GB, in a computer that cannot use A2 functions",
        V30_A2,
        Host::SDR104,
    ),
    typical(
        "v30-a2-queued",
        "V30 A2 card, 64 GB, host with queue and cache",
        V30_A2,
        Host::SDR104_QUEUED,
    ),
    typical(
        "v30-a2-pi3",
        "V30 A2 card, 64 GB, host with a High Speed bus",
        V30_A2,
        Host::HIGH_SPEED,
    ),
    Card {
        kind: Kind::Usb,
        ..typical("usb-stick", "USB stick, 32 GB, USB 3.0 port", USB_STICK, Host::USB3)
    },
    typical("high-endurance", "High-endurance card, 32 GB", HIGH_ENDURANCE, Host::SDR104),
];

const fn typical(name: &'static str, title: &'static str, model: Model, host: Host) -> Card {
    Card {
        name,
        title,
        kind: Kind::Sd,
        origin: Origin::Typical,
        model,
        host,
        fake: None,
        damage: crate::fault::Damage::NONE,
        life: crate::fault::Life::ENDLESS,
        power: None,
        queue: None,
        discard: None,
        assumed: ALL,
    }
}
