//! `cargo xtask prove replay-cards`: the simulated cards do the recorded package jobs, and
//! their times stand beside those published of the real ones.
//!
//! The jobs were recorded on another computer and are other jobs than the published ones in size.
//! Two things are fitted, the same for all cards: by how much the published board thinks longer
//! than the recording computer (one number for all jobs), and how large each published job is in
//! units of the recorded one (one number for each). The cards themselves are left as their
//! micro-benchmarks made them, so the order of the cards and their ratios are predictions.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_rating::{PUBLISHED_CARDS, PublishedCard};
use cardproof_record::PhaseState;
use cardproof_runner::{ReplayPlan, replay};
use cardproof_sim::Keeping;
use cardproof_sim::calibration::PUBLISHED;
use cardproof_trace::{SHIPPED, TraceReader, find_shipped};
use cardproof_units::Seed;

use super::{Asked, DependsOn, Proof, Proved};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "replay-cards",
    shows: "the simulated cards doing the recorded jobs, beside the published times",
    document: "docs/design/traces.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[],
    run,
};

/// The times of all shipped traces as recorded, with which replays are compared.
const TIMES: &str = "crates/rating/data/simulated-replays.csv";

/// What stands above them.
const TIMES_HEAD: &str = "\
# The shipped traces replayed on the eight simulated cards, thinking as when they were recorded.
# Written by `cargo xtask prove replay-cards`; the seed is 1, the queue depth 32.
# trace,requests,card,milliseconds
";

/// The factors of thinking that are simulated; between them times are interpolated, since a
/// replay's time is nearly straight in it.
const FACTORS: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0];

/// Fitted factors are sought in steps of this.
const STEP: f64 = 0.05;

/// How far off a time may be.
const WITHIN: f64 = 0.25;

/// Published times that differ by less than this have no order.
const APART: f64 = 1.1;

const CARDS: usize = PUBLISHED.len();

/// A published job and its recorded sibling.
struct PublishedJob {
    trace: &'static str,
    published_s: fn(&PublishedCard) -> f64,
}

const JOBS: [PublishedJob; 3] = [
    PublishedJob {
        trace: "desktop-install",
        published_s: |card| card.desktop_install.as_secs_f64(),
    },
    PublishedJob { trace: "desktop-removal", published_s: |card| card.removal.as_secs_f64() },
    PublishedJob { trace: "desktop-reinstall", published_s: |card| card.reinstall.as_secs_f64() },
];

/// The seconds of one job on one card, for each of [`FACTORS`].
type Curve = [f64; FACTORS.len()];

/// The times of one job on all cards.
struct Times {
    job: &'static PublishedJob,
    curves: [Curve; CARDS],
}

/// What is fitted to all cards together.
struct Fit {
    think: f64,
    scales: [f64; JOBS.len()],
}

/// Replays everything; also writes the times as recorded, which the program carries.
fn run(_: &Asked) -> Result<Proved> {
    let times = JOBS.iter().map(simulate).collect::<Result<Vec<_>>>()?;
    let fit = fit(&times);
    std::fs::write(TIMES, times_as_recorded()?).with_context(|| TIMES.to_owned())?;
    Ok(Proved { tables: tables(&times, &fit)?, holds: true })
}

/// The times of all shipped traces on all cards, the job thinking as it did when it was recorded.
fn times_as_recorded() -> Result<String> {
    let mut out = TIMES_HEAD.to_owned();
    for trace in &SHIPPED {
        let reader = TraceReader::new(trace.bytes)?;
        let requests = reader.header().requests;
        for (card, published) in PUBLISHED_CARDS.iter().zip(&PUBLISHED) {
            let milliseconds = 1e3 * seconds_on(published.card, &reader, 1.0)?;
            writeln!(out, "{},{requests},{},{milliseconds:.0}", trace.name, card.name)?;
        }
    }
    Ok(out)
}

fn simulate(job: &'static PublishedJob) -> Result<Times> {
    let trace = find_shipped(job.trace).context("no such trace")?;
    let reader = TraceReader::new(trace.bytes)?;
    let mut curves = [Curve::default(); CARDS];
    for (curve, published) in curves.iter_mut().zip(&PUBLISHED) {
        for (seconds, think_factor) in curve.iter_mut().zip(FACTORS) {
            *seconds = seconds_on(published.card, &reader, think_factor)?;
        }
        let shown = FACTORS.iter().zip(&*curve);
        let shown: Vec<_> = shown.map(|(factor, s)| format!("{s:.0} s at {factor}")).collect();
        eprintln!("{} on {}, by thinking: {}", job.trace, published.card, shown.join(", "));
    }
    Ok(Times { job, curves })
}

fn seconds_on(card: &str, trace: &TraceReader<'_>, think_factor: f64) -> Result<f64> {
    let seed = Seed::from_bits(1);
    let mut target = cardproof_sim::find(card)?.open(seed, Keeping::Nothing)?;
    let span = target.abilities().size;
    let plan = ReplayPlan { think_factor, queue_depth: 32, span, seed, lay_out: false };
    let never = AtomicBool::new(false);
    let replay = replay(&mut *target, trace, &plan, &mut |_| {}, &never, None);
    ensure!(replay.state == PhaseState::Measured, "{card}: {:?}", replay.state);
    Ok(replay.duration_ns.as_secs_f64())
}

