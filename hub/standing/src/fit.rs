//! The model of all votes: what cards and boards are worth, how far things spread, and who is believed.

use std::collections::BTreeMap;

use crate::normal::Normal;
use crate::{Vote, median};

/// Rounds of expectation and maximisation; spreads change by less than a hundredth after these.
const ROUNDS: usize = 20;

/// Of a submitter's votes that is honest, so many are wrong all the same: another card in the same box, a slip.
pub(crate) const SLIP: f64 = 0.02;

/// Lies spread so far, as the deviation of a logarithm: factors of four.
const LIE: f64 = 1.4;

/// What is believed of the spreads before there are votes, and for how many votes that counts: a hub with three records
/// cannot tell how far cards differ. From run to run and from card to card of one model 15 %, from board to board 10 %,
/// from model to model a factor of two.
const PRIOR: Spreads = Spreads { vote: 0.0225, board: 0.01, card: 0.5, lies: 0.1 };
const PRIOR_VOTES: f64 = 6.0;

/// The variances of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// Of honest votes for one card on one board.
    pub vote: f64,
    /// Of a card from board to board, beyond what the board does to all cards.
    pub board: f64,
    /// Of cards around their mean.
    pub card: f64,
    /// The share of submitters that lie; no variance.
    pub lies: f64,
}

/// The votes of one card on one board.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) board: usize,
    /// The places of its votes among all.
    pub(crate) votes: Vec<usize>,
    /// How many honest votes it has, and their mean beyond the board's.
    weight: f64,
    mean: f64,
    /// The variance of that mean: by the votes' own spread, and by what cannot be told from a lie.
    error: f64,
    /// What is known of it without its own votes: the card's other boards.
    pub(crate) prior: Normal,
}

/// All votes, fitted.
#[derive(Clone, Debug)]
pub struct Fit {
    pub(crate) votes: Vec<Vote>,
    pub(crate) cards: Vec<Vec<Cell>>,
    /// The mean of each board.
    pub(crate) boards: Vec<f64>,
    pub(crate) spreads: Spreads,
    /// For each vote the logarithm of how much likelier it is from who is honest.
    pub(crate) evidence: Vec<f64>,
    /// For each submitter the sum of these over its votes.
    pub(crate) of_submitter: BTreeMap<u64, f64>,
    /// For each vote how much it counts, from 0 to 1.
    weights: Vec<f64>,
}

impl Fit {
    /// Fits `votes`, at most one of a submitter for a card on a board, for cards below `cards` and boards below `boards`.
    #[must_use]
    pub fn of(votes: Vec<Vote>, cards: usize, boards: usize) -> Self {
        let mut cells = vec![BTreeMap::<usize, Vec<usize>>::new(); cards];
        for (at, vote) in votes.iter().enumerate() {
            cells[vote.card].entry(vote.board).or_default().push(at);
        }
        let unknown = Normal { mean: 0.0, variance: PRIOR.card + PRIOR.board };
        let cell = |(board, votes)| Cell {
            board,
            votes,
            weight: 0.0,
            mean: 0.0,
            error: f64::MAX,
            prior: unknown,
        };
        let mut fit = Self {
            cards: cells
                .into_iter()
                .map(|of_card| of_card.into_iter().map(cell).collect())
                .collect(),
            boards: vec![0.0; boards],
            spreads: PRIOR,
            evidence: vec![0.0; votes.len()],
            weights: vec![1.0; votes.len()],
            of_submitter: BTreeMap::new(),
            votes,
        };
        fit.begin();
        for _ in 0..ROUNDS {
            fit.expect();
            fit.maximise();
        }
        fit.expect();
        fit
    }

    /// The spreads that were found.
    #[must_use]
    pub const fn spreads(&self) -> Spreads {
        self.spreads
    }

    /// The boards' means by medians, and who is far from the median of a card: lies must not lead the first round.
    fn begin(&mut self) {
        let mut of_cards = vec![0.0; self.cards.len()];
        for _ in 0..5 {
            let mut of_boards = vec![Vec::new(); self.boards.len()];
            for vote in &self.votes {
                of_boards[vote.board].push(vote.value - of_cards[vote.card]);
            }
            for (mean, mut values) in self.boards.iter_mut().zip(of_boards) {
                *mean = median(&mut values).unwrap_or(0.0);
            }
            for (cells, of_card) in self.cards.iter().zip(&mut of_cards) {
                let votes = cells.iter().flat_map(|cell| &cell.votes).map(|at| self.votes[*at]);
                let mut values: Vec<f64> =
                    votes.map(|it| it.value - self.boards[it.board]).collect();
                *of_card = median(&mut values).unwrap_or(0.0);
            }
        }
        let residual = |vote: &Vote| vote.value - self.boards[vote.board] - of_cards[vote.card];
        let mut distances: Vec<f64> = self.votes.iter().map(|vote| residual(vote).abs()).collect();
        let spread = 1.4826 * median(&mut distances).unwrap_or(0.0);
        let limit = 3.0 * spread.max((PRIOR.vote + PRIOR.board).sqrt());
        let is_near = |vote: &Vote| residual(vote).abs() <= limit;
        self.weights =
            self.votes.iter().map(|vote| if is_near(vote) { 1.0 } else { 0.05 }).collect();
    }

