//! `cargo xtask prove short-jobs`: how far the time of a whole package job, estimated from its
//! short form, is from the time that it takes.
//!
//! Each job is run in full and, with several seeds, in short, each on a fresh ext4 on a loop device
//! in memory to which the kernel allows so many writes a second, its own threads' included: the
//! pace of a good card and of a middling one, whatever else this computer has to do. Needs root.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_io::scratch::Scratch;
use cardproof_jobs::{Job, find};
use cardproof_rating::whole_job_time;
use cardproof_record::{JobRun, PhaseState};
use cardproof_runner::run_job;
use cardproof_testkit::{Filesystem, KernelThrottle, Limits, LoopDevice, Mount};
use cardproof_units::{Bytes, Seed};

use super::{Asked, DependsOn, Proof, Proved, Rows};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "short-jobs",
    shows: "how well a whole package job is estimated from its short form",
    document: "docs/design/jobs.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[],
    run,
};

const JOBS: [&str; 3] = ["package-install", "package-remove", "package-reinstall"];

/// The writes a second of the storages; reads are as good as those of the first.
const WRITE_IOPS: [u32; 2] = [1500, 500];

/// The seeds of the short forms; the whole job has the first.
const SEEDS: [u64; 3] = [1, 2, 3];

/// By how much an estimate may be off.
const WITHIN: f64 = 0.25;

/// Room for a whole job, four times over.
const SIZE: Bytes = Bytes::gib(8);

/// Runs everything and shows each row when it is known; whether all estimates are near enough.
fn run(_: &Asked) -> Result<Proved> {
    let mut table = Rows::below(
        "| storage | job | in full | in short | estimated from the short ones | off |\n\
         | --- | --- | ---: | ---: | ---: | ---: |",
    )?;
    let mut is_good = true;
    for write_iops in WRITE_IOPS {
        let limits = Limits {
            read_iops: Some(WRITE_IOPS[0]),
            write_iops: Some(write_iops),
            ..Limits::default()
        };
        is_good &= rows(&mut table, write_iops, &limits)?;
    }
    Ok(Proved { tables: table.into_text(), holds: is_good })
}

/// The rows of the storage with `limits`.
fn rows(table: &mut Rows, write_iops: u32, limits: &Limits) -> Result<bool> {
    let mut is_good = true;
    for name in JOBS {
        let whole = find(name).context("no such job")?;
        let short = whole.shorter().context("the job has no short form")?;
        let in_full = seconds(&run_with(limits, &whole, SEEDS[0])?);
        eprintln!("{write_iops} writes/s, {name} in full: {in_full:.1} s");
        let mut shorts = Vec::new();
        for seed in SEEDS {
            let run = run_with(limits, &short, seed)?;
            let estimate = whole_job_time(&run).context("nothing can be estimated from it")?;
            let (estimate, in_short) = (estimate.as_secs_f64(), seconds(&run));
            eprintln!("  with seed {seed} in short: {in_short:.1} s, so {estimate:.1} s in full");
            shorts.push((estimate, in_short));
        }
        shorts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (estimate, in_short) = shorts[SEEDS.len() / 2];
        let off = estimate / in_full - 1.0;
        let (low, high) = (shorts[0].0, shorts[SEEDS.len() - 1].0);
        table.add(&format!(
            "| {write_iops} writes/s | `{name}` | {in_full:.1} s | {in_short:.1} s | {estimate:.1} s \
             ({low:.1} to {high:.1}) | {:+.0} % |",
            100.0 * off
        ))?;
        is_good &= off.abs() <= WITHIN;
    }
    Ok(is_good)
}

fn seconds(run: &JobRun) -> f64 {
    run.duration_ns.as_secs_f64()
}

/// `job` on a fresh ext4 on a device with `limits`.
fn run_with(limits: &Limits, job: &Job, seed: u64) -> Result<JobRun> {
    let device = LoopDevice::new(SIZE)?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    let _limit = KernelThrottle::new(&device, limits)?;
    let scratch = Scratch::create(mount.path(), None)?;
    let mut tree = scratch.create_tree()?;
    let (seed, never) = (Seed::from_bits(seed), AtomicBool::new(false));
    let run = run_job(&mut tree, job, &job.totals(seed), seed, &mut |_| {}, &never, None);
    drop(tree);
    scratch.remove()?;
    ensure!(run.state == PhaseState::Measured, "{}: {:?}", job.name, run.state);
    Ok(run)
}
