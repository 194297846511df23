//! Simulated cards with a random geometry.

use cardproof_sim::Host;
use cardproof_sim::model::{
    Boundaries, Endurance, GarbageCollection, Hybrid, Latencies, MapCache, Model, Noise, PageMap,
    ReadErrors, Reading, SlcCache, Writing,
};
use cardproof_units::{Bytes, Nanos, Seed, Throughput};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A card and its host.
#[derive(Clone, Debug)]
pub(in crate::prove) struct Made {
    pub(in crate::prove) model: Model,
    pub(in crate::prove) host: Host,
    pub(in crate::prove) seed: Seed,
}

/// Allocation units in KiB as they are sold: powers of two, and three times those.
const UNITS_KIB: [u64; 14] =
    [512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 49_152, 65_536];

/// Pages, in KiB.
const PAGES_KIB: [u64; 6] = [4, 8, 16, 32, 48, 64];

/// A source of choices.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.next_u64() % (most - least + 1)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.0.next_u64().is_multiple_of(count)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.0.next_u64() % choices.len() as u64) as usize]
    }

    fn micros(&mut self, least: u64, most: u64) -> Nanos {
        Nanos::from_micros(self.between(least, most))
    }

    fn mb_per_s(&mut self, least: u64, most: u64) -> Throughput {
        Throughput::from_mb_per_s(self.between(least, most) as f64)
    }
}

impl Made {
    /// The card of this number.
    pub(in crate::prove) fn new(seed: Seed, number: usize) -> Self {
        let bits = seed.derive(&format!("geometry card {number}"));
        let dice = &mut Dice(Xoshiro256PlusPlus::seed_from_u64(bits));
        let capacity = Bytes::gib(dice.of(&[2, 4, 8, 16, 32]));
        let write = if dice.one_in(2) {
            Writing::Hybrid(hybrid(dice))
        } else {
            Writing::PageMap(page_map(dice))
        };
        let model = Model {
            capacity,
            allocation_unit: unit(dice),
            read: reading(dice),
            write,
            cache: None,
            ways: 1,
            discard: None,
            endurance: Endurance { cycles: 100_000, spare_units: 20 },
            read_errors: ReadErrors::NONE,
            service: None,
            heat: None,
            noise: Noise {
                spread_permille: dice.between(10, 50) as u32,
                drift_permille: dice.between(0, 20) as u32,
                drift_period: Nanos::from_secs(dice.between(2, 60)),
            },
        };
        let host = Host { jitter: dice.micros(20, 100), ..Host::DDR50 };
        Self { model, host, seed: Seed::from_bits(bits) }
    }
}

/// One in eight is odd: any multiple of 512 KiB up to 32 MiB.
fn unit(dice: &mut Dice) -> Bytes {
    Bytes::kib(if dice.one_in(8) { 512 * dice.between(1, 64) } else { dice.of(&UNITS_KIB) })
}

fn reading(dice: &mut Dice) -> Reading {
    let page = dice.micros(150, 700);
    let boundaries = if dice.one_in(4) {
        Boundaries::NONE
    } else {
        let unit_crossing = dice.between(40, 350);
        // Some cards show their units only.
        let page_crossing =
            if dice.one_in(3) { 0 } else { unit_crossing * dice.between(25, 65) / 100 };
        Boundaries {
            page: Bytes::kib(dice.of(&PAGES_KIB)),
            page_crossing: Nanos::from_micros(page_crossing),
            unit_crossing: Nanos::from_micros(unit_crossing),
        }
    };
    Reading {
        latencies: Latencies {
            below_page: Nanos(page.get() * 11 / 10),
            page,
            stripe: Nanos(page.get() * 13 / 10),
        },
        rate: dice.mb_per_s(20, 90),
        never_written: Nanos(page.get() / 2),
        boundaries,
    }
}

fn hybrid(dice: &mut Dice) -> Hybrid {
    Hybrid {
        latency: dice.micros(300, 1500),
        rate: dice.mb_per_s(6, 25),
        copy_rate: dice.mb_per_s(10, 40),
        erase: dice.micros(1000, 5000),
        open_units: dice.between(1, 8) as u16,
        log_below: Bytes::kib(dice.of(&[8, 12, 16, 32, 64])),
        log_slots: dice.between(256, 4096) as u32,
        log_slot: Bytes::kib(1),
        log_units: if dice.one_in(3) { None } else { Some(dice.between(1, 8) as u16) },
        log_latency: dice.micros(200, 1500),
        fat_zone: Bytes::mib(dice.of(&[0, 0, 2, 4, 8, 12, 16])),
    }
}

fn page_map(dice: &mut Dice) -> PageMap {
    let rate = dice.between(12, 60);
    let latency = dice.between(300, 1500);
    let slc = dice.one_in(2).then(|| SlcCache {
        size: Bytes::mib(dice.between(48, 1024)),
        rate_when_full: Throughput::from_mb_per_s(
            rate as f64 * dice.between(20, 60) as f64 / 100.0,
        ),
        idle_fold_rate: dice.mb_per_s(4, 60),
    });
    let garbage = dice.one_in(2).then(|| GarbageCollection {
        every: Bytes::mib(dice.between(4, 64)),
        pause: Nanos::from_millis(dice.between(20, 200)),
    });
    let map_cache = dice.one_in(2).then(|| MapCache {
        reach: Bytes::mib(dice.of(&[32, 64, 128, 256, 512, 1024, 2048, 4096])),
        segment: Bytes::mib(dice.of(&[1, 2, 4])),
        miss: dice.micros(15, 200),
    });
    PageMap {
        latencies: Latencies {
            below_page: Nanos::from_micros(latency * 2),
            page: Nanos::from_micros(latency),
            stripe: Nanos::from_micros(latency * 12 / 10),
        },
        rate: Throughput::from_mb_per_s(rate as f64),
        random: dice.micros(0, 300),
        slc,
        garbage,
        map_cache,
    }
}
