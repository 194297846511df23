//! `cargo xtask prove tune-served`: `tune --prove` in real time beside the same in virtual time.
//!
//! Each card is asked twice with one seed: in the program itself, where time is computed, and served
//! as a block device, where it passes, with the kernel in between. Both must say the same.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::program::{Build, build};
use crate::prove::served::Served;
use crate::prove::{Asked, DependsOn, Proof, Proved, Rows, Takes};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "tune-served",
    shows: "the gain of a partition's place in real time, beside the one in virtual time",
    document: "docs/design/tuning.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count, Takes::Only],
    run,
};

/// Ten of the catalogue: cards, a stick and an eMMC.
const CARDS: [&str; 10] = [
    "sandisk-ultra",
    "intenso-class-4",
    "sandisk-industrial",
    "sandisk-extreme-plus",
    "sandisk-ultra-a1",
    "sandisk-extreme-a1",
    "sandisk-extreme-pro-a2",
    "samsung-emmc",
    "usb-stick",
    "high-endurance",
];

/// How many of them the short form asks.
const CARDS_SHORT: usize = 1;

/// Eight allocation units of 8 MiB.
const SIZE: &str = "64M";

/// The seed of the cards and of the trials.
const SEED: &str = "1";

/// As fast as the card.
const REAL_TIME: &str = "1";

/// What `tune --json` says of a gain.
#[derive(Debug, Deserialize)]
struct Gain {
    ratio: f64,
    low: f64,
    high: f64,
    is_gain: bool,
}

fn run(asked: &Asked) -> Result<Proved> {
    let program = build(Build::Quick)?;
    let mut rows = Rows::below(
        "| card | virtual time: after / before | gain | real time: after / before | gain | difference |\n\
         | --- | ---: | --- | ---: | --- | ---: |",
    )?;
    let wanted =
        |card: &&&str| asked.only.is_empty() || asked.only.iter().any(|only| only == **card);
    let count = asked.count_or(CARDS.len(), CARDS_SHORT);
    let cards: Vec<&str> = CARDS.iter().filter(wanted).take(count).copied().collect();
    ensure!(!cards.is_empty(), "there is no such card; there are {}", CARDS.join(", "));
    let mut agree = 0;
    for card in &cards {
        let computed = gain(&program, &format!("sim:{card}"), None)?;
        let served = Served::start(&program, Path::new(card), REAL_TIME, SEED)?;
        let device = served.device().to_str().context("no text")?;
        let identity = cardproof_testkit::identity(served.device())?;
        let passed = gain(&program, device, Some(&identity))?;
        served.stop()?;
        agree += usize::from(computed.agrees_with(&passed));
        let difference = 100.0 * (passed.ratio / computed.ratio - 1.0);
        rows.add(&format!("| {card} | {computed} | {passed} | {difference:+.1} % |"))?;
    }
    let total = cards.len();
    let text = format!(
        "{}\nBoth say the same of {agree} of {total} cards: a gain or none, and each ratio lies within \
         the other's interval.\n",
        rows.into_text()
    );
    Ok(Proved { tables: text, holds: agree == total })
}

/// The gain of the partition's place on `target`.
fn gain(program: &Path, target: &str, identity: Option<&str>) -> Result<Gain> {
    let place = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.args(["tune", target, "--prove", "--size", SIZE, "--seed", SEED]);
    command.args(["--json", "-", "--quiet"]).env("XDG_DATA_HOME", place.path());
    command.args(identity.map(|identity| format!("--destroy={identity}")));
    let said = command.output().context("cannot start cardproof tune")?;
    ensure!(
        said.status.success(),
        "cardproof tune {target}: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    let plan: serde_json::Value = serde_json::from_slice(&said.stdout)?;
    let gain = plan["steps"][0]["gain"].clone();
    serde_json::from_value(gain).with_context(|| format!("no gain was measured on {target}"))
}

impl Gain {
    /// Whether `other` measured the same.
    fn agrees_with(&self, other: &Self) -> bool {
        let holds = |one: &Self, ratio: f64| (one.low..=one.high).contains(&ratio);
        self.is_gain == other.is_gain && holds(self, other.ratio) && holds(other, self.ratio)
    }
}

impl std::fmt::Display for Gain {
    /// Two cells of the table.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ratio, low, high, is_gain } = self;
        let word = if *is_gain { "yes" } else { "no" };
        write!(f, "{ratio:.3} ({low:.3} to {high:.3}) | {word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(ratio: f64, low: f64, high: f64) -> Gain {
        Gain { ratio, low, high, is_gain: low > 1.0 }
    }

    #[test]
    fn two_gains_agree_where_each_is_in_the_others_interval() {
        let one = gain(1.2, 1.1, 1.3);
        assert!(one.agrees_with(&gain(1.25, 1.15, 1.4)));
        assert!(!one.agrees_with(&gain(1.35, 1.15, 1.5)), "outside of the first one's");
        assert!(!one.agrees_with(&gain(1.25, 1.22, 1.4)), "outside of the second one's");
        assert!(!one.agrees_with(&gain(1.2, 0.9, 1.5)), "no gain");
    }
}
