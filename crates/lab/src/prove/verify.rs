//! `cargo xtask prove verify`: verdicts on the capacity of made-up cards of known truth: every kind
//! of fake, hidden stores from none to 4 GiB, damage and transient errors, 8 GB to 2 TB.
//!
//! Simulated time only; the same number of cards gives the same table everywhere.

mod judged;
mod peers;
mod restore;
mod times;
mod wide;

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Result, anyhow};
use cardproof_evidence::capacity::{Finding, Verdict};
use cardproof_sim::fault::{
    Beyond, CapacityFake, Damage, DamagedBlock, Forgets, HiddenStore, Keeps,
};
use cardproof_sim::{Card, Keeping, Model, find};
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};

use judged::{Judged, Lie, Mark, SHORTHAND, Truth, judge};

pub(super) use peers::PROOF as PEERS;
pub(super) use restore::PROOF as RESTORE;
pub(super) use times::PROOF as TIMES;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "verify",
    shows: "verdicts on the capacity of simulated cards: genuine, fake and damaged",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed, Takes::Only],
    run,
};

const CARDS: usize = 10_000;
const CARDS_SHORT: usize = 216;

/// Genuine cards with a transient error.
const GENUINE: usize = 1000;
const GENUINE_SHORT: usize = 27;

/// Genuine cards that have lost a part of their blocks.
const DYING: usize = 1000;
const DYING_SHORT: usize = 24;

/// Shares of lost blocks of dying cards, in percent: at least the first and less than the second.
const LOST_PERCENT: [(u64, u64); 4] = [(1, 5), (5, 20), (20, 50), (50, 95)];

/// A test of the smallest card reads at least so many places.
const READINGS_LEAST: u64 = 1200;

/// A store of up to so many bytes is excluded by the test of this proof where half of the addresses are
/// missing; of fakes with a larger one the real size is not promised.
const STORE_OF_BOUNDS: Bytes = Bytes::mib(75);

/// Bounds of the real size hold in so many of a hundred fakes.
const BOUNDS_HOLD_PERCENT: f64 = 99.0;

const KINDS: [&str; 6] = ["honest", "limbo", "drop", "wrap", "last block", "chained"];

const STORES: [Bytes; 9] = [
    Bytes::ZERO,
    Bytes::kib(8),
    Bytes::mib(1),
    Bytes::mib(3),
    Bytes::mib(31),
    Bytes::mib(63),
    Bytes::mib(128),
    Bytes::gib(1),
    Bytes::gib(4),
];

const SIZES_GB: [u64; 9] = [8, 16, 32, 64, 128, 256, 512, 1000, 2000];

/// A card and its truth.
struct Made {
    card: Card,
    kind: &'static str,
    store: Bytes,
    truth: Truth,
}

/// Counts of one row of the table.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    cards: u32,
    right: u32,
    /// A genuine card called a fake, or a fake called genuine whose store is excluded.
    wrong: u32,
    /// A fake called damaged whose store is excluded.
    damaged: u32,
    /// A fake called genuine, whose store is above the excluded one.
    above: u32,
    undecided: u32,
    bounds_hold: u32,
    /// Fakes that were found although their store is above [`STORE_OF_BOUNDS`].
    found_above: u32,
    /// Those of them whose real size is not within the bounds.
    bounds_above: u32,
    written: u64,
}

fn run(asked: &Asked) -> Result<Proved> {
    if let Some(unknown) = asked.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(anyhow!("there is no part '{unknown}'; there are {}", PARTS.join(", ")));
    }
    let seed = asked.seed.unwrap_or(Seed::from_bits(17));
    let mut proved = Proved { tables: String::new(), holds: true };
    for (name, part) in PARTS.iter().zip([cards, wide::wide, transient, dying] as [Part; 4]) {
        if asked.only.is_empty() || asked.only.iter().any(|only| only == name) {
            let next = part(asked, seed)?;
            proved.holds &= next.holds;
            proved.tables += &next.tables;
            proved.tables.push('\n');
        }
    }
    Ok(proved)
}

type Part = fn(&Asked, Seed) -> Result<Proved>;