    /// What each cell is, and how far each vote is believed.
    fn expect(&mut self) {
        let Spreads { vote: of_vote, board: of_board, card: of_card, lies } = self.spreads;
        for cells in &mut self.cards {
            for cell in cells.iter_mut() {
                let weighed =
                    cell.votes.iter().map(|at| (self.weights[*at], self.votes[*at].value));
                let (weight, sum) = weighed.fold((0.0, 0.0), |(weight, sum), (own, value)| {
                    (weight + own, sum + own * (value - self.boards[cell.board]))
                });
                (cell.weight, cell.mean) = (weight, if weight > 0.0 { sum / weight } else { 0.0 });
                let unsure = cell.votes.iter().map(|at| {
                    let distance = self.votes[*at].value - self.boards[cell.board] - cell.mean;
                    self.weights[*at] * (1.0 - self.weights[*at]) * distance * distance
                });
                let weight = weight.max(1e-9);
                cell.error = of_vote / weight + unsure.sum::<f64>() / (weight * weight);
            }
            let card = card(cells, self.spreads);
            for cell in cells.iter_mut() {
                let variance = of_board + cell.error;
                let others = card.without(1.0, cell.mean, variance);
                cell.prior = Normal { mean: others.mean, variance: others.variance + of_board };
                // Nothing is known less than of a card that nobody has.
                cell.prior.variance = cell.prior.variance.min(of_card + of_board);
                let found = cell.prior.with(cell.weight, cell.mean, of_vote);
                for at in &cell.votes {
                    let value = self.votes[*at].value - self.boards[cell.board];
                    // What the vote itself says must not make it likely.
                    let before = found.without(self.weights[*at], value, of_vote);
                    let honest = Normal { variance: before.variance + of_vote, ..before };
                    let lie = lie(before.mean);
                    let likelier = (1.0 - SLIP) * honest.density(value) / lie.density(value) + SLIP;
                    self.evidence[*at] = likelier.ln();
                }
            }
        }
        self.of_submitter.clear();
        for (vote, evidence) in self.votes.iter().zip(&self.evidence) {
            *self.of_submitter.entry(vote.submitter).or_default() += evidence;
        }
        for (at, vote) in self.votes.iter().enumerate() {
            let honesty = honesty(self.of_submitter[&vote.submitter], lies);
            // Of who is honest, one that is no likelier than a lie is a slip.
            let right = 1.0 - SLIP / self.evidence[at].exp();
            self.weights[at] = honesty * right.clamp(0.0, 1.0);
        }
    }

    /// The spreads and the boards' means that make this most likely, with what was believed before there were votes.
    fn maximise(&mut self) {
        let Spreads { vote: of_vote, board: of_board, .. } = self.spreads;
        let mut votes = Mean::new(PRIOR.vote);
        let mut boards = Mean::new(PRIOR.board);
        let mut cards = Mean::new(PRIOR.card);
        let mut means = vec![(0.0, 0.0); self.boards.len()];
        for cells in self.cards.iter().filter(|cells| !cells.is_empty()) {
            let card = card(cells, self.spreads);
            cards.add(1.0, card.mean * card.mean + card.variance);
            for cell in cells.iter().filter(|cell| cell.weight > 1e-6) {
                let share = of_board / (of_board + cell.error);
                let distance = (cell.mean - card.mean).powi(2) + card.variance;
                boards.add(1.0, share * share * distance + of_board * (1.0 - share));
                let found = cell.prior.with(cell.weight, cell.mean, of_vote);
                for at in &cell.votes {
                    let value = self.votes[*at].value - self.boards[cell.board];
                    votes.add(self.weights[*at], (value - found.mean).powi(2) + found.variance);
                }
                let precision = 1.0 / (of_board + cell.error + card.variance);
                let (sum, all) = &mut means[cell.board];
                *sum += precision * (cell.mean - card.mean);
                *all += precision;
            }
        }
        let liars = self.of_submitter.values().map(|sum| 1.0 - honesty(*sum, self.spreads.lies));
        let mut lies = Mean::new(PRIOR.lies);
        liars.for_each(|lie| lies.add(1.0, lie));
        for (mean, (sum, all)) in self.boards.iter_mut().zip(means) {
            *mean += if all > 0.0 { sum / all } else { 0.0 };
        }
        self.spreads = Spreads {
            vote: votes.value().max(1e-5),
            board: boards.value().max(1e-5),
            card: cards.value().max(1e-3),
            lies: lies.value().clamp(0.005, 0.45),
        };
    }
}

/// What is known of the card with `cells`, beyond the boards' means.
fn card(cells: &[Cell], spreads: Spreads) -> Normal {
    let begin = Normal { mean: 0.0, variance: spreads.card };
    cells
        .iter()
        .filter(|cell| cell.weight > 0.0)
        .fold(begin, |card, cell| card.with(1.0, cell.mean, spreads.board + cell.error))
}

/// Lies about a card whose figure is `mean`.
pub(crate) const fn lie(mean: f64) -> Normal {
    Normal { mean, variance: LIE * LIE }
}

/// How likely who gave `evidence` is honest, where the share `lies` is not.
pub(crate) fn honesty(evidence: f64, lies: f64) -> f64 {
    1.0 / (1.0 + lies / (1.0 - lies) * (-evidence).exp())
}

/// A weighted mean that begins with what was believed before.
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn new(prior: f64) -> Self {
        Self { sum: prior * PRIOR_VOTES, weight: PRIOR_VOTES }
    }

    fn add(&mut self, weight: f64, value: f64) {
        self.sum += weight * value;
        self.weight += weight;
    }

    fn value(&self) -> f64 {
        self.sum / self.weight
    }
}
