//! What the single rates of the table do not tell: where a rate changed, and what several runs show.

use std::fmt;

use cardproof_rating::wording;
use cardproof_record::{Level, Phase, PhaseRun, Record};
use cardproof_stats::{RunRate, SteadyState, Variation, outliers};
use cardproof_units::{Iops, Throughput};

use crate::clean::one_line;
use crate::shared;
use cardproof_rating::{FELT_PAUSE, is_told_in_iops};

/// The precision that people ask for, as a part of the rate.
const WANTED: f64 = 0.05;

/// One sentence for each change of a rate, and for each phase that was run several times.
pub(crate) fn course(record: &Record) -> Vec<String> {
    let changes = record.phases.iter().flat_map(changes);
    let runs = record.phases.iter().filter_map(|phase| {
        Some(format!("{}: {}", one_line(&phase.name), Runs::from_phase(phase)?))
    });
    changes.chain(runs).collect()
}

/// The same in short: of phases whose runs show the same but for the figures, those of one.
pub(crate) fn course_in_short(record: &Record) -> Vec<String> {
    let changes = record.phases.iter().flat_map(changes);
    // The phase that varies most stands for the others.
    let mut runs: Vec<Runs<'_>> = record.phases.iter().filter_map(Runs::from_phase).collect();
    runs.sort_by(|a, b| b.variation.total_cv.total_cmp(&a.variation.total_cv));
    let told = runs.into_iter().map(|runs| {
        let message = runs.to_string();
        (Some(one_line(&runs.phase.name)), runs, message)
    });
    changes.chain(shared::said_once(told, Runs::is_like, record)).collect()
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

/// What the runs of one phase show.
struct Runs<'r> {
    phase: &'r Phase,
    rates: Vec<f64>,
    variation: Variation,
    /// The runs at its start that do not count.
    left_out: usize,
    /// The runs that the wanted precision takes, if runs can give it.
    needed: Option<usize>,
    steady: Option<SteadyState>,
}

impl<'r> Runs<'r> {
    /// `None` of a phase that was run once.
    fn from_phase(phase: &'r Phase) -> Option<Self> {
        let rates = run_rates(phase)?;
        let confidence = rates.first()?.confidence;
        let variation = Variation::new(&rates, confidence)?;
        let needed = variation.runs_needed(WANTED, confidence);
        let left_out = phase.runs.len() - rates.len();
        let rates: Vec<f64> = rates.iter().map(|run| run.rate).collect();
        let steady = SteadyState::new(&rates);
        Some(Self { phase, rates, variation, left_out, needed, steady })
    }

    /// Whether `other` shows the same, figures aside.
    fn is_like(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }

    fn shape(&self) -> impl PartialEq {
        let Variation { between_cv, within_cv, runs, .. } = self.variation;
        let is_steady = self.steady.as_ref().map(SteadyState::is_steady);
        let spread = (between_cv.map(|between| between > 0.0), within_cv.is_some());
        let is_enough = self.needed.map(|needed| needed > runs);
        (spread, self.left_out > 0, is_enough, outliers(&self.rates).len(), is_steady)
    }
}

impl fmt::Display for Runs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs", self.variation.runs)?;
        if self.left_out > 0 {
            write!(f, " after {} warm-up runs", self.left_out)?;
        }
        write!(f, ", {}", spread(&self.variation))?;
        match self.needed {
            Some(runs) if runs > self.variation.runs => {
                write!(f, "; an interval of ±5 % needs {runs} runs")?;
            }
            Some(_) => f.write_str("; the interval is within ±5 %")?,
            None => f.write_str("; more runs cannot give an interval of ±5 %")?,
        }
        f.write_str(&standing_out(self.phase, &self.rates))?;
        if let Some(state) = &self.steady {
            let is = if state.is_steady() { "steady" } else { "not steady" };
            write!(
                f,
                "; the last five runs are {is} (range {}, slope {}; SNIA PTS allows 20 % and 10 %)",
                wording::percent(state.range),
                wording::percent(state.slope)
            )?;
        }
        f.write_str(".")
    }
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

/// How often and how long the storage stood still.
pub(crate) fn pauses_in_words(record: &Record) -> String {
    let Some(stalls) = cardproof_rating::stalls(record) else { return String::new() };
    match stalls.count {
        0 if stalls.longest < FELT_PAUSE => {
            format!("it never stood still for {FELT_PAUSE} or more")
        }
        0 => format!("one write took {}", stalls.longest),
        1 => format!("it stood still once, for {} (limit {FELT_PAUSE})", stalls.longest),
        count => format!(
            "it stood still {count} times, for up to {} (limit {FELT_PAUSE}); in one test, {:.0} % of the time",
            stalls.longest,
            100.0 * stalls.share_max
        ),
    }
}
