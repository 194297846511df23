//! The table of phases: one row for each, with rows of their own for directions and flushes.

use cardproof_rating::{FELT_PAUSE, rate_for_verdicts, shown_rate, stated_rate, wording};
use cardproof_record::{Direction, Latency, OpName, PatternName, Phase, PhaseState, Record};
use cardproof_units::{Iops, Nanos};

use crate::clean::one_line;

/// One row.
pub(crate) struct Row {
    /// The phase's name, or the name of this part of it.
    pub(crate) name: String,
    /// Whether it is a part of the phase above it.
    pub(crate) is_part: bool,
    /// Its figures, or why there are none.
    pub(crate) cells: Cells,
}

/// The contents of a row.
pub(crate) enum Cells {
    /// Figures; those that the record lacks are `None`.
    Figures {
        /// The best single figure with its unit.
        rate: String,
        /// The interval without its unit, such as `1450 to 1510`.
        interval: Option<String>,
        /// Latencies.
        latency: Option<Latency>,
    },
    /// No figures, and why.
    NotMeasured(String),
}

/// The rows, in the record's order.
pub(crate) fn rows(record: &Record) -> Vec<Row> {
    record.phases.iter().flat_map(rows_of).collect()
}

fn rows_of(phase: &Phase) -> Vec<Row> {
    let mut rows = vec![Row {
        name: one_line(&phase.name) + if is_cut_short(phase) { " (cut short)" } else { "" },
        is_part: false,
        cells: cells(phase),
    }];
    if matches!(phase.state, PhaseState::NotMeasured { .. }) {
        return rows;
    }
    rows.extend(phase.reads.map(|reads| direction("reads", &reads)));
    rows.extend(phase.writes.map(|writes| direction("writes", &writes)));
    rows.extend(flushes(phase));
    rows
}

fn is_cut_short(phase: &Phase) -> bool {
    phase.state == PhaseState::Partial
}

fn cells(phase: &Phase) -> Cells {
    if let PhaseState::NotMeasured { cause } = &phase.state {
        return Cells::NotMeasured(one_line(cause));
    }
    match rate_and_interval(phase) {
        Some((rate, interval)) => Cells::Figures { rate, interval, latency: phase.latency_ns },
        None => Cells::NotMeasured("the record has no valid figure".to_owned()),
    }
}

/// The phase's rate in its usual unit, and its interval without a unit, `None` for a rate that another
/// tool stated; `None` if the phase has no valid figure.
pub(crate) fn rate_and_interval(phase: &Phase) -> Option<(String, Option<String>)> {
    if phase.stated.is_some() {
        return Some((stated_rate(phase)?.to_string(), None));
    }
    let rate = shown_rate(phase)?;
    let ends = wording::ends(&rate.low, &rate.high);
    Some((rate.estimate.to_string(), Some(ends).filter(|_| !wording::is_unbounded(&rate))))
}

