//! Fakes without one edge: holes, stripes, scattered addresses, shared ones, and cards that fill up, each
//! with stores of every size.

use std::fmt::Write;

use anyhow::{Result, anyhow};
use cardproof_evidence::capacity::{Finding, MissingPart};
use cardproof_sim::fault::{
    ArrangedStore, Arrangement, Forgets, Gives, HiddenStore, Keeps, Missing,
};
use cardproof_sim::{Model, SimulatedTarget, find};
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::judged::{Judged, Lie, Mark, SHORTHAND, Truth, judge};
use crate::prove::parallel::for_each;
use crate::prove::{Asked, Proved};

const CARDS: usize = 4000;
const CARDS_SHORT: usize = 56;

const KINDS: [&str; 7] = [
    "last part real",
    "both ends real",
    "stripes",
    "scattered",
    "shared without a rule",
    "takes any address until full",
    "latest writes alone",
];

const STORES: [Bytes; 6] =
    [Bytes::ZERO, Bytes::kib(8), Bytes::mib(1), Bytes::mib(12), Bytes::mib(63), Bytes::mib(128)];

const SIZES_GB: [u64; 5] = [8, 32, 128, 512, 2000];

/// A fake and what it is.
struct Made {
    kind: usize,
    announced: u64,
    arrangement: Arrangement,
    lie: Lie,
}

/// Counts of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    cards: u32,
    fake: u32,
    damaged: u32,
    undecided: u32,
    /// Called genuine, and what the answer excludes does not cover it.
    above: u32,
    /// Called genuine, although what the answer excludes covers it.
    broken: u32,
    within: u32,
}

/// All of them.
pub(super) fn wide(asked: &Asked, seed: Seed) -> Result<Proved> {
    let count = asked.count_or(CARDS, CARDS_SHORT);
    let found = for_each(count, |number| {
        let made = make(number, seed);
        let own = Seed::from_bits(seed.get() ^ (number as u64) << 8);
        let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
        let model = Model { capacity: Bytes(made.announced), ..base.model };
        let store = Box::new(ArrangedStore::new(made.arrangement, own, SHORTHAND));
        let mut target = SimulatedTarget::with_store(&model, &base.host, own, store)?;
        let Judged { finding, .. } = judge(&mut target, own)?;
        Ok((made, finding))
    })?;
    let mut rows = [Row::default(); KINDS.len()];
    for (made, finding) in &found {
        rows[made.kind].add(made, finding);
    }
    let holds = rows.iter().all(|row| row.broken == 0);
    Ok(Proved { tables: table(&rows), holds })
}

impl Row {
    fn add(&mut self, made: &Made, finding: &Finding) {
        self.cards += 1;
        match Truth::Fake(made.lie).mark(finding) {
            Mark::Right => {
                self.fake += 1;
                self.within += u32::from(made.lie.is_within(finding));
            }
            Mark::Undecided => self.undecided += 1,
            Mark::Damaged => self.damaged += 1,
            Mark::Above | Mark::Wrong if is_damaged(finding) => self.damaged += 1,
            Mark::Above => self.above += 1,
            Mark::Wrong if is_claimed(made, finding) => self.broken += 1,
            Mark::Wrong => self.above += 1,
        }
    }
}

fn is_damaged(finding: &Finding) -> bool {
    finding.verdict == cardproof_evidence::capacity::Verdict::Damaged
}

/// Whether what `finding` says that it excludes covers the fake.
fn is_claimed(made: &Made, finding: &Finding) -> bool {
    if let Gives::Shared { real, .. } = made.arrangement.gives {
        return made.kind == 4 && real.get() <= finding.excluded_sharing_bytes;
    }
    let missing = 1.0 - made.lie.real.as_f64() / made.lie.announced.as_f64();
    finding.exclusions.iter().any(|exclusion| {
        exclusion.part == MissingPart::Anywhere
            && exclusion.missing_share <= missing
            && made.lie.store.get() <= exclusion.store_bytes
    })
}

/// The fake `number`: kinds, stores and sizes in turn, the rest by chance.
fn make(number: usize, seed: Seed) -> Made {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("wide fakes") ^ number as u64);
    let mut below = move |most: u64| random.next_u64() % most.max(1);
    let kind = number % KINDS.len();
    let rest = number / KINDS.len();
    let store = STORES[rest % STORES.len()];
    let announced = SIZES_GB[(rest / STORES.len() + kind) % SIZES_GB.len()] * 1_000_000_000;
    // From a tenth to nine tenths are missing.
    let lost = announced / 10 + below(announced / 10 * 8);
    let sectors = |bytes: u64| Bytes(bytes / 512 * 512);
    let (missing, real) = match KINDS[kind] {
        "last part real" => {
            (Missing::Hole { from: Bytes::ZERO, to: sectors(lost) }, announced - lost)
        }
        "both ends real" => {
            let from = 1 + below(announced - lost - 1);
            let hole = Missing::Hole { from: sectors(from), to: sectors(from + lost) };
            (hole, announced - lost)
        }
        "stripes" => {
            let period = Bytes::kib(16 << below(18));
            let parts = 1 + below(3);
            let live = Bytes(period.get() / 4 * parts);
            (Missing::Stripes { period, live }, announced / 4 * parts)
        }
        "scattered" => {
            let share_ppm = (lost as f64 / announced as f64 * 1e6) as u32;
            let block = Bytes::kib(4 << below(13));
            (Missing::Scattered { block, share_ppm }, announced - lost)
        }
        "takes any address until full" => {
            let real = Bytes::mib(16 + below(140));
            (Missing::AfterTheFirst { real }, real.get())
        }
        "latest writes alone" => (Missing::All, 0),
        _ => (Missing::All, announced - lost),
    };
    let gives = match (KINDS[kind], below(3)) {
        ("shared without a rule", _) => {
            Gives::Shared { block: Bytes::kib(4 << below(13)), real: Bytes(real) }
        }
        (_, 0) => Gives::Byte(0),
        (_, 1) => Gives::Garbage,
        _ => Gives::Changing,
    };
    let has_store = !matches!(missing, Missing::AfterTheFirst { .. });
    let store = if has_store { store } else { Bytes::ZERO };
    let remembers = HiddenStore {
        size: store,
        writes_max: None,
        keeps: if below(2) == 0 { Keeps::Beyond } else { Keeps::All },
        forgets: if below(2) == 0 { Forgets::OldestWrite } else { Forgets::LeastUsed },
    };
    let lie = Lie { announced: Bytes(announced), real: Bytes(real), store };
    Made { kind, announced, arrangement: Arrangement { missing, gives, remembers }, lie }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| missing addresses | cards | fake | damaged | undecided | genuine, not excluded | genuine, though \
         excluded | real size within bounds |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (kind, row) in KINDS.iter().zip(rows) {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {kind} | {} | {} | {} | {} | {} | {} | {} |",
            row.cards, row.fake, row.damaged, row.undecided, row.above, row.broken, row.within,
        );
    }
    text
}
