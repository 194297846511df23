//! `cargo xtask prove log-layout`: the eight simulated cards do jobs at their own addresses and
//! through a log.
//!
//! Simulated time only; the same seed gives the same table everywhere.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, ensure};
use cardproof_log_layout::{LogLayout, Mode};
use cardproof_record::{PhaseState, TimeRatio};
use cardproof_runner::{LayoutPlan, ReplayPlan, replay_layouts};
use cardproof_sim::calibration::PUBLISHED;
use cardproof_sim::model::Writing;
use cardproof_sim::{Keeping, find};
use cardproof_trace::{
    REGION, Reach, Request, RequestKind, Source, TraceReader, TraceWriter, find_shipped,
};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "log-layout",
    shows: "jobs on the simulated cards, at their own addresses and through a log",
    document: "docs/design/log-layout.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Seed],
    run,
};

/// The job of synchronous writes.
const SYNC_WRITES: &str = "4 KiB sync writes";
const WRITES: u64 = 2000;
const SPAN: Bytes = Bytes::mib(256);

/// The jobs that are replayed.
const JOBS: [&str; 5] = [SYNC_WRITES, "sqlite-delete", "sqlite-wal", "boot", "desktop-reinstall"];
const JOBS_SHORT: [&str; 2] = [SYNC_WRITES, "sqlite-wal"];

const PAIRS: u32 = 3;

/// What a card whose map holds whole units must gain at least on synchronous writes.
const GAIN_MIN: f64 = 4.0;

fn run(asked: &Asked) -> Result<Proved> {
    let seed = asked.seed.unwrap_or(Seed::from_bits(3));
    let jobs = if asked.is_short { &JOBS_SHORT[..] } else { &JOBS[..] };
    let (mut tables, mut holds) = (String::new(), true);
    for mode in [Mode::Barriers, Mode::Delayed] {
        writeln!(tables, "`{}`:\n\n| card | {} |", mode.name(), jobs.join(" | "))?;
        writeln!(tables, "| --- |{}", " ---: |".repeat(jobs.len()))?;
        for published in PUBLISHED {
            let mut cells = Vec::new();
            for job in jobs {
                let ratio = tried(published.card, job, mode, seed)?;
                if *job == SYNC_WRITES && mode == Mode::Barriers {
                    holds &= as_claimed(published.card, &ratio)?;
                }
                cells
                    .push(format!("{:.2} ({:.2} to {:.2})", ratio.estimate, ratio.low, ratio.high));
            }
            writeln!(tables, "| `{}` | {} |", published.card, cells.join(" | "))?;
        }
        tables.push('\n');
    }
    Ok(Proved { tables: tables.trim_end().to_owned() + "\n", holds })
}

/// Cards that map units gain much by synchronous writes, cards that map pages gain nothing.
fn as_claimed(card: &str, ratio: &TimeRatio) -> Result<bool> {
    let card = find(card).map_err(|error| anyhow!("{error}"))?;
    Ok(match card.model.write {
        Writing::Hybrid(_) => ratio.estimate >= GAIN_MIN,
        Writing::PageMap(_) => ratio.estimate < 1.05,
    })
}

/// The ratio of `card` doing `job`.
fn tried(card: &str, job: &str, mode: Mode, seed: Seed) -> Result<TimeRatio> {
    let bytes = trace(job, seed)?;
    let trace = TraceReader::new(&bytes)?;
    let card = find(card).map_err(|error| anyhow!("{error}"))?;
    let mut target = card.open(seed, Keeping::Nothing)?;
    let size = target.abilities().size;
    let end = Reach::of(&trace)?.end.get().next_multiple_of(REGION.get());
    let span = LogLayout::<Box<dyn cardproof_io::Target>>::offered(size, REGION).min(Bytes(end));
    let plan = ReplayPlan { think_factor: 0.0, queue_depth: 32, span, seed, lay_out: false };
    let layouts = LayoutPlan { mode, pairs: PAIRS, within: size };
    let stop = AtomicBool::new(false);
    let done = replay_layouts(&mut target, &trace, &plan, &layouts, &mut |_| (), &stop, None);
    ensure!(done.state == PhaseState::Measured, "{job} on {}: {:?}", card.name, done.state);
    done.trial.ratio.context("no ratio")
}

fn trace(job: &str, seed: Seed) -> Result<Vec<u8>> {
    if job != SYNC_WRITES {
        return Ok(find_shipped(job).context("no such trace")?.bytes.to_vec());
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("sync writes"));
    let mut writer = TraceWriter::new("sync-writes", "Synchronous writes.", Source::Synthetic);
    for _ in 0..WRITES {
        let offset = Bytes::kib(4) * (random.next_u64() % (SPAN.get() / 4096));
        writer.push(&Request::new(Nanos::ZERO, RequestKind::Write, offset, Bytes::kib(4)));
        writer.push(&Request::new(Nanos::ZERO, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO));
    }
    Ok(writer.finish(Nanos::ZERO))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn unit_mapped_cards_gain_and_page_mapped_ones_do_not() {
        for card in PUBLISHED.map(|published| published.card) {
            let ratio = tried(card, SYNC_WRITES, Mode::Barriers, Seed::from_bits(3)).unwrap();
            assert!(as_claimed(card, &ratio).unwrap(), "{card}: {ratio:?}");
        }
    }
}
