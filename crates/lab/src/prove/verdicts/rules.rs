//! The ways to come to a verdict that are compared, each on the same made-up card.
//!
//! Cardproof's is the program's own: its runner, its profile, its rules. The others are given the
//! rates of the same runner, so that they differ by their rules alone.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use cardproof_record::{Interval, Outcome, Phase, Record};
use cardproof_runner::{Plan, Silent, run};
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Ends, Profile, TimeLimit, standard};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::card::Card;
use super::class::Class;

/// What a rule said, and after how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    /// The phase that took longest to be decided, or the one that was missed; in seconds.
    pub(super) deciding_s: f64,
    /// From the start, the laying out included.
    pub(super) whole_s: f64,
    /// What was written on top of the laid-out range.
    pub(super) extra_written: Bytes,
}

/// Cardproof's profile and rules.
pub(super) fn cardproof(card: &Card, class: &Class) -> Result<Answer> {
    let record = measure(card, class, class.profile(), 0)?;
    let verdicts = cardproof_rating::judge(&record);
    let verdict = verdicts.iter().find(|verdict| verdict.rule == class.name);
    let outcome = verdict.context("no verdict on the class")?.outcome;
    let laid_out = record.phases.first().map_or(Bytes::ZERO, |phase| phase.bytes);
    let seconds = |phase: &Phase| phase.duration_ns.as_secs_f64();
    let random = record.phases.iter().skip(1).filter(|phase| phase.ops > 0);
    let missed =
        record.phases.iter().rfind(|phase| phase.ops > 0).filter(|_| outcome == Outcome::Misses);
    let longest = random.map(seconds).fold(0.0, f64::max);
    Ok(Answer {
        outcome,
        deciding_s: missed.map_or(longest, seconds),
        whole_s: record.phases.iter().map(seconds).sum(),
        extra_written: record.bytes_written.saturating_sub(laid_out),
    })
}

/// Runs `profile` on a fresh card.
fn measure(card: &Card, class: &Class, profile: Profile, number: u64) -> Result<Record> {
    let mut target = card.target(number)?;
    let plan = Plan {
        seed: Seed::from_bits(number),
        span_offset: Bytes::ZERO,
        span: standard::SPAN,
        time_budget: profile.time_budget,
        profile,
    };
    Ok(run(&mut target, &plan, class.draft(), &mut Silent, &AtomicBool::new(false)))
}

/// The rates of a long run from which the simpler rules draw: the laying out, then 60 s of random
/// writes, then 60 s of random reads.
pub(super) struct Long(Record);

/// How long the simpler rules may look at random operations.
const LONG: Nanos = Nanos::from_secs(60);

impl Long {
    pub(super) fn measure(card: &Card, class: &Class) -> Result<Self> {
        let mut profile = class.profile();
        for phase in &mut profile.phases {
            let is_random = phase.queue_depth > 2;
            phase.ends = Ends {
                time: if is_random { TimeLimit::Fixed(LONG) } else { TimeLimit::None },
                bytes: phase.ends.bytes.filter(|_| !is_random),
                decision: None,
                ..phase.ends
            };
        }
        Ok(Self(measure(card, class, profile, 1)?))
    }

    /// The operations of each whole second of a phase.
    fn seconds(&self, phase: usize) -> Vec<f64> {
        let intervals = self.0.phases.get(phase).map_or(&[][..], |phase| &phase.intervals);
        let mut seconds = Vec::new();
        for interval in intervals {
            add(&mut seconds, interval);
        }
        // The last second is not whole.
        seconds.pop();
        seconds
    }

    /// The seconds of the laying out, the random writes and the random reads, each in parts of
    /// its limit.
    fn in_limits(&self, class: &Class) -> [Vec<f64>; 3] {
        let sequential = class.sequential / 524_288.0;
        [(0, sequential), (1, class.writes), (2, class.reads)]
            .map(|(phase, limit)| self.seconds(phase).into_iter().map(|ops| ops / limit).collect())
    }

