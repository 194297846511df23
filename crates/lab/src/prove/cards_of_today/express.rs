//! The three microSD Express cards: ten runs in a row with a fan and without one.

use std::fmt::Write;

use anyhow::{Context, Result};
use cardproof_io::OpKind;
use cardproof_rating::{EXPRESS_TESTS, ExpressRun, express_runs};
use cardproof_sim::calibration::{Amount, Deep};
use cardproof_sim::{Keeping, find};
use cardproof_units::{Bytes, Seed};

use super::Proved;
use super::errors::{Errors, FITTED_MAX, HELD_OUT_MAX, Pair};

/// What a test moves: five times its file, as the script was told.
const VOLUME: Bytes = Bytes::gib(5);
const SPAN: Bytes = Bytes::gib(1);

/// The runs of a card that is hot, from 1.
const HOT_FROM: u32 = 6;

type Rates = [f64; 12];

/// The tests as requests, in the order of [`EXPRESS_TESTS`]. The kernel cuts requests of a GiB and of
/// 32 MiB into pieces of which many are in flight; a few requests of 8 MiB do the same with less memory.
const TESTS: [(OpKind, bool, Bytes, u16); 12] = [
    (OpKind::Read, false, Bytes::mib(8), 2),
    (OpKind::Write, false, Bytes::mib(8), 2),
    (OpKind::Read, false, Bytes::kib(512), 1),
    (OpKind::Write, false, Bytes::kib(512), 1),
    (OpKind::Read, false, Bytes::mib(8), 4),
    (OpKind::Write, false, Bytes::mib(8), 4),
    (OpKind::Read, true, Bytes::kib(4), 1),
    (OpKind::Write, true, Bytes::kib(4), 1),
    (OpKind::Read, true, Bytes::kib(4), 32),
    (OpKind::Write, true, Bytes::kib(4), 32),
    (OpKind::Read, true, Bytes::kib(4), 64),
    (OpKind::Write, true, Bytes::kib(4), 64),
];

/// The tests whose figures of the first run gave the parameters: those of a GiB and of 512 KiB, and 4 KiB
/// at depths 1 and 32.
const FITTED_FRESH: [usize; 8] = [0, 1, 2, 3, 6, 7, 8, 9];

/// Sequential writes gave the rate of a full cache, sequential reads the resistance without a fan.
const FITTED_FULL: usize = 1;
const FITTED_HOT: usize = 0;

/// A state of a card in which its figures are compared.
struct State {
    what: &'static str,
    /// The tests that were fitted.
    fitted: &'static [usize],
    /// The figure of a test in that state, of the rates in all runs.
    figure: fn(&[f64]) -> f64,
    /// Whether it is of the runs with a fan.
    has_fan: bool,
    /// Whether only writes show it.
    only_writes: bool,
}

const STATES: [State; 3] = [
    State {
        what: "first run with a fan",
        fitted: &FITTED_FRESH,
        figure: |rates| rates[0],
        has_fan: true,
        only_writes: false,
    },
    State {
        what: "slowest run with a fan",
        fitted: &[FITTED_FULL],
        figure: |rates| rates.iter().copied().fold(f64::INFINITY, f64::min),
        has_fan: true,
        only_writes: true,
    },
    State {
        what: "runs 6 to 10 without a fan, median",
        fitted: &[FITTED_HOT],
        figure: |rates| median(&rates[HOT_FROM as usize - 1..]),
        has_fan: false,
        only_writes: false,
    },
];

/// A published card, its cooling, and its names in the catalogue.
const CARDS: [(&str, [&str; 2]); 2] = [
    ("Lexar PLAY PRO", ["express-lexar-play-pro-1tb", "express-lexar-play-pro-1tb-no-fan"]),
    (
        "ADATA Premier Extreme",
        ["express-adata-premier-extreme-256gb", "express-adata-premier-extreme-256gb-no-fan"],
    ),
];
const SANDISK: (&str, &str) = ("SanDisk microSD Express", "express-sandisk-256gb");

