//! `cargo xtask prove blind`: verdicts on devices whose author did not know how they are reached.
//!
//! The program's own test runs on devices of the family [`crate::blind`]. What counts as broken is a
//! promise: a fake called genuine although the finding says that such a store and such a missing share
//! were excluded, and a genuine card called a fake. Virtual time only, so the same number of cards
//! gives the same table everywhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use cardproof_evidence::capacity::{Exclusion, Finding, MissingPart, Verdict};
use cardproof_io::Target;
use cardproof_probe::capacity::{Plan, Progress, Wish, run as probe, shorthand};
use cardproof_testkit::Noise;
use cardproof_units::{Bytes, Seed};

use super::parallel::for_each;
use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::blind::{Draw, KINDS, Numbering, Specimen, Truth};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "blind",
    shows: "verdicts on devices made from descriptions in words alone; --only takes their kinds",
    document: "docs/design/blind.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Count, Takes::Seed, Takes::Only],
    run,
};

/// How many cards, in full and in the short form.
const CARDS: (usize, usize) = (2040, 102);

const SEED: u64 = 43;

/// A missing share this much larger than the excluded one is missed less than once in 8,000 cards:
/// the excluded share is one that is missed once in 20.
const CLEARLY: f64 = 3.0;

const SECTOR: u64 = 512;

/// Test data as numbers. Every sector that is written here is a whole test sector, so its head says all.
const NUMBERING: Numbering =
    Numbering { further: shorthand::further, expand, shorten: shorthand::shorten_head };

/// Fills whole sectors with the test data that follow from the numbers of the first.
fn expand(numbers: [u64; 3], into: &mut [u8]) {
    let (sectors, _) = into.as_chunks_mut::<{ SECTOR as usize }>();
    for (index, sector) in sectors.iter_mut().enumerate() {
        shorthand::expand(shorthand::further(numbers, index as u64), sector);
    }
}

/// What a verdict is worth, given the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Right,
    /// A fake called damaged, or a sound card.
    Damaged,
    Undecided,
    /// The test could not go to its end.
    Ended,
    /// Called genuine, and the finding does not say that this was excluded.
    NotExcluded,
    /// Called genuine although the finding says that this was excluded.
    Broken,
    /// A genuine card called a fake.
    Accused,
}

/// The columns of the table.
const COLUMNS: [(Worth, &str); 7] = [
    (Worth::Right, "right"),
    (Worth::Damaged, "wrongly damaged"),
    (Worth::Undecided, "undecided"),
    (Worth::Ended, "test ended early"),
    (Worth::NotExcluded, "genuine, not excluded"),
    (Worth::Broken, "genuine, though excluded"),
    (Worth::Accused, "genuine called fake"),
];

/// What one card gave.
struct Outcome {
    kind: usize,
    worth: Worth,
    /// Of a fake that was found: whether its real size is within the bounds.
    is_bounded: Option<bool>,
    written: Bytes,
}

/// The sum of a row.
#[derive(Clone, Debug, Default)]
struct Row {
    cards: u64,
    worths: BTreeMap<Worth, u64>,
    found: u64,
    bounded: u64,
    written: u64,
}

impl Row {
    fn add(&mut self, outcome: &Outcome) {
        self.cards += 1;
        *self.worths.entry(outcome.worth).or_default() += 1;
        self.found += u64::from(outcome.is_bounded.is_some());
        self.bounded += u64::from(outcome.is_bounded == Some(true));
        self.written += outcome.written.get();
    }

    fn of(&self, worth: Worth) -> u64 {
        self.worths.get(&worth).copied().unwrap_or_default()
    }
}

fn run(asked: &Asked) -> Result<Proved> {
    let known = |name: &String| KINDS.iter().any(|kind| kind.name == name);
    if let Some(unknown) = asked.only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(anyhow!("there is no kind '{unknown}'; there are {}", names.join(", ")));
    }
    let seed = asked.seed.unwrap_or(Seed::from_bits(SEED));
    let count = asked.count_or(CARDS.0, CARDS.1);
    let wanted: Vec<usize> = (0..KINDS.len())
        .filter(|&kind| asked.only.is_empty() || asked.only.iter().any(|it| it == KINDS[kind].name))
        .collect();
    let outcomes = for_each(count, |number| {
        let kind = wanted[number % wanted.len()];
        // A card is the same whichever kinds are asked for with it.
        let card = (number / wanted.len()) as u64;
        verify(kind, seed.derive(KINDS[kind].name) ^ card << 16)
    })?;
    let mut rows = vec![Row::default(); KINDS.len()];
    let mut all = Row::default();
    for outcome in &outcomes {
        rows[outcome.kind].add(outcome);
        all.add(outcome);
    }
    let holds = all.of(Worth::Broken) == 0 && all.of(Worth::Accused) == 0;
    Ok(Proved { tables: table(&rows, &all), holds })
}

