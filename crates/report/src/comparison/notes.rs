//! The notes under the table of a comparison: what its marks mean, each said once for all cards.

use cardproof_rating::compare::{Comparison, Ranked, Ranking, Use, is_span_alike};
use cardproof_rating::{Grade, wording};
use cardproof_units::Bytes;

use super::disturbed;
use super::words::range;
use crate::clean::one_line;

/// The cell of a figure that is not there.
pub(super) const ABSENT: &str = "-";

/// Behind a figure that is in doubt.
pub(super) const DOUBTED: &str = "?";

/// Before a place that rests on figures without intervals.
pub(super) const BARE: &str = "~";

/// The places of `cards`, which are in the order of their figures: the rank, where all figures have intervals; else
/// the number in the order, marked as uncertain. One card alone has none.
pub(super) fn places(cards: &[&Ranked]) -> Vec<String> {
    let has_intervals = cards.iter().all(|card| card.has_intervals);
    let place = |(index, card): (usize, &&Ranked)| match (cards.len(), has_intervals) {
        (0 | 1, _) => String::new(),
        (_, true) => format!("{}.", card.place),
        (_, false) => format!("{BARE}{}", index + 1),
    };
    cards.iter().enumerate().map(place).collect()
}

/// The use for which these cards can be ranked, where they cannot for `wanted`.
pub(super) fn other_use(comparison: &Comparison, wanted: Use) -> Option<String> {
    let can = |by: Use| {
        by != wanted && comparison.rankings.iter().any(|it| it.by == by && it.cards.len() > 1)
    };
    let other = Use::ALL.into_iter().find(|by| can(*by))?;
    Some(format!("For another use they can be ranked: --use {}. ", other.name()))
}

/// More names than this are counted and not listed.
const NAMES_MAX: usize = 3;

/// The notes of `comparison`, of which `rankings` are the orders by `wanted`.
pub(super) fn notes(comparison: &Comparison, rankings: &[&Ranking], wanted: Use) -> Vec<String> {
    let mut notes: Vec<String> = score(comparison, wanted).into_iter().collect();
    let orders = || rankings.iter().filter(|ranking| ranking.cards.len() > 1);
    let has_intervals = |ranking: &&&Ranking| ranking.cards.iter().all(|card| card.has_intervals);
    if !orders().all(|ranking| has_intervals(&ranking)) {
        notes.push(format!(
            "\"{BARE}\" means uncertain rank: some of these figures have no interval."
        ));
    }
    let shares_rank =
        |ranking: &&&Ranking| ranking.cards.windows(2).any(|it| it[0].place == it[1].place);
    if orders().any(|ranking| has_intervals(&ranking) && shares_rank(&ranking)) {
        notes.push("Cards of the same rank may be equally fast.".to_owned());
    }
    notes.extend(means(comparison));
    notes.extend(graded(comparison, rankings, wanted));
    notes.extend(disturbed::note(comparison, wanted));
    let disturbed = disturbed::names(comparison, wanted);
    notes.extend(orders().flat_map(|ranking| too_uncertain(ranking, &disturbed)));
    if orders().any(|ranking| has_intervals(&ranking) && is_out_of_order(ranking)) {
        let or = if disturbed.is_empty() { "" } else { ", or one whose tests were disturbed," };
        notes.push(format!(
            "A rank counts the cards that are certainly better. So a card with a wide interval{or} can have a \
             better rank than a card with a better figure."
        ));
    }
    notes.extend(spans(rankings));
    notes.extend(doubted(comparison));
    notes.extend(absent(comparison, wanted));
    notes
}

/// What the figure is by which the cards are ordered, where one has it and its heading does not say it.
fn score(comparison: &Comparison, wanted: Use) -> Option<String> {
    let is_shown = comparison.rankings.iter().any(|it| it.by == wanted && !it.cards.is_empty());
    let heading = match wanted {
        Use::Database => "transactions /s",
        _ if wanted.is_better_low() => "time",
        _ => return None,
    };
    is_shown.then(|| format!("\"{heading}\": {}.", wanted.formula()))
}

/// Which cards have figures of several runs.
fn means(comparison: &Comparison) -> Option<String> {
    let runs = |at: usize| {
        let cells = comparison.rows.iter().filter_map(|row| row.cells.get(at));
        cells.map(|cell| cell.runs).max().filter(|runs| *runs > 1)
    };
    let names = comparison.cards.iter().enumerate();
    let several: Vec<String> = names
        .filter_map(|(at, name)| Some(format!("{} ({})", one_line(name), runs(at)?)))
        .collect();
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    (!several.is_empty()).then(|| format!("Means of several runs: {}.", wording::list(&several)))
}

/// What `check` calls the cards for a system, where the best of this order have different grades: it looks at more
/// than this order does.
fn graded(comparison: &Comparison, rankings: &[&Ranking], wanted: Use) -> Option<String> {
    let differ = |best: &Vec<(&Ranked, Grade)>| best.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let best = rankings.iter().map(|ranking| best_with_grades(comparison, ranking)).find(differ);
    let told: Vec<String> = best
        .filter(|_| wanted == Use::System)?
        .into_iter()
        .map(|(card, grade)| format!("{} {}", one_line(&card.name), grade.word()))
        .collect();
    Some(format!(
        "`check` grades by the weakest use: {}. This order adds up the times of all reads and writes.",
        wording::list(&told.iter().map(String::as_str).collect::<Vec<_>>())
    ))
}