/// Holds every card to its figures. In short only the first runs are made.
pub(super) fn proved(seed: Seed, is_short: bool) -> Result<Proved> {
    let published = express_runs();
    let mut summary = String::from(
        "Errors of the microSD Express cards.\n\n\
         | card | state | fitted, median | worst | others, median | worst | cells beyond |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut every = String::from(
        "Every figure, published / simulated, in MB/s; fitted ones in italics, bold is beyond its limit.\n\n\
         | card | state |",
    );
    for test in EXPRESS_TESTS {
        write!(every, " {test} |")?;
    }
    every.push_str("\n| --- | --- |");
    every.push_str(&" ---: |".repeat(EXPRESS_TESTS.len()));
    every.push('\n');
    let mut holds = true;
    let mut add = |card: &str, state: &State, pairs: &[Option<Pair>; 12]| -> Result<()> {
        let present = || pairs.iter().flatten();
        let [fitted, others] = [true, false].map(|is_fitted| Errors::of(present(), is_fitted));
        holds &= fitted.median() <= FITTED_MAX;
        holds &= !state.has_fan || others.median() <= HELD_OUT_MAX;
        let (beyond, count) = (present().filter(|pair| pair.misses()).count(), present().count());
        let (fitted, others) = (fitted.cells(), others.cells());
        writeln!(
            summary,
            "| {card} | {} | {fitted} | {others} | {beyond} of {count} |",
            state.what
        )?;
        write!(every, "| {card} | {} |", state.what)?;
        for pair in pairs {
            let shown = pair.as_ref().map_or("-".to_owned(), |pair| match pair.is_fitted {
                true => format!("*{}*", pair.shown()),
                false => pair.shown(),
            });
            write!(every, " {shown} |")?;
        }
        every.push('\n');
        Ok(())
    };
    let states = if is_short { &STATES[..1] } else { &STATES[..] };
    let runs = if is_short { 1 } else { 10 };
    for (card, names) in CARDS {
        let with_fan = simulated(names[0], runs, seed)?;
        let without = if is_short { Vec::new() } else { simulated(names[1], runs, seed)? };
        for state in states {
            let (cooling, made) =
                if state.has_fan { ("active", &with_fan) } else { ("passive", &without) };
            let measured = rates_of(&published, card, cooling);
            add(card, state, &pairs(state, &measured, made))?;
        }
    }
    let (card, name) = SANDISK;
    let measured = rates_of(&published, card, "mixed");
    add(card, &STATES[0], &pairs(&STATES[0], &measured, &simulated(name, 1, seed)?))?;
    Ok(Proved { tables: format!("{summary}\n{every}"), holds })
}

/// The published rates of `card` under `cooling`, run by run.
fn rates_of(published: &[ExpressRun], card: &str, cooling: &str) -> Vec<Rates> {
    let is_wanted = |run: &&ExpressRun| run.card == card && run.cooling == cooling;
    published.iter().filter(is_wanted).map(|run| run.mb_per_s).collect()
}

/// The rates of the simulated card `name` in `runs` runs without a rest between.
fn simulated(name: &str, runs: usize, seed: Seed) -> Result<Vec<Rates>> {
    let card = find(name).with_context(|| format!("no card {name}"))?;
    let mut target = card.build(seed, Keeping::Nothing)?;
    let layout =
        Deep { kind: OpKind::Write, is_random: false, block: Bytes::mib(1), depth: 1, span: SPAN };
    layout.rate(&mut target, Amount::Of(SPAN), seed)?;
    let mut all = Vec::with_capacity(runs);
    for _ in 0..runs {
        let mut rates = [0.0; 12];
        for (rate, (kind, is_random, block, depth)) in rates.iter_mut().zip(TESTS) {
            let deep = Deep { kind, is_random, block, depth, span: SPAN };
            *rate = deep.rate(&mut target, Amount::Of(VOLUME), seed)?.as_mb_per_s();
        }
        all.push(rates);
    }
    Ok(all)
}

/// The figures of one state.
fn pairs(state: &State, published: &[Rates], simulated: &[Rates]) -> [Option<Pair>; 12] {
    std::array::from_fn(|test| {
        let is_write = TESTS[test].0 == OpKind::Write;
        let figure = |runs: &[Rates]| {
            (state.figure)(&runs.iter().map(|rates| rates[test]).collect::<Vec<f64>>())
        };
        (is_write || !state.only_writes).then(|| Pair {
            published: figure(published),
            simulated: figure(simulated),
            is_fitted: state.fitted.contains(&test),
        })
    })
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
