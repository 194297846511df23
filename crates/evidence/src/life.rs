//! How long will a card last? From bad places over write cycles to cycles until 0.1 % is bad.
//!
//! Three kinds of evidence give three kinds of answer:
//! - a run that has reached the milestone: the cycle itself;
//! - a run that was stopped while errors grew: [`extrapolate`] predicts the cycle from the times of
//!   the errors;
//! - a run that was stopped without an error: a lower bound only, the cycles done. Nothing in such a
//!   run says when the errors begin.
//!
//! A card that fails in its first cycle was not worn out by the run: nothing is said of its life.
//!
//! [`WeibullFit`] joins several cards of one model, of which some may not be at their end. The methods,
//! their assumptions and how often they are right are in `docs/design/endurance.md`.

mod bounds;
mod special;
mod trend;
mod weibull;

pub use bounds::{days, share_of_cards_max, terabytes_written};
pub use trend::extrapolate;
pub use weibull::{CardLife, ModelLife, WeibullFit, model_life};

/// The confidence of every interval of a life.
pub const CONFIDENCE: f64 = 0.95;

/// The bad share that ends a life.
pub const LIFE_SHARE: f64 = 0.001;

/// Places that turned bad in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The cycle, counted from 1.
    pub cycle: u64,
    /// Separate places: neighbouring pages that turned bad in the same cycle are one.
    pub places: u64,
    /// The pages in them.
    pub pages: u64,
}

/// What a run on one card has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardRun {
    /// Cycles that were written and read back in full.
    pub cycles: u64,
    /// Pages of the span.
    pub pages: u64,
    /// When places turned bad, in the order of time.
    pub failures: Vec<Failures>,
    /// The cycle in which [`LIFE_SHARE`] was bad, or the card was of no use any more.
    pub reached: Option<u64>,
}

/// The life of one card in cycles until [`LIFE_SHARE`] is bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life {
    /// The most likely value; `None` where there is a lower bound only.
    pub estimate: Option<f64>,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end; `None` where nothing bounds the life from above.
    pub high: Option<f64>,
    /// What it rests on.
    pub basis: Basis,
}

/// What a life rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// It was seen.
    Observed,
    /// It follows from the growth of the bad places.
    Extrapolated,
    /// Nothing was bad: the card has lasted so long.
    NoErrors,
    /// The card failed in the first cycle: a fake, or worn out or damaged before. That says nothing of how
    /// long such a card lasts.
    FirstCycle,
}

impl Basis {
    /// A word for documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Extrapolated => "extrapolated",
            Self::NoErrors => "no_errors",
            Self::FirstCycle => "first_cycle",
        }
    }
}

/// The life that `run` shows.
#[must_use]
pub fn of_card(run: &CardRun) -> Life {
    if run.reached == Some(1) {
        return Life { estimate: None, low: 0.0, high: None, basis: Basis::FirstCycle };
    }
    if let Some(cycle) = run.reached {
        let cycle = cycle as f64;
        return Life {
            estimate: Some(cycle),
            low: cycle,
            high: Some(cycle),
            basis: Basis::Observed,
        };
    }
    if run.failures.iter().all(|failures| failures.places == 0) {
        let low = run.cycles as f64;
        return Life { estimate: None, low, high: None, basis: Basis::NoErrors };
    }
    extrapolate(run)
}