    /// An interval of Student's t over samples of one second, taken as independent, looked at every
    /// second from the fifth on until it leaves the limit, at 99 %.
    pub(super) fn naive(&self, class: &Class) -> Answer {
        let mut answer = Answer {
            outcome: Outcome::Meets,
            deciding_s: 0.0,
            whole_s: 0.0,
            extra_written: Bytes::ZERO,
        };
        for (index, seconds) in self.in_limits(class).iter().enumerate() {
            let (outcome, time_s) = naive_limit(seconds);
            let takes_s = if index == 0 { seconds.len() as f64 } else { time_s };
            answer.whole_s += if outcome == Outcome::Misses { time_s } else { takes_s };
            answer.deciding_s = if index == 0 { 0.0 } else { answer.deciding_s.max(time_s) };
            match outcome {
                Outcome::Meets => {}
                Outcome::Misses => return Answer { outcome, deciding_s: time_s, ..answer },
                _ => answer.outcome = outcome,
            }
        }
        answer
    }

    /// Four tests of 30 s, sequential and random, reading and writing; each mean against its
    /// limit.
    pub(super) fn mfst(&self, class: &Class) -> Answer {
        let met = self
            .in_limits(class)
            .iter()
            .all(|seconds| mean(&seconds[..seconds.len().min(30)]) >= 1.0);
        Answer {
            outcome: if met { Outcome::Meets } else { Outcome::Misses },
            deciding_s: 30.0,
            whole_s: 120.0,
            extra_written: Bytes::ZERO,
        }
    }

    /// Raspberry Pi's SD Card Speed Test: a pass of sequential writing with at least 10,000 KiB/s,
    /// 10 s of random writes, 10 s of random reads; passes when any of three runs does. The runs
    /// are taken from one after the other of the long run's stretches of ten seconds, the
    /// sequential writing from the second half of the laying out, as another pass comes before it.
    pub(super) fn agnostics(&self, class: &Class) -> Answer {
        let [sequential, writes, reads] = self.in_limits(class);
        let sequential_s = sequential.len() as f64;
        let fast_enough =
            mean(&sequential[sequential.len() / 2..]) >= 10_000.0 * 1024.0 / class.sequential;
        // Preparing, writing and reading the file, and twice ten seconds.
        let run_s = 2.0 * sequential_s + 0.5 * sequential_s + 20.0;
        let passes = |run: usize| {
            let ten = |seconds: &[f64]| {
                seconds.get(10 * run..10 * run + 10).is_some_and(|ten| mean(ten) >= 1.0)
            };
            fast_enough && ten(&writes) && ten(&reads)
        };
        let passed = (0..3).find(|&run| passes(run));
        let runs = passed.map_or(3, |run| run + 1) as f64;
        Answer {
            outcome: if passed.is_some() { Outcome::Meets } else { Outcome::Misses },
            deciding_s: 10.0 * runs,
            whole_s: run_s * runs,
            extra_written: Bytes::ZERO,
        }
    }
}

/// Adds an interval to the second in which it began.
fn add(seconds: &mut Vec<f64>, interval: &Interval) {
    let second = (interval.start_ns.get() / 1_000_000_000) as usize;
    seconds.resize(seconds.len().max(second + 1), 0.0);
    seconds[second] += interval.ops as f64;
}

/// What the naive interval says of one limit, and after how many seconds.
fn naive_limit(seconds: &[f64]) -> (Outcome, f64) {
    for count in 5..=seconds.len() {
        let sample = &seconds[..count];
        let (mean, freedom) = (mean(sample), count as f64 - 1.0);
        let variance = sample.iter().map(|ops| (ops - mean).powi(2)).sum::<f64>() / freedom;
        let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { continue };
        let half = student.inverse_cdf(0.995) * (variance / count as f64).sqrt();
        if mean - half >= 1.0 {
            return (Outcome::Meets, count as f64);
        }
        if mean + half < 1.0 {
            return (Outcome::Misses, count as f64);
        }
    }
    (Outcome::Undecided, seconds.len() as f64)
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len().max(1) as f64
}

#[cfg(test)]
impl Long {
    /// How far the rates are from the card's truth, as parts of it: reads, writes, sequential. A
    /// fast cache that fills up within the writes makes theirs meaningless here.
    pub(super) fn errors(&self, card: &Card) -> [f64; 3] {
        let rate = |phase: usize, from: usize| {
            let seconds = self.seconds(phase);
            mean(&seconds[seconds.len().min(from)..])
        };
        let half = self.seconds(0).len() / 2 + 1;
        let truth = card.truth;
        [
            rate(2, 0) / truth.reads - 1.0,
            rate(1, 0) / truth.writes - 1.0,
            rate(0, half) * 524_288.0 / truth.sequential - 1.0,
        ]
    }
}