/// The time at `think`, between the two simulated ones around it.
fn at(curve: &Curve, think: f64) -> f64 {
    let right = FACTORS.iter().position(|&factor| factor >= think).unwrap_or(FACTORS.len() - 1);
    let left = right.saturating_sub(1);
    let width = FACTORS[right] - FACTORS[left];
    let part = if width > 0.0 { (think - FACTORS[left]) / width } else { 0.0 };
    curve[left] + part * (curve[right] - curve[left])
}

/// The thinking that leaves the least mean error, each job's scale being the median over the
/// cards.
fn fit(times: &[Times]) -> Fit {
    let steps = (FACTORS[FACTORS.len() - 1] / STEP) as usize;
    let of = |think: f64| {
        let mut scales = [1.0; JOBS.len()];
        for (scale, times) in scales.iter_mut().zip(times) {
            *scale = median_ratio(times, think);
        }
        Fit { think, scales }
    };
    let misfit = |fit: &Fit| -> f64 {
        let of_job = |(times, scale): (&Times, &f64)| -> f64 {
            errors(times, fit.think, *scale).iter().map(|error| error.ln_1p().abs()).sum()
        };
        times.iter().zip(&fit.scales).map(of_job).sum()
    };
    (1..=steps)
        .map(|step| of(STEP * step as f64))
        .min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
        .unwrap_or_else(|| of(1.0))
}

fn median_ratio(times: &Times, think: f64) -> f64 {
    let mut ratios: Vec<f64> = PUBLISHED_CARDS
        .iter()
        .zip(&times.curves)
        .map(|(card, curve)| (times.job.published_s)(card) / at(curve, think))
        .collect();
    ratios.sort_by(f64::total_cmp);
    (ratios[(CARDS - 1) / 2] * ratios[CARDS / 2]).sqrt()
}

/// By how much each card is off, as a part of the published time.
fn errors(times: &Times, think: f64, scale: f64) -> Vec<f64> {
    PUBLISHED_CARDS
        .iter()
        .zip(&times.curves)
        .map(|(card, curve)| scale * at(curve, think) / (times.job.published_s)(card) - 1.0)
        .collect()
}

fn tables(times: &[Times], fit: &Fit) -> Result<String> {
    let mut out = String::new();
    writeln!(
        out,
        "Fitted: the board thinks {:.2} times as long as the recording computer; of the recorded \
         jobs the published\ninstallation is {:.2}, the removal {:.2}, the second installation \
         {:.2}.\n",
        fit.think, fit.scales[0], fit.scales[1], fit.scales[2]
    )?;
    let names: Vec<&str> = times.iter().map(|times| times.job.trace).collect();
    writeln!(out, "| card | {} |\n| --- | ---: | ---: | ---: |", names.join(" | "))?;
    for (index, card) in PUBLISHED_CARDS.iter().enumerate() {
        write!(out, "| {} |", card.name)?;
        for (times, scale) in times.iter().zip(fit.scales) {
            let seconds = scale * at(&times.curves[index], fit.think);
            let published = (times.job.published_s)(card);
            let error = 100.0 * (seconds / published - 1.0);
            write!(out, " {published:.0} s / {seconds:.0} s ({error:+.0} %) |")?;
        }
        writeln!(out)?;
    }
    out.push_str("\n| job | within 25 % | mean error | pairs in order | out of order |\n");
    out.push_str("| --- | ---: | ---: | ---: | --- |\n");
    for (times, scale) in times.iter().zip(fit.scales) {
        write_job(&mut out, times, fit.think, scale)?;
    }
    Ok(out)
}

fn write_job(out: &mut String, times: &Times, think: f64, scale: f64) -> Result<()> {
    let errors = errors(times, think, scale);
    let within = errors.iter().filter(|error| error.abs() <= WITHIN).count();
    let mean = 100.0 * errors.iter().map(|error| error.abs()).sum::<f64>() / CARDS as f64;
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for (a, slower) in PUBLISHED_CARDS.iter().enumerate() {
        for (b, faster) in PUBLISHED_CARDS.iter().enumerate() {
            let published = (times.job.published_s)(slower) / (times.job.published_s)(faster);
            if published <= APART {
                continue;
            }
            all += 1;
            if at(&times.curves[a], think) > at(&times.curves[b], think) {
                right += 1;
            } else {
                wrong.push(format!("{} before {}", slower.name, faster.name));
            }
        }
    }
    let wrong = if wrong.is_empty() { "none".to_owned() } else { wrong.join(", ") };
    let name = times.job.trace;
    writeln!(out, "| {name} | {within} of {CARDS} | {mean:.0} % | {right} of {all} | {wrong} |")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fit is left to the command; here the times without thinking must keep what the models
    /// promise: the slowest cards are the slowest, by far.
    #[test]
    fn the_two_slowest_cards_are_the_slowest() {
        let trace = find_shipped("desktop-removal").unwrap();
        let reader = TraceReader::new(trace.bytes).unwrap();
        let seconds: Vec<f64> =
            PUBLISHED.iter().map(|card| seconds_on(card.card, &reader, 0.0).unwrap()).collect();
        let fastest_of_others = seconds[2..].iter().copied().fold(0.0, f64::max);
        assert!(seconds[0] > seconds[1] && seconds[1] > fastest_of_others, "{seconds:?}");
    }

    #[test]
    fn between_simulated_factors_times_lie_on_a_line() {
        let curve = [10.0, 20.0, 30.0, 40.0, 50.0, 70.0];
        for (think, seconds) in [(0.0, 10.0), (0.5, 15.0), (4.0, 50.0), (5.0, 60.0), (6.0, 70.0)] {
            assert!((at(&curve, think) - seconds).abs() < 1e-9, "{think}");
        }
    }
}