/// What the figures of `record` are, where the table alone would mislead; `None` where it does not.
pub(crate) fn note(record: &Record) -> Option<String> {
    let is_deciding = |phase: &&Phase| phase.is_measured() && rate_for_verdicts(phase).is_some();
    let deciding = || record.phases.iter().filter(is_deciding);
    let writes_through = deciding()
        .any(|phase| phase.op == OpName::Write && phase.pattern == PatternName::Sequential);
    let deciding: Vec<String> = deciding().map(|phase| one_line(&phase.name)).collect();
    let deciding: Vec<&str> = deciding.iter().map(String::as_str).collect();
    let is_flushed = |phase: &Phase| {
        phase.is_measured() && phase.stated.is_none() && phase.sync.fsync_every().is_some()
    };
    let notes = [
        deciding_in_words(&deciding, writes_through),
        record
            .phases
            .iter()
            .any(is_flushed)
            .then(|| "Latencies do not include flushes.".to_owned()),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// What the figures of the phases leave out by whose intervals classes are decided; `writes_through` says whether one of
/// them wrote in a row.
fn deciding_in_words(deciding: &[&str], writes_through: bool) -> Option<String> {
    let half = if writes_through { "; for sequential writes, the first half" } else { "" };
    let start = format!("the start{half}");
    match deciding {
        [] => None,
        [only] => Some(format!(
            "{only} tests a class. Its rate and interval leave out {start}. Its interval comes from a stricter \
             method and is wider than those of the other tests."
        )),
        several => Some(format!(
            "{} test the classes. Their rates and intervals leave out {start}. Their intervals come from a \
             stricter method and are wider than those of the other tests.",
            wording::list(several)
        )),
    }
}

fn direction(name: &str, direction: &Direction) -> Row {
    Row {
        name: name.to_owned(),
        is_part: true,
        cells: Cells::Figures {
            rate: direction.iops.to_string(),
            interval: None,
            latency: Some(direction.latency_ns),
        },
    }
}

/// The flushes of a phase that waits for them again and again; a single one at the end only
/// where it took long.
fn flushes(phase: &Phase) -> Option<Row> {
    let latency = phase.flush_latency_ns?;
    let (name, rate) = match phase.flushes {
        0 => return None,
        // One at the end of each run.
        count if count <= phase.runs.len().max(1) as u64 && latency.max < FELT_PAUSE => {
            return None;
        }
        1 => ("final flush", String::new()),
        count => {
            let rate = Iops::from_ops(count, phase.duration_ns)?;
            ("flushes", format!("{}/s", wording::bare(&rate)))
        }
    };
    // A model whose flushes take no time of their own has no latency to show.
    let latency = Some(latency).filter(|latency| latency.max > Nanos::ZERO);
    let cells = Cells::Figures { rate, interval: None, latency };
    Some(Row { name: name.to_owned(), is_part: true, cells })
}

/// The confidence of the rows' intervals: `99 %`, or `at least 99 %` where they differ.
pub(crate) fn confidence(record: &Record) -> Option<String> {
    let mut confidences: Vec<f64> = record
        .phases
        .iter()
        .filter(|phase| phase.stated.is_none())
        .filter_map(|phase| shown_rate(phase).map(|rate| rate.confidence))
        .collect();
    confidences.sort_by(f64::total_cmp);
    let [low, high] = [*confidences.first()?, *confidences.last()?].map(wording::percent);
    Some(if low == high { low } else { format!("at least {low}") })
}

/// The three latencies that a row shows.
pub(crate) const fn shown(latency: &Latency) -> [Nanos; 3] {
    [latency.p50, latency.p999, latency.max]
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records;

    use super::*;

    /// The names of the parts of a write phase with `count` flushes of at most `longest`.
    fn parts(count: u64, longest: Nanos) -> Vec<String> {
        let mut phase = records::typical_a1_card().phases.swap_remove(4);
        let latency = phase.latency_ns.map(|latency| Latency { max: longest, ..latency });
        (phase.flushes, phase.flush_latency_ns) = (count, latency);
        let parts = rows_of(&phase).into_iter().filter(|row| row.is_part);
        parts.map(|row| row.name).collect()
    }

    #[test]
    fn one_test_for_a_class_has_a_rate_and_several_have_rates() {
        let one = deciding_in_words(&["random write"], false).unwrap();
        assert!(one.starts_with("random write tests a class. Its rate and"), "{one}");
        assert!(!one.contains("heir"), "{one}");
        let two = deciding_in_words(&["random write", "random read"], false).unwrap();
        let begin = "random write and random read test the classes. Their rates and";
        assert!(two.starts_with(begin), "{two}");
        assert!(!two.contains("ts rate ") && !two.contains("a class"), "{two}");
        assert_eq!(deciding_in_words(&[], true), None);
    }

    #[test]
    fn a_single_flush_is_shown_only_if_it_was_slow() {
        assert_eq!(parts(0, Nanos::ZERO), Vec::<String>::new());
        assert_eq!(parts(1, Nanos::from_millis(20)), Vec::<String>::new());
        assert_eq!(parts(1, Nanos::from_millis(800)), ["final flush"]);
        assert_eq!(parts(500, Nanos::from_millis(20)), ["flushes"]);
    }
}
