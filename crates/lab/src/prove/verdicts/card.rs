//! Cards made up for the experiment, whose true rates follow from their parameters.
//!
//! The truth is what a class asks for, over as much as a verdict may write and for as long as the
//! card goes on: the mean rate of random reads; that of 64 MiB of random writes after 256 MiB have
//! been laid out; and the mean rate of the second half of those 256 MiB. All three are computed, not
//! measured; a test compares them with long runs.

use cardproof_sim::model::{
    Boundaries, Endurance, GarbageCollection, Latencies, Model, Noise, PageMap, ReadErrors,
    Reading, SlcCache, Writing,
};
use cardproof_sim::{Host, Keeping, ModelError, SimulatedTarget};
use cardproof_units::{Bytes, Nanos, Seed, Throughput};

use super::class::Class;
use super::dice::Dice;

/// What is laid out, and what random writes come on top at most.
const LAID_OUT: f64 = 256.0 * MIB;
const RANDOM: f64 = 64.0 * MIB;

const MIB: f64 = 1_048_576.0;
const PAGE: f64 = 4096.0;
const RECORDING_UNIT: f64 = 524_288.0;

/// What a sequential write takes beside its data.
const STRIPE_S: f64 = 0.5e-3;

/// No command is quicker.
const LATENCY_MIN_S: f64 = 5e-6;

/// The true rates of a card: operations a second, and bytes a second of the sequential write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) sequential: f64,
}

impl Truth {
    /// Each rate as a part of its limit: reads, writes, sequential.
    pub(super) fn ratios(&self, class: &Class) -> [f64; 3] {
        let Self { reads, writes, sequential } = *self;
        [reads / class.reads, writes / class.writes, sequential / class.sequential]
    }
}

/// A made-up card in its host.
pub(super) struct Card {
    pub(super) truth: Truth,
    pub(super) traits: Traits,
    model: Model,
    host: Host,
    seed: Seed,
}

/// How it behaves beside its rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// Bytes written at random between two pauses on average, and a pause in seconds.
    pub(super) pauses: Option<(f64, f64)>,
    /// The swing to either side as a part, and the period in seconds.
    pub(super) drift: Option<(f64, f64)>,
    /// The size of the fast cache in bytes, and what of its rate is left when it is full.
    pub(super) slc: Option<(f64, f64)>,
    /// One standard deviation of a service time, as a part of it.
    jitter: f64,
}

impl Traits {
    fn draw(dice: &mut Dice) -> Self {
        Self {
            pauses: dice
                .chance(0.75)
                .then(|| (dice.log_between(1.0, 16.0) * MIB, dice.log_between(0.03, 0.25))),
            drift: dice
                .chance(0.5)
                .then(|| (dice.between(0.005, 0.05), dice.log_between(5.0, 40.0))),
            slc: dice
                .chance(0.3)
                .then(|| (dice.log_between(32.0, 512.0) * MIB, dice.between(0.25, 0.9))),
            jitter: dice.log_between(0.01, 0.1),
        }
    }

    /// The part of the bytes from `start` to `end` of all that is written that finds the fast
    /// cache full.
    fn slow_part(&self, start: f64, end: f64) -> f64 {
        self.slc.map_or(0.0, |(size, _)| ((end - size) / (end - start)).clamp(0.0, 1.0))
    }

    /// What of the rate is left when the cache is full.
    fn left(&self) -> f64 {
        self.slc.map_or(1.0, |(_, left)| left)
    }

    /// Seconds of pauses to each random write.
    fn pause_s(&self) -> f64 {
        self.pauses.map_or(0.0, |(every, pause_s)| pause_s * PAGE / every)
    }

    /// The mean rate of operations that take `fixed_s` and, drifting, `drifting_s`: the mean over a
    /// triangle wave, in which every speed is as frequent as any other.
    fn rate(&self, fixed_s: f64, drifting_s: f64) -> f64 {
        let all = fixed_s + drifting_s;
        match self.drift {
            None => 1.0 / all,
            Some((swing, _)) => {
                let half = drifting_s * swing;
                ((all + half) / (all - half)).ln() / (2.0 * half)
            }
        }
    }
}

