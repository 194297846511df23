//! `cargo xtask prove powercut`: power cuts on simulated cards of known harm, and whether the printed
//! bound covers the truth.
//!
//! Simulated time only; the same seed gives the same table everywhere.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Result, anyhow};
use cardproof_evidence::powercut::Kind;
use cardproof_probe::powercut::{Style, Wish, run as probe};
use cardproof_sim::fault::{Harm, Power};
use cardproof_sim::{Card, Keeping, find};
use cardproof_units::{Bytes, Seed};

use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "powercut",
    shows: "power cuts on simulated cards of known harm, and the coverage of the bound",
    document: "docs/design/powercut.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed],
    run,
};

/// Cuts for each harm, and experiments for the coverage.
const COUNT: usize = 1000;
const COUNT_SHORT: usize = 60;

/// The least share of cuts that are classified rightly, in percent.
const RIGHT_PERCENT: f64 = 99.0;

/// Cuts of an experiment.
const EXPERIMENT_CUTS: u64 = 30;

/// Shares of harmful cuts, in a million, that experiments have by turns.
const SHARES_PPM: [u32; 5] = [0, 20_000, 95_000, 200_000, 500_000];

const CARDS: [&str; 2] = ["sandisk-ultra", "sandisk-extreme-a1"];

/// The harms with the kinds that they must be called.
const HARMS: [(&str, Harm, Option<Kind>); 7] = [
    ("nothing", Harm::Nothing, None),
    ("lost", Harm::Lost, Some(Kind::Lost)),
    ("torn", Harm::Torn, Some(Kind::Torn)),
    ("reordered", Harm::Reordered, Some(Kind::Reordered)),
    ("collateral", Harm::Collateral, Some(Kind::Collateral)),
    ("misdirected", Harm::Misdirected, Some(Kind::Misdirected)),
    ("gone", Harm::Gone, Some(Kind::Gone)),
];

const WISH: Wish = Wish {
    cuts: 0,
    start: Bytes::mib(4),
    size: Bytes::kib(512),
    epoch_writes: 8,
    style: Style { queue_depth: 4, writes_are_durable: false },
};

/// The cuts of one harm.
#[derive(Debug, Default)]
struct Row {
    cuts: u64,
    effective: u64,
    right: u64,
    /// Cuts by what they were called.
    called: BTreeMap<&'static str, u64>,
}

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(COUNT, COUNT_SHORT) as u64;
    let seed = asked.seed.unwrap_or(Seed::from_bits(22));
    let mut holds = true;
    let mut tables = String::from(
        "| harm | cuts | effective | called rightly | called otherwise |\n\
         | --- | ---: | ---: | ---: | --- |\n",
    );
    for (name, harm, kind) in HARMS {
        let row = classified(harm, kind, count, seed)?;
        let right = 100.0 * row.right as f64 / row.cuts.max(1) as f64;
        holds &= right >= if kind.is_none() { 100.0 } else { RIGHT_PERCENT };
        let others = row.called.iter().map(|(name, cuts)| format!("{name}: {cuts}"));
        let others = others.collect::<Vec<_>>().join(", ");
        let (cuts, effective) = (row.cuts, row.effective);
        writeln!(tables, "| {name} | {cuts} | {effective} | {right:.1} % | {others} |")?;
    }
    let liar = liar(count, seed)?;
    holds &= liar.1 > liar.0 / 2;
    writeln!(
        tables,
        "\nA card that answers flushes without doing them: {} of {} cuts did harm.",
        liar.1, liar.0
    )?;
    let (covered, experiments) = coverage(count, seed)?;
    let percent = 100.0 * covered as f64 / experiments as f64;
    // A short form has too few experiments for the last percent.
    holds &= percent >= if count >= COUNT as u64 { 95.0 } else { 90.0 };
    writeln!(
        tables,
        "\nThe bound covers the truth in {covered} of {experiments} experiments ({percent:.1} %)."
    )?;
    Ok(Proved { tables, holds })
}

/// `name` of the catalogue with `power`.
fn card(name: &str, power: Power) -> Result<Card> {
    let base = find(name).map_err(|error| anyhow!("{error}"))?;
    Ok(Card { power: Some(power), ..*base })
}

/// Cuts of cards with `harm`, which must be called `kind`.
fn classified(harm: Harm, kind: Option<Kind>, count: u64, seed: Seed) -> Result<Row> {
    let mut row = Row::default();
    let power = Power { harm, ..Power::HONEST };
    // A card that is gone makes one cut only.
    let cuts = if harm == Harm::Gone { 1 } else { count.div_ceil(2) };
    let mut number = 0;
    while row.cuts < count {
        let seed = Seed::from_bits(seed.derive(&format!("{harm:?} {number}")));
        let mut target = card(CARDS[number % CARDS.len()], power)?.open(seed, Keeping::Bytes)?;
        number += 1;
        let wish = Wish { cuts: cuts.min(count - row.cuts), ..WISH };
        let mut seen = 0;
        while seen < wish.cuts {
            // One by one, so that every cut can be counted by what it was called.
            let seed = Seed::from_bits(seed.derive(&format!("cut {seen}")));
            let outcome = probe(&mut target, &Wish { cuts: 1, ..wish }, seed, &mut |_| true)?;
            seen += 1;
            row.cuts += 1;
            row.effective += outcome.tally.effective_cuts;
            let kinds: Vec<Kind> = outcome.tally.findings.keys().copied().collect();
            if kinds == kind.into_iter().collect::<Vec<_>>() {
                row.right += 1;
            } else if kinds.is_empty() {
                *row.called.entry("nothing").or_default() += 1;
            }
            for other in kinds.iter().filter(|found| Some(**found) != kind) {
                *row.called.entry(other.name()).or_default() += 1;
            }
        }
    }
    Ok(row)
}

/// The effective and the harmful cuts of a card that ignores flushes.
fn liar(count: u64, seed: Seed) -> Result<(u64, u64)> {
    let power = Power { ignores_flush: true, ..Power::HONEST };
    let mut target = card(CARDS[0], power)?.open(seed, Keeping::Bytes)?;
    let tally = probe(&mut target, &Wish { cuts: count, ..WISH }, seed, &mut |_| true)?.tally;
    Ok((tally.effective_cuts, tally.harmful_cuts))
}

/// In how many experiments the share of harmful cuts lies below the bound, and how many there were.
fn coverage(count: u64, seed: Seed) -> Result<(u64, u64)> {
    let mut covered = 0;
    for number in 0..count {
        let share_ppm = SHARES_PPM[number as usize % SHARES_PPM.len()];
        let power = Power { harm: Harm::Lost, share_ppm, ..Power::HONEST };
        let seed = Seed::from_bits(seed.derive(&format!("experiment {number}")));
        let mut target = card(CARDS[1], power)?.open(seed, Keeping::Bytes)?;
        let wish = Wish { cuts: EXPERIMENT_CUTS, size: Bytes::kib(256), ..WISH };
        let tally = probe(&mut target, &wish, seed, &mut |_| true)?.tally;
        covered += u64::from(f64::from(share_ppm) / 1e6 <= tally.bound());
    }
    Ok((covered, count))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_short_form_holds() {
        let proved = run(&Asked { is_short: true, ..Asked::default() }).unwrap();
        assert!(proved.holds, "{}", proved.tables);
    }
}
