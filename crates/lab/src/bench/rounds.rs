//! Running contenders in turn and comparing them round by round.

use std::ops::Range;

use anyhow::Result;
use cardproof_testkit::FioResult;

/// What one run of one contender gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Operations a second.
    pub(super) iops: f64,
    /// Processor time in the contender's own code, for each operation, in nanoseconds.
    pub(super) cpu_user_ns: f64,
    /// Processor time with the kernel's part, for each operation, in nanoseconds.
    pub(super) cpu_total_ns: f64,
}

impl From<FioResult> for Sample {
    fn from(result: FioResult) -> Self {
        Self {
            iops: result.iops,
            cpu_user_ns: result.cpu_user_ns_per_op(),
            cpu_total_ns: result.cpu_total_ns_per_op(),
        }
    }
}

/// A contender: each call is one run.
pub(super) type Contender<'lab> = Box<dyn FnMut() -> Result<Sample> + 'lab>;

/// The runs of all contenders, by round; ours is the last contender.
pub(super) struct Rounds {
    /// For each round, one sample for each contender.
    samples: Vec<Vec<Sample>>,
}

/// One quantity of ours against the best of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    /// The median figure of the best of the others.
    pub(super) other: f64,
    /// Our median figure.
    pub(super) ours: f64,
    /// The median of the rounds' ratios, ours to the other's.
    pub(super) ratio: f64,
    /// The lowest and the highest of those ratios.
    pub(super) range: (f64, f64),
}

/// Which way a quantity is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Rounds {
    /// Runs every contender once in each of `count` rounds, forwards and backwards by turns, so
    /// that a machine that grows slower or faster favours nobody.
    pub(super) fn run(contenders: &mut [Contender<'_>], count: usize) -> Result<Self> {
        let mut samples = Vec::with_capacity(count);
        for round in 0..count {
            let mut order: Vec<usize> = (0..contenders.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            let mut row = vec![None; contenders.len()];
            for index in order {
                row[index] = Some(contenders[index]()?);
            }
            samples.push(row.into_iter().flatten().collect());
        }
        Ok(Self { samples })
    }

    /// Compares `quantity` of the last contender with that of the other whose median is best.
    pub(super) fn compare(&self, better: Better, quantity: fn(&Sample) -> f64) -> Comparison {
        let contenders = self.samples.first().map_or(0, Vec::len);
        self.compare_with(0..contenders.saturating_sub(1), better, quantity)
    }

    /// The same with the best of `others` alone.
    pub(super) fn compare_with(
        &self,
        others: Range<usize>,
        better: Better,
        quantity: fn(&Sample) -> f64,
    ) -> Comparison {
        let column = |index: usize| -> Vec<f64> {
            self.samples.iter().map(|round| quantity(&round[index])).collect()
        };
        let ours_index = self.samples.first().map_or(0, |round| round.len().saturating_sub(1));
        let ours = column(ours_index);
        let by_median = |a: &Vec<f64>, b: &Vec<f64>| median(a).total_cmp(&median(b));
        let others = others.map(column);
        let best = match better {
            Better::Higher => others.max_by(by_median),
            Better::Lower => others.min_by(by_median),
        }
        .unwrap_or_default();
        let ratios: Vec<f64> = ours.iter().zip(&best).map(|(ours, other)| ours / other).collect();
        Comparison {
            other: median(&best),
            ours: median(&ours),
            ratio: median(&ratios),
            range: range(&ratios),
        }
    }
}

/// The middle value, or the mean of the two in the middle; not a number for none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The lowest and the highest value.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
        (low.min(value), high.max(value))
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn sample(iops: f64) -> Sample {
        Sample { iops, cpu_user_ns: 1e9 / iops, cpu_total_ns: 2e9 / iops }
    }

    #[test]
    fn the_middle_is_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn contenders_run_forwards_and_backwards_by_turns() {
        let order = RefCell::new(String::new());
        let contender = |name: char| -> Contender<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(sample(1.0))
            })
        };
        Rounds::run(&mut [contender('a'), contender('b')], 3).unwrap();
        assert_eq!(*order.borrow(), "abbaab");
    }

    /// The machine halves its speed half-way; the ratios of the rounds do not care.
    #[test]
    fn ratios_are_taken_within_a_round() {
        let rounds = Rounds {
            samples: vec![
                vec![sample(100.0), sample(90.0), sample(110.0)],
                vec![sample(50.0), sample(45.0), sample(55.0)],
                vec![sample(50.0), sample(45.0), sample(60.0)],
            ],
        };
        let iops = rounds.compare(Better::Higher, |sample| sample.iops);
        assert!((iops.other - 50.0).abs() < 1e-12, "the better of the two others: {iops:?}");
        assert!((iops.ratio - 1.1).abs() < 1e-12, "{iops:?}");
        assert!((iops.range.1 - 1.2).abs() < 1e-12, "{iops:?}");
        let first = rounds.compare_with(0..1, Better::Higher, |sample| sample.iops);
        assert!((first.other - 50.0).abs() < 1e-12, "{first:?}");
        let second = rounds.compare_with(1..2, Better::Higher, |sample| sample.iops);
        assert!((second.other - 45.0).abs() < 1e-12, "{second:?}");
        let cpu = rounds.compare(Better::Lower, |sample| sample.cpu_user_ns);
        assert!((cpu.ratio - 1.0 / 1.1).abs() < 1e-12, "{cpu:?}");
    }
}
