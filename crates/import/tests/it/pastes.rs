//! Drawn pastes with known truth: outputs of tools, damaged as mail, forums and hands do it.
//!
//! `cargo xtask prove pastes` reads 20,000 of them; here are as many as take a second or two.

use std::collections::BTreeMap;

use cardproof_import::{decode, import};
use cardproof_testkit::pastes::{Paste, Reading, judge, paste};
use cardproof_units::Seed;

use crate::origin;

const COUNT: u64 = 1000;

fn read(paste: &Paste) -> Reading {
    let found = import(&decode(&paste.bytes), None, &origin());
    judge(&found.map(|found| found.records).unwrap_or_default(), &paste.cards)
}

#[test]
fn pastes_are_read_rightly_or_refused() {
    let mut counts: BTreeMap<Reading, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in 0..COUNT {
        let paste = paste(Seed::from_bits(seed));
        let reading = read(&paste);
        *counts.entry(reading).or_default() += 1;
        if reading != Reading::Right {
            wrong.push(format!("seed {seed}: {reading:?} {:?} {:?}", paste.kind, paste.damage));
        }
    }
    let count = |reading| counts.get(&reading).copied().unwrap_or(0);
    assert!(count(Reading::Wrong) * 1000 <= COUNT, "{counts:?}\n{}", wrong.join("\n"));
    assert!(count(Reading::Right) * 100 >= 99 * COUNT, "{counts:?}\n{}", wrong.join("\n"));
}
