//! The first screen of a comparison: the answer, and one table with a row for each card.
//!
//! The answer is one winner, or that the best cards cannot be told apart, with the one reason that
//! weighs most. Cards of other hosts or methods have a table of their own, since no figure of one may
//! be held against another's.

use cardproof_rating::compare::{
    Bases, CardFigure, CardFigures, Choice, Column, Comparison, Ranked, Ranking, Use,
};
use cardproof_rating::wording;
use cardproof_units::shell_word;

use super::disturbed;
use super::names::shown;
use super::no_order;
use super::notes;
use super::one_card;
use super::sections::{apart_from_one, told};
use crate::clean::one_line;
use crate::wrap::sentence;

/// The answer with its table.
pub(super) struct Overview {
    /// The use.
    pub(super) heading: String,
    /// The answer, its reason, the value for money; one sentence or two each.
    pub(super) answer: Vec<String>,
    pub(super) grids: Vec<Grid>,
    /// What the marks mean, each once.
    pub(super) notes: Vec<String>,
}

/// The cards of one basis.
pub(super) struct Grid {
    /// The basis, where there are several.
    pub(super) heading: Option<String>,
    pub(super) columns: Vec<GridColumn>,
    /// Best first; as many cells as columns each.
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid {
    /// The grid without the column of the score, by which cards are ranked.
    fn without_score(mut self) -> Self {
        const SCORE: usize = 2;
        self.columns.remove(SCORE);
        for row in &mut self.rows {
            row.remove(SCORE);
        }
        self
    }
}

/// A column of a grid.
pub(super) struct GridColumn {
    /// Its heading, in as many lines as a narrow terminal needs; the last is the unit.
    pub(super) heading: [&'static str; 3],
    /// Whether a narrow terminal can do without it, which the use does not weigh.
    pub(super) is_spare: bool,
}

impl GridColumn {
    /// The heading in one line.
    pub(super) fn title(&self) -> String {
        let [first, second, unit] = self.heading;
        let name = format!("{first} {second}");
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        format!("{}{unit}", name.trim())
    }
}

/// The overview of `comparison` for `wanted`.
pub(super) fn overview(comparison: &Comparison, wanted: Use) -> Overview {
    let rankings: Vec<&Ranking> =
        comparison.rankings.iter().filter(|ranking| ranking.by == wanted).collect();
    let groups = groups(comparison, &rankings);
    let has_several = groups.len() > 1;
    let is_one_card = one_card::is_certain(comparison);
    let grid = |group: &Group<'_>| {
        let grid = Grid {
            heading: has_several.then(|| sentence(&one_line(&group.basis_in_words()))),
            columns: columns(comparison, wanted),
            rows: group.rows(comparison, wanted),
        };
        if is_one_card { grid.without_score() } else { grid }
    };
    let disturbed = disturbed::names(comparison, wanted);
    Overview {
        heading: format!("Use: {} ({})", wanted.label(), wanted.about()),
        answer: defects(comparison)
            .into_iter()
            .chain(if is_one_card {
                one_card::answer(comparison)
            } else {
                answer(comparison, &rankings, wanted, &disturbed)
            })
            .chain(one_card::doubt(comparison))
            .chain(simulated(comparison))
            .collect(),
        grids: groups.iter().map(grid).collect(),
        notes: notes::notes(comparison, &rankings, wanted),
    }
}

/// The cards of one basis: those with a place, best first, then those without.
struct Group<'c> {
    /// `None` of cards that are ranked with no other.
    basis: Option<&'c Bases>,
    ranked: Vec<&'c Ranked>,
    others: Vec<&'c CardFigures>,
}

/// The basis of cards that are ranked with no other.
const ALONE: &str = "measured on another computer or in another way: not comparable";

