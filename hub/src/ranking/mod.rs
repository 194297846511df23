//! The order of cards on a board by a use: from all records that count, one vote a submitter, with intervals.
//!
//! `cardproof-hub-standing` does the arithmetic. Here records become votes and estimates become rows. What was found is
//! kept until a record comes or goes; where it takes long to find, the order before is shown for a moment.

mod price;
mod votes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cardproof_hub_standing::{Estimate, places};
use cardproof_rating::compare::Use;

use crate::clock;
use crate::index::{Index, Records};
use crate::tally::{self, Share};
pub use price::CardPrice;
use votes::Fitted;

/// An order that takes no longer than this to make is made whenever something has changed.
const QUICK: Duration = Duration::from_millis(30);

/// One that takes longer is shown for so many times as long, so that submissions that come all the time cost a bounded
/// share of a processor.
const REST_FACTOR: u32 = 10;

/// A board, or another way of measuring.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Board {
    /// Method and host: what cards must have in common to be compared.
    pub basis: String,
    /// How many submitters have measured so.
    pub submitters: usize,
    /// How many records there are.
    pub records: usize,
}

/// A card in an order.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Row {
    /// One more than the number of cards before those whose interval overlaps that of the first of them.
    pub place: usize,
    /// The model's name in addresses.
    pub model: String,
    /// The model in words.
    pub name: String,
    /// How it is attached.
    pub kind: Option<String>,
    /// Its maker.
    pub maker: Option<String>,
    /// Its capacity as it is sold, in GB; 0 where it is not known.
    pub gigabytes: i64,
    /// The figure in the unit of the use.
    pub value: f64,
    /// The ends of the interval that holds the true figure in 90 of 100 cases.
    pub between: [f64; 2],
    /// Submitters who have measured it on this board.
    pub submitters: usize,
    /// Submitters who have measured it on any.
    pub submitters_in_all: usize,
    /// How many of those who have tested its capacity have found a fake.
    pub fakes: Option<Share>,
    /// What submitters have paid for it in the last year.
    pub price: Option<CardPrice>,
    /// The speed for the price, in percent of the best with a price in the same currency.
    pub worth: Option<f64>,
}

/// The order on one board.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Order {
    /// The boards that can be asked for, those with the most submitters first.
    pub boards: Vec<Board>,
    /// The board of this order; none where there is no board yet.
    pub board: Option<String>,
    /// The cards, best first.
    pub rows: Vec<Row>,
}

/// Orders that are shown until something changes.
#[derive(Debug)]
pub struct Rankings {
    /// How many submitters must agree before a board or a card is shown.
    least: usize,
    made: Mutex<HashMap<&'static str, Made>>,
}

/// What was found for a use.
#[derive(Clone, Debug)]
struct Made {
    fitted: Arc<Fitted>,
    until: Instant,
}

impl Rankings {
    /// Of what `least` submitters agree with.
    #[must_use]
    pub fn new(least: usize) -> Self {
        Self { least, made: Mutex::default() }
    }

    /// The order by `wanted` on `board`, without one on that with the most submitters; none where that board is not
    /// known.
    ///
    /// It computes for as long as a tenth of a second where there are 100,000 records: call it where that holds nobody up.
    #[must_use]
    pub fn order(&self, index: &Index, wanted: Use, board: Option<&str>) -> Option<Arc<Order>> {
        let fitted = self.fitted(index, wanted);
        let known = |basis: &str| fitted.boards.iter().position(|it| it.basis == basis);
        let at = match board {
            Some(basis) => known(basis)?,
            None if fitted.boards.is_empty() => return Some(Arc::default()),
            None => 0,
        };
        let today = i32::try_from(clock::now_ms() / 86_400_000).unwrap_or(i32::MAX);
        let order = fitted.order(at, today, |estimates| Order {
            board: Some(fitted.boards[at].basis.clone()),
            boards: fitted.boards.clone(),
            rows: index.look(|records| self.rows(records, &fitted, wanted, estimates, today)),
        });
        Some(order)
    }

    fn fitted(&self, index: &Index, wanted: Use) -> Arc<Fitted> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let version = index.look(|records| records.version);
        let now = Instant::now();
        if let Some(known) = made.get(wanted.name())
            && (known.fitted.version == version || now < known.until)
        {
            return Arc::clone(&known.fitted);
        }
        let fitted = Arc::new(Fitted::of(index, wanted, self.least));
        let took = now.elapsed();
        let rest = if took <= QUICK { Duration::ZERO } else { took * REST_FACTOR };
        let until = Instant::now() + rest;
        made.insert(wanted.name(), Made { fitted: Arc::clone(&fitted), until });
        fitted
    }

    fn rows(
        &self,
        records: &Records,
        fitted: &Fitted,
        wanted: Use,
        estimates: &[Estimate],
        today: i32,
    ) -> Vec<Row> {
        let row = |it: &Estimate| {
            let model = &fitted.cards[it.card];
            let card = records.cards.get(model)?;
            let facts = card.facts()?;
            let mut between = it.between.map(|end| figure(wanted, end));
            between.sort_by(f64::total_cmp);
            Some(Row {
                place: 0,
                model: model.clone(),
                name: card.name(self.least),
                kind: facts.transport.clone(),
                maker: facts.maker.clone().filter(|_| card.is_agreed(self.least)),
                gigabytes: facts.gigabytes(),
                value: figure(wanted, it.value),
                between,
                submitters: it.submitters,
                submitters_in_all: card.submitters(),
                fakes: tally::fakes_of(card),
                price: CardPrice::of(card, today),
                worth: None,
            })
        };
        let mut rows: Vec<Row> = estimates.iter().filter_map(row).collect();
        let intervals: Vec<[f64; 2]> = rows.iter().map(|row| row.between).collect();
        for (row, place) in rows.iter_mut().zip(places(&intervals)) {
            row.place = place;
        }
        price::value(wanted, &mut rows);
        rows
    }
}

/// The figure of a use from the logarithm of the seconds that its work takes.
fn figure(wanted: Use, log_seconds: f64) -> f64 {
    if wanted.is_better_low() { log_seconds.exp() } else { (-log_seconds).exp() }
}
