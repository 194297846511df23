//! The same simulated card in virtual time and, served in real time, under fio and iozone.
//!
//! Both meet a new card with the same history, so what differs is the way from the program to
//! the card: the kernel, FUSE, a loop device. It should cost nothing that shows.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cardproof_io::{OpKind, Target};
use cardproof_sim::calibration::{pass, shuffle};
use cardproof_sim::{Card, Keeping};
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, LabError};
use cardproof_units::{Bytes, Seed, in_words};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Cards, one fast, one of the middle, one slow, with a span that each can go through in less than
/// a minute. On a smaller one the slow card's random writes would depend on their order: its log
/// is merged a few times only.
const CARDS: [(&str, Bytes); 3] = [
    ("samsung-emmc", Bytes::mib(32)),
    ("sandisk-ultra-a1", Bytes::mib(16)),
    ("intenso-class-4", Bytes::mib(16)),
];

const SEED: Seed = Seed::from_bits(5);

/// How far apart the two may be.
const TOLERANCE: f64 = 0.05;

const SMALL: Bytes = Bytes::kib(4);
const LARGE: Bytes = Bytes::mib(1);

/// Operations a second of the four jobs: sequential write and read of 1 MiB, random read and
/// write of 4 KiB.
type Rates = [f64; 4];

const JOBS: [&str; 4] = ["1M write", "1M read", "4k random read", "4k random write"];

/// Prints the table; `false` where a pair is too far apart.
pub(super) fn run() -> Result<bool> {
    let mut good = true;
    println!(
        "{:<18} {:<8} {:<16} {:>10} {:>10} {:>7}",
        "card", "tool", "job", "served", "virtual", "ratio"
    );
    for (name, span) in CARDS {
        let card = cardproof_sim::find(name)?;
        let tools: [(&str, Tool, History); 2] =
            [("fio", with_fio, with_repetition), ("iozone", with_iozone, like_iozone)];
        for (tool, served, in_virtual_time) in tools {
            let Some(served) = served(card, span)? else { continue };
            let expected = in_virtual_time(card, span)?;
            for (job, (served, expected)) in JOBS.iter().zip(served.iter().zip(expected)) {
                let ratio = served / expected;
                let verdict = if (ratio - 1.0).abs() <= TOLERANCE { "" } else { "  too far" };
                good &= verdict.is_empty();
                println!(
                    "{name:<18} {tool:<8} {job:<16} {served:>10.1} {expected:>10.1} {ratio:>7.3}{verdict}"
                );
            }
        }
    }
    Ok(good)
}

/// Drives a served card; `None` where the machine lacks what it takes.
type Tool = fn(&Card, Bytes) -> Result<Option<Rates>>;

/// Does the same in virtual time.
type History = fn(&Card, Bytes) -> Result<Rates>;

/// A server with a directory of its own.
struct Up {
    server: Server,
    _directory: tempfile::TempDir,
}

fn up(card: &Card) -> Result<Up> {
    let directory = tempfile::tempdir()?;
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1.0,
        block_device: true,
        backing: None,
        log: None,
    };
    Ok(Up { server: Server::start(card, SEED, &options)?, _directory: directory })
}

