//! The same cards on several boards: by how much a board changes what a request takes, and how well that is known
//! for a card or a board that was left out.
//!
//! No job was timed on a second board, so this says nothing of a job's processor time.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use cardproof_rating::{PublishedRates, published_rates};

/// The board that the others are compared with: most cards were measured on it.
const BASE: &str = "Raspberry Pi 4 B";

/// The other boards on which at least three of the same cards were measured.
const OTHERS: [&str; 2] = ["Raspberry Pi 2 B", "Raspberry Pi 3 B"];

/// How many times as fast each card is on [`BASE`] as on one board, in ascending order.
type Factors = Vec<f64>;

/// What is measured, and its rate of a published card.
type Kind = (&'static str, fn(&PublishedRates) -> Option<f64>);

const KINDS: [Kind; 2] = [
    ("4 KiB random read", |rates| rates.read.map(|rate| rate.0)),
    ("4 KiB random write", |rates| Some(rates.write.0)),
];

/// The table.
pub(super) fn write(out: &mut String) -> Result<()> {
    writeln!(
        out,
        "| {BASE} against | figure | cards | factor, median | least to most | error, each card left out: median, \
         worst | error, the board left out: median, worst |"
    )?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | ---: | ---: |")?;
    let all = published_rates();
    for (name, rate) in KINDS {
        let factors = OTHERS.map(|board| factors(&all, board, rate));
        for (index, board) in OTHERS.iter().enumerate() {
            let (own, other) = (&factors[index], &factors[1 - index]);
            let [least, most] = [0, own.len() - 1].map(|at| own[at]);
            writeln!(
                out,
                "| {board} | {name} | {} | {:.2} | {least:.2} to {most:.2} | {} | {} |",
                own.len(),
                median(own),
                errors(own, |left_out| median(&without(own, left_out))),
                errors(own, |_| median(other)),
            )?;
        }
    }
    Ok(())
}

/// The factors of all cards that were measured on both boards, by model and size.
fn factors(
    all: &[PublishedRates],
    board: &str,
    rate: fn(&PublishedRates) -> Option<f64>,
) -> Factors {
    let on = |board: &str| -> BTreeMap<_, f64> {
        let of_board = all
            .iter()
            .filter(|rates| rates.card.record.conditions.host.board.as_deref() == Some(board));
        let key = |rates: &PublishedRates| {
            let device = &rates.card.record.conditions.device;
            Some((device.model.clone()?, device.size_bytes?))
        };
        of_board.filter_map(|rates| Some((key(rates)?, rate(rates)?))).collect()
    };
    let (base, other) = (on(BASE), on(board));
    let both = other.iter().filter_map(|(card, slow)| Some(base.get(card)? / slow));
    let mut found: Factors = both.collect();
    found.sort_by(f64::total_cmp);
    found
}

fn without(factors: &Factors, index: usize) -> Factors {
    let others = factors.iter().enumerate().filter(|(other, _)| *other != index);
    others.map(|(_, factor)| *factor).collect()
}

/// The middle of numbers in ascending order, of an even count the mean of two.
fn median(numbers: &Factors) -> f64 {
    let half = numbers.len() / 2;
    if numbers.len().is_multiple_of(2) {
        f64::midpoint(numbers[half - 1], numbers[half])
    } else {
        numbers[half]
    }
}

/// Median and worst error of predicting each card with the factor that `predicted` gives for its index.
fn errors(factors: &Factors, predicted: impl Fn(usize) -> f64) -> String {
    let each = factors.iter().enumerate().map(|(index, own)| (predicted(index) / own - 1.0).abs());
    let mut errors: Factors = each.collect();
    errors.sort_by(f64::total_cmp);
    format!("{:.0} %, {:.0} %", 100.0 * median(&errors), 100.0 * errors[errors.len() - 1])
}
