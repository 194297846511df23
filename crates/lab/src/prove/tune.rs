//! `cargo xtask prove tune`: how often `tune --prove` sees a gain where there is none.
//!
//! Simulated cards with random geometry are asked whether a partition at the allocation unit is faster
//! than one at 1 MiB. On a card that maps by page it is not: whatever is called a gain there is false.
//! On one that maps by unit it is, where 1 MiB is no multiple of the unit.

mod served;

use std::fmt::Write;

use anyhow::Result;
use cardproof_facts::CONFIDENCE;
use cardproof_probe::layout::Trial;
use cardproof_sim::model::Writing;
use cardproof_sim::{Keeping, SimulatedTarget};
use cardproof_stats::RatioInterval;
use cardproof_units::{Bytes, Seed};

use super::geometry::card::Made;
use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};

pub(super) use served::PROOF as SERVED;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "tune",
    shows: "how often a gain is seen where there is none",
    document: "docs/design/tuning.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Seed, Takes::Count],
    run,
};

/// How many cards.
const CARDS: usize = 500;
const CARDS_SHORT: usize = 40;

/// The published seed.
const SEED: u64 = 21;

/// Pairs of turns, as `tune --prove` has them.
const PAIRS: u32 = 12;

/// Where today's partitioning tools begin.
const BEFORE: Bytes = Bytes::mib(1);

/// Units of the target that are used.
const UNITS: u64 = 20;

/// The most false gains, in per cent.
const FALSE_MOST: f64 = 2.0;

/// What came of the cards of one kind.
#[derive(Clone, Debug, Default)]
struct Tally {
    cards: usize,
    gains: usize,
    ratios: Vec<f64>,
}

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(CARDS, CARDS_SHORT);
    let seed = asked.seed.unwrap_or(Seed::from_bits(SEED));
    let (mut without, mut with) = (Tally::default(), Tally::default());
    let all = for_each(count, |number| {
        let made = Made::new(seed, number);
        let has_gain = matches!(made.model.write, Writing::Hybrid(_))
            && !BEFORE.is_multiple_of(made.model.allocation_unit);
        Ok((has_gain, measured(&made)?))
    })?;
    for (has_gain, interval) in all {
        let Some(interval) = interval else { continue };
        if has_gain { with.add(interval) } else { without.add(interval) }
    }
    let share = 100.0 * without.gains as f64 / without.cards.max(1) as f64;
    let mut out = String::new();
    writeln!(out, "| cards | number | called a gain | median ratio after / before |")?;
    writeln!(out, "| --- | ---: | ---: | ---: |")?;
    with.write(&mut out, "map by unit, 1 MiB is no multiple of the unit: a gain")?;
    without.write(&mut out, "map by page, or 1 MiB is a multiple: none")?;
    writeln!(out, "\nFalse gains: {share:.2} % (asked: below {FALSE_MOST} %).")?;
    Ok(Proved { tables: out, holds: share < FALSE_MOST })
}

fn measured(made: &Made) -> Result<Option<RatioInterval>> {
    let unit = made.model.allocation_unit;
    let trial = Trial {
        before: Bytes(BEFORE.get() % unit.get()),
        after: unit,
        unit,
        span: Bytes(UNITS * unit.get()).min(made.model.capacity),
        pairs: PAIRS,
        seed: made.seed,
    };
    let mut target = SimulatedTarget::new(&made.model, &made.host, made.seed, Keeping::Nothing)?;
    let turns = trial.run(&mut target, &|| false)?;
    Ok(RatioInterval::paired(&turns.before, &turns.after, CONFIDENCE, made.seed.get()))
}

impl Tally {
    fn add(&mut self, interval: RatioInterval) {
        self.cards += 1;
        self.gains += usize::from(interval.low > 1.0);
        self.ratios.push(interval.estimate);
    }

    fn write(&self, out: &mut String, name: &str) -> Result<()> {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let middle = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
        writeln!(out, "| {name} | {} | {} | {middle:.3} |", self.cards, self.gains)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::few_or_all;

    use super::*;

    #[test]
    fn a_card_without_a_gain_is_given_none() {
        let short = Asked { is_short: true, count: Some(few_or_all(6, 24)), ..Asked::default() };
        let proved = run(&short).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(proved.holds, "{}", proved.tables);
    }
}
