//! `cargo xtask prove misalignment`: what a partition costs that begins at the wrong place.
//!
//! Every simulated card runs the same requests from five places: the beginning of an allocation unit, and
//! four offsets from it. The requests of a pair follow from one seed, so that they differ in nothing but
//! the place. No file system lies between.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use cardproof_facts::CONFIDENCE;
use cardproof_record::Record;
use cardproof_runner::Repeat;
use cardproof_session::{Access, Failure, Identity, Options, Phases, Silent, measure};
use cardproof_sim::{Card, catalogue};
use cardproof_stats::RatioInterval;
use cardproof_units::{Bytes, Seed};
use cardproof_workload::user_profile;

use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "misalignment",
    shows: "how much slower a card is whose partition begins at the wrong place",
    document: "docs/design/misalignment.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Only],
    run,
};

/// Pairs of runs for each card and place.
const PAIRS: usize = 6;
const PAIRS_SHORT: usize = 3;

/// The range in which each phase works, without its offset.
const SPAN: Bytes = Bytes::mib(256);

/// The places that are compared with the beginning of a unit.
const PLACES: [(&str, u64); 4] =
    [("512 B", 512), ("sector 63", 63 * 512), ("4 KiB", 4096), ("1 MiB", 1 << 20)];

/// The phases: heading, operation, pattern, block size where it is not the unit, operations.
const PHASES: [(&str, &str, &str, Option<u64>, u32); 6] = [
    ("4 KiB random write", "write", "random", Some(4 << 10), 300),
    ("16 KiB random write", "write", "random", Some(16 << 10), 300),
    ("128 KiB random write", "write", "random", Some(128 << 10), 200),
    ("whole units, random", "write", "random-once", None, 24),
    ("1 MiB sequential write", "write", "sequential", Some(1 << 20), 64),
    ("4 KiB random read", "read", "random", Some(4 << 10), 300),
];

/// A ratio so near to 1 is no difference that anybody feels.
const FELT: f64 = 0.05;

fn run(asked: &Asked) -> Result<Proved> {
    let pairs = asked.count_or(PAIRS, PAIRS_SHORT);
    let is_wanted =
        |card: &&Card| asked.only.is_empty() || asked.only.iter().any(|name| name == card.name);
    let mut out = String::from("| card | unit | beginning at |");
    for (heading, ..) in PHASES {
        write!(out, " {heading} |")?;
    }
    out.push_str("\n| --- | --- | --- |");
    out.push_str(&" ---: |".repeat(PHASES.len()));
    out.push('\n');
    let mut holds = true;
    // No figure tells what a place off the grid costs the cards of today.
    let is_known = |card: &&Card| card.fake.is_none() && card.model.service.is_none();
    for card in catalogue().iter().filter(is_known).filter(is_wanted) {
        let unit = card.model.allocation_unit;
        let aligned = rates(card, Bytes::ZERO, pairs)?;
        for (name, offset) in PLACES {
            let shifted = rates(card, Bytes(offset), pairs)?;
            write!(out, "| {} | {unit} | {name} |", card.name)?;
            for (before, after) in aligned.iter().zip(&shifted) {
                let ratio = RatioInterval::paired(before, after, CONFIDENCE, 1)
                    .context("a rate is missing")?;
                // A place that is no multiple of anything smaller must not make a card faster.
                holds &= ratio.low < 1.0 + FELT;
                write!(out, " {} |", shown(&ratio))?;
            }
            out.push('\n');
        }
    }
    Ok(Proved { tables: out, holds })
}

/// The ratio, with its interval where it is a difference that is felt.
fn shown(ratio: &RatioInterval) -> String {
    let RatioInterval { estimate, low, high, .. } = *ratio;
    if ratio.is_a_difference() && (estimate - 1.0).abs() >= FELT {
        format!("**{estimate:.2}** ({low:.2} to {high:.2})")
    } else {
        format!("{estimate:.2}")
    }
}

/// For each phase, the rates of `pairs` runs from `offset` on.
fn rates(card: &Card, offset: Bytes, pairs: usize) -> Result<Vec<Vec<f64>>> {
    let mut rates = vec![Vec::with_capacity(pairs); PHASES.len()];
    for pair in 0..pairs {
        let record = measured(card, offset, Seed::from_bits(pair as u64 + 1))?;
        for (of_phase, phase) in rates.iter_mut().zip(&record.phases) {
            let iops = phase.iops.as_ref().with_context(|| format!("{}: no rate", phase.name))?;
            of_phase.push(iops.estimate.0);
        }
    }
    Ok(rates)
}

fn measured(card: &Card, offset: Bytes, seed: Seed) -> Result<Record> {
    let phases = Phases {
        profile: user_profile::from_toml("misalignment", &profile(card, offset)?)?,
        without_queue_or_cache: None,
        time_budget: None,
        repeat: Repeat::ONCE,
        capacity: None,
    };
    let options = Options {
        target: format!("sim:{}", card.name).into(),
        size: None,
        seed,
        access: Access::default(),
        expect_device: None,
        identity: Identity { id: String::new(), label: None, created: String::new() },
        records: Err(Failure::usage("the proof keeps no records")),
        does_without_record: true,
    };
    let stop = AtomicBool::new(false);
    Ok(measure(phases, &options, &mut Silent, &stop)?.record)
}

/// The phases as a profile, moved by `offset`.
fn profile(card: &Card, offset: Bytes) -> Result<String> {
    let mut text = format!("span = \"{}\"\ntime-budget = \"60m\"\n", (SPAN + Bytes::mib(8)).get());
    for (name, op, pattern, block, ops) in PHASES {
        let block = block.unwrap_or(card.model.allocation_unit.get());
        let ops = u64::from(ops).min(SPAN.get() / block);
        writeln!(
            text,
            "[[phase]]\nname = \"{name}\"\nop = \"{op}\"\npattern = \"{pattern}\"\n\
             block-size = \"{block}\"\nops = {ops}\nalignment-offset = \"{}\"",
            offset.get()
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unaligned_partition_costs_a_card_that_maps_by_page_its_small_writes() {
        let only = vec!["sandisk-ultra-a1".to_owned()];
        let proved = run(&Asked { is_short: true, only, ..Asked::default() });
        let proved = proved.unwrap_or_else(|error| panic!("{error:#}"));
        assert!(proved.holds, "{}", proved.tables);
        let row = proved.tables.lines().find(|line| line.contains("sector 63")).unwrap_or("");
        let first = row.split('|').nth(4).unwrap_or("");
        assert!(first.contains("**0."), "{}", proved.tables);
    }
}
