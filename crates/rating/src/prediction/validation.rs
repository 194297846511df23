//! How well a method predicts a card that it has not seen.
//!
//! Each of the eight published cards is left out in turn, everything is fitted to the other seven,
//! and the one left out is predicted from its micro-benchmarks alone. Three simple methods stand
//! beside the model, so that it can be seen what it is worth. With eight cards a mean error is
//! itself known to a few per cent only.

use super::costs::Costs;
use super::job::PredictedJob;
use super::model::Model;
use cardproof_facts::{PUBLISHED_CARDS, PublishedCard};

/// Times closer than this are not expected in the right order: repeated rounds of one card differ
/// by 3.4 % in the median.
const SAME: f64 = 1.1;

/// A way of predicting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The model: the processor's time and each request at the card's cost.
    Requests,
    /// The same time for every card.
    Constant,
    /// A constant and a number of 4 KiB random writes, both fitted.
    PerWrite,
    /// A constant and a number of bytes written sequentially, both fitted.
    SequentialWrite,
}

/// One card, left out and predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOutCard {
    /// Its name.
    pub name: &'static str,
    /// The published time in seconds.
    pub published_s: f64,
    /// The predicted time in seconds.
    pub predicted_s: f64,
}

/// Every card, left out and predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The cards in the published order.
    pub cards: Vec<LeftOutCard>,
}

impl Method {
    /// All of them, the model first.
    pub const ALL: [Self; 4] =
        [Self::Requests, Self::Constant, Self::PerWrite, Self::SequentialWrite];

    /// The seconds of `job` on `card`, with everything fitted to `known`.
    fn predict(self, known: &[PublishedCard], job: PredictedJob, card: &PublishedCard) -> f64 {
        let against = |cost: fn(&PublishedCard) -> f64| line(known, job, cost).at(cost(card));
        match self {
            Self::Requests => {
                Model::fit(known).seconds(job, &Costs::of_published(card)).unwrap_or(f64::NAN)
            }
            Self::Constant => against(|_| 0.0),
            Self::PerWrite => against(|card| 1.0 / card.random_write.0),
            Self::SequentialWrite => against(|card| 1e6 / card.sequential_write.0),
        }
    }
}

/// Predicts `job` on every published card by `method`, each without having seen it.
#[must_use]
pub fn leave_one_out(method: Method, job: PredictedJob) -> LeftOut {
    let cards = PUBLISHED_CARDS.iter().enumerate().map(|(index, card)| {
        let mut known = PUBLISHED_CARDS.to_vec();
        known.remove(index);
        LeftOutCard {
            name: card.name,
            published_s: job.published(card).as_secs_f64(),
            predicted_s: method.predict(&known, job, card),
        }
    });
    LeftOut { cards: cards.collect() }
}

impl LeftOutCard {
    /// How much the prediction is too long, as a part of the published time.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted_s / self.published_s - 1.0
    }
}

impl LeftOut {
    /// The mean of the errors' sizes.
    #[must_use]
    pub fn mean_error(&self) -> f64 {
        let sum: f64 = self.cards.iter().map(|card| card.error().abs()).sum();
        sum / self.cards.len() as f64
    }

    /// The size of the largest error.
    #[must_use]
    pub fn worst_error(&self) -> f64 {
        self.cards.iter().map(|card| card.error().abs()).fold(0.0, f64::max)
    }

    /// Of the pairs of cards whose published times differ by more than a tenth: how many are
    /// predicted in the right order, and how many there are.
    #[must_use]
    pub fn pairs_in_order(&self) -> (usize, usize) {
        let pairs = self.cards.iter().enumerate().flat_map(|(index, first)| {
            self.cards[index + 1..].iter().map(move |second| (first, second))
        });
        let apart = pairs.filter(|(first, second)| {
            let ratio = first.published_s / second.published_s;
            ratio.max(1.0 / ratio) > SAME
        });
        apart.fold((0, 0), |(right, all), (first, second)| {
            let published = first.published_s > second.published_s;
            let predicted = first.predicted_s > second.predicted_s;
            let is_tie = first.predicted_s.total_cmp(&second.predicted_s).is_eq();
            (right + usize::from(!is_tie && published == predicted), all + 1)
        })
    }

    /// The least and the greatest ratio of a published time to its prediction.
    pub(super) fn published_to_predicted(&self) -> [f64; 2] {
        let ratios = self.cards.iter().map(|card| card.published_s / card.predicted_s);
        ratios.fold([1.0, 1.0], |[least, most], ratio| [least.min(ratio), most.max(ratio)])
    }
}

/// A straight line.
struct Line {
    constant: f64,
    slope: f64,
}

impl Line {
    fn at(&self, x: f64) -> f64 {
        self.constant + self.slope * x
    }
}

/// The line through the times of `job` over a cost of the cards that has the least sum of squared
/// relative errors. Where the cost does not vary, it is flat.
fn line(cards: &[PublishedCard], job: PredictedJob, cost: impl Fn(&PublishedCard) -> f64) -> Line {
    let mut sums = [0.0; 5];
    for card in cards {
        let (x, y) = (cost(card), job.published(card).as_secs_f64());
        let weight = 1.0 / (y * y);
        let terms = [1.0, x, x * x, y, x * y];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
    }
    let [one, x, xx, y, xy] = sums;
    let determinant = one * xx - x * x;
    let slope = if determinant > 0.0 { (one * xy - x * y) / determinant } else { 0.0 };
    Line { constant: (y - slope * x) / one, slope }
}