/// The cards by basis. Those that stand alone come together at the end.
fn groups<'c>(comparison: &'c Comparison, rankings: &[&'c Ranking]) -> Vec<Group<'c>> {
    let mut groups: Vec<Group<'c>> = Vec::new();
    let mut alone = Group { basis: None, ranked: Vec::new(), others: Vec::new() };
    let is_only = rankings.len() == 1;
    for ranking in rankings {
        let ranked: Vec<&Ranked> = ranking.cards.iter().collect();
        if ranked.len() > 1 || is_only {
            groups.push(Group { basis: Some(&ranking.basis), ranked, others: Vec::new() });
        } else {
            alone.ranked.extend(ranked);
        }
    }
    let is_ranked = |card: &&CardFigures| {
        rankings.iter().flat_map(|ranking| &ranking.cards).any(|ranked| ranked.name == card.name)
    };
    for card in comparison.figures.iter().filter(|card| !is_ranked(card)) {
        // Without another host in sight there is no need for a table of its own.
        let at_home = groups.iter().position(|group| group.basis == Some(&card.basis));
        let only_one = (groups.len() == 1 && alone.ranked.is_empty()).then_some(0);
        match at_home.or(only_one) {
            Some(at) => groups[at].others.push(card),
            None => alone.others.push(card),
        }
    }
    if !alone.ranked.is_empty() || !alone.others.is_empty() {
        groups.push(alone);
    }
    groups
}

impl Group<'_> {
    fn basis_in_words(&self) -> String {
        self.basis.map_or_else(|| ALONE.to_owned(), ToString::to_string)
    }

    fn rows(&self, comparison: &Comparison, wanted: Use) -> Vec<Vec<String>> {
        let value = |value: f64| match wanted {
            Use::Camera => wording::bare(&told("bytes/s", value * 1e6)),
            _ => figure(value),
        };
        let places = if self.basis.is_none() { Vec::new() } else { notes::places(&self.ranked) };
        let of_name = |name: &str| comparison.figures.iter().find(|card| card.name == name);
        let ranked = self.ranked.iter().enumerate().filter_map(|(at, ranked)| {
            let place = places.get(at).map_or("", String::as_str);
            Some(row(comparison, of_name(&ranked.name)?, place, Some(value(ranked.value))))
        });
        let others = self.others.iter().map(|card| row(comparison, card, "", None));
        ranked.chain(others).collect()
    }
}

fn row(
    comparison: &Comparison,
    card: &CardFigures,
    place: &str,
    value: Option<String>,
) -> Vec<String> {
    let value = value.unwrap_or_else(|| notes::ABSENT.to_owned());
    let mut row = vec![place.to_owned(), shown(card), value];
    for column in shown_columns(comparison) {
        let figure = card.figures.iter().find(|figure| figure.column == column);
        row.push(figure.map_or_else(|| notes::ABSENT.to_owned(), cell));
    }
    if has_prices(comparison) {
        row.push(card.price.map_or_else(String::new, |price| format!("{price:.2}")));
    }
    row
}

fn columns(comparison: &Comparison, wanted: Use) -> Vec<GridColumn> {
    let fixed = |heading| GridColumn { heading, is_spare: false };
    let score = match wanted {
        Use::Camera => ["", "sustained", "MB/s"],
        Use::Database => ["trans-", "actions", "/s"],
        _ => ["", "time", "s"],
    };
    let mut columns = vec![fixed(["", "", ""]), fixed(["", "card", ""]), fixed(score)];
    for column in shown_columns(comparison) {
        let is_weighed = wanted.weights().iter().any(|weight| weight.column.of_table() == column);
        columns.push(GridColumn { heading: heading(column), is_spare: !is_weighed });
    }
    if has_prices(comparison) {
        columns.push(fixed(["", "price", ""]));
    }
    columns
}

const fn heading(column: Column) -> [&'static str; 3] {
    match column {
        Column::RandomRead => ["random", "read", "IOPS"],
        Column::RandomWrite => ["random", "write", "IOPS"],
        Column::SyncedWrite => ["synced", "write", "IOPS"],
        Column::SequentialRead => ["seq.", "read", "MB/s"],
        Column::SequentialWrite | Column::SustainedWrite => ["seq.", "write", "MB/s"],
    }
}

/// The columns in which at least one card has a figure.
fn shown_columns(comparison: &Comparison) -> Vec<Column> {
    let figures = || comparison.figures.iter().flat_map(|card| &card.figures);
    let is_filled = |column: &Column| figures().any(|figure| figure.column == *column);
    Column::ALL.into_iter().filter(is_filled).collect()
}

fn has_prices(comparison: &Comparison) -> bool {
    comparison.figures.iter().any(|card| card.price.is_some())
}

fn cell(figure: &CardFigure) -> String {
    let unit = if figure.column.is_told_in_iops() { "IOPS" } else { "bytes/s" };
    let mark = if figure.doubt.is_some() { notes::DOUBTED } else { "" };
    format!("{}{mark}", wording::bare(&told(unit, figure.rate)))
}

