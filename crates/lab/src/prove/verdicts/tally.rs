//! Counting what rules said of cards, and the tables of it.

use std::fmt::Write;

use cardproof_record::Outcome;
use cardproof_units::Bytes;

use super::rules::Answer;

/// What one rule said of the cards of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) cards: usize,
    pub(super) wrong: usize,
    undecided: usize,
    deciding_s: Vec<f64>,
    whole_s: Vec<f64>,
    extra_written_max: Bytes,
}

impl Tally {
    /// Counts an answer on a card that really meets the class or does not.
    pub(super) fn add(&mut self, answer: &Answer, meets: bool) {
        self.cards += 1;
        let truth = if meets { Outcome::Meets } else { Outcome::Misses };
        let is_decided = matches!(answer.outcome, Outcome::Meets | Outcome::Misses);
        self.wrong += usize::from(is_decided && answer.outcome != truth);
        self.undecided += usize::from(!is_decided);
        // Who never decides takes for ever.
        let time = |seconds: f64| if is_decided { seconds } else { f64::INFINITY };
        self.deciding_s.push(time(answer.deciding_s));
        self.whole_s.push(time(answer.whole_s));
        self.extra_written_max = self.extra_written_max.max(answer.extra_written);
    }

    /// The part of the cards, in percent.
    fn percent(&self, cards: usize) -> f64 {
        100.0 * cards as f64 / self.cards.max(1) as f64
    }

    pub(super) fn wrong_percent(&self) -> f64 {
        self.percent(self.wrong)
    }

    pub(super) fn deciding_median_s(&self) -> f64 {
        median(&self.deciding_s)
    }

    pub(super) const fn extra_written_max(&self) -> Bytes {
        self.extra_written_max
    }

    /// Wrong, undecided, the two medians: the cells of a table.
    pub(super) fn cells(&self) -> String {
        format!(
            "{:.2} | {:.1} | {} | {}",
            self.wrong_percent(),
            self.percent(self.undecided),
            seconds(median(&self.deciding_s)),
            seconds(median(&self.whole_s)),
        )
    }
}

/// The middle value; where one of the two in the middle is infinite, that.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn seconds(seconds: f64) -> String {
    if seconds.is_finite() { format!("{seconds:.1} s") } else { "never".to_owned() }
}

/// A table of tallies by name.
pub(super) fn table<'a>(
    head: &str,
    rows: impl Iterator<Item = (&'a str, &'a Tally)>,
) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(out, "| {head} | cards | wrong, % | undecided, % | deciding phase | whole run |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
    for (name, tally) in rows.filter(|(_, tally)| tally.cards > 0) {
        writeln!(out, "| {name} | {} | {} |", tally.cards, tally.cells())?;
    }
    Ok(out)
}