fn with_fio(card: &Card, span: Bytes) -> Result<Option<Rates>> {
    let mut up = up(card)?;
    let device = up.server.device().context("a device was asked for")?.to_owned();
    let job = |pattern, block_size: Bytes| FioJob {
        target: device.clone(),
        engine: FioEngine::Psync,
        pattern,
        block_size,
        span,
        queue_depth: 1,
        end: FioEnd::Ops(span.get() / block_size.get()),
    };
    let jobs = [
        job(FioPattern::Write, LARGE),
        job(FioPattern::Read, LARGE),
        job(FioPattern::RandomRead, SMALL),
        job(FioPattern::RandomWrite, SMALL),
    ];
    let mut rates = [0.0; 4];
    for (rate, job) in rates.iter_mut().zip(&jobs) {
        *rate = match job.run(None) {
            Ok(result) => result.iops,
            Err(LabError::Unavailable(reason)) => {
                println!("fio is left out: {reason}");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
    }
    up.server.stop()?;
    Ok(Some(rates))
}

/// What fio does: random places with repetition.
fn with_repetition(card: &Card, span: Bytes) -> Result<Rates> {
    let mut target = card.build(SEED, Keeping::Nothing)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED.get());
    target.prepare(1, LARGE)?;
    let large: Vec<u64> = (0..span.get() / LARGE.get()).collect();
    let blocks = span.get() / SMALL.get();
    let mut places = || (0..blocks).map(|_| random.next_u64() % blocks).collect::<Vec<u64>>();
    Ok([
        pass(&mut target, OpKind::Write, LARGE, &large)?,
        pass(&mut target, OpKind::Read, LARGE, &large)?,
        pass(&mut target, OpKind::Read, SMALL, &places())?,
        pass(&mut target, OpKind::Write, SMALL, &places())?,
    ])
}

fn with_iozone(card: &Card, span: Bytes) -> Result<Option<Rates>> {
    let mut rates = [0.0; 4];
    for (record, places) in [(LARGE, [(1, 0), (3, 1)]), (SMALL, [(4, 2), (5, 3)])] {
        let mut up = up(card)?;
        let Some(passes) = iozone(up.server.file(), span, record)? else { return Ok(None) };
        for (pass, place) in places {
            rates[place] = passes[pass] * 1024.0 / record.as_f64();
        }
        up.server.stop()?;
    }
    Ok(Some(rates))
}

/// The six rates of iozone's passes, in KiB a second: write, rewrite, read, reread, random read,
/// random write.
fn iozone(file: &Path, span: Bytes, record: Bytes) -> Result<Option<Vec<f64>>> {
    let kib = |bytes: Bytes| (bytes.get() >> 10).to_string();
    let mut command = Command::new("iozone");
    command.args(["-e", "-I", "-w", "-i", "0", "-i", "1", "-i", "2"]);
    command.args(["-s", &kib(span), "-r", &kib(record), "-f"]).arg(file);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("iozone is left out: it cannot be started ({})", in_words(&error));
            return Ok(None);
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let row = said.lines().find_map(|line| {
        let numbers: Option<Vec<f64>> =
            line.split_whitespace().map(|word| word.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() == 8)
    });
    match row {
        Some(row) => Ok(Some(row[2..].to_vec())),
        None => bail!("iozone gave no row of eight numbers:\n{said}"),
    }
}

/// What iozone does: every record once in each pass, a card of its own for each record size.
fn like_iozone(card: &Card, span: Bytes) -> Result<Rates> {
    let mut rates = [0.0; 4];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED.get());
    for (record, first) in [(LARGE, 0), (SMALL, 2)] {
        let mut target = card.build(SEED, Keeping::Nothing)?;
        target.prepare(1, record)?;
        let in_order: Vec<u64> = (0..span.get() / record.get()).collect();
        pass(&mut target, OpKind::Write, record, &in_order)?;
        let rewrite = pass(&mut target, OpKind::Write, record, &in_order)?;
        pass(&mut target, OpKind::Read, record, &in_order)?;
        let reread = pass(&mut target, OpKind::Read, record, &in_order)?;
        let mut shuffled = in_order;
        shuffle(&mut shuffled, &mut random);
        let random_read = pass(&mut target, OpKind::Read, record, &shuffled)?;
        shuffle(&mut shuffled, &mut random);
        let random_write = pass(&mut target, OpKind::Write, record, &shuffled)?;
        let pair = if first == 0 { [rewrite, reread] } else { [random_read, random_write] };
        rates[first..first + 2].copy_from_slice(&pair);
    }
    Ok(rates)
}
