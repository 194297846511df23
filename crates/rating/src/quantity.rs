//! What a class limits: a quantity, found in a record by what a phase does, and a rate in its unit.

use std::fmt;

use cardproof_facts::{Class, RANDOM_BLOCK, RANDOM_QUEUE_DEPTH};
use cardproof_record::{OpName, Phase};
use cardproof_units::{Iops, Throughput};

use crate::pick::{self, BoundedRate};

/// One thing that a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassLimit {
    /// What is measured.
    pub quantity: Quantity,
    /// The least it must reach.
    pub at_least: Rate,
}

/// The limits of `class`; all of them must be met.
#[must_use]
pub fn limits_of(class: &Class) -> Vec<ClassLimit> {
    let random = class.random.map(|rates| {
        [
            ClassLimit { quantity: Quantity::RandomRead, at_least: Rate::Iops(rates.read) },
            ClassLimit { quantity: Quantity::RandomWrite, at_least: Rate::Iops(rates.write) },
        ]
    });
    let sequential = ClassLimit {
        quantity: Quantity::SequentialWrite,
        at_least: Rate::Throughput(class.sequential_write),
    };
    random.into_iter().flatten().chain([sequential]).collect()
}

impl ClassLimit {
    /// The data that must cross the bus in a second for this limit to be reached.
    pub(crate) fn needs(self) -> Throughput {
        match self.at_least {
            Rate::Iops(iops) => Throughput(iops.0 * RANDOM_BLOCK.as_f64()),
            Rate::Throughput(throughput) => throughput,
        }
    }
}

/// What a limit is about, found in a record by the phase's characteristics, never by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// 4 KiB reads at random addresses, 32 in flight.
    RandomRead,
    /// 4 KiB writes at random addresses, 32 in flight, without a flush after each.
    RandomWrite,
    /// Writes one after the other, in blocks of at least 512 KiB.
    SequentialWrite,
}

/// The figure on which verdicts on `phase` rest, where that is another than the phase's own: its
/// interval stays valid although the phase can end early, and it leaves out the start of the phase
/// and, of sequential writes, the first half. `None` where verdicts rest on the phase's own figure, or
/// none rests on it.
#[must_use]
pub fn rate_for_verdicts(phase: &Phase) -> Option<BoundedRate> {
    let all = [Quantity::RandomRead, Quantity::RandomWrite, Quantity::SequentialWrite];
    let quantity = all.into_iter().find(|quantity| quantity.is_measured_by(phase))?;
    let figure = quantity.figure(phase)?;
    let own = match quantity {
        Quantity::RandomRead | Quantity::RandomWrite => BoundedRate::of_iops(phase),
        Quantity::SequentialWrite => BoundedRate::of_throughput(phase),
    };
    (own != Some(figure)).then_some(figure)
}

impl Quantity {
    /// In words, such as `4 KiB random read`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::RandomRead => "4 KiB random read",
            Self::RandomWrite => "4 KiB random write",
            Self::SequentialWrite => "sequential write",
        }
    }

    /// Whether `phase` measures this. A phase that was to have more in flight than its target took
    /// does as well: less in flight can only lower its figure.
    #[must_use]
    pub fn is_measured_by(self, phase: &Phase) -> bool {
        let at_random = |op| {
            let queue_depth = if pick::is_depth_reduced(phase) {
                phase.queue_depth.min(RANDOM_QUEUE_DEPTH)
            } else {
                RANDOM_QUEUE_DEPTH
            };
            pick::is_random_4k(phase, op, queue_depth) && !pick::is_synced(phase)
        };
        match self {
            Self::RandomRead => at_random(OpName::Read),
            Self::RandomWrite => at_random(OpName::Write),
            Self::SequentialWrite => pick::is_sequential(phase, OpName::Write),
        }
    }

    /// The figure of `phase` in this quantity's unit; `None` where it has none that is sound.
    #[must_use]
    pub fn figure(self, phase: &Phase) -> Option<BoundedRate> {
        match self {
            Self::RandomRead | Self::RandomWrite => BoundedRate::of_iops_at_any_time(phase),
            Self::SequentialWrite => BoundedRate::of_throughput_at_any_time(phase),
        }
    }
}

impl Quantity {
    /// The figure of the parts of `phase` that nothing disturbed, in this quantity's unit.
    pub(crate) fn undisturbed_figure(self, phase: &Phase) -> Option<BoundedRate> {
        let iops = phase.undisturbed?.iops;
        match self {
            Self::RandomRead | Self::RandomWrite => BoundedRate::in_operations(iops),
            Self::SequentialWrite => BoundedRate::in_blocks(iops, phase.block_size_bytes),
        }
    }
}

/// A rate in the unit in which its limit is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Operations a second.
    Iops(Iops),
    /// Bytes a second.
    Throughput(Throughput),
}

impl Rate {
    /// The bare number, in operations or bytes a second. Compare only what has one unit.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        match self {
            Self::Iops(iops) => iops.0,
            Self::Throughput(throughput) => throughput.0,
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iops(iops) => iops.fmt(f),
            Self::Throughput(throughput) => throughput.fmt(f),
        }
    }
}
