//! `cargo xtask prove geometry`: how often the geometry that `cardproof geometry` claims is right.
//!
//! Simulated cards with random geometry, whose truth is known, are probed as a whole device that may
//! be overwritten. Every quantity of every card is a claim that is right, a claim that is wrong, or
//! not claimed. Virtual time and seeds: the same tables everywhere.

pub(super) mod card;
mod truth;

use std::fmt::Write;

use anyhow::{Context, Result};
use cardproof_evidence::geometry::{Claim, Geometry};
use cardproof_probe::geometry::{Plan, Scope, Watch, run as probe};
use cardproof_sim::model::LOGICAL_BLOCK;
use cardproof_sim::{Keeping, SimulatedTarget};
use cardproof_units::Seed;

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};
use card::Made;
use truth::{Outcome, outcome};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "geometry",
    shows: "how often the geometry of a card is claimed rightly",
    document: "docs/design/geometry.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Seed, Takes::Count],
    run,
};

/// How many cards.
const CARDS: usize = 1000;
const CARDS_SHORT: usize = 24;

/// The published seed.
const SEED: u64 = 20;

/// At least so many claims must be right, and at most so many wrong, in per cent.
const RIGHT_LEAST: f64 = 95.0;
const WRONG_MOST: f64 = 1.0;

/// A watch that neither looks nor ends.
#[derive(Debug)]
struct Unwatched;

impl Watch for Unwatched {
    fn step(&mut self, _: &'static str, _: f64) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// How often a quantity was what.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: usize,
    wrong: usize,
    /// Not claimed, though the card has it.
    missed: usize,
    /// Not claimed, and there is nothing to claim.
    nothing: usize,
}

/// How often claims of a probability were right.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    claims: usize,
    right: usize,
    stated: f64,
}

/// Levels of probability that are looked at apart, each from here up.
const LEVELS: [f64; 5] = [0.0, 0.8, 0.9, 0.95, 0.98];

#[derive(Debug, Default)]
struct Tallies {
    names: Vec<(&'static str, Tally)>,
    levels: [Level; LEVELS.len()],
    wrong: Vec<String>,
}

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(CARDS, CARDS_SHORT);
    let seed = asked.seed.unwrap_or(Seed::from_bits(SEED));
    let mut tallies = Tallies::default();
    let all = for_each(count, |number| {
        let made = Made::new(seed, number);
        let geometry = probed(&made)?;
        Ok((made, geometry))
    })?;
    for (number, (made, geometry)) in all.iter().enumerate() {
        tallies.add(number, made, geometry);
    }
    tallies.proved(count)
}

/// What the probe says of a card.
fn probed(made: &Made) -> Result<Geometry> {
    let mut target = SimulatedTarget::new(&made.model, &made.host, made.seed, Keeping::Nothing)
        .context("a random card is impossible")?;
    let scope = Scope {
        size: made.model.capacity,
        logical_block: LOGICAL_BLOCK,
        may_write: true,
        is_whole_device: true,
        reported_unit: None,
        seed: made.seed,
    };
    let outcome = probe(&mut target, &Plan::new(scope), &mut Unwatched)?;
    Ok(outcome.geometry)
}

impl Tallies {
    fn add(&mut self, number: usize, made: &Made, geometry: &Geometry) {
        if self.names.is_empty() {
            self.names = geometry.quantities().map(|(name, _)| (name, Tally::default())).to_vec();
        }
        for ((name, finding), (_, tally)) in geometry.quantities().iter().zip(&mut self.names) {
            let outcome = outcome(name, finding, made);
            match outcome {
                Outcome::Right => tally.right += 1,
                Outcome::Wrong => tally.wrong += 1,
                Outcome::Missed => tally.missed += 1,
                Outcome::Nothing => tally.nothing += 1,
            }
            let Some(claim) = finding.claim() else { continue };
            if outcome == Outcome::Wrong {
                self.wrong.push(format!("card {number}: {name} {:?}", claim.value));
            }
            self.levels[level_of(claim)].add(claim, outcome == Outcome::Right);
        }
    }

    fn proved(&self, count: usize) -> Result<Proved> {
        let mut out = String::new();
        writeln!(out, "{count} simulated cards:\n")?;
        writeln!(out, "| quantity | claims | right | wrong | not claimed, is there | not there |")?;
        writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
        let mut sum = Tally::default();
        for (name, tally) in &self.names {
            sum.right += tally.right;
            sum.wrong += tally.wrong;
            sum.missed += tally.missed;
            sum.nothing += tally.nothing;
            write_row(&mut out, name, tally)?;
        }
        write_row(&mut out, "**all**", &sum)?;
        let claims = (sum.right + sum.wrong).max(1) as f64;
        let right = 100.0 * sum.right as f64 / claims;
        let wrong = 100.0 * sum.wrong as f64 / claims;
        writeln!(
            out,
            "\nOf all claims {right:.2} % are right (asked: at least {RIGHT_LEAST} %) and \
             {wrong:.2} % wrong (asked: at most {WRONG_MOST} %).\n"
        )?;
        self.write_levels(&mut out)?;
        if !self.wrong.is_empty() {
            writeln!(out, "\nWrong claims: {}.", self.wrong.join("; "))?;
        }
        Ok(Proved { tables: out, holds: right >= RIGHT_LEAST && wrong <= WRONG_MOST })
    }

    fn write_levels(&self, out: &mut String) -> Result<()> {
        writeln!(out, "| stated probability | claims | mean stated | right |")?;
        writeln!(out, "| --- | ---: | ---: | ---: |")?;
        for (least, level) in LEVELS.iter().zip(&self.levels).filter(|(_, level)| level.claims > 0)
        {
            let claims = level.claims as f64;
            let (stated, right) = (level.stated / claims, level.right as f64 / claims);
            writeln!(out, "| from {least:.2} | {} | {stated:.3} | {right:.3} |", level.claims)?;
        }
        Ok(())
    }
}

impl Level {
    fn add(&mut self, claim: &Claim, is_right: bool) {
        self.claims += 1;
        self.right += usize::from(is_right);
        self.stated += claim.probability;
    }
}

fn level_of(claim: &Claim) -> usize {
    LEVELS.iter().rposition(|least| claim.probability >= *least).unwrap_or(0)
}

fn write_row(out: &mut String, name: &str, tally: &Tally) -> Result<()> {
    let Tally { right, wrong, missed, nothing } = tally;
    writeln!(out, "| {name} | {} | {right} | {wrong} | {missed} | {nothing} |", right + wrong)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_claims_on_random_cards_are_wrong() {
        let short = Asked { is_short: true, ..Asked::default() };
        let proved = run(&short).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(proved.holds, "{}", proved.tables);
    }
}