/// Draws the card of `seed`, and lets the program's own test look at it.
fn verify(kind: usize, seed: u64) -> Result<Outcome> {
    let specimen = (KINDS[kind].draw)(&mut Draw::new(seed));
    let mut target = specimen.open(seed, NUMBERING);
    let wish = wish(&mut Noise::new(seed ^ 1), &specimen);
    let abilities = target.abilities();
    let own = Seed::from_bits(seed ^ 2);
    let plan = Plan::new(abilities.size, abilities.logical_block, wish, own)?;
    let Ok(outcome) = probe(&mut target, &plan, &mut |_: &Progress| true) else {
        return Ok(Outcome { kind, worth: Worth::Ended, is_bounded: None, written: Bytes::ZERO });
    };
    let finding = &outcome.finding;
    let worth = judge(&specimen, finding);
    if worth > Worth::NotExcluded || std::env::var_os("CARDPROOF_PROVE_DETAILS").is_some() {
        tell(kind, seed, &specimen, finding, worth);
    }
    let is_bounded = match specimen.truth {
        Truth::Fake { real, .. } if finding.verdict == Verdict::Fake => {
            let bytes = real * SECTOR;
            Some(finding.size.low <= bytes && bytes <= finding.size.high)
        }
        _ => None,
    };
    Ok(Outcome { kind, worth, is_bounded, written: outcome.bytes_written })
}

/// What the user asks for: mostly the default, at times less, and every byte of a small device.
fn wish(noise: &mut Noise, specimen: &Specimen) -> Wish {
    let store = match noise.below(4) {
        0 => Bytes::mib(16 << noise.below(6)),
        _ => Bytes::gib(1),
    };
    let is_full = specimen.announced < 1 << 23 && noise.below(8) == 0;
    Wish { store: Some(store), is_full, ..Wish::default() }
}

/// What the verdict of `finding` is worth.
fn judge(specimen: &Specimen, finding: &Finding) -> Worth {
    let is_clear = |share: f64| share >= CLEARLY * finding.excluded_bad_share;
    match (specimen.truth, finding.verdict) {
        (_, Verdict::Undecided) if specimen.truth != Truth::KeepsNothing => Worth::Undecided,
        (Truth::Sound, Verdict::Genuine)
        | (Truth::Dying { .. }, Verdict::Damaged)
        | (Truth::Fake { .. }, Verdict::Fake)
        | (Truth::Ambiguous { .. }, Verdict::Fake | Verdict::Damaged)
        | (Truth::KeepsNothing, Verdict::Undecided | Verdict::Damaged) => Worth::Right,
        (Truth::Sound | Truth::Dying { .. } | Truth::KeepsNothing, Verdict::Fake) => Worth::Accused,
        (Truth::Sound | Truth::Fake { .. }, Verdict::Damaged) => Worth::Damaged,
        (Truth::Dying { bad_share }, Verdict::Genuine) if !is_clear(bad_share) => {
            Worth::NotExcluded
        }
        (Truth::Fake { store, .. }, Verdict::Genuine) => {
            let missing = specimen.missing_share();
            let is_claimed = |exclusion: &Exclusion| {
                exclusion.part == MissingPart::Anywhere
                    && exclusion.missing_share <= missing
                    && store * SECTOR <= exclusion.store_bytes
            };
            // Without a store the missing addresses are bad blocks.
            let is_bad = store == 0 && is_clear(missing);
            if is_bad || finding.exclusions.iter().any(is_claimed) {
                Worth::Broken
            } else {
                Worth::NotExcluded
            }
        }
        _ => Worth::Broken,
    }
}

/// Says what came of one card, so that it can be seen again.
fn tell(kind: usize, seed: u64, specimen: &Specimen, finding: &Finding, worth: Worth) {
    eprintln!(
        "{worth:?} '{}' seed {seed}: {} {:.4}, excluded store {} share {:.5}, size {:?}: {specimen:?}",
        KINDS[kind].name,
        finding.verdict.name(),
        finding.probability,
        Bytes(finding.excluded_store_bytes),
        finding.excluded_bad_share,
        finding.size,
    );
}

fn table(rows: &[Row], all: &Row) -> String {
    let mut text = String::from("| kind | device | cards |");
    for (_, name) in COLUMNS {
        let _ = write!(text, " {name} |");
    }
    text += " fakes found, real size within bounds | written on average |\n";
    text += &format!("| --- | --- |{}\n", " ---: |".repeat(COLUMNS.len() + 3));
    for (kind, row) in KINDS.iter().zip(rows).filter(|(_, row)| row.cards > 0) {
        line(&mut text, kind.name, kind.words, row);
    }
    line(&mut text, "all", "", all);
    text
}

fn line(text: &mut String, name: &str, words: &str, row: &Row) {
    // Writing to a string does not fail.
    let _ = write!(text, "| {name} | {words} | {} |", row.cards);
    for (worth, _) in COLUMNS {
        let _ = write!(text, " {} |", row.of(worth));
    }
    let written = Bytes(row.written / row.cards.max(1)).round_down_to(Bytes::mib(1));
    let bounded =
        if row.found == 0 { "-".to_owned() } else { format!("{} of {}", row.bounded, row.found) };
    let _ = writeln!(text, " {bounded} | {written} |");
}