impl Card {
    /// A card whose `critical` limit (0 reads, 1 writes, 2 sequential) of `class` it reaches
    /// `ratio` times, as far as a card can be made so; the others it reaches well.
    pub(super) fn draw(class: &Class, critical: usize, ratio: f64, seed: Seed) -> Self {
        let mut dice = Dice::new(seed, "made-up card");
        let least = ratio.max(1.3);
        let mut ratios = [0; 3].map(|_| dice.log_between(least, (1.5 * least).max(3.0)));
        ratios[critical] = ratio;
        Self::new(class, ratios, Traits::draw(&mut dice), seed)
    }

    fn new(class: &Class, ratios: [f64; 3], traits: Traits, seed: Seed) -> Self {
        let host = class.host();
        let command_s = host.command_overhead.as_secs_f64();
        let bus = host.bus.0;
        let read_s = (1.0 / (class.reads * ratios[0]) - command_s - PAGE / bus).max(LATENCY_MIN_S);
        let unit_s = 1.0 / (class.sequential * ratios[2] / RECORDING_UNIT) - command_s - STRIPE_S;
        let slowing = traits.slowing(LAID_OUT / 2.0, LAID_OUT);
        // Slower than the bus also where the cache is not full, or the bus would decide.
        let rate = (RECORDING_UNIT / unit_s.max(1e-6) * slowing).min(0.9 * bus);
        let data_s = PAGE / rate * traits.slowing(LAID_OUT, LAID_OUT + RANDOM);
        let write_s = (1.0 / (class.writes * ratios[1]) - command_s - traits.pause_s() - data_s)
            .max(LATENCY_MIN_S)
            .max(PAGE / bus - data_s);
        let sequential_s = STRIPE_S + RECORDING_UNIT / rate * slowing;
        let truth = Truth {
            reads: traits.rate(command_s + PAGE / bus, read_s),
            writes: traits.rate(command_s + traits.pause_s(), write_s + data_s),
            sequential: RECORDING_UNIT * traits.rate(command_s, sequential_s),
        };
        let model = model(&traits, read_s, write_s, rate);
        Self { truth, traits, model, host, seed }
    }

    /// A fresh card of this make; `run` tells one from another.
    pub(super) fn target(&self, run: u64) -> Result<SimulatedTarget, ModelError> {
        let seed = Seed::from_bits(self.seed.derive("target") ^ run);
        SimulatedTarget::new(&self.model, &self.host, seed, Keeping::Nothing)
    }
}

impl Traits {
    /// By how much writing is slower than into the fast cache, from `start` to `end`.
    fn slowing(&self, start: f64, end: f64) -> f64 {
        let slow = self.slow_part(start, end);
        1.0 - slow + slow / self.left()
    }
}

fn model(traits: &Traits, read_s: f64, write_s: f64, rate: f64) -> Model {
    let same = |latency| Latencies { below_page: latency, page: latency, stripe: latency };
    let permille = |part: f64| (part * 1000.0).round() as u32;
    Model {
        capacity: Bytes::gib(1),
        allocation_unit: Bytes::mib(4),
        read: Reading {
            latencies: same(nanos(read_s)),
            rate: Throughput::from_mb_per_s(1000.0),
            never_written: nanos(read_s),
            boundaries: Boundaries::NONE,
        },
        write: Writing::PageMap(PageMap {
            latencies: Latencies { stripe: nanos(STRIPE_S), ..same(nanos(write_s)) },
            rate: Throughput(rate),
            random: Nanos::ZERO,
            slc: traits.slc.map(|(size, left)| SlcCache {
                size: Bytes(size as u64),
                rate_when_full: Throughput(rate * left),
                idle_fold_rate: Throughput(1.0),
            }),
            garbage: traits.pauses.map(|(every, pause_s)| GarbageCollection {
                every: Bytes(every as u64),
                pause: nanos(pause_s),
            }),
            map_cache: None,
        }),
        cache: None,
        ways: 1,
        discard: None,
        endurance: Endurance { cycles: 100_000, spare_units: 10 },
        read_errors: ReadErrors::NONE,
        service: None,
        heat: None,
        noise: Noise {
            spread_permille: permille(traits.jitter),
            drift_permille: traits.drift.map_or(0, |(swing, _)| permille(swing)),
            drift_period: nanos(traits.drift.map_or(1.0, |(_, period_s)| period_s)),
        },
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds)
}
