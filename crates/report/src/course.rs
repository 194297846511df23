//! What the single rates of the table do not tell: where a rate changed, and what several runs show.

use cardproof_rating::wording;
use cardproof_record::{Level, Phase, PhaseRun, Record};
use cardproof_stats::{RunRate, SteadyState, Variation, outliers};
use cardproof_units::{Iops, Throughput};

use crate::clean::one_line;
use crate::shared;
use cardproof_rating::is_told_in_iops;

/// The precision that people ask for, as a part of the rate.
const WANTED: f64 = 0.05;

/// One sentence for each change of a rate, and for each phase that was run several times.
pub(crate) fn course(record: &Record) -> Vec<String> {
    let changes = record.phases.iter().flat_map(changes);
    let runs = record
        .phases
        .iter()
        .filter_map(|phase| Some(format!("{}: {}", one_line(&phase.name), runs(phase)?)));
    changes.chain(runs).collect()
}

/// The same in short: of phases whose runs show the same but for the figures, those of one.
pub(crate) fn course_in_short(record: &Record) -> Vec<String> {
    let changes = record.phases.iter().flat_map(changes);
    // The phase that varies most stands for the others.
    let of_phase = |phase: &Phase| Some((total_cv(phase)?, one_line(&phase.name), runs(phase)?));
    let mut of_runs: Vec<(f64, String, String)> =
        record.phases.iter().filter_map(of_phase).collect();
    of_runs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let runs = of_runs.into_iter().map(|(_, name, runs)| (name, runs));
    changes.chain(shared::said_once(runs, record)).collect()
}

/// Where the rate of `phase` changed, such as `fell from 34 MB/s to 9.0 MB/s after 384 MiB`.
fn changes(phase: &Phase) -> Vec<String> {
    let name = one_line(&phase.name);
    let mut sentences = Vec::new();
    for pair in phase.levels.windows(2) {
        let [before, after] = pair else { continue };
        let verb = if after.iops.estimate < before.iops.estimate { "fell" } else { "rose" };
        let rate = |level: &Level| {
            if is_told_in_iops(phase) {
                wording::estimate(&level.iops)
            } else {
                wording::estimate(&level.throughput_bytes_per_s)
            }
        };
        sentences.push(format!(
            "{name} {verb} from {} to {} after {:.0} MB ({:.1} s).",
            rate(before),
            rate(after),
            after.bytes_before.as_f64() / 1e6,
            after.start_ns.as_secs_f64()
        ));
    }
    sentences
}

/// The heading above the sentences of [`course`].
pub(crate) fn heading(record: &Record) -> &'static str {
    if record.phases.iter().any(|phase| phase.levels.len() > 1) {
        "Changes of the rate"
    } else {
        "Differences between the runs"
    }
}

/// How much the runs of `phase` vary; `None` of a phase that was run once.
fn total_cv(phase: &Phase) -> Option<f64> {
    let rates = run_rates(phase)?;
    Some(Variation::of(&rates, rates.first()?.confidence)?.total_cv)
}

/// What the runs of `phase` show, without its name; `None` of a phase that was run once.
fn runs(phase: &Phase) -> Option<String> {
    let rates = run_rates(phase)?;
    let confidence = rates.first()?.confidence;
    let variation = Variation::of(&rates, confidence)?;
    let bare: Vec<f64> = rates.iter().map(|run| run.rate).collect();
    let left_out = phase.runs.len() - rates.len();
    let before = match left_out {
        0 => String::new(),
        _ => format!(" after {left_out} warm-up runs"),
    };
    let mut text = format!("{} runs{before}, {}", variation.runs, spread(&variation));
    match variation.runs_needed(WANTED, confidence) {
        Some(runs) if runs > variation.runs => {
            text.push_str(&format!("; an interval of ±5 % needs {runs} runs"));
        }
        Some(_) => text.push_str("; the interval is within ±5 %"),
        None => text.push_str("; more runs cannot give an interval of ±5 %"),
    }
    text.push_str(&standing_out(phase, &bare));
    if let Some(state) = SteadyState::of(&bare) {
        let is = if state.is_steady() { "steady" } else { "not steady" };
        text.push_str(&format!(
            "; the last five runs are {is} (range {}, slope {}; SNIA PTS allows 20 % and 10 %)",
            wording::percent(state.range),
            wording::percent(state.slope)
        ));
    }
    text.push('.');
    Some(text)
}

fn spread(variation: &Variation) -> String {
    match (variation.between_cv, variation.within_cv) {
        (Some(0.0), Some(within)) => format!(
            "the runs differ no more than the uncertainty of one run explains ({})",
            wording::percent(within)
        ),
        (Some(between), Some(within)) => format!(
            "the rate varies by {} from run to run, and the uncertainty of one run is {}",
            wording::percent(between),
            wording::percent(within)
        ),
        _ => format!("the rate varies by {} from run to run", wording::percent(variation.total_cv)),
    }
}

/// The runs that stand out, by their numbers and rates; they are kept in every figure.
fn standing_out(phase: &Phase, rates: &[f64]) -> String {
    let named: Vec<String> = outliers(rates)
        .into_iter()
        .map(|index| {
            format!(
                "run {} ({}) is an outlier and is included",
                index + 1,
                told(phase, rates[index])
            )
        })
        .collect();
    if named.is_empty() { String::new() } else { format!("; {}", named.join(", ")) }
}

/// A rate of `phase` in its unit, from operations or bytes a second.
fn told(phase: &Phase, rate: f64) -> String {
    if is_told_in_iops(phase) { Iops(rate).to_string() } else { Throughput(rate).to_string() }
}

/// The rates of the runs of `phase`, in its unit; `None` of a phase that was run once.
fn run_rates(phase: &Phase) -> Option<Vec<RunRate>> {
    let rate = |estimate: f64, high: f64, confidence: f64| RunRate {
        rate: estimate,
        half_width: Some((high - estimate) / estimate),
        confidence,
    };
    let of_run = |run: &PhaseRun| {
        if is_told_in_iops(phase) {
            run.iops.map(|iops| rate(iops.estimate.0, iops.high.0, iops.confidence))
        } else {
            let bytes = run.throughput_bytes_per_s;
            bytes.map(|bytes| rate(bytes.estimate.0, bytes.high.0, bytes.confidence))
        }
    };
    (phase.runs.len() > 1)
        .then(|| phase.runs.iter().filter(|run| run.counts).map(of_run).collect())?
}
