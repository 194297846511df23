//! Records side by side: ratios with intervals, ranks by use, and what may not be compared.
//!
//! Only like is compared with like: where method, range, host or anything else that decides a rate
//! differs, there is no ratio but the reason. A ratio of single runs allows for what varies from
//! run to run by figures that others have published; runs of one's own make the allowance needless.
//! All intervals of one comparison hold together with [`CONFIDENCE`]: what that leaves is split
//! among them (Bonferroni), so that of a hundred comparisons of a card with itself at most one
//! shows a difference anywhere.

mod choice;
mod column;
mod correlate;
mod document;
mod likeness;
mod position;
mod rank;
mod same_card;
mod shape;
mod uses;

use cardproof_facts::CONFIDENCE;
use cardproof_record::Record;
use cardproof_stats::{RatioInterval, RunRate};
use serde::Serialize;

use crate::answer::{Answer, Fast};
use crate::defect::{Defect, defect_in};
use crate::meaning::Grade;
use crate::reference::is_published;
pub use choice::{Choice, Reason};
pub use column::{Absence, CardFigure, Column, has_compared_figure};
pub use correlate::{Correlation, correlations};
pub use document::{COMPARISON_SCHEMA, Document};
pub use likeness::{Bases, Basis, Difference, Host, InDoubt};
pub use position::{DiffersIn, Position, positions};
pub use rank::{Behind, Part, Ranked, Ranking};
pub use same_card::SameCard;
pub use shape::Shape;
pub use uses::{Use, Weight};

pub use likeness::is_span_alike;

use likeness::{FoundDoubts, differences};
use shape::{Measured, shapes_in};

/// A card to be compared: one record, or one for each of its runs.
#[derive(Clone, Debug)]
pub struct Contender<'r> {
    /// Its name in the comparison.
    pub name: String,
    /// Its records, at least one. Several are runs of one card under the same conditions.
    pub runs: Vec<&'r Record>,
    /// What it costs, in any currency that is the same for all.
    pub price: Option<f64>,
}

/// How several records of each card belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairing {
    /// The runs of one card have nothing to do with those of another.
    #[default]
    Independent,
    /// The nth run of one card was taken next to the nth of the other.
    ByRun,
}

/// Cards side by side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The names of the cards. The first is the baseline.
    pub cards: Vec<String>,
    /// Whether they are one card, measured several times; absent where nothing says so. Measurements that are of one card
    /// for certain have no rankings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_card: Option<SameCard>,
    /// One row for each thing that was measured of at least one card.
    pub rows: Vec<ComparedRow>,
    /// What each card has in the columns by which cards are chosen.
    pub figures: Vec<CardFigures>,
    /// The order of the cards by use, like with like.
    pub rankings: Vec<Ranking>,
    /// Where those cards that are not published ones stand among the published.
    pub places: Vec<Places>,
    /// How times of whole jobs go with the figures, where enough cards have both.
    pub correlations: Vec<Correlation>,
    /// The probability with which all intervals hold, between 0 and 1.
    pub confidence: f64,
}

/// What one card has in the columns by which cards are chosen.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardFigures {
    /// Its name.
    pub name: String,
    /// How it was measured: the method and the host.
    pub basis: Bases,
    /// What it costs.
    pub price: Option<f64>,
    /// Whether it is a simulated card.
    pub is_simulated: bool,
    /// Why it is not recommended and has no rank, whatever its speed; absent where nothing is known against it.
    pub defect: Option<Defect>,
    /// What `check` calls it for a computer that runs from it; absent of published ones and of several records.
    pub system_grade: Option<Grade>,
    /// Its figures, in the order of the columns; a column that was not measured is absent, and so is the
    /// sustained write where the sequential write has one level.
    pub figures: Vec<CardFigure>,
    /// Why the others are absent.
    pub missing: Vec<MissingFigure>,
}

/// Why a card has no figure in a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingFigure {
    /// The column.
    pub column: Column,
    /// The cause, in a clause.
    pub cause: Absence,
}

/// Where one card stands among the published ones.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Places {
    /// Its name.
    pub name: String,
    /// Its places, at least one.
    pub positions: Vec<Position>,
}

/// One thing that was measured.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRow {
    /// What, such as `4 KiB random write, depth 1`.
    pub what: Shape,
    /// The unit of its rates: `IOPS` or `bytes/s`.
    pub unit: &'static str,
    /// One for each card.
    pub cells: Vec<ComparedCell>,
}

