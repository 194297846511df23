//! The life of a card in words.

use cardproof_evidence::life::{Basis, Life};
use cardproof_record::{
    BudgetVerdict, DailyUse, ENDURE_SCHEMA, EnduranceRun, EndureDocument, LifeDays, LifeInterval,
    Record, TargetKind,
};
use cardproof_units::{rounded_down, rounded_up};

use crate::life::{
    CYCLES_MIN, budget, days_of, failed_at_once, interval, is_telling, life, model_of,
};

/// The cycle in which the card reached its end.
fn end_cycle(run: &EnduranceRun) -> u64 {
    run.milestones.values().flatten().max().copied().unwrap_or(run.cycles)
}

/// Such as `1 cycle` and `12 cycles`.
#[must_use]
pub fn cycles(count: u64) -> String {
    if count == 1 { "1 cycle".to_owned() } else { format!("{count} cycles") }
}

/// What `record` says of the card's endurance; `None` without a run.
#[must_use]
pub fn document(record: &Record, usage: Option<DailyUse>) -> Option<EndureDocument> {
    let run = record.endurance()?;
    let life = life(run);
    Some(EndureDocument {
        schema: ENDURE_SCHEMA,
        device: model_of(record),
        pattern: run.pattern.clone(),
        cycles: run.cycles,
        milestones: run.milestones.clone(),
        end: run.end.clone(),
        stopped_by: run.stopped_by,
        bad_share: run.bad_pages as f64 / run.pages.max(1) as f64,
        life_cycles: interval(&life),
        life_days: days_of(run, &life, usage),
        budget: budget(run),
        cycle_bytes: run.cycle_bytes,
        bytes_written: run.written_bytes,
        transient_errors: run.transient,
        host_errors: run.host_errors,
        reasons: reasons(record, run, &life),
        record: record.id.clone(),
    })
}

/// The figures of `run` of `record` in sentences, the most important first.
fn reasons(record: &Record, run: &EnduranceRun, life: &Life) -> Vec<String> {
    let mut reasons = Vec::new();
    reasons.push(match life.basis {
        Basis::Observed if record.is_simulated() => {
            "this is the life of the simulated card, seen in the simulation; a real card may last longer or shorter"
                .to_owned()
        }
        Basis::Observed => "the test observed this life; it is not an estimate".to_owned(),
        Basis::FirstCycle => "this test did not wear the card out, so its life is unknown; find out with \
                              `cardproof verify` whether the card is a fake"
            .to_owned(),
        Basis::Extrapolated => format!(
            "the life is estimated from the growth of {} bad blocks in {}; another kind of wear can only \
             shorten the life, and the lower end of the interval allows for that",
            run.failures.iter().map(|failures| failures.places).sum::<u64>(),
            cycles(run.cycles)
        ),
        Basis::NoErrors if run.cycles == 0 => {
            "the test ended in its first cycle, so the life is unknown".to_owned()
        }
        Basis::NoErrors if !is_telling(life.estimate, life.low) => format!(
            "{} {} too few to say how long the card lasts: it takes {CYCLES_MIN:.0} or more",
            cycles(run.cycles),
            if run.cycles == 1 { "is" } else { "are" }
        ),
        Basis::NoErrors => "no cycle had an error, so the test gives a lower limit of the life and no estimate"
            .to_owned(),
    });
    if run.transient > 0 {
        reasons.push(format!(
            "failures that did not occur at a second attempt, and were ignored: {}",
            run.transient
        ));
    }
    if run.host_errors > 0 {
        reasons.push(format!(
            "times in which the whole device failed and came back: {}; the cause is the host, reader or \
             cable, not the card",
            run.host_errors
        ));
    }
    reasons
}

/// An end in words.
#[must_use]
pub fn end_in_words(end: &str) -> &str {
    match end {
        "read_only" => "the card no longer accepts writes, but its data can be read",
        "silently_wrong" => "the card reports success, but returns wrong data",
        "ignores_writes" => "the card reports success, but writes nothing",
        "times_out" => "the card does not answer in time",
        "shrinks" => "all addresses above a limit fail",
        "gone" => "the card disappeared and did not come back, or the reader failed",
        "unreadable" => "the card's data cannot be read, or is wrong",
        other => other,
    }
}

/// What became of the card, such as `NO FAILURE in 12 cycles`.
#[must_use]
pub fn result(run: &EnduranceRun) -> String {
    match (&run.end, budget(run)) {
        _ if failed_at_once(run) => {
            let why = run.end.as_deref().map_or("many bad pages", end_in_words);
            format!("FAILED IN CYCLE 1: {why}")
        }
        (Some(end), _) => {
            format!("WORN OUT in cycle {}: {}", end_cycle(run), end_in_words(end))
        }
        (None, Some(BudgetVerdict { passed: Some(true), bytes, .. })) => {
            format!("PASSED: {} written without an error", bytes.as_typed())
        }
        (None, Some(BudgetVerdict { passed: Some(false), bytes, .. })) => {
            format!("FAILED: errors came before {} were written", bytes.as_typed())
        }
        (None, _) if run.bad_pages > 0 => {
            format!("ERRORS: {} bad pages after {}", run.bad_pages, cycles(run.cycles))
        }
        (None, _) if run.cycles == 0 => "NO RESULT: stopped in the first cycle".to_owned(),
        (None, _) => format!("NO FAILURE in {}", cycles(run.cycles)),
    }
}

/// Whether the run wrote to a file, so that no device was worn by itself.
fn is_file(record: &Record) -> bool {
    record.conditions.target.kind == TargetKind::File
}

