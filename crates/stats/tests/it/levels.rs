//! Levels found in made-up cards whose levels are known, and none found where there are none.

use cardproof_stats::{RateLevel, Slice, levels};
use cardproof_units::{Bytes, Nanos};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SLICE: Nanos = Nanos::from_millis(10);
const BLOCK: Bytes = Bytes::mib(1);

/// A card that serves with jitter, and pauses at random.
struct Card {
    /// For each level: how long it lasts, and its operations a second but for pauses.
    stretches: Vec<(f64, f64)>,
    pause_s: f64,
    pause_every_s: f64,
}

impl Card {
    fn steady(rate: f64, seconds: f64) -> Self {
        Self { stretches: vec![(seconds, rate)], pause_s: 0.0, pause_every_s: f64::INFINITY }
    }

    fn run(&self, seed: u64) -> Vec<Slice> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let whole: f64 = self.stretches.iter().map(|stretch| stretch.0).sum();
        let mut slices = vec![Slice::default(); (whole * 100.0).round() as usize];
        let (mut time, mut stretch_end) = (0.0, 0.0);
        for (seconds, rate) in &self.stretches {
            stretch_end += seconds;
            while time < stretch_end {
                let service = (0.5 + uniform()) / rate;
                time += service;
                if uniform() < service / self.pause_every_s {
                    time += self.pause_s * (0.5 + uniform());
                }
                if let Some(slice) = slices.get_mut((time * 100.0) as usize) {
                    slice.ops += 1;
                    slice.bytes += BLOCK;
                }
            }
        }
        slices
    }
}

fn rates(levels: &[RateLevel]) -> Vec<f64> {
    levels.iter().map(|level| level.rate.estimate.0.round()).collect()
}

#[test]
fn a_full_cache_shows_as_a_cliff_with_both_levels() {
    let card = Card { stretches: vec![(3.0, 60.0), (12.0, 18.0)], ..Card::steady(0.0, 0.0) };
    let found = levels(&card.run(1), SLICE, 0.99);
    assert_eq!(found.len(), 2, "{found:#?}");
    let [fast, slow] = [found[0], found[1]];
    assert!(fast.rate.low.0 <= 60.0 && 60.0 <= fast.rate.high.0, "{fast:?}");
    assert!(slow.rate.low.0 <= 18.0 && 18.0 <= slow.rate.high.0, "{slow:?}");
    let cliff_at = slow.bytes_before.as_f64() / BLOCK.as_f64();
    assert!((170.0..190.0).contains(&cliff_at), "the cache holds 180 MiB, found {cliff_at}");
    assert_eq!(slow.bytes_before, fast.bytes);
    assert_eq!(fast.start + fast.duration, slow.start);
}

#[test]
fn heat_and_recovery_are_three_levels() {
    let stretches = vec![(5.0, 900.0), (4.0, 500.0), (6.0, 900.0)];
    let card = Card { stretches, ..Card::steady(0.0, 0.0) };
    let found = levels(&card.run(2), SLICE, 0.99);
    assert_eq!(found.len(), 3, "{:?}", rates(&found));
    assert!(found[1].rate.high.0 < found[0].rate.low.0);
    assert!(found[1].rate.high.0 < found[2].rate.low.0);
}

#[test]
fn pauses_and_jitter_are_no_levels() {
    let runs = 300;
    for (name, card) in [
        ("jitter alone", Card::steady(1500.0, 6.0)),
        ("frequent pauses", Card { pause_s: 0.2, pause_every_s: 1.0, ..Card::steady(900.0, 6.0) }),
        ("rare pauses", Card { pause_s: 0.4, pause_every_s: 4.0, ..Card::steady(900.0, 6.0) }),
        ("a slow card", Card { pause_s: 0.2, pause_every_s: 3.0, ..Card::steady(18.0, 27.0) }),
        ("very few operations", Card::steady(2.0, 27.0)),
    ] {
        let wrong: Vec<u64> =
            (0..runs).filter(|&seed| levels(&card.run(seed), SLICE, 0.99).len() > 1).collect();
        assert!(wrong.len() * 100 <= runs as usize, "{name}: with the seeds {wrong:?}");
    }
}

#[test]
fn a_cliff_is_found_among_pauses() {
    let card =
        Card { stretches: vec![(4.0, 60.0), (14.0, 25.0)], pause_s: 0.2, pause_every_s: 2.0 };
    let runs = 100;
    let found = (0..runs).filter(|&seed| levels(&card.run(seed), SLICE, 0.99).len() == 2).count();
    assert!(found >= 90, "found in {found} of {runs} runs");
}

#[test]
fn a_long_silence_is_a_pause_and_parts_nothing() {
    for (before, after, expected) in [(900.0, 900.0, 1), (900.0, 300.0, 2)] {
        for silence in [3, 6] {
            let mut slices = Card::steady(before, 8.0).run(3);
            slices.extend(vec![Slice::default(); silence * 100]);
            slices.extend(Card::steady(after, 8.0).run(4));
            let found = levels(&slices, SLICE, 0.99);
            assert_eq!(found.len(), expected, "{silence} s: {:?}", rates(&found));
            let moved: Bytes = found.iter().map(|level| level.bytes).sum();
            assert_eq!(moved, slices.iter().map(|slice| slice.bytes).sum());
        }
    }
    let mut dead = vec![Slice::default(); 400];
    dead.extend(Card::steady(900.0, 6.0).run(5));
    dead.extend(vec![Slice::default(); 400]);
    assert_eq!(levels(&dead, SLICE, 0.99).len(), 1);
}

#[test]
fn nothing_has_no_level() {
    assert!(levels(&[], SLICE, 0.99).is_empty());
    assert!(levels(&[Slice::default(); 100], SLICE, 0.99).is_empty());
    assert_eq!(levels(&[Slice { ops: 1, ..Slice::default() }], SLICE, 0.99).len(), 1);
}
