//! The eight A2 cards of 2024 in a Raspberry Pi 5, with and without the command queue.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use cardproof_io::OpKind;
use cardproof_rating::references;
use cardproof_record::{OpName, PatternName, Phase, Record};
use cardproof_sim::calibration::{Amount, Deep};
use cardproof_sim::{Card, Keeping, catalogue};
use cardproof_units::{Bytes, Nanos, Seed};

use super::Proved;
use super::errors::{Errors, FITTED_MAX, HELD_OUT_MAX, Pair};

/// The published table.
const TABLE: &str = "fio-pi5-2024";

/// What fio did: 64 requests in flight over 512 MiB.
const DEPTH: u16 = 64;
const SPAN: Bytes = Bytes::mib(512);

/// For how long each pattern and block size is simulated.
const TIME: Nanos = Nanos::from_secs(10);
const TIME_SHORT: Nanos = Nanos::from_secs(3);

/// The block sizes, those that were fitted to first.
const BLOCKS: [(Bytes, &str); 6] = [
    (Bytes::kib(4), "4k"),
    (Bytes::kib(64), "64k"),
    (Bytes::mib(1), "1m"),
    (Bytes::kib(8), "8k"),
    (Bytes::kib(512), "512k"),
    (Bytes::mib(16), "16m"),
];
const FITTED_BLOCKS: usize = 3;

const PATTERNS: [(OpName, PatternName, &str); 4] = [
    (OpName::Read, PatternName::Sequential, "read"),
    (OpName::Write, PatternName::Sequential, "write"),
    (OpName::Read, PatternName::Random, "random read"),
    (OpName::Write, PatternName::Random, "random write"),
];

/// A card's figures and their simulation.
struct Held {
    card: &'static Card,
    /// By pattern and block.
    pairs: [[Pair; 6]; 4],
}

/// Holds every card to its figures.
pub(super) fn proved(seed: Seed, is_short: bool) -> Result<Proved> {
    let time = if is_short { TIME_SHORT } else { TIME };
    let mut all = Vec::new();
    for published in references().iter().filter(|card| card.table == TABLE) {
        if let Some(card) = catalogue().iter().find(|card| card.name == published.name) {
            all.push(held(card, &published.record, time, seed)?);
        }
    }
    ensure!(all.len() == 16, "{} cards of {TABLE} are simulated, not 16", all.len());
    let mut holds = true;
    let mut tables = String::new();
    writeln!(
        tables,
        "Errors of the A2 cards in a Raspberry Pi 5. Fitted: 4k, 64k and 1m, within {FITTED_MAX} %. \
         Held out: 8k, 512k and 16m, within {HELD_OUT_MAX} %.\n\n\
         | card | fitted, median | worst | held out, median | worst | cells beyond |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for held in &all {
        let cells = || held.pairs.iter().flatten();
        let [fitted, held_out] = [true, false].map(|is_fitted| Errors::of(cells(), is_fitted));
        holds &= fitted.median() <= FITTED_MAX && held_out.median() <= HELD_OUT_MAX;
        let beyond = cells().filter(|pair| pair.misses()).count();
        let name = held.card.name;
        let (fitted, held_out) = (fitted.cells(), held_out.cells());
        writeln!(tables, "| {name} | {fitted} | {held_out} | {beyond} of 24 |")?;
    }
    let cells: Vec<&Pair> = all.iter().flat_map(|held| held.pairs.iter().flatten()).collect();
    let [fitted, held_out] =
        [true, false].map(|is_fitted| Errors::of(cells.iter().copied(), is_fitted).cells());
    let beyond = cells.iter().filter(|pair| pair.misses()).count();
    writeln!(tables, "| **all** | {fitted} | {held_out} | {beyond} of {} |\n", cells.len())?;
    tables.push_str(&disagreement(&all)?);
    tables.push_str(&every_cell(&all)?);
    Ok(Proved { tables, holds })
}

