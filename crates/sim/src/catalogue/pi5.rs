//! The eight cards of 2024 whose figures on a Raspberry Pi 5 were published, with and without the
//! command queue: one model each, in two hosts.
//!
//! What the figures tell is fitted and lies in [`super::fitted_pi5`]; a name is that of the figures in
//! `crates/rating/data/fio-pi5-2024.csv`.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::calibrated::NOISE;
use super::{Card, Kind, Origin, fitted_pi5};
use crate::host::Host;
use crate::model::{
    Boundaries, ByPattern, ByQueue, Discarding, Endurance, Latencies, Model, PageMap, ReadErrors,
    Reading, ServiceTimes, Writing,
};

/// Four planes of 16 KiB; assumed, by what the figures of most of these cards need.
const STRIPE: Bytes = Bytes::kib(64);

/// The latencies at a page and from a stripe up, in microseconds, with the host's part.
pub(super) type Micros = (u64, u64);

/// What the figures tell of one direction of a card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) mb_per_s: f64,
    pub(super) sequential: Micros,
    pub(super) sequential_queued: Micros,
    pub(super) random: Micros,
    pub(super) random_queued: Micros,
}

/// A card with its fit.
pub(super) struct Fitted {
    /// Its two names, queue off and on.
    pub(super) names: [&'static str; 2],
    /// Its two titles, likewise.
    pub(super) titles: [&'static str; 2],
    pub(super) capacity: Bytes,
    pub(super) read: Fit,
    pub(super) write: Fit,
}

const ASSUMED: &[&str] = &[
    "allocation unit",
    "stripe",
    "latency below a page",
    "latency where nothing was written",
    "garbage collection",
    "reach of the map",
    "SLC cache",
    "discard",
    "heat",
    "noise",
    "life",
];

/// Each card without and with the queue.
pub(super) fn cards() -> impl Iterator<Item = Card> {
    fitted_pi5::ALL
        .iter()
        .flat_map(|fitted| [card(fitted, 0, Host::PI5), card(fitted, 1, Host::PI5_QUEUED)])
}

fn card(fitted: &Fitted, host_number: usize, host: Host) -> Card {
    Card {
        name: fitted.names[host_number],
        title: fitted.titles[host_number],
        kind: Kind::Sd,
        origin: Origin::Calibrated,
        model: model(fitted),
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

fn model(fitted: &Fitted) -> Model {
    let read = by_pattern(&fitted.read);
    let write = by_pattern(&fitted.write);
    Model {
        capacity: fitted.capacity,
        allocation_unit: Bytes::mib(4),
        read: Reading {
            latencies: read.random.alone,
            rate: Throughput::from_mb_per_s(fitted.read.mb_per_s),
            never_written: Nanos::from_micros(90),
            boundaries: Boundaries::NONE,
        },
        write: Writing::PageMap(PageMap {
            latencies: Latencies::NONE,
            rate: Throughput::from_mb_per_s(fitted.write.mb_per_s),
            random: Nanos::ZERO,
            slc: None,
            garbage: None,
            map_cache: None,
        }),
        cache: None,
        ways: 1,
        discard: Some(Discarding {
            latency: Nanos::from_micros(500),
            per_unit: Nanos::from_micros(100),
            frees_room: true,
        }),
        endurance: Endurance { cycles: 1000, spare_units: 40 },
        read_errors: ReadErrors::NONE,
        noise: NOISE,
        service: Some(ServiceTimes { stripe: STRIPE, read, write }),
        heat: None,
    }
}

fn by_pattern(fit: &Fit) -> ByPattern {
    let by_queue = |alone, queued| ByQueue {
        alone: latencies(alone, Host::PI5.command_overhead),
        queued: latencies(queued, Nanos::ZERO),
    };
    ByPattern {
        sequential: by_queue(fit.sequential, fit.sequential_queued),
        random: by_queue(fit.random, fit.random_queued),
    }
}

/// The card's part of what was fitted with the host's.
fn latencies((page, stripe): Micros, of_host: Nanos) -> Latencies {
    let of_card = |micros| Nanos::from_micros(micros).saturating_sub(of_host);
    Latencies { below_page: of_card(page), page: of_card(page), stripe: of_card(stripe) }
}
