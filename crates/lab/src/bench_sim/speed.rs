//! How fast the simulated cards are, and what memory they take.
//!
//! One core drives a card through the same trait as a real device, requests and completions
//! counted. Processor time is what counts, which others on the machine do not take away; what they do
//! to caches and clock rates remains, so of several rounds the fastest counts.

use anyhow::{Context, Result, bail};
use cardproof_io::{Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_sim::{Card, Keeping, model::Writing};
use cardproof_units::{Bytes, Nanos, Seed};

/// Requests of one round.
const REQUESTS: u64 = 2_000_000;

/// Rounds of which the fastest counts.
const ROUNDS: usize = 5;

/// The span of the requests, which is that of the SD specification's random tests.
const SPAN: Bytes = Bytes::mib(256);

const BLOCK: Bytes = Bytes::kib(4);

/// Limits for requests a second on one core.
const PAGE_MAP_LEAST: f64 = 20e6;
const HYBRID_LEAST: f64 = 10e6;

/// The most memory a card of 64 GB may take beside what was written.
const MEMORY_MAX: Bytes = Bytes::mib(64);

/// Prints the table; `false` where a limit is missed.
pub(super) fn run() -> Result<bool> {
    let mut good = memory_is_small()?;
    println!(
        "{:<26} {:>12} {:>6} {:>16} {:>9}",
        "card", "requests", "depth", "M requests/s", "least"
    );
    for name in ["sandisk-ultra-a1", "v30-a2-queued", "intenso-class-4", "sandisk-ultra"] {
        let card = cardproof_sim::find(name)?;
        let least = match card.model.write {
            Writing::PageMap(_) => PAGE_MAP_LEAST,
            Writing::Hybrid(_) => HYBRID_LEAST,
        };
        for (what, kind) in [("random write", OpKind::Write), ("random read", OpKind::Read)] {
            for depth in [1, 32] {
                let rate = fastest(card, kind, depth)?;
                let millions = rate / 1e6;
                let verdict = if rate >= least { "" } else { "  missed" };
                println!(
                    "{name:<26} {what:>12} {depth:>6} {millions:>16.1} {:>9.1}{verdict}",
                    least / 1e6
                );
                good &= rate >= least;
            }
        }
    }
    Ok(good)
}

/// The fastest of several rounds, in requests a second of processor time.
fn fastest(card: &Card, kind: OpKind, depth: u16) -> Result<f64> {
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let mut target = card.build(Seed::from_bits(1), Keeping::Nothing)?;
        fill(&mut target, (0..SPAN.get() >> 20).map(Bytes::mib))?;
        best = best.max(round(&mut target, kind, depth)?);
    }
    Ok(best)
}

/// Keeps `depth` requests in flight until all are done.
fn round(target: &mut dyn Target, kind: OpKind, depth: u16) -> Result<f64> {
    target.prepare(depth, BLOCK)?;
    let mut free: Vec<Slot> = (0..depth).map(Slot).collect();
    let mut completions = Vec::with_capacity(usize::from(depth));
    let (mut submitted, mut done) = (0, 0);
    let start = processor_time();
    while done < REQUESTS {
        while submitted < REQUESTS
            && let Some(slot) = free.pop()
        {
            let op = Op { slot, kind, offset: scattered(submitted), length: BLOCK };
            if target.submit(op)? != Submission::Queued {
                bail!("a simulated card queues every operation");
            }
            submitted += 1;
        }
        target.complete(Wait::One, &mut completions)?;
        done += completions.len() as u64;
        for completion in &completions {
            free.push(completion.slot);
        }
        completions.clear();
    }
    Ok(REQUESTS as f64 / processor_time().saturating_sub(start).as_secs_f64())
}

/// The processor time of this program so far.
fn processor_time() -> Nanos {
    let usage = cardproof_io::usage();
    usage.cpu_user + usage.cpu_system
}

/// A block of the span, by a multiplicative hash of the request's number.
fn scattered(number: u64) -> Bytes {
    let blocks = SPAN.get() / BLOCK.get();
    BLOCK * ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % blocks)
}

/// Builds a card of 64 GB, writes 64 MiB to it, and looks at the memory in use.
fn memory_is_small() -> Result<bool> {
    let card = cardproof_sim::find("v30-a2")?;
    let before = resident()?;
    let mut target = card.build(Seed::from_bits(1), Keeping::Bytes)?;
    let written = Bytes::mib(64);
    let apart = card.model.capacity.round_down_to(Bytes::gib(1)).get() / 64;
    fill(&mut target, (0..64).map(|part| Bytes(part * apart).round_down_to(BLOCK)))?;
    let taken = resident()?.saturating_sub(before).saturating_sub(written);
    println!("{}: {taken} of memory beside {written} written, at most {MEMORY_MAX}\n", card.title);
    Ok(taken <= MEMORY_MAX)
}

/// Writes 1 MiB at each of `offsets`.
fn fill(target: &mut dyn Target, offsets: impl Iterator<Item = Bytes>) -> Result<()> {
    target.prepare(1, Bytes::mib(1))?;
    target.buffer(Slot(0)).fill(1);
    let mut completions = Vec::new();
    for offset in offsets {
        let op = Op { slot: Slot(0), kind: OpKind::Write, offset, length: Bytes::mib(1) };
        target.submit(op)?;
        target.complete(Wait::One, &mut completions)?;
    }
    Ok(())
}

/// The memory that this program has in use.
fn resident() -> Result<Bytes> {
    let status = std::fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")).map(str::trim);
    Ok(Bytes::kib(kib.context("/proc/self/status tells no VmRSS")?.parse()?))
}
