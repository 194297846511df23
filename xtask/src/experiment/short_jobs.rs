//! `cargo xtask experiment short-jobs`: how far the time of a whole package job, estimated from its
//! short form, is from the time that it takes.
//!
//! Each job is run in full and, with other seeds, in short, each on an ext4 of its own: on a loop
//! device in memory, which is as fast as this computer, and on simulated cards, whose clock runs
//! faster than ours so that an evening is not lost. Needs root.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_io::scratch::Scratch;
use cardproof_rating::whole_job_time;
use cardproof_record::{JobRun, PhaseState};
use cardproof_runner::run_job;
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::{Filesystem, LoopDevice, Mount};
use cardproof_units::{Bytes, Seed};
use cardproof_workload::jobs::{Job, find};

/// The document that holds the table.
const DOCUMENT: &str = "docs/design/jobs.md";

const BEGIN: &str = "<!-- written by `cargo xtask experiment short-jobs`: begin -->\n";
const END: &str = "<!-- written by `cargo xtask experiment short-jobs`: end -->\n";

const JOBS: [&str; 3] = ["package-install", "package-remove", "package-reinstall"];

/// A fast card and a slow one.
const CARDS: [&str; 2] = ["sandisk-extreme-a1", "sandisk-industrial"];

/// The cards' seconds in a second of ours. On much faster cards the computer's own time, which does
/// not run faster, would be what is measured.
const SPEED: f64 = 4.0;

/// The seeds of the short forms; the whole job has the first.
const SEEDS: [u64; 3] = [1, 2, 3];

/// By how much an estimate may be off.
const WITHIN: f64 = 0.25;

/// Room for a whole job, four times over.
const SIZE: Bytes = Bytes::gib(8);

/// Runs everything, prints the table, and puts it into the design document; whether all estimates
/// are near enough.
pub(super) fn run() -> Result<bool> {
    let mut table =
        "| storage | job | in full | in short | estimated from the short ones | off |\n\
                     | --- | --- | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    let device = LoopDevice::new(SIZE)?;
    let mut is_good = rows(&mut table, "a loop device in memory", device.path(), 1.0)?;
    drop(device);
    for card in CARDS {
        is_good &= on_card(&mut table, card)?;
    }
    print!("{table}");
    let document = fs::read_to_string(DOCUMENT).with_context(|| DOCUMENT.to_owned())?;
    let (before, rest) = document.split_once(BEGIN).context("the document has no begin mark")?;
    let (_, after) = rest.split_once(END).context("the document has no end mark")?;
    fs::write(DOCUMENT, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    Ok(is_good)
}

fn on_card(table: &mut String, name: &str) -> Result<bool> {
    let directory = tempfile::tempdir()?;
    let options = ServeOptions {
        directory: directory.path().to_owned(),
        speed: SPEED,
        block_device: true,
        backing: None,
    };
    let mut server = Server::start(cardproof_sim::find(name)?, Seed::from_bits(1), &options)?;
    let device = server.device().context("the card has no block device")?.to_owned();
    let done = rows(table, &format!("the simulated card {name}"), &device, SPEED);
    server.stop()?;
    done
}

/// The rows of one storage.
fn rows(table: &mut String, storage: &str, device: &Path, speed: f64) -> Result<bool> {
    let mut is_good = true;
    for name in JOBS {
        let whole = find(name).context("no such job")?;
        let short = whole.shorter().context("the job has no short form")?;
        let in_full = speed * seconds(&run_on(device, &whole, SEEDS[0])?);
        let mut shorts = Vec::new();
        for seed in SEEDS {
            let run = run_on(device, &short, seed)?;
            let estimate = whole_job_time(&run).context("nothing can be estimated from it")?;
            shorts.push((speed * estimate.as_secs_f64(), speed * seconds(&run)));
        }
        shorts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (estimate, in_short) = shorts[SEEDS.len() / 2];
        let off = estimate / in_full - 1.0;
        let (low, high) = (shorts[0].0, shorts[SEEDS.len() - 1].0);
        writeln!(
            table,
            "| {storage} | `{name}` | {in_full:.1} s | {in_short:.1} s | {estimate:.1} s \
             ({low:.1} to {high:.1}) | {:+.0} % |",
            100.0 * off
        )?;
        is_good &= off.abs() <= WITHIN;
    }
    Ok(is_good)
}

fn seconds(run: &JobRun) -> f64 {
    run.duration_ns.as_secs_f64()
}

/// `job` on a fresh ext4 on `device`.
fn run_on(device: &Path, job: &Job, seed: u64) -> Result<JobRun> {
    let lazy = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
    let mut mkfs = std::process::Command::new("mkfs.ext4");
    let status = mkfs.args(["-q", "-F", "-E", lazy]).arg(device).status()?;
    ensure!(status.success(), "mkfs.ext4 ended with {status}");
    let mount = Mount::node(device, Filesystem::Ext4, "")?;
    let scratch = Scratch::create(mount.path(), None)?;
    let mut tree = scratch.create_tree()?;
    let (seed, never) = (Seed::from_bits(seed), AtomicBool::new(false));
    let run = run_job(&mut tree, job, &job.totals(seed), seed, &mut |_| {}, &never);
    drop(tree);
    scratch.remove()?;
    ensure!(run.state == PhaseState::Measured, "{}: {:?}", job.name, run.state);
    Ok(run)
}