/// What can be asked for by itself.
const PARTS: [&str; 4] = ["cards", "wide", "transient", "dying"];

/// Cards of every kind.
fn cards(asked: &Asked, seed: Seed) -> Result<Proved> {
    let count = asked.count_or(CARDS, CARDS_SHORT);
    let found = for_each(count, |number| {
        let made = make(number, seed)?;
        let (finding, written) = verify(&made, Seed::from_bits(seed.get() ^ (number as u64) << 8))?;
        Ok((made, finding, written))
    })?;
    let mut rows: BTreeMap<(usize, usize), Tally> = BTreeMap::new();
    for (made, finding, written) in &found {
        let kind = KINDS.iter().position(|kind| *kind == made.kind).unwrap_or_default();
        let store = STORES.iter().position(|store| *store == made.store).unwrap_or_default();
        let store = if kind == 0 { 0 } else { store };
        count_in(rows.entry((kind, store)).or_default(), made, finding, *written);
    }
    let all = rows.values().fold(Tally::default(), Tally::with);
    let fakes = rows.iter().filter(|((kind, _), _)| *kind > 0);
    let fakes = fakes.fold(Tally::default(), |sum, (_, row)| sum.with(row));
    let named = fakes.right - fakes.found_above;
    let held = fakes.bounds_hold - (fakes.found_above - fakes.bounds_above);
    let bounds = f64::from(held) / f64::from(named.max(1)) * 100.0;
    Ok(Proved {
        tables: table(&rows, &fakes, bounds),
        holds: all.wrong == 0 && bounds >= BOUNDS_HOLD_PERCENT,
    })
}

/// Genuine cards of which each fails once to read or gives wrong data once.
fn transient(asked: &Asked, seed: Seed) -> Result<Proved> {
    let count = asked.count_or(GENUINE, GENUINE_SHORT);
    let mut seen = 0_u32;
    let mut tally = Tally::default();
    let found = for_each(count, |number| {
        let made = genuine(number, seed)?;
        let (finding, written) = verify(&made, Seed::from_bits(seed.get() ^ (number as u64) << 8))?;
        Ok((made, finding, written))
    })?;
    for (made, finding, written) in &found {
        count_in(&mut tally, made, finding, *written);
        seen += u32::from(finding.transient_errors > 0);
    }
    let accused = tally.cards - tally.right;
    let tables = format!(
        "| genuine cards with one transient read error | error met | genuine | fake, damaged or undecided |\n\
         | --- | --- | --- | --- |\n| {} | {seen} | {} | {accused} |\n",
        tally.cards, tally.right
    );
    Ok(Proved { tables, holds: accused == 0 && f64::from(seen) >= 0.99 * f64::from(tally.cards) })
}

