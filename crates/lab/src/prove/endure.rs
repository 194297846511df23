//! `cargo xtask prove endure`: lives and ends of made-up cards whose truth is known, runs that are killed
//! at any moment, and a host that fails beside the cards.
//!
//! The cards run in virtual time; the same number of cards gives the same table everywhere. The killed
//! runs are of the program itself, on a file.

mod host;
mod kill;

use std::fmt::Write;

use anyhow::{Result, anyhow};
use cardproof_evidence::life::{CardRun, Failures, Life, of_card};
use cardproof_io::Target;
use cardproof_probe::capacity::shorthand;
use cardproof_probe::endure::{
    Cycle, End, Pattern, Plan, Position, Progress, State, Watch, Why, Wish, run as wear_out,
};
use cardproof_sim::fault::{DamagedBlock, End as TrueEnd, Life as TrueLife};
use cardproof_sim::{Card, Keeping, Model, Shorthand, find};
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "endure",
    shows: "lives and ends of simulated cards, killed runs, and faults of the host",
    document: "docs/design/endurance.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed],
    run,
};

const CARDS: usize = 200;
const CARDS_SHORT: usize = 28;

/// Moments at which the program is killed.
const KILLS: usize = 200;
const KILLS_SHORT: usize = 4;

/// Parts of the life after which runs are stopped, in percent.
const STOPS: [u64; 3] = [30, 50, 80];

/// The least share of intervals that hold the true life, and of ends that are named rightly, in percent.
const HOLD_PERCENT: f64 = 90.0;
const NAMED_PERCENT: f64 = 99.0;

pub(super) const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

const SIZE: Bytes = Bytes::mib(256);

/// About how many cycles it takes to 0.1 % bad: at least, and how many more.
const LIFE_CYCLES: u64 = 60;
const LIFE_MORE: u64 = 140;

/// Makes of flash: name, shape, block, share of spares, share of weak blocks, levelling.
const MAKES: [(&str, f64, Bytes, u32, u32, bool); 6] = [
    ("fine blocks, wide spread", 3.0, Bytes::kib(4), 0, 0, true),
    ("fine blocks, narrow spread", 8.0, Bytes::kib(4), 0, 0, true),
    ("fine blocks, spares", 5.0, Bytes::kib(4), 20_000, 0, true),
    ("coarse blocks, wide spread", 3.0, Bytes::kib(64), 0, 0, true),
    ("some weak blocks", 10.0, Bytes::kib(4), 0, 3_000, true),
    ("no levelling, spares", 4.0, Bytes::kib(16), 10_000, 0, false),
];

const ENDS: [(TrueEnd, End); 7] = [
    (TrueEnd::Never, End::Unreadable),
    (TrueEnd::ReadOnly, End::ReadOnly),
    (TrueEnd::SilentlyWrong, End::SilentlyWrong),
    (TrueEnd::IgnoresWrites, End::IgnoresWrites),
    (TrueEnd::TimesOut, End::TimesOut),
    (TrueEnd::Shrinks, End::Shrinks),
    (TrueEnd::Gone, End::Gone),
];

/// A card of known life.
struct Made {
    card: Card,
    make: usize,
    end: End,
    seed: Seed,
}

/// What the intervals of one row did.
#[derive(Clone, Debug, Default)]
struct Row {
    cards: u32,
    held: u32,
    bounds_only: u32,
    /// The widths of intervals with both ends, as parts of the life.
    widths: Vec<f64>,
    /// Estimates as parts of the life.
    estimates: Vec<f64>,
}

impl Row {
    fn take(&mut self, life: &Life, truth: f64) {
        self.cards += 1;
        self.held += u32::from(life.low <= truth && life.high.is_none_or(|high| truth <= high));
        match (life.estimate, life.high) {
            (Some(estimate), Some(high)) => {
                self.widths.push((high - life.low) / truth);
                self.estimates.push(estimate / truth);
            }
            _ => self.bounds_only += 1,
        }
    }

    fn percent(&self) -> f64 {
        f64::from(self.held) / f64::from(self.cards.max(1)) * 100.0
    }

    fn with_ends(&self) -> usize {
        self.widths.len()
    }
}

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(CARDS, CARDS_SHORT);
    let seed = asked.seed.unwrap_or(Seed::from_bits(21));
    let mut rows = vec![vec![Row::default(); STOPS.len()]; MAKES.len() + 1];
    let (mut named, mut wrong) = (0_usize, Vec::new());
    let all = for_each(count, |number| {
        let made = make(number, seed)?;
        let (state, end) = to_the_end(&made)?;
        Ok((made, state, end))
    })?;
    for (made, state, end) in all {
        if end == Some(made.end) {
            named += 1;
        } else {
            wrong.push(format!("{} is called {}", made.end.name(), end.map_or("none", End::name)));
        }
        let Some(truth) = state.milestones[1] else { continue };
        for (column, stop) in STOPS.iter().enumerate() {
            let life = of_card(&stopped(&state, truth * stop / 100));
            rows[made.make][column].take(&life, truth as f64);
            rows[MAKES.len()][column].take(&life, truth as f64);
        }
    }
    let kills = kill::prove(if asked.is_short { KILLS_SHORT } else { KILLS }, seed).unwrap_or_else(
        |error| Part {
            sentence: format!("The killed runs could not be done: {error:#}."),
            holds: false,
        },
    );
    let host = host::prove(asked.is_short, seed)?;
    let named_percent = named as f64 / count as f64 * 100.0;
    let holds = rows[MAKES.len()].iter().all(|row| row.percent() >= HOLD_PERCENT)
        && rows[MAKES.len()].iter().all(with_ends_hold)
        && named_percent >= NAMED_PERCENT
        && kills.holds
        && host.holds;
    let mut text = table(&rows);
    let _ = writeln!(
        text,
        "\nEnds named rightly: {named} of {count} ({named_percent:.1} %).{}",
        told(&wrong)
    );
    let _ = writeln!(text, "\n{}\n\n{}", kills.sentence, host.sentence);
    Ok(Proved { tables: text, holds })
}

