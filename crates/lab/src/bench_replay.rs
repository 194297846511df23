//! `cargo xtask bench replay`: requests a second into a target that does nothing, and memory.
//!
//! What is left when the storage costs nothing is the replay itself: unpacking, waiting as the
//! trace says, folding addresses, counting. Data are not made, since the target keeps none.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_io::NullTarget;
use cardproof_record::PhaseState;
use cardproof_runner::{ReplayPlan, replay};
use cardproof_trace::{Request, RequestKind, Source, TraceReader, TraceWriter};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::prove::Stamp;

/// How long the made-up trace is.
const REQUESTS: u64 = 1_000_000;

/// Replays of it; the median counts.
const ROUNDS: usize = 5;

/// Requests a second that are asked for.
const RATE_MIN: f64 = 200_000.0;

/// Memory that may be taken for a million requests.
const MEMORY_MAX: Bytes = Bytes::mib(64);

/// Prints both figures; whether both are met.
pub(crate) fn run() -> Result<bool> {
    println!("{}", Stamp::take()?.sentence());
    let bytes = made_up();
    let mut rates = (0..ROUNDS).map(|_| rate(&bytes)).collect::<Result<Vec<_>>>()?;
    rates.sort_by(f64::total_cmp);
    let rate = rates[ROUNDS / 2];
    let memory = cardproof_io::usage().memory_peak;
    let answer = |holds: bool| if holds { "met" } else { "MISSED" };
    println!(
        "null target: {rate:.0} requests a second (median of {ROUNDS}, {:.0} to {:.0}); asked: \
         {RATE_MIN:.0}: {}",
        rates[0],
        rates[ROUNDS - 1],
        answer(rate >= RATE_MIN)
    );
    println!(
        "peak memory of this process with a trace of {REQUESTS} requests, {}: {memory}; asked: \
         {MEMORY_MAX}: {}",
        Bytes(bytes.len() as u64),
        answer(memory <= MEMORY_MAX)
    );
    Ok(rate >= RATE_MIN && memory <= MEMORY_MAX)
}

/// A trace with the mixture of a package job at random addresses, which compress worst.
fn made_up() -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut writer = TraceWriter::new("made-up", "", Source::Synthetic);
    for number in 0..REQUESTS {
        let at = Nanos::from_micros(100 * number);
        let block = random.next_u64() % (1 << 21);
        let request = match number % 5 {
            4 => Request::new(at, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO),
            0 => Request::new(at, RequestKind::Read, Bytes::kib(4 * block), Bytes::kib(4)),
            _ => Request::new(at, RequestKind::Write, Bytes::kib(4 * block), Bytes::kib(16)),
        };
        writer.push(&request);
    }
    writer.finish(Nanos::ZERO)
}

fn rate(bytes: &[u8]) -> Result<f64> {
    let mut target = NullTarget::new(Bytes::gib(16))?;
    let trace = TraceReader::new(bytes)?;
    let plan = ReplayPlan {
        think_factor: 0.0,
        queue_depth: 32,
        span: Bytes::gib(16),
        seed: Seed::from_bits(1),
        lay_out: false,
    };
    let never = AtomicBool::new(false);
    let replay = replay(&mut target, &trace, &plan, &mut |_| {}, &never, None);
    ensure!(replay.state == PhaseState::Measured, "the replay failed: {:?}", replay.state);
    let seconds = replay.duration_ns.as_secs_f64();
    Some(REQUESTS as f64 / seconds).filter(|rate| rate.is_finite()).context("it took no time")
}