/// Genuine cards that have lost a part of their blocks are damaged, and no fakes.
fn dying(asked: &Asked, seed: Seed) -> Result<Proved> {
    let count = asked.count_or(DYING, DYING_SHORT);
    let found = for_each(count, |number| {
        let made = with_lost_blocks(number, seed)?;
        let (finding, _) = verify(&made, Seed::from_bits(seed.get() ^ (number as u64) << 8))?;
        Ok((made, finding))
    })?;
    let mut tables = String::from(
        "| genuine cards whose lost blocks | share of lost blocks | cards | damaged | fake | genuine or undecided |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut holds = true;
    for (manner, words) in [
        (DamagedBlock::Fails, "fail to read"),
        (DamagedBlock::FlipsBits, "read wrong data"),
        (DamagedBlock::ReadsZero, "read zeros"),
    ] {
        for (low, high) in LOST_PERCENT {
            let band = low * 10_000..high * 10_000;
            let these = found.iter().filter(|(made, _)| {
                let damage = made.card.damage;
                damage.gives == manner && band.contains(&u64::from(damage.share_ppm))
            });
            let verdicts: Vec<Verdict> = these.map(|(_, finding)| finding.verdict).collect();
            let of = |verdict| verdicts.iter().filter(|given| **given == verdict).count();
            let (damaged, fake) = (of(Verdict::Damaged), of(Verdict::Fake));
            holds &= fake == 0 && damaged as f64 >= 0.9 * verdicts.len() as f64;
            // Writing to a string does not fail.
            let _ = writeln!(
                tables,
                "| {words} | {low} to {high} % | {} | {damaged} | {fake} | {} |",
                verdicts.len(),
                verdicts.len() - damaged - fake,
            );
        }
    }
    Ok(Proved { tables, holds })
}

/// The sound card `number`, one of whose readings fails.
fn genuine(number: usize, seed: Seed) -> Result<Made> {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64(seed.derive("genuine cards") ^ number as u64);
    let announced = Bytes(SIZES_GB[number % SIZES_GB.len()] * 1_000_000_000);
    let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
    let card = Card {
        model: Model { capacity: announced, ..base.model },
        damage: Damage {
            transient_read: Some(1 + random.next_u64() % READINGS_LEAST),
            ..Damage::NONE
        },
        ..*base
    };
    Ok(Made { card, kind: KINDS[0], store: Bytes::ZERO, truth: Truth::Genuine })
}

/// The genuine card `number` with lost blocks of one manner.
fn with_lost_blocks(number: usize, seed: Seed) -> Result<Made> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("dying cards") ^ number as u64);
    let gives = [DamagedBlock::Fails, DamagedBlock::FlipsBits, DamagedBlock::ReadsZero];
    let (low, high) = LOST_PERCENT[number / gives.len() % LOST_PERCENT.len()];
    let share_ppm = low * 10_000 + random.next_u64() % ((high - low) * 10_000);
    let announced = Bytes(SIZES_GB[random.next_u64() as usize % SIZES_GB.len()] * 1_000_000_000);
    let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
    let card = Card {
        model: Model { capacity: announced, ..base.model },
        damage: Damage {
            share_ppm: share_ppm as u32,
            gives: gives[number % gives.len()],
            // From a page to an erase block.
            block: Bytes::kib(4 << (random.next_u64() % 13)),
            ..Damage::NONE
        },
        ..*base
    };
    Ok(Made { card, kind: KINDS[0], store: Bytes::ZERO, truth: Truth::Damaged })
}

impl Tally {
    fn with(self, other: &Self) -> Self {
        Self {
            cards: self.cards + other.cards,
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            damaged: self.damaged + other.damaged,
            above: self.above + other.above,
            undecided: self.undecided + other.undecided,
            bounds_hold: self.bounds_hold + other.bounds_hold,
            found_above: self.found_above + other.found_above,
            bounds_above: self.bounds_above + other.bounds_above,
            written: self.written + other.written,
        }
    }
}

fn count_in(row: &mut Tally, made: &Made, finding: &Finding, written: Bytes) {
    row.cards += 1;
    row.written += written.get();
    let mark = made.truth.mark(finding);
    row.right += u32::from(mark == Mark::Right);
    row.wrong += u32::from(mark == Mark::Wrong);
    row.damaged += u32::from(mark == Mark::Damaged);
    row.above += u32::from(mark == Mark::Above);
    row.undecided += u32::from(mark == Mark::Undecided);
    let Truth::Fake(lie) = made.truth else { return };
    let is_above = lie.store > STORE_OF_BOUNDS;
    if mark == Mark::Right {
        let holds = lie.is_within(finding);
        row.bounds_hold += u32::from(holds);
        row.found_above += u32::from(is_above);
        row.bounds_above += u32::from(is_above && !holds);
    }
}

