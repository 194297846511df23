//! `cargo xtask prove log-layout`: the eight simulated cards do jobs at their own addresses and
//! through a log.
//!
//! Simulated time only; the same seed gives the same table everywhere.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, ensure};
use cardproof_io::Target;
use cardproof_log_layout::{LogLayout, Mode};
use cardproof_rating::{LogGain, log_gain};
use cardproof_record::{LogTrial, PhaseState, TimeRatio};
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

/// What a log of [`SPAN`] needs at least: a third more, and five segments of 4 MiB.
const FULL_CARD: Bytes = Bytes::mib(364);
const FULL_PAIRS: u32 = 2;
const FULL_WRITES: u64 = 40_000;
const PIECE: Bytes = Bytes::mib(1);

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
                let trial = tried(published.card, job, mode, seed)?;
                if *job == SYNC_WRITES && mode == Mode::Barriers {
                    holds &= as_claimed(published.card, &trial)?;
                }
                cells.push(cell(&trial)?);
            }
            writeln!(tables, "| `{}` | {} |", published.card, cells.join(" | "))?;
        }
        tables.push('\n');
    }
    tables += "A full log, `barriers`:\n\n| card | 4 KiB sync writes |\n| --- | ---: |\n";
    for published in PUBLISHED {
        let ratio = full(published.card, seed)?;
        holds &= lasts_as_claimed(published.card, ratio)?;
        writeln!(tables, "| `{}` | {ratio:.2} |", published.card)?;
    }
    Ok(Proved { tables: tables.trim_end().to_owned() + "\n", holds })
}

/// The ratio with its interval, and a mark where the gain ends with the first cleaning.
fn cell(trial: &LogTrial) -> Result<String> {
    let TimeRatio { estimate, low, high, .. } = trial.ratio.context("no ratio")?;
    let mark = if matches!(log_gain(trial), LogGain::WhileNew(_)) { " *" } else { "" };
    Ok(format!("{estimate:.2} ({low:.2} to {high:.2}){mark}"))
}

/// Cards that map units gain much by synchronous writes. Cards that map pages are said to gain
/// nothing that lasts.
fn as_claimed(card: &str, trial: &LogTrial) -> Result<bool> {
    let card = find(card).map_err(|error| anyhow!("{error}"))?;
    Ok(match card.model.write {
        Writing::Hybrid(_) => {
            matches!(log_gain(trial), LogGain::Lasting(ratio) if ratio.estimate >= GAIN_MIN)
        }
        Writing::PageMap(_) => {
            matches!(log_gain(trial), LogGain::None(_) | LogGain::WhileNew(_))
        }
    })
}

/// `card` doing `job` on both layouts.
fn tried(card: &str, job: &str, mode: Mode, seed: Seed) -> Result<LogTrial> {
    let bytes = trace(job, seed)?;
    let card = find(card).map_err(|error| anyhow!("{error}"))?;
    let mut target = card.open(seed, Keeping::Nothing)?;
    let size = target.abilities().size;
    replayed(&mut *target, &bytes, mode, PAIRS, size, seed)
        .with_context(|| format!("{job} on {}", card.name))
}

/// `target` doing the trace in `bytes` on both layouts, the log in the first `within` of it.
fn replayed(
    target: &mut dyn Target,
    bytes: &[u8],
    mode: Mode,
    pairs: u32,
    within: Bytes,
    seed: Seed,
) -> Result<LogTrial> {
    let trace = TraceReader::new(bytes)?;
    let end = Reach::new(&trace)?.end.get().next_multiple_of(REGION.get());
    let span = LogLayout::<Box<dyn Target>>::offered(within, REGION).min(Bytes(end));
    let plan = ReplayPlan { think_factor: 0.0, queue_depth: 32, span, seed, lay_out: false };
    let layouts = LayoutPlan { mode, pairs, within };
    let stop = AtomicBool::new(false);
    let done = replay_layouts(target, &trace, &plan, &layouts, &mut |_| (), &stop, None);
    ensure!(done.state == PhaseState::Measured, "not measured: {:?}", done.state);
    Ok(done.trial)
}

/// The ratio of synchronous writes on a log that is as full as one can be, cleaning included: `card`
/// has no more room than the log needs, and every block was written before.
fn full(card: &str, seed: Seed) -> Result<f64> {
    let base = find(card).map_err(|error| anyhow!("{error}"))?;
    let times = |writes| -> Result<(f64, f64)> {
        let bytes = sync_writes(writes, true, seed);
        let mut target = base.open(seed, Keeping::Nothing)?;
        let trial = replayed(&mut *target, &bytes, Mode::Barriers, FULL_PAIRS, FULL_CARD, seed)?;
        let sum = |times: &[Nanos]| times.iter().map(|time| time.as_secs_f64()).sum();
        Ok((sum(&trial.plain_ns), sum(&trial.log_ns)))
    };
    // The first half lays the blocks out and fills what is free; cleaning has begun before its end.
    let (half, whole) = (times(FULL_WRITES / 2)?, times(FULL_WRITES)?);
    Ok((whole.0 - half.0) / (whole.1 - half.1))
}

/// On a full log cards that map units still gain, and cards that map pages lose.
fn lasts_as_claimed(card: &str, ratio: f64) -> Result<bool> {
    let card = find(card).map_err(|error| anyhow!("{error}"))?;
    Ok(match card.model.write {
        Writing::Hybrid(_) => ratio > 1.0,
        Writing::PageMap(_) => ratio < 1.0,
    })
}

fn trace(job: &str, seed: Seed) -> Result<Vec<u8>> {
    if job != SYNC_WRITES {
        return Ok(find_shipped(job).context("no such trace")?.bytes.to_vec());
    }
    Ok(sync_writes(WRITES, false, seed))
}

/// `writes` synchronous writes at random addresses; before them, with `lays_out`, all of the span.
fn sync_writes(writes: u64, lays_out: bool, seed: Seed) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("sync writes"));
    let mut writer = TraceWriter::new("sync-writes", "Synchronous writes.", Source::Synthetic);
    let pieces = if lays_out { SPAN.get() / PIECE.get() } else { 0 };
    for piece in 0..pieces {
        writer.push(&Request::new(Nanos::ZERO, RequestKind::Write, PIECE * piece, PIECE));
    }
    for _ in 0..writes {
        let offset = Bytes::kib(4) * (random.next_u64() % (SPAN.get() / 4096));
        writer.push(&Request::new(Nanos::ZERO, RequestKind::Write, offset, Bytes::kib(4)));
        writer.push(&Request::new(Nanos::ZERO, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO));
    }
    writer.finish(Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn unit_mapped_cards_gain_and_page_mapped_ones_do_not() {
        for card in PUBLISHED.map(|published| published.card) {
            let trial = tried(card, SYNC_WRITES, Mode::Barriers, Seed::from_bits(3)).unwrap();
            assert!(as_claimed(card, &trial).unwrap(), "{card}: {trial:?}");
        }
    }

    #[test]
    fn on_a_full_log_page_mapped_cards_lose() {
        for card in ["sandisk-ultra", "sandisk-extreme-plus"] {
            let ratio = full(card, Seed::from_bits(3)).unwrap();
            assert!(lasts_as_claimed(card, ratio).unwrap(), "{card}: {ratio}");
        }
    }
}
