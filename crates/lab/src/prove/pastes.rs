//! `cargo xtask prove pastes`: how many pastes of other tools' outputs are read rightly.
//!
//! Outputs with drawn figures are damaged as mail, forums and hands do it, so what each text holds is
//! known (`cardproof_testkit::pastes`). The same seed gives the same table everywhere.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use cardproof_import::{Origin, decode, import};
use cardproof_testkit::pastes::{Paste, Reading, judge, paste};
use cardproof_units::Seed;

use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "pastes",
    shows: "how many damaged pastes of other tools' outputs are read rightly",
    document: "docs/design/importing.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Seed, Takes::Count],
    run,
};

const COUNT: usize = 20_000;
const COUNT_SHORT: usize = 1000;

/// So many in a thousand may be wrong, and so many must be right.
const WRONG_PER_THOUSAND_MAX: u64 = 1;
const RIGHT_PER_THOUSAND_MIN: u64 = 990;

/// How the pastes of one kind were read.
type Counts = BTreeMap<Reading, u64>;

fn run(asked: &Asked) -> Result<Proved> {
    let first = asked.seed.unwrap_or(Seed::from_bits(1)).get();
    let count = asked.count_or(COUNT, COUNT_SHORT) as u64;
    let mut by_tool: BTreeMap<String, Counts> = BTreeMap::new();
    let mut by_damage: BTreeMap<String, Counts> = BTreeMap::new();
    let mut all = Counts::new();
    for index in 0..count {
        let paste = paste(Seed::from_bits(first.wrapping_add(index)));
        let reading = read(&paste);
        let tool = format!("{:?}", paste.kind);
        *by_tool.entry(tool).or_default().entry(reading).or_default() += 1;
        for damage in &paste.damage {
            let damage = format!("{damage:?}");
            *by_damage.entry(damage).or_default().entry(reading).or_default() += 1;
        }
        *all.entry(reading).or_default() += 1;
    }
    let mut tables = String::new();
    writeln!(tables, "{count} pastes: {}.\n", in_words(&all))?;
    for (what, rows) in [("tool and form", by_tool), ("damage", by_damage)] {
        writeln!(tables, "| {what} | right | refused | wrong |\n| --- | ---: | ---: | ---: |")?;
        for (name, counts) in rows {
            let of = |reading| counts.get(&reading).copied().unwrap_or(0);
            let (right, refused, wrong) =
                (of(Reading::Right), of(Reading::Refused), of(Reading::Wrong));
            writeln!(tables, "| {name} | {right} | {refused} | {wrong} |")?;
        }
        tables.push('\n');
    }
    let of = |reading| all.get(&reading).copied().unwrap_or(0);
    let holds = of(Reading::Wrong) * 1000 <= WRONG_PER_THOUSAND_MAX * count
        && of(Reading::Right) * 1000 >= RIGHT_PER_THOUSAND_MIN * count;
    Ok(Proved { tables, holds })
}

fn in_words(counts: &Counts) -> String {
    let of = |reading| counts.get(&reading).copied().unwrap_or(0);
    format!(
        "{} read rightly, {} refused or read in part, {} read wrongly",
        of(Reading::Right),
        of(Reading::Refused),
        of(Reading::Wrong)
    )
}

fn read(paste: &Paste) -> Reading {
    let origin = Origin { id: "proof".to_owned(), read_at: "2026-01-01T00:00:00Z".to_owned() };
    let found = import(&decode(&paste.bytes), None, &origin);
    judge(&found.map(|found| found.records).unwrap_or_default(), &paste.cards)
}