/// The card `number` of the grid: kinds, stores, damage and sizes in turn, the rest by chance.
fn make(number: usize, seed: Seed) -> Result<Made> {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64(seed.derive("capacity cards") ^ number as u64);
    let kind = KINDS[number % KINDS.len()];
    let rest = number / KINDS.len();
    let store_number = rest % STORES.len();
    let store = STORES[store_number];
    let rest = rest / STORES.len();
    let damage = rest % 3;
    // Small and large ones among the first cards, and each with every kind, store and damage.
    let size = number % KINDS.len() + store_number + rest / 3;
    let announced = SIZES_GB[size % SIZES_GB.len()] * 1_000_000_000;
    let in_range = |random: &mut Xoshiro256PlusPlus, low: u64, high: u64| {
        (low + random.next_u64() % (high - low).max(1)) / 512 * 512
    };
    let real = match random.next_u64() % 3 {
        // Half of them are powers of two, as chips are; the others any number of sectors.
        0 => (1_u64 << 30 << (random.next_u64() % 6)).min(announced / 2),
        _ => in_range(&mut random, announced / 64, announced / 10 * 9),
    };
    let real = real / 512 * 512;
    let round = in_range(&mut random, real + (real / 32), real + real / 2);
    let beyond = match kind {
        "limbo" => Some(Beyond::Limbo),
        "drop" => Some(Beyond::Drop { reads_as: [0, 0xff][number % 2] }),
        "wrap" => Some(Beyond::WrapAround),
        "last block" => Some(Beyond::LastBlock),
        "chained" => Some(Beyond::Chained { round: Bytes(round), reads_as: 0 }),
        _ => None,
    };
    let remembers = HiddenStore {
        size: store,
        writes_max: None,
        keeps: if random.next_u64().is_multiple_of(2) { Keeps::Beyond } else { Keeps::All },
        forgets: [Forgets::OldestWrite, Forgets::LeastUsed][(random.next_u64() % 2) as usize],
    };
    let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
    let gives = [DamagedBlock::Fails, DamagedBlock::FlipsBits, DamagedBlock::ReadsZero];
    let card = Card {
        model: Model {
            capacity: Bytes(if beyond.is_some() { real } else { announced }),
            ..base.model
        },
        fake: beyond.map(|beyond| CapacityFake { announced: Bytes(announced), beyond, remembers }),
        damage: Damage {
            share_ppm: if damage == 2 { 10_000 } else { 0 },
            gives: gives[(random.next_u64() % 3) as usize],
            transient_read: (damage == 1).then(|| 1 + random.next_u64() % 1000),
            ..Damage::NONE
        },
        ..*base
    };
    let truth = match (beyond, damage) {
        (Some(_), _) => Truth::Fake(Lie { announced: Bytes(announced), real: Bytes(real), store }),
        (None, 2) => Truth::Damaged,
        (None, _) => Truth::Genuine,
    };
    Ok(Made { card, kind, store, truth })
}

fn verify(made: &Made, seed: Seed) -> Result<(Finding, Bytes)> {
    let mut target = made.card.open(seed, Keeping::Short(SHORTHAND))?;
    let Judged { finding, written } = judge(&mut *target, seed)?;
    if std::env::var_os("CARDPROOF_PROVE_DETAILS").is_some() {
        tell(made, &finding);
    }
    Ok((finding, written))
}

/// What was found of one card, for whoever looks for the reason of a wrong verdict.
#[allow(clippy::print_stderr, reason = "a proof speaks by printing")]
fn tell(made: &Made, finding: &Finding) {
    eprintln!(
        "{} store {} {:?}: {} {} size {:?} {:?} {:?} {:?}",
        made.kind,
        made.store,
        made.truth,
        finding.verdict.name(),
        finding.kind.name(),
        finding.size,
        made.card.fake.map(|fake| fake.beyond),
        made.card.damage,
        finding.hypotheses,
    );
}

fn table(rows: &BTreeMap<(usize, usize), Tally>, fakes: &Tally, bounds: f64) -> String {
    let mut text = String::from(
        "| kind | hidden store | cards | right | wrong | fake called damaged | passed, store above the excluded one | undecided | real size within bounds | written on average |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (&(kind, store), row) in rows {
        let bounds = if kind == 0 { "-".to_owned() } else { row.bounds_hold.to_string() };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {bounds} | {} |",
            KINDS[kind],
            if kind == 0 { "-".to_owned() } else { STORES[store].to_string() },
            row.cards,
            row.right,
            row.wrong,
            row.damaged,
            row.above,
            row.undecided,
            Bytes(row.written / u64::from(row.cards.max(1))).round_down_to(Bytes::mib(1)),
        );
    }
    let _ = writeln!(
        text,
        "\nBounds of the real size hold in {bounds:.2} % of the fakes that were found and whose store is at most \
         {STORE_OF_BOUNDS}. Of {} with a larger store {} have their real size outside the bounds.",
        fakes.found_above, fakes.bounds_above,
    );
    text
}
