//! The program killed at any moment: no cycle is lost or counted twice.
//!
//! The card is a file. What was counted is read from the journal of the run after each kill;
//! what was written, from the sectors of the file, which carry the number of their cycle.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::Part;
use crate::program::{self, Build};

const SIZE: u64 = 32 << 20;

/// Cycles that are done after the last kill.
const MORE: u64 = 2;

/// Kills a run `kills` times and lets it end.
pub(super) fn prove(kills: usize, seed: Seed) -> Result<Part> {
    let program = program::build(Build::Quick)?;
    // Beside the build: elsewhere a loop device of somebody else may hold a file of the file system.
    let place = tempfile::tempdir_in(program::cache("kills")?)?;
    let card = place.path().join("card.img");
    fs::File::create(&card)?.set_len(SIZE)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("kills"));
    let (mut counted, mut in_cycles) = (Vec::new(), 0);
    for kill in 0..kills {
        let mut child = endure(&program, &card, place.path(), None)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Longer than the program needs to start, in most cases.
        std::thread::sleep(Duration::from_millis(20 + random.next_u64() % 500));
        child.kill()?;
        child.wait()?;
        let before = counted.len();
        counted = counted_cycles(place.path())?;
        check(&counted).with_context(|| format!("after kill {kill}"))?;
        ensure!(counted.len() >= before, "kill {kill} has lost cycles");
        in_cycles += usize::from(counted.len() > before);
    }
    let wanted = counted.len() as u64 + MORE;
    let output = endure(&program, &card, place.path(), Some(wanted)).output()?;
    ensure!(
        output.status.success(),
        "the last run failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let numbers = counted_cycles(place.path())?;
    check(&numbers)?;
    let oldest = oldest_generation(&card)?;
    let holds = answer["cycles"] == wanted
        && numbers.len() as u64 == wanted
        && oldest == Some(wanted as u32)
        && answer["bad_share"] == 0.0;
    Ok(Part {
        sentence: format!(
            "kill -9 at {kills} moments of a run on a file of 32 MiB: {} cycles lost or counted twice, \
             in a run that no kill kept from its {wanted} cycles; {}; pages called bad: {}.",
            if holds { 0 } else { wanted.abs_diff(numbers.len() as u64) },
            match oldest {
                Some(oldest) if u64::from(oldest) == wanted =>
                    "every sector is of the last cycle".to_owned(),
                other => format!("the oldest sector is of cycle {other:?}"),
            },
            answer["bad_share"],
        ),
        holds: holds && (in_cycles > 0 || kills == 0),
    })
}

fn endure(program: &Path, card: &Path, place: &Path, cycles: Option<u64>) -> Command {
    let mut command = Command::new(program);
    command
        .args(["endure", "--quiet", "--json", "-"])
        .arg(card)
        .arg(format!("--destroy=card.img:{SIZE}"))
        .env("XDG_DATA_HOME", place)
        .env("HOME", place);
    if let Some(cycles) = cycles {
        command.args(["--cycles", &cycles.to_string()]);
    }
    command
}

/// The numbers of the cycles in the journal, in its order; a torn last line counts for nothing.
fn counted_cycles(place: &Path) -> Result<Vec<u64>> {
    let Ok(entries) = fs::read_dir(place.join("cardproof/endure")) else { return Ok(Vec::new()) };
    let paths: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "endure"))
        .collect();
    ensure!(paths.len() <= 1, "there is more than one run on the card");
    let Some(path) = paths.first() else { return Ok(Vec::new()) };
    let text = fs::read_to_string(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let numbers = whole.lines().map(|line| -> Result<Option<u64>> {
        let line: Value = serde_json::from_str(line)?;
        Ok(line.get("cycle").and_then(|cycle| cycle["cycle"].as_u64()))
    });
    numbers.filter_map(Result::transpose).collect()
}

fn check(numbers: &[u64]) -> Result<()> {
    ensure!(
        numbers.iter().copied().eq(1..=numbers.len() as u64),
        "cycles are lost or counted twice: {numbers:?}"
    );
    Ok(())
}

/// The least cycle of any sector; `None` where a sector is none of the run's.
fn oldest_generation(card: &Path) -> Result<Option<u32>> {
    let data = fs::read(card)?;
    let (sectors, _) = data.as_chunks::<SECTOR>();
    let generations: Option<Vec<u32>> =
        sectors.iter().map(|sector| Some(Stamp::of_whole(sector)?.generation)).collect();
    Ok(generations.and_then(|all| all.into_iter().min()))
}