/// Whether the intervals with two ends alone hold as often as they must: bounds from below hold always.
fn with_ends_hold(row: &Row) -> bool {
    let two = row.with_ends() as f64;
    let missed = f64::from(row.cards - row.held);
    two < 10.0 || (two - missed) / two * 100.0 >= HOLD_PERCENT
}

fn told(wrong: &[String]) -> String {
    if wrong.is_empty() { String::new() } else { format!(" Not: {}.", wrong.join("; ")) }
}

/// What a whole proof of one part says.
pub(super) struct Part {
    pub(super) sentence: String,
    pub(super) holds: bool,
}

/// The card `number`: makes and ends in turn, the rest by chance.
fn make(number: usize, seed: Seed) -> Result<Made> {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64(seed.derive("endurance cards") ^ number as u64);
    let make = number % MAKES.len();
    let (true_end, end) = ENDS[number / MAKES.len() % ENDS.len()];
    let (_, shape, block, spares_ppm, weak_ppm, levels) = MAKES[make];
    let gives = if true_end == TrueEnd::Never && random.next_u64().is_multiple_of(2) {
        DamagedBlock::FlipsBits
    } else {
        DamagedBlock::Fails
    };
    let is_silent = true_end == TrueEnd::Never && gives == DamagedBlock::FlipsBits;
    let shape = shape * (0.8 + 0.4 * (random.next_u64() % 1000) as f64 / 1000.0);
    let wanted = (LIFE_CYCLES + random.next_u64() % LIFE_MORE) as f64;
    // The share of blocks that is dead at 0.1 % bad, spares included; of weak ones a third.
    let dead = 0.001 + f64::from(spares_ppm) / 1e6;
    let part = if weak_ppm > 0 { 0.23 } else { dead.powf(1.0 / shape) };
    let life = TrueLife {
        cycles: (wanted / part) as u32,
        shape,
        block,
        spares_ppm,
        weak_ppm,
        levels,
        gives,
        end: true_end,
        // Some cards end with the first block that has no spare, some long after 0.1 %.
        end_ppm: [0, 300, 5_000, 50_000][(random.next_u64() % 4) as usize],
        shrinks_to_permille: 200 + (random.next_u64() % 700) as u32,
    };
    let end = if is_silent { End::SilentlyWrong } else { end };
    let card = card(SIZE, life)?;
    Ok(Made { card, make, end, seed: Seed::from_bits(random.next_u64()) })
}

/// A card of `size` whose flash has `life`.
pub(super) fn card(size: Bytes, life: TrueLife) -> Result<Card> {
    let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
    let mut model = Model { capacity: size, ..base.model };
    model.endurance.cycles = u32::MAX;
    Ok(Card { model, life, ..*base })
}

/// Follows a run and keeps nothing.
pub(super) struct Quiet;

impl Watch for Quiet {
    fn progress(&mut self, _progress: &Progress) -> bool {
        true
    }

    fn keep_cycle(&mut self, _cycle: &Cycle) -> Result<(), String> {
        Ok(())
    }

    fn keep_position(&mut self, _position: &Position) -> Result<(), String> {
        Ok(())
    }

    fn wants_positions(&self) -> bool {
        false
    }
}

/// Runs a card to its end.
fn to_the_end(made: &Made) -> Result<(State, Option<End>)> {
    let mut target: Box<dyn Target + Send> =
        made.card.open(made.seed, Keeping::Short(SHORTHAND))?;
    let wish = Wish { pattern: Pattern::Random, cycles_max: None, bytes_max: None };
    let plan = Plan::new(SIZE, wish, made.seed)?;
    let mut state = State::new(&plan);
    if wear_out(&mut *target, &plan, &mut state, &mut Quiet)? == Why::Vanished {
        state.finish(End::Gone);
    }
    let end = state.end;
    Ok((state, end))
}

/// What the run would have seen if it had been stopped after `cycles`.
fn stopped(state: &State, cycles: u64) -> CardRun {
    let seen = state.cycles.iter().take_while(|cycle| cycle.number <= cycles);
    let failures = seen.filter(|cycle| !cycle.new_bad.is_empty()).map(|cycle| Failures {
        cycle: cycle.number,
        places: cycle.new_bad.len() as u64,
        pages: cycle.new_bad.iter().map(|(_, count)| count).sum(),
    });
    CardRun { cycles, pages: SIZE.get() / 4096, failures: failures.collect(), reached: None }
}

fn median(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn table(rows: &[Vec<Row>]) -> String {
    let mut text = String::from(
        "| flash | stopped at | cards | interval holds the life | lower bound only | with two ends | median width, of the life | median estimate, of the life |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (number, columns) in rows.iter().enumerate() {
        let name = MAKES.get(number).map_or("**all**", |make| make.0);
        for (row, stop) in columns.iter().zip(STOPS) {
            let _ = writeln!(
                text,
                "| {name} | {stop} % | {} | {:.1} % | {} | {} | {} | {} |",
                row.cards,
                row.percent(),
                row.bounds_only,
                row.with_ends(),
                median(&row.widths),
                median(&row.estimates),
            );
        }
    }
    text
}
