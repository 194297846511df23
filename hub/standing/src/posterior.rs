//! The figure of a card on a board with its interval: the distribution that follows from the votes there and from the
//! card's other boards, with the chance that each vote is a lie.

use crate::fit::{Cell, Fit, SLIP, honesty, lie};
use crate::normal::Normal;

/// The chance with which the true figure is in the interval.
const CONFIDENCE: f64 = 0.9;

/// Values at which the distribution is computed.
const POINTS: usize = 401;

/// Beyond so many deviations of the prior, or of votes beyond the outermost one, nothing is looked for.
const REACH: f64 = 5.0;

/// Spreads, boards and weights are estimates themselves, which widens what follows from them by so much. By simulation
/// (`tests/truth.rs`): without it 87.5 to 89.4 % of intervals hold the truth.
const SLACK: f64 = 1.07;

/// A card's figure on a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The card.
    pub card: usize,
    /// The logarithm of the figure.
    pub value: f64,
    /// The ends of the interval that holds the true one with 90 %.
    pub between: [f64; 2],
    /// How many submitters voted for it on this board.
    pub submitters: usize,
}

impl Fit {
    /// The figures of all cards that have a vote on `board`, the lowest first.
    #[must_use]
    pub fn on(&self, board: usize) -> Vec<Estimate> {
        let mut found = Vec::new();
        for (card, cells) in self.cards.iter().enumerate() {
            let cell = cells.iter().find(|cell| cell.board == board);
            found.extend(cell.map(|cell| self.estimate(card, cell)));
        }
        found.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.card.cmp(&b.card)));
        found
    }

    fn estimate(&self, card: usize, cell: &Cell) -> Estimate {
        let mean = self.boards[cell.board];
        let votes: Vec<(f64, f64)> = cell
            .votes
            .iter()
            .map(|at| {
                let of_others = self.of_submitter[&self.votes[*at].submitter] - self.evidence[*at];
                (self.votes[*at].value - mean, honesty(of_others, self.spreads.lies))
            })
            .collect();
        let deviation = self.spreads.vote.sqrt();
        let reach = REACH * cell.prior.variance.sqrt();
        let lowest = votes.iter().map(|it| it.0).fold(f64::MAX, f64::min) - REACH * deviation;
        let highest = votes.iter().map(|it| it.0).fold(f64::MIN, f64::max) + REACH * deviation;
        let mut low = (cell.prior.mean - reach).max(lowest);
        let mut high = (cell.prior.mean + reach).min(highest);
        if low >= high {
            (low, high) = (cell.prior.mean - reach, cell.prior.mean + reach);
        }
        let mut quantiles = self.quantiles(cell.prior, &votes, [low, high]);
        // Many votes make it narrow: once more where it is.
        let [from, _, to] = quantiles;
        let width = (to - from).max((high - low) / POINTS as f64);
        quantiles = self.quantiles(cell.prior, &votes, [from - 2.0 * width, to + 2.0 * width]);
        let [low, middle, high] = quantiles.map(|it| it + mean);
        Estimate { card, value: middle, between: [low, high], submitters: votes.len() }
    }

    /// The value with 5, 50 and 95 % of the distribution below, among those `between`.
    fn quantiles(&self, prior: Normal, votes: &[(f64, f64)], between: [f64; 2]) -> [f64; 3] {
        let step = (between[1] - between[0]) / (POINTS - 1) as f64;
        let at = |point: usize| between[0] + step * point as f64;
        let lies = lie(prior.mean);
        let lies: Vec<f64> = votes.iter().map(|(value, _)| lies.density(*value)).collect();
        let logs: Vec<f64> = (0..POINTS)
            .map(|point| {
                let honest = Normal { mean: at(point), variance: SLACK * self.spreads.vote };
                let of_votes = votes.iter().zip(&lies).map(|((value, honesty), lie)| {
                    let right = honesty * (1.0 - SLIP);
                    (right * honest.density(*value) + (1.0 - right) * lie).ln()
                });
                of_votes.sum::<f64>()
                    - 0.5 * (at(point) - prior.mean).powi(2) / (SLACK * prior.variance)
            })
            .collect();
        let most = logs.iter().copied().fold(f64::MIN, f64::max);
        let densities: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let all: f64 = densities.iter().sum();
        [0.5 - CONFIDENCE / 2.0, 0.5, 0.5 + CONFIDENCE / 2.0].map(|share| {
            let mut below = 0.0;
            for (point, density) in densities.iter().enumerate() {
                if below + density >= share * all {
                    let part = (share * all - below) / density;
                    return at(point) + step * (part - 0.5);
                }
                below += density;
            }
            between[1]
        })
    }
}
