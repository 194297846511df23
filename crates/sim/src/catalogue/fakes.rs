//! Cards that announce more than they hold, and one that forgets what it called safe: all parameters assumed.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::calibrated::NOISE;
use super::{Card, Kind, Origin};
use crate::fault::{Beyond, CapacityFake, Damage, HiddenStore, Life, Power};
use crate::host::Host;
use crate::model::{
    Boundaries, Endurance, GarbageCollection, Latencies, Model, PageMap, ReadErrors, Reading,
    Writing,
};

/// The leftover flash that ends up in a fake.
const LEFTOVER: Model = Model {
    capacity: Bytes::gib(2),
    allocation_unit: Bytes::mib(4),
    read: Reading {
        latencies: Latencies {
            below_page: Nanos::from_micros(520),
            page: Nanos::from_micros(500),
            stripe: Nanos::from_micros(600),
        },
        rate: Throughput::from_mb_per_s(22.0),
        never_written: Nanos::from_micros(300),
        boundaries: Boundaries::NONE,
    },
    write: Writing::PageMap(PageMap {
        latencies: Latencies {
            below_page: Nanos::from_micros(6_000),
            page: Nanos::from_micros(3_500),
            stripe: Nanos::from_micros(4_000),
        },
        rate: Throughput::from_mb_per_s(12.0),
        random: Nanos::from_micros(1_500),
        slc: None,
        garbage: Some(GarbageCollection { every: Bytes::mib(4), pause: Nanos::from_millis(200) }),
        map_cache: None,
    }),
    cache: None,
    ways: 1,
    discard: None,
    endurance: Endurance { cycles: 300, spare_units: 5 },
    read_errors: ReadErrors::NONE,
    noise: NOISE,
    service: None,
    heat: None,
};

const ANNOUNCED: Bytes = Bytes::gib(64);

/// The cards.
pub(super) const CARDS: [Card; 5] = [
    fake(
        "fake-wrap",
        "Fake 64 GiB card (2 GiB real, writes above overwrite the start)",
        Beyond::WrapAround,
        0,
    ),
    fake(
        "fake-drop",
        "Fake 64 GiB card (2 GiB real, writes above are discarded)",
        Beyond::Drop { reads_as: 0 },
        0,
    ),
    fake(
        "fake-last-block",
        "Fake 64 GiB card (2 GiB real, all addresses above are one block)",
        Beyond::LastBlock,
        0,
    ),
    fake(
        "fake-limbo",
        "Fake 64 GiB card (2 GiB real, reads above give random data)",
        Beyond::Limbo,
        0,
    ),
    fake(
        "fake-cached",
        "Fake 64 GiB card (2 GiB real, writes above overwrite the start, the latest 1 MiB reads back right)",
        Beyond::WrapAround,
        1 << 20,
    ),
];

/// A card that answers a flush and does nothing, so that a power cut takes the latest writes.
pub(super) const LIAR: Card = Card {
    fake: None,
    power: Some(Power { volatile: Bytes::kib(64), ignores_flush: true, ..Power::HONEST }),
    ..fake(
        "ignores-flushes",
        "Card that reports a flush as done and loses the latest 64 KiB in a power cut",
        Beyond::WrapAround,
        0,
    )
};

const fn fake(
    name: &'static str,
    title: &'static str,
    beyond: Beyond,
    remembers_bytes: u64,
) -> Card {
    Card {
        name,
        title,
        kind: Kind::Sd,
        origin: Origin::Typical,
        model: LEFTOVER,
        host: Host::HIGH_SPEED,
        fake: Some(CapacityFake {
            announced: ANNOUNCED,
            beyond,
            remembers: HiddenStore::new(Bytes(remembers_bytes)),
        }),
        damage: Damage::NONE,
        life: Life::ENDLESS,
        power: None,
        queue: None,
        discard: None,
        assumed: &["all"],
    }
}
