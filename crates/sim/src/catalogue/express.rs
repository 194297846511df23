//! The three microSD Express cards whose figures were published in 2025, as NVMe devices in an M.2
//! slot: with a fan, and without one where that was measured too.
//!
//! The figures are in `crates/rating/data/express-2025.csv`. Each time and rate follows from one figure
//! of the first runs, when the cache was empty; the rate of a full cache from the slowest sequential
//! writes; the thermal resistances from the temperatures that the source tells and from the reading
//! rate at the limit. The size of the cache and the heat capacity follow from the run in which writes
//! or reads became slower, and from a volume of 5 GiB for each of the twelve tests of a run.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::calibrated::NOISE;
use super::{Card, Kind, Origin};
use crate::host::{Cooling, Host};
use crate::model::{
    Boundaries, ByPattern, ByQueue, Discarding, Endurance, Heat, Latencies, Model, PageMap,
    ReadErrors, Reading, ServiceTimes, SlcCache, Throttle, Writing,
};

/// Requests of 512 KiB, one at a time, are the largest whose latency figures tell.
const STRIPE: Bytes = Bytes::kib(512);

/// What the figures tell of one direction of a card: times beside the data.
#[derive(Clone, Copy, Debug)]
struct Fit {
    mb_per_s: f64,
    /// 4 KiB at random, one at a time, without the host's part.
    page: Nanos,
    /// 512 KiB in sequence, one at a time, without the host's part.
    stripe: Nanos,
    /// 4 KiB at random in a queue, with the host's part.
    page_queued: Nanos,
}

const ASSUMED: &[&str] = &[
    "allocation unit",
    "latency below a page",
    "latency where nothing was written",
    "garbage collection",
    "reach of the map",
    "rate at which an idle card empties its cache",
    "power",
    "hysteresis and pace of throttling",
    "discard",
    "noise",
    "life",
];

/// The Lexar and the ADATA card tell these limits over NVMe. The tests of a hot card, of some seconds
/// each, are slowed down alike, so the limit is held closely.
const THROTTLE: Throttle = Throttle {
    light_from_millicelsius: 81_000,
    heavy_from_millicelsius: 85_000,
    hysteresis_mk: 40,
    light_percent: 55,
    heavy_percent: 20,
};

const LEXAR: Model = Model {
    heat: Some(heat(6_700)),
    ..model(
        Bytes(1_000_204_886_016),
        Fit {
            mb_per_s: 750.0,
            page: Nanos(111_000),
            stripe: Nanos(361_000),
            page_queued: Nanos(3_400),
        },
        Fit {
            mb_per_s: 627.0,
            page: Nanos(11_600),
            stripe: Nanos(375_000),
            page_queued: Nanos(1_140),
        },
        Some((Bytes::gib(57), 280.0)),
    )
};

const ADATA: Model = Model {
    heat: Some(heat(34_000)),
    ..model(
        Bytes(256_060_514_304),
        Fit {
            mb_per_s: 765.0,
            page: Nanos(94_500),
            stripe: Nanos(298_000),
            page_queued: Nanos(3_490),
        },
        Fit {
            mb_per_s: 620.0,
            page: Nanos(6_600),
            stripe: Nanos(301_000),
            page_queued: Nanos(1_670),
        },
        Some((Bytes::gib(117), 287.0)),
    )
};

/// Two runs told neither a full cache nor heat.
const SANDISK: Model = model(
    Bytes(256_060_514_304),
    Fit {
        mb_per_s: 836.0,
        page: Nanos(302_000),
        stripe: Nanos(303_000),
        page_queued: Nanos(4_900),
    },
    Fit { mb_per_s: 650.0, page: Nanos(6_100), stripe: Nanos(193_000), page_queued: Nanos(0) },
    None,
);