/// The cards of the first rank of `ranking` with what `check` calls them, where it does.
fn best_with_grades<'r>(comparison: &Comparison, ranking: &'r Ranking) -> Vec<(&'r Ranked, Grade)> {
    let of_name = |name: &str| comparison.figures.iter().find(|card| card.name == name);
    let grade = |ranked: &Ranked| of_name(&ranked.name)?.system_grade;
    let best = ranking.cards.iter().filter(|card| card.place == 1);
    best.filter_map(|ranked| Some((ranked, grade(ranked)?))).collect()
}

/// A figure that is this many times worse than that of another card of the same rank is no tie.
const NO_TIE: f64 = 1.5;

/// Cards whose figures look far worse than those of their rank, but are too uncertain to be ranked behind them. Of those
/// that are `disturbed` the reason is said already.
fn too_uncertain(ranking: &Ranking, disturbed: &[&str]) -> Vec<String> {
    let seconds = |card: &Ranked| card.parts.iter().map(|part| part.seconds).sum::<f64>();
    let best_of = |place: usize| {
        let same = ranking.cards.iter().filter(|card| card.place == place).map(seconds);
        same.fold(f64::INFINITY, f64::min)
    };
    let is_uncertain =
        |card: &&Ranked| card.has_intervals && seconds(card) > NO_TIE * best_of(card.place);
    let sentence = |card: &Ranked| {
        format!(
            "The figures of {} are too uncertain to rank it; measure it again with --repeat 5.",
            one_line(&card.name)
        )
    };
    let is_known = |card: &&Ranked| !disturbed.contains(&card.name.as_str());
    ranking.cards.iter().filter(is_uncertain).filter(is_known).map(sentence).collect()
}

/// Whether a card stands above one with a better figure.
fn is_out_of_order(ranking: &Ranking) -> bool {
    let seconds = |card: &Ranked| card.parts.iter().map(|part| part.seconds).sum::<f64>();
    ranking.cards.windows(2).any(|pair| seconds(&pair[0]) > seconds(&pair[1]))
}

/// That ranges differ, and what follows from it.
fn spans(rankings: &[&Ranking]) -> Option<String> {
    let cards = || {
        let different = rankings.iter().filter(|ranking| !ranking.is_one_span);
        different.flat_map(|ranking| &ranking.cards)
    };
    let spans: Vec<Bytes> = cards().flat_map(|it| &it.parts).map(|it| it.span_bytes).collect();
    let (least, most) = (spans.iter().min()?, spans.iter().max()?);
    // No class can be told from a smaller range.
    let common = most.get() >> 20;
    let is_smaller =
        |card: &&Ranked| card.parts.iter().any(|part| !is_span_alike(part.span_bytes, *most));
    let mut smaller: Vec<String> = Vec::new();
    for name in cards().filter(is_smaller).map(|it| one_line(&it.name)) {
        if !smaller.contains(&name) {
            smaller.push(name);
        }
    }
    let names: Vec<&str> = smaller.iter().map(String::as_str).collect();
    let cure = if common == 0 || smaller.is_empty() {
        String::new()
    } else {
        format!(
            " For equal ranges, measure {} again: `cardproof run TARGET --size {common}M \
             --time-budget 10m`.",
            wording::list(&names)
        )
    };
    Some(format!(
        "The test ranges differ ({} to {}), and a smaller range gives higher rates. A card with a smaller range is \
         called faster only where its lead is too large to come from that.{cure}",
        range(*least),
        range(*most)
    ))
}

fn doubted(comparison: &Comparison) -> Option<String> {
    let mut causes = Causes::default();
    for card in &comparison.figures {
        for figure in &card.figures {
            if let Some(doubt) = &figure.doubt {
                causes.add(&one_line(&doubt.to_string()), &one_line(&card.name));
            }
        }
    }
    causes.in_words(DOUBTED, "in doubt, not ranked")
}

/// Why cells are empty: those of the use first.
fn absent(comparison: &Comparison, wanted: Use) -> Option<String> {
    let mut causes = Causes::default();
    let is_weighed =
        |column| wanted.weights().iter().any(|weight| weight.column.of_table() == column);
    let is_shown = |column| {
        comparison.figures.iter().flat_map(|card| &card.figures).any(|it| it.column == column)
    };
    for turn in [true, false] {
        for card in &comparison.figures {
            for missing in &card.missing {
                if is_weighed(missing.column) == turn && is_shown(missing.column) {
                    causes.add(&one_line(&missing.cause.to_string()), &one_line(&card.name));
                }
            }
        }
    }
    causes.in_words(ABSENT, "not measured")
}

/// Causes, each once, with the cards that they concern.
#[derive(Default)]
pub(super) struct Causes(Vec<(String, Vec<String>)>);

impl Causes {
    pub(super) fn add(&mut self, cause: &str, name: &str) {
        let name = name.to_owned();
        match self.0.iter_mut().find(|(known, _)| known == cause) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => self.0.push((cause.to_owned(), vec![name])),
        }
    }

    /// What `told` makes of each with its cards.
    pub(super) fn each(&self, told: impl Fn(&str, &str) -> String) -> Vec<String> {
        let one = |(cause, names): &(String, Vec<String>)| {
            if names.len() > NAMES_MAX {
                told(cause, &format!("{} cards", names.len()))
            } else {
                told(cause, &names.join(", "))
            }
        };
        self.0.iter().map(one).collect()
    }

    fn in_words(&self, mark: &str, meaning: &str) -> Option<String> {
        let causes = self.each(|cause, names| format!("{cause} ({names})"));
        (!causes.is_empty()).then(|| format!("\"{mark}\" means {meaning}: {}.", causes.join("; ")))
    }
}