/// A number to three digits or more.
pub(super) fn figure(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// The cards that nobody should use, each with the reason; they have no rank.
fn defects(comparison: &Comparison) -> Vec<String> {
    let sentence = |card: &CardFigures| {
        let defect = card.defect.as_ref()?;
        Some(format!("Do not use {}. {}.", one_line(&card.name), one_line(&defect.words())))
    };
    comparison.figures.iter().filter_map(sentence).collect()
}

/// That cards are simulated, so that nobody takes them for cards that can be bought.
fn simulated(comparison: &Comparison) -> Option<String> {
    let all = &comparison.figures;
    let names: Vec<&str> =
        all.iter().filter(|card| card.is_simulated).map(|card| card.name.as_str()).collect();
    match names.len() {
        0 => None,
        count if count == all.len() => Some("All of these cards are simulated.".to_owned()),
        1 => Some(format!("{} is a simulated card.", one_line(names[0]))),
        _ => Some(format!("{} are simulated cards.", one_line(&wording::list(&names)))),
    }
}

/// The cards that nothing speaks against.
pub(super) fn sound(comparison: &Comparison) -> Vec<&CardFigures> {
    comparison.figures.iter().filter(|card| card.defect.is_none()).collect()
}

fn answer(
    comparison: &Comparison,
    rankings: &[&Ranking],
    wanted: Use,
    disturbed: &[&str],
) -> Vec<String> {
    let decided: Vec<(&Ranking, Choice)> =
        rankings.iter().filter_map(|ranking| Some((*ranking, ranking.choice()?))).collect();
    match decided.as_slice() {
        [] => vec![no_order::no_order(comparison, rankings, wanted)],
        [(ranking, choice)] => {
            let alone = comparison.cards.len() - ranking.cards.len();
            let mut sentences = vec![best(ranking, choice, disturbed)];
            sentences.extend(value_for_money(ranking, choice));
            sentences.extend(without_price(ranking));
            if alone > 0 {
                sentences.push(format!("Not ranked: {alone} of {} cards.", comparison.cards.len()));
            }
            sentences
        }
        several => {
            let mut sentences = vec![format!(
                "No single answer: these cards were measured in {} groups of different hosts or methods. \
                 Figures of different groups cannot be compared.",
                several.len()
            )];
            sentences.extend(several.iter().map(|(ranking, choice)| {
                let best = best(ranking, choice, disturbed);
                format!("{}: {best}", sentence(&one_line(&ranking.basis.to_string())))
            }));
            sentences
        }
    }
}

/// The best of an order, and why. `disturbed` names the cards whose tests were disturbed.
fn best(ranking: &Ranking, choice: &Choice, disturbed: &[&str]) -> String {
    let names: Vec<String> = choice.best.iter().map(|name| one_line(name)).collect();
    let score = |name: &str| {
        let card = ranking.cards.iter().find(|card| card.name == name);
        card.map_or(0.0, |card| card.value)
    };
    let unit = ranking.by.unit();
    let in_unit = |value: f64| match unit {
        "/s" => format!("{} database transactions a second", figure(value)),
        "MB/s" => told("bytes/s", value * 1e6).to_string(),
        unit => format!("{} {unit}", figure(value)),
    };
    let values: Vec<f64> = choice.best.iter().map(|name| score(name)).collect();
    let behind = choice.next.as_ref().map(|next| (one_line(next), in_unit(score(next))));
    let times = choice.next.as_ref().and_then(|next| times(ranking, next));
    let mut text = match (names.as_slice(), &behind) {
        ([winner], Some((next, _))) if choice.has_intervals && times.is_some() => {
            let times = times.unwrap_or_default();
            format!("{winner} is the best: {times} as fast as {next} for {}.", ranking.by.work())
        }
        ([winner], Some((next, behind))) if !choice.has_intervals => format!(
            "{winner} has the best result, {}, then {next} with {behind}. Some of these figures have \
             no interval, so the order is uncertain.",
            in_unit(values[0])
        ),
        ([winner], Some((next, behind))) => {
            let amount = in_unit(values[0]);
            format!("{winner} is the best: {amount}. The next is {next} with {behind}.")
        }
        ([winner], None) => {
            format!("{winner} is the best: {}.", in_unit(values[0]))
        }
        (several, behind) => {
            let [first, last] =
                [values.first(), values.last()].map(|end| figure(*end.unwrap_or(&0.0)));
            let range = match several.len() {
                2 if first == last => format!("both take {first}"),
                _ if first == last => format!("all take {first}"),
                2 => format!("{first} and {last}"),
                _ => format!("{first} to {last}"),
            };
            let unit = match unit {
                "/s" => "database transactions a second",
                "s" => "s for the same work",
                other => other,
            };
            let rest = match behind {
                Some((next, behind)) => {
                    let others = ranking.cards.iter().filter(|card| card.place > 1).count() - 1;
                    let more =
                        if others > 0 { format!(", and {others} more") } else { String::new() };
                    format!(" Worse with certainty: {next} with {behind}{more}.")
                }
                None => String::new(),
            };
            let is_disturbed = choice.best.iter().any(|name| disturbed.contains(&name.as_str()));
            let why = if is_disturbed {
                "Some of their tests were disturbed. That can have slowed them, so there is no order."
            } else {
                "Their figures are too uncertain for an order. Measure each card again with the --label of its first \
                 run: `compare LABEL LABEL` then uses all runs of each card."
            };
            format!("{} cannot be told apart: {range} {unit}. {why}{rest}", names_in_short(several))
        }
    };
    if let Some(reason) = &choice.reason {
        let unit = if reason.column.is_told_in_iops() { "IOPS" } else { "bytes/s" };
        let is_open = choice.has_intervals && !reason.is_certain;
        let alone = if is_open { ", which alone would not be certain" } else { "" };
        text.push_str(&format!(
            " The difference comes mainly from {}: {} and {}{alone}.",
            reason.column.label(),
            told(unit, reason.best_rate),
            told(unit, reason.next_rate)
        ));
    }
    text
}

/// How many times as fast the first card is as the one called `name`, such as `5 times (4 to 6)`, or `at least 4 times`
/// where it was disturbed.
fn times(ranking: &Ranking, name: &str) -> Option<String> {
    let behind = ranking.cards.iter().find(|card| card.name == name)?.behind_first?;
    Some(match behind.high {
        Some(high) => {
            format!("{} times ({} to {})", ratio(behind.times), end(behind.low), end(high))
        }
        None => format!("at least {} times", end(behind.low)),
    })
}

/// The end of a range of ratios, with the digits that it takes to see that it is not 1.
fn end(value: f64) -> String {
    // Only a short ratio can be shown as 1.
    if value < 9.95 { apart_from_one(value, 1) } else { ratio(value) }
}

/// A ratio to two digits.
fn ratio(value: f64) -> String {
    match value {
        value if value < 9.95 => format!("{value:.1}"),
        value if value < 99.5 => format!("{value:.0}"),
        value => format!("{:.0}", (value / 10.0).round() * 10.0),
    }
}

/// Names in a row, of many the first.
fn names_in_short(names: &[String]) -> String {
    const SHOWN: usize = 3;
    if names.len() <= SHOWN + 1 {
        return wording::list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    }
    format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
}

fn value_for_money(ranking: &Ranking, choice: &Choice) -> Option<String> {
    let name = choice.best_value.as_ref()?;
    let price = ranking.cards.iter().find(|card| card.name == *name)?.price?;
    let best = ranking.cards.first()?;
    let than_best = best.value_for_price.map_or(String::new(), |value| {
        if best.name == *name {
            String::new()
        } else {
            format!(
                " ({} gives {:.0} % as much for the same money)",
                one_line(&best.name),
                100.0 * value
            )
        }
    });
    Some(format!("Best value for money: {} at {price:.2}{than_best}.", one_line(name)))
}

/// Which of the ranked cards lack a price, where others have one, and how to give it.
fn without_price(ranking: &Ranking) -> Option<String> {
    let lacking: Vec<String> = ranking
        .cards
        .iter()
        .filter(|card| card.price.is_none())
        .map(|card| one_line(&card.name))
        .collect();
    let first = lacking.first().filter(|_| lacking.len() < ranking.cards.len())?;
    let option = shell_word(format!("{first}=AMOUNT"));
    Some(format!(
        "No price is given for {}. To see the best value for money, add --price {option}.",
        names_in_short(&lacking)
    ))
}
