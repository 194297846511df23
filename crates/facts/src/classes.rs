//! The classes printed on SD cards, and their limits.
//!
//! The limits are those of the SD Association's Physical Layer Specification. How a card is
//! prepared, how many operations are counted and how they are averaged is public in part for the
//! speed classes and not at all for the application classes. So a verdict here is about the
//! limits as measured under cardproof's own stated conditions, and what is known to differ is
//! said with it.

use cardproof_units::{Bytes, Iops, Throughput};

/// The range of addresses that the random limits of the application classes are stated for.
pub const RANDOM_SPAN: Bytes = Bytes::mib(256);

/// The smallest test range whose rates are graded. A smaller one lies in one or two of a card's allocation units (4 MiB
/// and more), which the card may keep open and at hand, so its rates say nothing of the rest. No source; our choice.
pub const GRADED_RANGE_MIN: Bytes = Bytes::mib(16);

/// The block size of the random limits.
pub const RANDOM_BLOCK: Bytes = Bytes::kib(4);

/// The queue depth at which random limits are tested. The public text names none; 32 is what the
/// publicly known checks of these limits use.
pub const RANDOM_QUEUE_DEPTH: u16 = 32;

/// A class that is printed on cards.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// What is printed on the card, in letters and digits: `C10`, `U3`, `V30`, `A1`.
    pub name: &'static str,
    /// The kind of class.
    pub family: Family,
    /// The least rate of writing one block after the other.
    pub sequential_write: Throughput,
    /// The least random rates in blocks of [`RANDOM_BLOCK`]; `None` for the recording classes.
    pub random: Option<RandomRates>,
    /// Whether the limits are stated for a host that uses the card's command queue and cache.
    pub needs_queue_and_cache: bool,
}

/// Random reads and writes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomRates {
    /// Reads a second.
    pub read: Iops,
    /// Writes a second.
    pub write: Iops,
}

/// A kind of class: its purpose, its source, and how its test differs from cardproof's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Speed classes 2 to 10.
    Speed,
    /// UHS speed grades 1 and 3.
    Uhs,
    /// Video speed classes 6 to 90.
    Video,
    /// Application performance classes 1 and 2.
    Application,
}

use Family::{Speed, Uhs, Video};

/// The classes, family by family, in each the least demanding first. MB/s of sequential
/// write.
pub const CLASSES: [Class; 13] = [
    recording("C2", Speed, 2.0),
    recording("C4", Speed, 4.0),
    recording("C6", Speed, 6.0),
    recording("C10", Speed, 10.0),
    recording("U1", Uhs, 10.0),
    recording("U3", Uhs, 30.0),
    recording("V6", Video, 6.0),
    recording("V10", Video, 10.0),
    recording("V30", Video, 30.0),
    recording("V60", Video, 60.0),
    recording("V90", Video, 90.0),
    A1,
    A2,
];

/// Application performance class 1.
pub const A1: Class = application("A1", A1_RATES, false);

/// The least random rates of [`A1`].
pub const A1_RATES: RandomRates = RandomRates { read: Iops(1_500.0), write: Iops(500.0) };

/// Application performance class 2, for a host that uses the card's command queue and cache.
pub const A2: Class = application("A2", A2_RATES, true);

/// The least random rates of [`A2`].
pub const A2_RATES: RandomRates = RandomRates { read: Iops(4_000.0), write: Iops(2_000.0) };

/// The least sequential write of the application classes.
const APPLICATION_WRITE: Throughput = Throughput::from_mb_per_s(10.0);

const fn recording(name: &'static str, family: Family, mb_per_s: f64) -> Class {
    let sequential_write = Throughput::from_mb_per_s(mb_per_s);
    Class { name, family, sequential_write, random: None, needs_queue_and_cache: false }
}

const fn application(
    name: &'static str,
    random: RandomRates,
    needs_queue_and_cache: bool,
) -> Class {
    Class {
        name,
        family: Family::Application,
        sequential_write: APPLICATION_WRITE,
        random: Some(random),
        needs_queue_and_cache,
    }
}

impl Class {
    /// The class printed as `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|class| class.name == name)
    }

    /// Whether each limit of this class is at least as high as that of `other`, so that what misses `other` misses this
    /// one as well. False for a class that a card reaches with its queue and its cache: what it misses without them
    /// says nothing of it.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        let has_rates = match (self.random, other.random) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(least)) => own.read.0 >= least.read.0 && own.write.0 >= least.write.0,
        };
        let is_same_way = !self.needs_queue_and_cache && self.name != other.name;
        is_same_way && has_rates && self.sequential_write.0 >= other.sequential_write.0
    }

    /// Whether it is about running programs, and not about recording alone.
    #[must_use]
    pub fn is_application(&self) -> bool {
        self.family == Family::Application
    }
}

impl Family {
    /// Where the limits are defined.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Speed => "SD Physical Layer Specification 2.0 (C10: 3.0)",
            Self::Uhs => "SD Physical Layer Specification 3.01 (U3: 4.20)",
            Self::Video => "SD Physical Layer Specification 5.0",
            Self::Application => "SD Physical Layer Specification 5.1 (A2: 6.0)",
        }
    }

    /// How the specification's test of this family differs from cardproof's.
    #[must_use]
    pub const fn differs(self) -> &'static str {
        match self {
            Self::Speed => {
                "the test of the specification uses a bus clock of 20 MHz (C10: 40 MHz) and writes of 16 \
                 to 64 KB (C10: 512 KB), and requires the limit in each allocation unit"
            }
            Self::Uhs => {
                "the test of the specification uses a bus clock of 80 MHz (40 MHz DDR) and writes of \
                 512 KB, and requires the limit in each allocation unit"
            }
            Self::Video => "the test procedure of the class is not public",
            Self::Application => "the test procedure of the class is not public",
        }
    }
}
