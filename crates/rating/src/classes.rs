//! The application performance classes: what A1 and A2 ask for.
//!
//! The limits are those of the SD Association's Application Performance Class, SD Physical Layer
//! Specification 5.1 (A1) and 6.0 (A2): 4 KiB operations at random addresses of a 256 MiB range,
//! and a sustained sequential write. How a card is prepared, how many operations are counted and
//! how they are averaged is not in the public text, and A2's queue depth is not either. So a
//! verdict here is about the limits as measured under cardproof's own stated conditions.

use std::fmt;

use cardproof_record::{OpName, Phase};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::pick::{self, Figure};

/// The range of addresses that the classes' random limits are stated for.
pub(crate) const CLASS_SPAN: Bytes = Bytes::mib(256);

/// The queue depth at which random limits are tested. The public text names none; 32 is what the
/// publicly known checks of these limits use.
const CLASS_QUEUE_DEPTH: u16 = 32;

/// An application performance class.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// What is printed on the card.
    pub name: &'static str,
    /// What it asks for; all of it must be met.
    pub limits: [Limit; 3],
    /// Whether the limits are stated for a host that uses the card's command queue and cache.
    pub needs_queue_and_cache: bool,
}

/// One thing that a class asks for.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What is measured.
    pub quantity: Quantity,
    /// The least it must reach.
    pub at_least: Rate,
}

/// A class's limits, from its random read, random write (IOPS) and sequential write (MB/s).
const fn limits(read_iops: f64, write_iops: f64, sequential_mb_per_s: f64) -> [Limit; 3] {
    [
        Limit { quantity: Quantity::RandomRead, at_least: Rate::Iops(Iops(read_iops)) },
        Limit { quantity: Quantity::RandomWrite, at_least: Rate::Iops(Iops(write_iops)) },
        Limit {
            quantity: Quantity::SequentialWrite,
            at_least: Rate::Throughput(Throughput::from_mb_per_s(sequential_mb_per_s)),
        },
    ]
}

/// The classes, least demanding first.
pub const CLASSES: [Class; 2] = [
    Class { name: "A1", limits: limits(1_500.0, 500.0, 10.0), needs_queue_and_cache: false },
    Class { name: "A2", limits: limits(4_000.0, 2_000.0, 10.0), needs_queue_and_cache: true },
];

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
                phase.queue_depth.min(CLASS_QUEUE_DEPTH)
            } else {
                CLASS_QUEUE_DEPTH
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
    pub fn figure(self, phase: &Phase) -> Option<Figure> {
        match self {
            Self::RandomRead | Self::RandomWrite => Figure::of_iops(phase),
            Self::SequentialWrite => Figure::of_throughput(phase),
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
