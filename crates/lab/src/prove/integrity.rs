//! `cargo xtask prove integrity`: verdicts on queues and discards of cards whose author did not know how the
//! verdicts are reached.
//!
//! The program itself tests cards described in files. Harm that is frequent must be found in every run. Harm
//! that is rare may be missed in at most 5 % of the runs whose printed bound lies below its share. A sound
//! card must never be accused. Virtual time only, so the same number of runs gives the same table everywhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow};
use cardproof_units::Seed;
use serde_json::Value;
use statrs::distribution::{Binomial, DiscreteCDF};
use tempfile::TempDir;

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "integrity",
    shows: "verdicts of verify --queue and --discard on cards made from descriptions in words alone; --only \
            takes their names",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed, Takes::Only],
    run,
};

/// How often each card is tested, in full and in the short form.
const RUNS: (usize, usize) = (2, 1);

/// A card with rare harm is tested this many times as often in full: a share of misses takes many runs.
const RARE_TIMES: usize = 4;

const SEED: u64 = 1;

/// The cards and what is right to say of each.
const CARDS: &str = include_str!("integrity/cards.txt");

/// The share of runs that may miss harm above the bound.
const MISSED_MAX: f64 = 0.05;

/// So unlikely a number of misses is no chance.
const NO_CHANCE: f64 = 0.001;

/// A card, and what is right to say of it.
#[derive(Debug)]
struct Device {
    name: &'static str,
    /// What it does.
    words: &'static str,
    /// How it is tested.
    options: Vec<&'static str>,
    /// The verdicts that are right.
    right: Vec<&'static str>,
    /// Of harm that may be missed by chance.
    rare: Option<Rare>,
    /// Its description.
    card: String,
}

impl Device {
    /// The one that a line of [`CARDS`] describes.
    fn read(line: &'static str) -> Option<Self> {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [name, words, options, right, rare, card] = parts[..] else { return None };
        let rare = match rare.split_once(' ') {
            Some((bound, share)) => Some(Rare { share: share.parse().ok()?, bound }),
            None => None,
        };
        let (options, right) = (options.split(' ').collect(), right.split(' ').collect());
        Some(Self { name, words, options, right, rare, card: card.replace("; ", "\n") })
    }
}

/// Harm that is so rare that a run may miss it, or speed whose interval may be off: both by chance.
#[derive(Debug)]
struct Rare {
    /// The share of the requests that are harmed; 1 where chance lies in the speed.
    share: f64,
    /// The field of the answer that bounds this share.
    bound: &'static str,
}

/// What one run said.
struct Outcome {
    device: usize,
    verdict: String,
    /// Of rare harm: whether the printed bound lies below its share.
    is_excluded: bool,
}

/// The runs of one card.
#[derive(Clone, Debug, Default)]
struct Row {
    verdicts: BTreeMap<String, u64>,
    /// Runs that said `sound` with a bound below the share of the harm.
    missed: u64,
}

impl Row {
    fn runs(&self) -> u64 {
        self.verdicts.values().sum()
    }

    fn of(&self, is_wanted: impl Fn(&str) -> bool) -> u64 {
        self.verdicts.iter().filter(|(verdict, _)| is_wanted(verdict)).map(|(_, runs)| runs).sum()
    }

    /// Whether the verdicts are as promised for `device`.
    fn holds(&self, device: &Device) -> bool {
        let wrong = self.of(|verdict| !device.right.contains(&verdict));
        if device.rare.is_none() {
            return wrong == 0;
        }
        wrong == self.of(|verdict| verdict == "sound") && is_chance(self.missed, self.runs())
    }
}

/// Whether so many of `runs` may have missed what at most [`MISSED_MAX`] may miss.
fn is_chance(missed: u64, runs: u64) -> bool {
    let more = missed
        .checked_sub(1)
        .and_then(|fewer| Binomial::new(MISSED_MAX, runs).ok().map(|misses| misses.sf(fewer)));
    more.is_none_or(|share| share > NO_CHANCE)
}

/// All cards.
fn devices() -> Result<Vec<Device>> {
    let lines = CARDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Device::read(line).with_context(|| format!("no card: {line}"))).collect()
}