/// What one card has in a row.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCell {
    /// Its rate in the row's unit; absent where it was not measured.
    pub rate: Option<f64>,
    /// The lower and upper end of the rate's interval, as the report of its record shows it; absent where it has none.
    pub between: Option<[f64; 2]>,
    /// Of how many runs that is.
    pub runs: usize,
    /// How many times as fast as the first card; absent where that may not be said.
    pub ratio: Option<Ratio>,
    /// Why there is no ratio, where both cards have a rate.
    pub not_alike: Vec<Difference>,
}

/// How many times as fast as the first card.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The best single figure.
    pub estimate: f64,
    /// The interval's ends, which allow for what disturbances may have cost; absent where a card has one run without an
    /// interval, or where nothing bounds that cost.
    pub between: Option<[f64; 2]>,
}

impl Ratio {
    /// Whether its interval leaves no doubt that the two differ.
    #[must_use]
    pub fn is_a_difference(&self) -> bool {
        self.between.is_some_and(|[low, high]| low > 1.0 || high < 1.0)
    }
}

/// Compares `cards`; the first is the baseline. `seed` decides the
/// draws of the bootstrap.
#[must_use]
pub fn compare(cards: &[Contender<'_>], pairing: Pairing, seed: u64) -> Comparison {
    compare_knowing(cards, &[], pairing, seed)
}

/// As [`compare`], with `others`: other records of each card, in the order of the cards, which say whether it is
/// sound. A card with a defect has no rank.
#[must_use]
pub fn compare_knowing(
    cards: &[Contender<'_>],
    others: &[Vec<&Record>],
    pairing: Pairing,
    seed: u64,
) -> Comparison {
    let mut of_cards: Vec<CardFigures> = cards.iter().map(figures).collect();
    for (card, others) in of_cards.iter_mut().zip(others) {
        let other = defect_in(others.iter().copied()).map(|defect| defect.of_another_record());
        card.defect = card.defect.take().or(other);
    }
    for (card, figures) in cards.iter().zip(&mut of_cards) {
        figures.system_grade = system_grade(card);
    }
    let known = cards.iter().zip(&of_cards);
    let sound: Vec<Contender<'_>> =
        known.filter(|(_, known)| known.defect.is_none()).map(|(card, _)| card.clone()).collect();
    let shapes = shapes_in(cards.iter().flat_map(|card| card.runs.iter().copied()));
    let found: Vec<Vec<Option<Measured<'_>>>> = shapes
        .iter()
        .map(|shape| cards.iter().map(|card| Measured::new(shape, &card.runs)).collect())
        .collect();
    let ratios = found.iter().map(|row| row.iter().flatten().count().saturating_sub(1)).sum();
    let scale = Scale { pairing, seed, confidence: share_of_confidence(ratios) };
    let rows = shapes.iter().zip(&found).map(|(shape, row)| compared(shape, row, &scale)).collect();
    let same_card = same_card::same_card(cards);
    let is_one = same_card == Some(SameCard::Certain);
    Comparison {
        cards: cards.iter().map(|card| card.name.clone()).collect(),
        same_card,
        rows,
        figures: of_cards,
        rankings: if is_one { Vec::new() } else { rank::rankings(&sound) },
        places: cards.iter().filter_map(places).collect(),
        correlations: correlations(cards),
        confidence: CONFIDENCE,
    }
}

/// Whether `a` and `b`, records of one card, can count as two runs of one measurement: they have the same figures, and
/// nothing that decides a rate differs.
#[must_use]
pub fn is_measured_alike(a: &Record, b: &Record) -> bool {
    Column::ALL.into_iter().all(|column| match (column.measured(&[a]), column.measured(&[b])) {
        (Some(a), Some(b)) => differences(&a, &b).is_empty(),
        (a, b) => a.is_none() && b.is_none(),
    })
}

/// What `card` has in the columns by which cards are chosen, compared with nothing: a small part of the work of
/// [`compare`].
#[must_use]
pub fn figures(card: &Contender<'_>) -> CardFigures {
    let of_columns = || Column::ALL.iter().filter_map(|column| column.measured(&card.runs));
    let first_phase = || shapes_in(card.runs.iter().copied()).into_iter().next();
    let measured = of_columns().next().or_else(|| Measured::new(&first_phase()?, &card.runs));
    let has_levels = Column::SequentialWrite
        .measured(&card.runs)
        .is_some_and(|measured| !measured.phase.levels.is_empty());
    let is_missing = |column: &Column| column.measured(&card.runs).is_none();
    let mut doubts = FoundDoubts::default();
    let missing =
        |column: Column| MissingFigure { column, cause: column.cause_of_absence(&card.runs) };
    CardFigures {
        name: card.name.clone(),
        basis: Bases(measured.as_ref().map(likeness::basis).into_iter().collect()),
        price: card.price,
        is_simulated: card.runs.iter().any(|record| record.is_simulated()),
        defect: defect_in(card.runs.iter().copied()),
        system_grade: None,
        figures: Column::ALL
            .iter()
            .chain(has_levels.then_some(&Column::SustainedWrite))
            .filter_map(|column| column.of_doubted(&card.runs, &mut doubts))
            .collect(),
        missing: Column::ALL.into_iter().filter(is_missing).map(missing).collect(),
    }
}

/// What `check` calls `card` for a computer that runs from it.
fn system_grade(card: &Contender<'_>) -> Option<Grade> {
    let [record] = card.runs.as_slice() else { return None };
    let answer = Answer::of_record(record).filter(|_| !is_published(record))?;
    match answer.fast? {
        Fast::Measured { system, .. } => Some(system).filter(|grade| *grade != Grade::Unknown),
        Fast::NotMeasured { .. } => None,
    }
}

fn places(card: &Contender<'_>) -> Option<Places> {
    let record = card.runs.first().filter(|record| !is_published(record))?;
    let positions = positions(record);
    (!positions.is_empty()).then(|| Places { name: card.name.clone(), positions })
}

/// The confidence of each of `count` intervals that hold together with [`CONFIDENCE`].
fn share_of_confidence(count: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / count.max(1) as f64
}

/// How ratios are formed.
struct Scale {
    pairing: Pairing,
    seed: u64,
    confidence: f64,
}

fn compared(shape: &Shape, row: &[Option<Measured<'_>>], scale: &Scale) -> ComparedRow {
    let first = row.first().and_then(Option::as_ref);
    let cell = |(index, measured): (usize, &Option<Measured<'_>>)| {
        let Some(measured) = measured else { return ComparedCell::default() };
        let mut cell = ComparedCell {
            rate: Some(measured.rate()),
            between: measured.between(),
            runs: measured.runs.len(),
            ..ComparedCell::default()
        };
        if let Some(first) = first.filter(|_| index > 0) {
            cell.not_alike = differences(first, measured);
            if cell.not_alike.is_empty() {
                cell.ratio = Some(ratio(shape, first, measured, scale));
            }
        }
        cell
    };
    let cells = row.iter().enumerate().map(cell).collect();
    ComparedRow { what: shape.clone(), unit: shape.unit(), cells }
}

fn ratio(shape: &Shape, a: &Measured<'_>, b: &Measured<'_>, scale: &Scale) -> Ratio {
    let interval = ratio_interval(shape, a, b, scale);
    let alone =
        |interval: RatioInterval| [interval.low / a.faster_alone, interval.high * b.faster_alone];
    Ratio {
        estimate: interval.map_or(b.rate() / a.rate(), |interval| interval.estimate),
        between: interval.map(alone).filter(|[low, high]| *low > 0.0 && high.is_finite()),
    }
}

fn ratio_interval(
    shape: &Shape,
    a: &Measured<'_>,
    b: &Measured<'_>,
    scale: &Scale,
) -> Option<RatioInterval> {
    let rates = |runs: &[RunRate]| -> Vec<f64> { runs.iter().map(|run| run.rate).collect() };
    match (a.runs.as_slice(), b.runs.as_slice()) {
        ([_, _, ..], [_, _, ..]) => {
            let (a, b) = (rates(&a.runs), rates(&b.runs));
            match scale.pairing {
                Pairing::ByRun => RatioInterval::paired(&a, &b, scale.confidence, scale.seed),
                Pairing::Independent => {
                    RatioInterval::unpaired(&a, &b, scale.confidence, scale.seed)
                }
            }
        }
        _ => {
            let (a, b) = (a.as_one_run(), b.as_one_run());
            RatioInterval::of_single_runs(a, b, scale.confidence, shape.run_cv())
        }
    }
}
