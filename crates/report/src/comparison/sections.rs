//! What a comparison says, as tables with words above and below, before it is set anywhere.

use cardproof_rating::compare::{
    ComparedCell, ComparedRow, Comparison, Correlation, Places, Ranked, Ranking, Ratio, Use,
};
use cardproof_rating::{Rate, wording};
use cardproof_units::{Iops, Throughput};

use super::names::all_shown;
use super::notes::{self, Causes};
use crate::clean::one_line;
use crate::wrap::sentence;

/// A table with words.
pub(super) struct Section {
    pub(super) heading: String,
    /// Paragraphs above the table.
    pub(super) about: Vec<String>,
    /// The headings of its columns; the first column is text, the others are figures.
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    /// Sentences below it.
    pub(super) notes: Vec<String>,
}

/// The details of `comparison`: every figure with its ratios, the order by `wanted`, and the places
/// among published cards.
pub(super) fn sections(comparison: &Comparison, wanted: Use) -> Vec<Section> {
    let is_wanted = |ranking: &&Ranking| ranking.by == wanted;
    let mut sections: Vec<Section> =
        comparison.rows.iter().map(|row| measured(comparison, row)).collect();
    if let Some(first) = sections.first_mut() {
        first.about.insert(0, how_to_read(comparison));
    }
    sections.extend(comparison.rankings.iter().filter(is_wanted).map(ranked));
    sections.extend(placed(&comparison.places));
    if !comparison.correlations.is_empty() {
        sections.push(correlated(&comparison.correlations));
    }
    sections
}

fn how_to_read(comparison: &Comparison) -> String {
    let first = comparison.cards.first().map_or(String::new(), |name| one_line(name));
    let mut text = format!(
        "\"ratio\": how many times as fast as {first}; the true ratio lies in the interval beside it, with {} \
         confidence for all of them together. Where that interval does not hold 1, one of the two is certainly \
         faster. The order at the end rests on the sum of the times, not on single ratios.",
        wording::percent(comparison.confidence)
    );
    if comparison.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.runs == 1) {
        text.push_str(
            " Of a card that was measured once, the interval beside the rate does not show how much another run \
             may differ. The interval beside the ratio and the order allow for that.",
        );
    }
    let mut ratios = comparison.rows.iter().flat_map(|row| &row.cells).filter_map(|it| it.ratio);
    if ratios.any(|ratio| ratio.between.is_none()) {
        text.push_str(
            " \"no interval\": the rates are not known well enough to say which is faster, since one is a single \
             figure or its test was disturbed.",
        );
    }
    text
}

/// A rate in the unit of its row.
pub(super) fn told(unit: &str, rate: f64) -> Rate {
    if unit == "IOPS" { Rate::Iops(Iops(rate)) } else { Rate::Throughput(Throughput(rate)) }
}

fn between(unit: &str, [low, high]: [f64; 2]) -> String {
    wording::ends(&told(unit, low), &told(unit, high))
}

fn measured(comparison: &Comparison, row: &ComparedRow) -> Section {
    let mut rows = Vec::with_capacity(row.cells.len());
    let mut unlike = Causes::default();
    for (name, cell) in all_shown(comparison).iter().zip(&row.cells) {
        rows.push(cells(name, row.unit, cell));
        if cell.rate.is_some() && !cell.not_alike.is_empty() {
            let reasons: Vec<String> =
                cell.not_alike.iter().map(|it| one_line(&it.to_string())).collect();
            unlike.add(&reasons.join("; "), name);
        }
    }
    // Under every figure that it is about, the reason stands again.
    let notes = unlike.each(|cause, names| format!("No ratio for {names}: {cause}."));
    Section {
        heading: row.what.to_string(),
        about: Vec::new(),
        columns: vec!["card", "rate", "interval", "ratio", "interval"],
        rows,
        notes,
    }
}

fn cells(name: &str, unit: &str, cell: &ComparedCell) -> Vec<String> {
    let Some(rate) = cell.rate else {
        return vec![name.to_owned(), "not measured".to_owned()];
    };
    let rate_between = cell.between.map_or(String::new(), |ends| between(unit, ends));
    let mut row = vec![name.to_owned(), told(unit, rate).to_string(), rate_between];
    if let Some(Ratio { estimate, between }) = cell.ratio {
        row.push(times(estimate));
        row.push(match between {
            Some([low, high]) => format!("{} to {}", beside_one(low), beside_one(high)),
            None => "no interval".to_owned(),
        });
    } else if !cell.not_alike.is_empty() {
        row.push("no ratio".to_owned());
    }
    row
}

/// A ratio to three digits.
pub(super) fn times(ratio: f64) -> String {
    let decimals = decimals(ratio);
    format!("{ratio:.decimals$}")
}

