//! `cargo xtask prove job-and-replay`: a job on files of a simulated card, and its trace
//! replayed on the same card without any files.
//!
//! The card is served in real time with ext4 on it; the short installation of packages is done there
//! and recorded. The trace is then replayed on a fresh card of the same kind in its own time. Where
//! the two times agree, a block trace stands for the job, and the served card for the model.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_record::PhaseState;
use cardproof_runner::{ReplayPlan, replay};
use cardproof_sim::Keeping;
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_trace::TraceReader;
use cardproof_units::Seed;

use super::ours;
use super::stage::Stage;
use super::table::WITHIN;
use crate::program::{self, Build};
use crate::prove::{Asked, DependsOn, Proof, Proved, Rows};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "job-and-replay",
    shows: "a job on files of a simulated card beside its trace, replayed on that card",
    document: "docs/design/jobs.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[],
    run,
};

/// A fast card, one with about 500 random writes a second, and a slow one.
const CARDS: [&str; 3] = ["sandisk-extreme-a1", "sandisk-industrial", "sandisk-ultra"];

const JOB: &str = "package-install-short";

/// Pairs on each card; the one with the median ratio counts.
const PAIRS: usize = 3;

/// Two times of one job, in seconds.
#[derive(Clone, Copy, Debug)]
struct Pair {
    on_files: f64,
    replayed: f64,
}

impl Pair {
    fn ratio(self) -> f64 {
        self.replayed / self.on_files
    }
}

/// Does all pairs and shows each row when it is known; whether all medians are near enough.
fn run(_: &Asked) -> Result<Proved> {
    let program = program::build(Build::Quick)?;
    let mut table = Rows::below(
        "| card | job on files, s | its trace replayed, s | ratio: median | lowest to highest | \
         within 15 % |\n| --- | ---: | ---: | ---: | --- | --- |",
    )?;
    let mut is_good = true;
    for card in CARDS {
        let mut pairs = (0..PAIRS).map(|_| pair(&program, card)).collect::<Result<Vec<Pair>>>()?;
        pairs.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        let (median, low, high) = (pairs[PAIRS / 2], pairs[0].ratio(), pairs[PAIRS - 1].ratio());
        let is_near = (median.ratio() - 1.0).abs() <= WITHIN;
        is_good &= is_near;
        table.add(&format!(
            "| `{card}` | {:.1} | {:.1} | {:.3} | {low:.3} to {high:.3} | {} |",
            median.on_files,
            median.replayed,
            median.ratio(),
            if is_near { "yes" } else { "**no**" }
        ))?;
    }
    Ok(Proved { tables: table.into_text(), holds: is_good })
}

fn pair(program: &Path, card: &str) -> Result<Pair> {
    let directory = tempfile::tempdir()?;
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1.0,
        block_device: true,
        backing: None,
        log: None,
    };
    let mut server = Server::start(cardproof_sim::find(card)?, Seed::from_bits(1), &options)?;
    let device = server.device().context("the card has no block device")?.to_owned();
    let done = Stage::on(&device).and_then(|stage| ours::on(&stage, program, JOB));
    server.stop()?;
    let (seen, on_files) = done?;
    let pair = Pair { on_files, replayed: replayed(card, &seen.trace)? };
    eprintln!("{card}: {:.1} s on files, {:.1} s replayed", pair.on_files, pair.replayed);
    Ok(pair)
}

/// The seconds that `trace` takes on a fresh `card`.
fn replayed(card: &str, trace: &[u8]) -> Result<f64> {
    let seed = Seed::from_bits(1);
    let mut target = cardproof_sim::find(card)?.open(seed, Keeping::Nothing)?;
    let span = target.abilities().size;
    let plan = ReplayPlan { think_factor: 1.0, queue_depth: 32, span, seed, lay_out: false };
    let never = AtomicBool::new(false);
    let trace = TraceReader::new(trace)?;
    let replay = replay(&mut *target, &trace, &plan, &mut |_| {}, &never, None);
    ensure!(replay.state == PhaseState::Measured, "{card}: {:?}", replay.state);
    Ok(replay.duration_ns.as_secs_f64())
}