/// The cards.
pub(super) const CARDS: [Card; 5] = [
    card(
        "express-lexar-play-pro-1tb",
        "Lexar PLAY PRO microSD Express, 1 TB, cooled by a fan",
        LEXAR,
        cooled(20_000, 9_500),
    ),
    card(
        "express-lexar-play-pro-1tb-no-fan",
        "Lexar PLAY PRO microSD Express, 1 TB, without a fan: slows down at 81 °C",
        LEXAR,
        cooled(20_000, 38_700),
    ),
    card(
        "express-adata-premier-extreme-256gb",
        "ADATA Premier Extreme microSD Express, 256 GB, cooled by a fan",
        ADATA,
        cooled(30_000, 11_400),
    ),
    card(
        "express-adata-premier-extreme-256gb-no-fan",
        "ADATA Premier Extreme microSD Express, 256 GB, without a fan: slows down at 81 °C",
        ADATA,
        cooled(30_000, 34_400),
    ),
    card(
        "express-sandisk-256gb",
        "SanDisk microSD Express, 256 GB, never hot and its cache never full",
        SANDISK,
        Host::M2_ONE_LANE,
    ),
];

const fn cooled(ambient_millicelsius: i32, resistance_mk_per_w: u32) -> Host {
    Host { cooling: Cooling { ambient_millicelsius, resistance_mk_per_w }, ..Host::M2_ONE_LANE }
}

/// The power is assumed; the resistances were found with it.
const fn heat(capacity_mj_per_k: u32) -> Heat {
    Heat {
        capacity_mj_per_k,
        idle_mw: 20,
        reading_mw: 2_200,
        writing_mw: 2_200,
        throttle: THROTTLE,
    }
}

/// A card with these fits of reading and writing, and perhaps a cache of a size that writes at a rate
/// in MB/s when it is full.
const fn model(capacity: Bytes, read: Fit, write: Fit, slc: Option<(Bytes, f64)>) -> Model {
    let slc = match slc {
        Some((size, when_full)) => Some(SlcCache {
            size,
            rate_when_full: Throughput::from_mb_per_s(when_full),
            idle_fold_rate: Throughput::from_mb_per_s(when_full),
        }),
        None => None,
    };
    Model {
        capacity,
        allocation_unit: Bytes::mib(16),
        read: Reading {
            latencies: alone(&read),
            rate: Throughput::from_mb_per_s(read.mb_per_s),
            never_written: Nanos::from_micros(15),
            boundaries: Boundaries::NONE,
        },
        write: Writing::PageMap(PageMap {
            latencies: Latencies::NONE,
            rate: Throughput::from_mb_per_s(write.mb_per_s),
            random: Nanos::ZERO,
            slc,
            garbage: None,
            map_cache: None,
        }),
        cache: None,
        ways: 1,
        discard: Some(Discarding {
            latency: Nanos::from_micros(100),
            per_unit: Nanos::from_micros(20),
            frees_room: true,
        }),
        endurance: Endurance { cycles: 1000, spare_units: 40 },
        read_errors: ReadErrors::NONE,
        noise: NOISE,
        service: Some(ServiceTimes {
            stripe: STRIPE,
            read: by_pattern(&read),
            write: by_pattern(&write),
        }),
        heat: None,
    }
}

/// Figures of 4 KiB are of random requests and those of 512 KiB of sequential ones; each stands for both.
const fn by_pattern(fit: &Fit) -> ByPattern {
    let queued =
        Latencies { below_page: fit.page_queued, page: fit.page_queued, stripe: fit.page_queued };
    let both = ByQueue { alone: alone(fit), queued };
    ByPattern { sequential: both, random: both }
}

const fn alone(fit: &Fit) -> Latencies {
    Latencies { below_page: fit.page, page: fit.page, stripe: fit.stripe }
}

const fn card(name: &'static str, title: &'static str, model: Model, host: Host) -> Card {
    Card {
        name,
        title,
        kind: Kind::Nvme,
        origin: Origin::Calibrated,
        model,
        host,
        fake: None,
        damage: crate::fault::Damage::NONE,
        life: crate::fault::Life::ENDLESS,
        power: None,
        queue: None,
        discard: None,
        assumed: ASSUMED,
    }
}