/// Simulates what was published of `card`.
fn held(card: &'static Card, record: &Record, time: Nanos, seed: Seed) -> Result<Held> {
    let none = Pair { published: 0.0, simulated: 0.0, is_fitted: false };
    let mut pairs = [[none; 6]; 4];
    for ((op, pattern, _), of_pattern) in PATTERNS.into_iter().zip(&mut pairs) {
        for (number, (&(block, name), pair)) in BLOCKS.iter().zip(of_pattern).enumerate() {
            let phase = record.phases.iter().find(|phase| {
                phase.op == op && phase.pattern == pattern && phase.block_size_bytes == block
            });
            let published = phase
                .and_then(Phase::point_throughput)
                .with_context(|| format!("{}: no figure of {name}", card.name))?;
            let deep = Deep {
                kind: if op == OpName::Read { OpKind::Read } else { OpKind::Write },
                is_random: pattern == PatternName::Random,
                block,
                depth: DEPTH,
                span: SPAN,
            };
            *pair = Pair {
                published: published.as_mb_per_s(),
                simulated: simulated(card, &deep, time, seed)?,
                is_fitted: number < FITTED_BLOCKS,
            };
        }
    }
    Ok(Held { card, pairs })
}

/// The rate of `deep` on a new card whose test file is laid out, in MB/s.
fn simulated(card: &Card, deep: &Deep, time: Nanos, seed: Seed) -> Result<f64> {
    let mut target = card.build(seed, Keeping::Nothing)?;
    let layout =
        Deep { kind: OpKind::Write, is_random: false, block: Bytes::mib(1), depth: 1, span: SPAN };
    layout.rate(&mut target, Amount::Of(SPAN), seed)?;
    Ok(deep.rate(&mut target, Amount::For(time), seed)?.as_mb_per_s())
}

/// How far two measurements of one card are apart where the queue changes nothing: what no model can
/// be nearer to than by chance.
fn disagreement(all: &[Held]) -> Result<String> {
    let mut text = String::from(
        "How far the two published measurements of a card are apart (with and without queue) where the \
         queue does nothing:\n\n| card | median | worst | where |\n| --- | ---: | ---: | --- |\n",
    );
    let twice = all.chunks(2).filter(|pair| pair.len() == 2);
    for pair in twice {
        let mut apart: Vec<(f64, String)> = Vec::new();
        for (number, (_, _, pattern)) in PATTERNS.iter().enumerate() {
            for (block, (_, name)) in BLOCKS.iter().enumerate() {
                let [one, other] = [0, 1].map(|of| pair[of].pairs[number][block].published);
                let ratio = one.max(other) / one.min(other);
                apart.push((100.0 * (ratio - 1.0), format!("{pattern} {name}")));
            }
        }
        apart.sort_by(|one, other| one.0.total_cmp(&other.0));
        let median = apart[apart.len() / 2].0;
        // With a queue of use the median is far above this.
        if let Some((worst, place)) = apart.last().filter(|_| median < 2.0) {
            let name = pair[0].card.name.trim_end_matches("-on").trim_end_matches("-off");
            let name = name.trim_end_matches("-queue");
            writeln!(text, "| {name} | {median:.1} % | {worst:.1} % | {place} |")?;
        }
    }
    text.push('\n');
    Ok(text)
}

/// Every figure.
fn every_cell(all: &[Held]) -> Result<String> {
    let mut text = String::from(
        "Every figure, published / simulated, in MB/s; bold is beyond its limit. The left three were \
         fitted, the right three held out.\n\n| card | pattern |",
    );
    for (_, name) in BLOCKS {
        write!(text, " {name} |")?;
    }
    text.push_str("\n| --- | --- |");
    text.push_str(&" ---: |".repeat(BLOCKS.len()));
    text.push('\n');
    for held in all {
        for ((_, _, pattern), pairs) in PATTERNS.iter().zip(&held.pairs) {
            write!(text, "| {} | {pattern} |", held.card.name)?;
            for pair in pairs {
                write!(text, " {} |", pair.shown())?;
            }
            text.push('\n');
        }
    }
    Ok(text)
}
