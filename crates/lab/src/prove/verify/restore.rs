//! `cargo xtask prove verify-restore`: `cardproof verify --restore` killed at any moment, on a loop
//! device full of known data.
//!
//! After each kill the test is started again, every third time killed once more while it puts back,
//! and then left to end. The device must hold every byte as before, and no journal may be left. Every
//! other time the killed test has its journal in a directory that the next one is not told.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::LoopDevice;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::program::{Build, build};
use crate::prove::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "verify-restore",
    shows: "verify --restore killed at any moment: every byte is as before",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count, Takes::Seed],
    run,
};

const KILLS: usize = 200;
const KILLS_SHORT: usize = 12;

/// The device's size: all of it is overwritten by the test.
const SIZE: Bytes = Bytes::mib(16);

/// What the kills have met.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    kills: u32,
    /// Kills at which the device held something else than before.
    while_overwritten: u32,
    /// Kills while an earlier test was being put back.
    while_restoring: u32,
    bytes_lost: u64,
    journals_left: u32,
}

fn run(asked: &Asked) -> Result<Proved> {
    let program = build(Build::Quick)?;
    let place = tempfile::tempdir()?;
    let seed = asked.seed.unwrap_or(Seed::from_bits(17)).derive("kills");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let device = LoopDevice::filled(SIZE, seed)?;
    let bench = Bench { program: &program, device: &device, place: place.path() };
    let before = fs::read(device.path())?;
    let begun = Instant::now();
    bench.to_its_end()?;
    let usual = begun.elapsed();
    let mut met = Met::default();
    for number in 0..asked.count_or(KILLS, KILLS_SHORT) {
        let elsewhere = number % 2 == 1;
        met.kills += bench.kill_after(part(&mut random, usual), elsewhere)?;
        met.while_overwritten += u32::from(fs::read(device.path())? != before);
        if number % 3 == 2 {
            let killed = bench.kill_after(part(&mut random, usual / 4), false)?;
            met.kills += killed;
            met.while_restoring += killed;
        }
        bench.to_its_end()?;
        let after = fs::read(device.path())?;
        met.bytes_lost += before.iter().zip(&after).filter(|(a, b)| a != b).count() as u64;
        met.journals_left += bench.journals_left();
    }
    let Met { kills, while_overwritten, while_restoring, bytes_lost, journals_left } = met;
    let tables = format!(
        "| kill -9 | the device held test data then | killed again while restoring | bytes that \
         differ after the next test | journals left |\n| --- | --- | --- | --- | --- |\n\
         | {kills} | {while_overwritten} | {while_restoring} | {bytes_lost} | {journals_left} |\n"
    );
    Ok(Proved { tables, holds: bytes_lost == 0 && journals_left == 0 && while_overwritten > 0 })
}

/// A random part of `whole`.
fn part(random: &mut Xoshiro256PlusPlus, whole: Duration) -> Duration {
    whole.mul_f64((random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)
}

struct Bench<'a> {
    program: &'a Path,
    device: &'a LoopDevice,
    place: &'a Path,
}

impl Bench<'_> {
    fn command(&self) -> Result<Command> {
        let mut command = Command::new(self.program);
        let identity = format!("--restore={}", self.device.identity()?);
        command.args(["verify", "--quiet", "--seed", "1"]).arg(self.device.path()).arg(identity);
        command.env("XDG_DATA_HOME", self.place.join("data"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }

    fn to_its_end(&self) -> Result<()> {
        let ended = self.command()?.output()?;
        let said = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.success(), "verify --restore ended with {}: {said}", ended.status);
        Ok(())
    }

    /// Starts a test and kills it; 1, or 0 where it had ended before.
    fn kill_after(&self, wait: Duration, elsewhere: bool) -> Result<u32> {
        let mut command = self.command()?;
        if elsewhere {
            command.arg("--journal").arg(self.place.join("elsewhere"));
        }
        let mut child = command.stderr(Stdio::null()).spawn().context("cannot start verify")?;
        std::thread::sleep(wait);
        let has_ended = child.try_wait()?.is_some();
        child.kill()?;
        child.wait()?;
        Ok(u32::from(!has_ended))
    }

    fn journals_left(&self) -> u32 {
        let directories =
            [self.place.join("data/cardproof/journals"), self.place.join("elsewhere")];
        let count = |directory| fs::read_dir(directory).map_or(0, Iterator::count);
        directories.iter().map(count).sum::<usize>() as u32
    }
}