fn run(asked: &Asked) -> Result<Proved> {
    let devices = devices()?;
    if let Some(unknown) = asked.only.iter().find(|name| devices.iter().all(|it| it.name != **name))
    {
        return Err(anyhow!(
            "there is no card '{unknown}'; see crates/lab/src/prove/integrity/cards.txt"
        ));
    }
    let runs = asked.count_or(RUNS.0, RUNS.1);
    let program = program::build(Build::Quick)?;
    let place = tempfile::tempdir()?;
    let wanted = wanted(&devices, asked, runs);
    let first = asked.seed.unwrap_or(Seed::from_bits(SEED)).get();
    let outcomes = for_each(wanted.len(), |number| {
        let (device, run) = wanted[number];
        let seed = first.wrapping_add(run);
        test(&program, &place, &devices, device, seed)
    })?;
    let mut rows = vec![Row::default(); devices.len()];
    for outcome in outcomes {
        let row = &mut rows[outcome.device];
        row.missed += u64::from(outcome.verdict == "sound" && outcome.is_excluded);
        *row.verdicts.entry(outcome.verdict).or_default() += 1;
    }
    let tried: Vec<(&Device, &Row)> =
        devices.iter().zip(&rows).filter(|(_, row)| row.runs() > 0).collect();
    let holds = tried.iter().all(|(device, row)| row.holds(device));
    Ok(Proved { tables: table(&tried), holds })
}

/// Which card is tested with which number of a seed.
fn wanted(devices: &[Device], asked: &Asked, runs: usize) -> Vec<(usize, u64)> {
    let is_asked = |name: &str| asked.only.is_empty() || asked.only.iter().any(|it| it == name);
    let chosen = devices.iter().enumerate().filter(|(_, device)| is_asked(device.name));
    chosen
        .flat_map(|(index, device)| {
            let times = if device.rare.is_some() && !asked.is_short { RARE_TIMES } else { 1 };
            (0..(runs * times) as u64).map(move |run| (index, run))
        })
        .collect()
}

/// Lets the program test a card.
fn test(
    program: &Path,
    place: &TempDir,
    devices: &[Device],
    index: usize,
    seed: u64,
) -> Result<Outcome> {
    let device = &devices[index];
    let home = place.path().join(format!("{}-{seed}", device.name));
    fs::create_dir_all(&home)?;
    let file = home.join("card.toml");
    fs::write(&file, &device.card)?;
    let output = Command::new(program)
        .args(["verify", &format!("sim:{}", file.display()), "--quiet", "--json", "-"])
        .args(["--seed", &seed.to_string()])
        .args(&device.options)
        .env("HOME", &home)
        .env("XDG_DATA_HOME", &home)
        .env("XDG_STATE_HOME", &home)
        .env("XDG_CACHE_HOME", &home)
        .stdin(Stdio::null())
        .output()?;
    let said = || format!("{}: {}", device.name, String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(said)?;
    let part = &answer[if device.options.contains(&"--queue") { "queue" } else { "discard" }];
    let verdict = part["verdict"].as_str().with_context(said)?.to_owned();
    let is_excluded = device
        .rare
        .as_ref()
        .is_some_and(|rare| part[rare.bound].as_f64().is_some_and(|bound| bound <= rare.share));
    if !device.right.contains(&verdict.as_str()) {
        eprintln!("'{}' with seed {seed}: {verdict}\n{answer:#}", device.name);
    }
    fs::remove_dir_all(&home)?;
    Ok(Outcome { device: index, verdict, is_excluded })
}

fn table(rows: &[(&Device, &Row)]) -> String {
    let mut text = String::from(
        "| card | it | test | runs | right | undecided | harm missed | other verdicts | as promised |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n",
    );
    for (device, row) in rows {
        let is_right = |verdict: &str| device.right.contains(&verdict) && verdict != "undecided";
        let is_missed = |verdict: &str| verdict == "sound" && !device.right.contains(&"sound");
        let others: Vec<String> = row
            .verdicts
            .iter()
            .filter(|(it, _)| !is_right(it) && !is_missed(it) && *it != "undecided")
            .map(|(verdict, runs)| format!("{runs} `{verdict}`"))
            .collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | `{}` | {} | {} | {} | {} | {} | {} |",
            device.name,
            device.words,
            device.options.join(" "),
            row.runs(),
            row.of(is_right),
            row.of(|verdict| verdict == "undecided"),
            row.of(is_missed),
            others.join(", "),
            if row.holds(device) { "yes" } else { "**no**" },
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_can_be_described_and_has_its_own_name() {
        let devices = devices().unwrap();
        for device in &devices {
            assert!(cardproof_sim::describe(device.name, &device.card).is_ok(), "{}", device.name);
        }
        let names: std::collections::BTreeSet<&str> =
            devices.iter().map(|device| device.name).collect();
        assert_eq!(names.len(), devices.len());
    }

    #[test]
    fn misses_above_five_percent_are_no_chance() {
        assert!(is_chance(0, 15) && is_chance(2, 15) && is_chance(12, 100));
        assert!(!is_chance(6, 15) && !is_chance(16, 100) && !is_chance(1000, 1000));
    }
}