/// With how many decimals a ratio has three digits.
fn decimals(ratio: f64) -> usize {
    match ratio {
        ratio if ratio < 0.1 => 3,
        ratio if ratio < 10.0 => 2,
        _ => 1,
    }
}

/// The end of a range of ratios, with as many digits as it takes to see on which side of 1 it is.
pub(super) fn beside_one(ratio: f64) -> String {
    apart_from_one(ratio, decimals(ratio))
}

/// `ratio` with `decimals`, or with as many more as it takes to see that it is not 1.
pub(super) fn apart_from_one(ratio: f64, decimals: usize) -> String {
    let is_shown_as_one =
        |decimals: &usize| (ratio - 1.0).abs() * 10_f64.powi(*decimals as i32) < 0.5;
    let apart = (decimals..=6).find(|decimals| !is_shown_as_one(decimals));
    let decimals = apart.filter(|_| ratio != 1.0).unwrap_or(decimals);
    format!("{ratio:.decimals$}")
}

fn ranked(ranking: &Ranking) -> Section {
    let unit = ranking.by.unit();
    let has_prices = ranking.cards.iter().any(|card| card.price.is_some());
    let mut columns = vec!["card", unit, "between"];
    if has_prices {
        columns.extend(["price", "for the price"]);
    }
    let cards: Vec<&Ranked> = ranking.cards.iter().collect();
    let rows =
        notes::places(&cards).iter().zip(cards).map(|(place, card)| row(place, card)).collect();
    let of_one = match ranking.cards.as_slice() {
        [only] => format!(": {}, not ranked", one_line(&only.name)),
        _ => String::new(),
    };
    Section {
        heading: format!("{}{of_one}", sentence(ranking.by.label())),
        about: vec![format!("{}. Measured by {}.", sentence(ranking.by.formula()), ranking.basis)],
        columns,
        rows,
        notes: Vec::new(),
    }
}

/// The row of `card`, with its `place` if it has one.
fn row(place: &str, card: &Ranked) -> Vec<String> {
    let place = if place.is_empty() { String::new() } else { format!("{place} ") };
    let figure = |value: f64| match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    };
    let between = card.between.map(|[low, high]| format!("{} to {}", figure(low), figure(high)));
    let mut row = vec![
        format!("{place}{}", one_line(&card.name)),
        figure(card.value),
        between.unwrap_or_default(),
    ];
    if let Some(price) = card.price {
        row.push(format!("{price:.2}"));
        row.extend(card.value_for_price.map(|value| format!("{:.0} %", 100.0 * value)));
    }
    row
}

/// All cards among the published measurements. Why that is only rough is said once for all cards that
/// it holds for.
fn placed(places: &[Places]) -> Option<Section> {
    let mut rows = Vec::new();
    let mut differences: Vec<String> = Vec::new();
    for Places { name, positions } in places {
        for position in positions {
            rows.push(vec![
                format!("{}: {}", one_line(name), position.what),
                position.faster_than.to_string(),
                position.of.to_string(),
            ]);
            for difference in &position.differs_in {
                let words = difference.to_string();
                if !differences.contains(&words) {
                    differences.push(words);
                }
            }
        }
    }
    let note = format!(
        "This is only a rough comparison. Different or unknown for some of the cards: {}.",
        differences.join(", ")
    );
    (!rows.is_empty()).then(|| Section {
        heading: "Among published measurements".to_owned(),
        about: Vec::new(),
        columns: vec!["card and quantity", "faster than", "of published results"],
        rows,
        notes: if differences.is_empty() { Vec::new() } else { vec![note] },
    })
}

fn correlated(correlations: &[Correlation]) -> Section {
    let row = |found: &Correlation| {
        vec![
            format!("{}: {}", one_line(&found.job), found.with),
            format!("{:+.2}", found.rank_correlation),
            found.cards.to_string(),
        ]
    };
    Section {
        heading: "What the times of jobs go with".to_owned(),
        about: vec![
            "How closely the time of a job follows a rate: -1 where a card with a higher rate always took less \
             time, 0 where the two have nothing to do with each other (Spearman's rank correlation)."
                .to_owned(),
        ],
        columns: vec!["job and rate", "correlation", "cards"],
        rows: correlations.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{apart_from_one, beside_one};

    #[test]
    fn the_end_of_a_range_shows_on_which_side_of_one_it_is() {
        let ends = [1.004, 1.000_04, 0.998, 1.0, 0.97, 0.05, 12.0].map(beside_one);
        assert_eq!(ends, ["1.004", "1.00004", "0.998", "1.00", "0.97", "0.050", "12.0"]);
        assert_eq!(beside_one(1.000_000_04), "1.00", "six digits are enough");
        let short = [1.02, 1.004, 0.97, 1.3].map(|it| apart_from_one(it, 1));
        assert_eq!(short, ["1.02", "1.004", "0.97", "1.3"]);
    }
}
