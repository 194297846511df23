//! A hub whose truth is known: the order and the intervals hold it, with honest submitters and with three in ten that
//! lie, each in its own way or all for one end.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::collections::BTreeMap;

use cardproof_hub_standing::{Fit, Vote, median};

/// Random numbers that follow from a number alone (Steele, Lea and Flood, OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

const CARDS: usize = 300;
const BOARDS: usize = 12;
const SUBMITTERS: usize = 2_000;
const RECORDS: usize = 10_000;

/// How those lie who do.
#[derive(Clone, Copy, Debug)]
enum Lies {
    None,
    /// Any figure, each time another.
    Wild,
    /// Whatever they measure is four times as fast.
    Inflated,
    /// Ten cards are twice as fast as they are, in the votes of all liars.
    Favourites,
}

struct World {
    truth: Vec<Vec<f64>>,
    votes: Vec<Vote>,
}

impl World {
    fn new(seed: u64, lies: Lies, liars: f64) -> Self {
        let mut draw = Draw(seed);
        let boards: Vec<f64> = (0..BOARDS).map(|_| 0.3 * draw.normal()).collect();
        let cards: Vec<f64> = (0..CARDS).map(|_| 3.0 + 0.6 * draw.normal()).collect();
        let truth: Vec<Vec<f64>> = cards
            .iter()
            .map(|card| boards.iter().map(|board| card + board + 0.08 * draw.normal()).collect())
            .collect();
        let mut all = BTreeMap::<(usize, usize, u64), Vec<f64>>::new();
        for _ in 0..RECORDS {
            let submitter = draw.below(SUBMITTERS);
            // A few cards and boards have most of the records.
            let card = (draw.unit().powf(1.6) * CARDS as f64) as usize;
            let board = (draw.unit().powf(1.6) * BOARDS as f64) as usize;
            let honest = truth[card][board] + 0.15 * draw.normal();
            let does_lie = (submitter as f64) < liars * SUBMITTERS as f64;
            let value = match lies {
                Lies::Wild if does_lie => 3.0 + 2.0 * draw.normal(),
                Lies::Inflated if does_lie => honest - 4.0_f64.ln(),
                Lies::Favourites if does_lie && card.is_multiple_of(30) => honest - 2.0_f64.ln(),
                _ => honest,
            };
            all.entry((card, board, submitter as u64)).or_default().push(value);
        }
        let vote = |((card, board, submitter), mut values): ((usize, usize, u64), Vec<f64>)| Vote {
            submitter,
            card,
            board,
            value: median(&mut values).unwrap(),
        };
        Self { truth, votes: all.into_iter().map(vote).collect() }
    }

    /// The share of intervals that hold the truth, and the lowest rank correlation with it of a board.
    fn held(&self) -> (f64, f64) {
        let fit = Fit::of(self.votes.clone(), CARDS, BOARDS);
        let (mut held, mut all, mut lowest) = (0, 0, 1.0_f64);
        for board in 0..BOARDS {
            let found = fit.on(board);
            let truth: Vec<f64> = found.iter().map(|it| self.truth[it.card][board]).collect();
            all += found.len();
            held += found
                .iter()
                .zip(&truth)
                .filter(|(it, truth)| it.between[0] <= **truth && **truth <= it.between[1])
                .count();
            let values: Vec<f64> = found.iter().map(|it| it.value).collect();
            lowest = lowest.min(rank_correlation(&values, &truth));
        }
        (held as f64 / all as f64, lowest)
    }
}

/// Spearman's, of values without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|x, y| values[*x].total_cmp(&values[*y]));
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(rank, at)| ranks[*at] = rank as f64);
        ranks
    };
    let squares = ranks(a).iter().zip(ranks(b)).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
    let count = a.len() as f64;
    1.0 - 6.0 * squares / (count * (count * count - 1.0))
}

/// What a world of `lies` shows over some seeds: the share of intervals that hold, and the lowest correlation.
fn shown(lies: Lies, liars: f64) -> (f64, f64) {
    let all: Vec<(f64, f64)> = (1..=4).map(|seed| World::new(seed, lies, liars).held()).collect();
    let coverage = all.iter().map(|it| it.0).sum::<f64>() / all.len() as f64;
    let lowest = all.iter().map(|it| it.1).fold(1.0, f64::min);
    println!(
        "{lies:?}, {liars}: {:.1} % hold, rank correlation at least {lowest:.3}",
        100.0 * coverage
    );
    (coverage, lowest)
}

#[test]
fn intervals_and_order_hold_the_truth() {
    let (coverage, lowest) = shown(Lies::None, 0.0);
    assert!((0.88..=0.92).contains(&coverage), "{coverage}");
    assert!(lowest >= 0.95, "{lowest}");
}

#[test]
fn three_liars_in_ten_change_neither() {
    for lies in [Lies::Wild, Lies::Inflated, Lies::Favourites] {
        let (coverage, lowest) = shown(lies, 0.3);
        assert!((0.88..=0.92).contains(&coverage), "{lies:?}: {coverage}");
        assert!(lowest >= 0.95, "{lies:?}: {lowest}");
    }
}

#[test]
fn one_vote_does_not_lift_a_known_card() {
    let card = |card, board, submitter, value| Vote { submitter, card, board, value };
    let mut votes = Vec::new();
    for at in 0..40 {
        let spread = 0.1 * (at % 5) as f64 - 0.2;
        votes.push(card(
            at as usize % 4,
            at as usize / 4 % 2,
            at,
            3.0 + (at % 4) as f64 * 0.3 + spread,
        ));
    }
    let before = Fit::of(votes.clone(), 4, 3).on(0);
    // On a board of its own, and on one where the card is known.
    votes.push(card(3, 2, 99, 0.5));
    votes.push(card(3, 0, 99, 0.5));
    let after = Fit::of(votes, 4, 3).on(0);
    assert_eq!(before.last().unwrap().card, 3);
    assert_eq!(after.last().unwrap().card, 3, "{after:?}");
}