/// How much of the device each cycle writes, in few words; empty where it is all of it.
#[must_use]
pub fn tested(record: &Record) -> String {
    let size = record.conditions.device.size_bytes;
    let part = record.endurance().map(|run| run.cycle_bytes);
    if is_file(record)
        && let Some(part) = part
    {
        return format!(" (tested: a file of {part})");
    }
    match (part, size) {
        (Some(part), Some(size)) if part.get() < size.get() / 10 * 9 => {
            format!(" (tested: {part} of {size})")
        }
        _ => String::new(),
    }
}

/// The life as far as `life` shows it; `None` where nothing is known of it.
#[must_use]
pub fn life_in_words(life: &LifeInterval) -> Option<String> {
    let LifeInterval { estimate, low, high, .. } = life;
    match (estimate, high) {
        (Some(estimate), Some(high)) if high > low => Some(format!(
            "life until 0.1 % of the tested area is bad: {estimate:.0} cycles ({} to {} with 95 % confidence)",
            rounded_down(*low, 0),
            rounded_up(*high, 0)
        )),
        (Some(estimate), _) => Some(format!(
            "life until 0.1 % of the tested area is bad: {}",
            cycles(estimate.round() as u64)
        )),
        (None, _) if !is_telling(None, *low) => None,
        (None, _) => Some(format!(
            "life until 0.1 % of the tested area is bad: more than {}",
            cycles(low.floor() as u64)
        )),
    }
}

/// The endurance of `record` in sentences; none without a run.
#[must_use]
pub fn in_words(record: &Record) -> Vec<String> {
    let Some(run) = record.endurance() else { return Vec::new() };
    let life = life(run);
    let result = format!("{}{}", result(run), tested(record));
    let written = format!(
        "complete cycles: {}; each wrote {} ({}) and read it back; written in total: {}",
        run.cycles, run.cycle_bytes, run.pattern, run.written_bytes
    );
    let days = days_of(run, &life, None).map(|days| days_in_words(&days, &who(record)));
    let lives = life_in_words(&interval(&life)).into_iter().chain(days);
    [result].into_iter().chain(lives).chain([written]).chain(reasons(record, run, &life)).collect()
}

/// What became of the card in a few words, for a list.
#[must_use]
pub fn result_in_short(run: &EnduranceRun) -> String {
    match &run.end {
        _ if failed_at_once(run) => "endurance: FAILED IN CYCLE 1".to_owned(),
        Some(_) => format!("endurance: WORN OUT in cycle {}", end_cycle(run)),
        None => format!("endurance: {}", result(run)),
    }
}

/// Whose life the run of `record` tells, in a sentence.
#[must_use]
pub fn who(record: &Record) -> String {
    let card = if record.is_simulated() { "the simulated card" } else { "the card" };
    match (tested(record).is_empty(), record.endurance()) {
        _ if is_file(record) => "the file".to_owned(),
        (false, Some(run)) => format!("the tested {} of {card} alone", run.cycle_bytes),
        _ => card.to_owned(),
    }
}

/// Days of life for `who`, in a sentence.
#[must_use]
pub fn days_in_words(days: &LifeDays, who: &str) -> String {
    const YEAR: f64 = 365.25;
    // From two years on, the life is told in years.
    let is_long = days.estimate.unwrap_or(days.low) >= 2.0 * YEAR;
    let (unit, part) = if is_long { ("years", 1.0 / YEAR) } else { ("days", 1.0) };
    let of = |days: f64| days * part;
    format!(
        "at {} a day, {who} lasts {} {unit}. This assumes that small writes of daily use wear its flash {} times as \
         much as this test",
        days.bytes_per_day.as_typed(),
        range(days.estimate.map(of), of(days.low), days.high.map(of)),
        days.write_amplification
    )
}

/// A figure with its interval, or its lower bound.
#[must_use]
pub fn range(estimate: Option<f64>, low: f64, high: Option<f64>) -> String {
    let low_text = rounded_down(low, decimals(low));
    match (estimate, high) {
        (Some(estimate), Some(high)) if number(low) != number(high) => {
            let high_text = rounded_up(high, decimals(high));
            format!("{} ({low_text} to {high_text}, 95 %)", number(estimate))
        }
        (Some(estimate), Some(_)) => number(estimate),
        (Some(estimate), None) => format!("{} (at least {low_text}, 95 %)", number(estimate)),
        (None, _) => format!("more than {low_text}"),
    }
}

fn number(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

/// Small figures that are not whole keep a decimal, those below 1 as many as they have, at most three.
fn decimals(value: f64) -> usize {
    match value {
        value if value < 1.0 && value > 0.0 => {
            let is_enough = |decimals: &usize| {
                let steps = value * 10_f64.powi(*decimals as i32);
                (steps - steps.round()).abs() < 1e-6
            };
            (1..3).find(is_enough).unwrap_or(3)
        }
        value if value < 10.0 && value.fract() > 0.0 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_bound_is_not_told_as_a_figure() {
        assert_eq!(range(None, 500.0, None), "more than 500");
        assert_eq!(range(Some(900.0), 700.0, Some(1200.0)), "900 (700 to 1200, 95 %)");
        assert_eq!(range(Some(900.0), 900.0, Some(900.0)), "900");
        assert_eq!(range(Some(148.8), 148.6, Some(149.1)), "149");
        assert_eq!(range(Some(0.5), 0.5, Some(0.5)), "0.5");
        assert_eq!(range(None, 0.05, None), "more than 0.05");
        assert_eq!(range(None, 23.8, None), "more than 23", "a lower limit is not rounded up");
        assert_eq!(range(Some(900.0), 700.7, Some(1200.2)), "900 (700 to 1201, 95 %)");
    }
}
