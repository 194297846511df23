//! One device as it is drawn: its description, and the truth about it.

use cardproof_testkit::Noise;
use cardproof_units::{Bytes, Nanos};

use super::SECTOR;
use super::cells::Numbering;
use super::device::{Device, Pace, Refuses};
use super::flaws::Flaw;
use super::layout::Layout;
use super::reducing::Saves;
use super::store::StoreSpec;
use super::void::Void;

/// What is true of a device, in sectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Truth {
    /// It keeps all that it announces.
    Sound,
    /// It has all that it announces, and this share of it is bad.
    Dying { bad_share: f64 },
    /// It has so many cells and a store of so many sectors besides.
    Fake { real: u64, store: u64 },
    /// It keeps at most so many: a fake, or a dying card that cannot be told from one.
    Ambiguous { real: u64 },
    /// It keeps nothing at all, so that nothing can be known of its capacity.
    KeepsNothing,
}

/// The description of a device. Sizes are in sectors.
#[derive(Clone, Debug)]
pub(crate) struct Specimen {
    pub(crate) announced: u64,
    pub(crate) logical_block: Bytes,
    pub(crate) layout: Layout,
    pub(crate) void: Void,
    pub(crate) refuses: Refuses,
    pub(crate) store: Option<StoreSpec>,
    pub(crate) reducing: Option<(Saves, u64)>,
    pub(crate) read_only: bool,
    pub(crate) never_written: u8,
    pub(crate) flaws: Vec<Flaw>,
    pub(crate) pace: Pace,
    pub(crate) truth: Truth,
}

impl Specimen {
    /// The device, with data as numbers by `numbering`.
    pub(crate) fn open(&self, seed: u64, numbering: Numbering) -> Device {
        Device::new(self, seed, numbering)
    }

    /// The share of the announced addresses that have no cell of their own.
    pub(crate) fn missing_share(&self) -> f64 {
        match self.truth {
            Truth::Fake { real, .. } | Truth::Ambiguous { real } => {
                1.0 - real as f64 / self.announced as f64
            }
            Truth::KeepsNothing => 1.0,
            Truth::Sound | Truth::Dying { .. } => 0.0,
        }
    }
}

/// Capacities as they are printed on cards, in GB.
const SIZES_GB: [u64; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000];

/// The choices of one specimen.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) noise: Noise,
    /// What the device announces, in sectors.
    pub(crate) announced: u64,
}

impl Draw {
    /// A device of a size as it is sold.
    pub(crate) fn new(seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let size = SIZES_GB[noise.below(SIZES_GB.len() as u64) as usize] * 1_000_000_000 / SECTOR;
        // Real cards hold somewhat less or more than is printed on them.
        let announced = (size - noise.below(size / 20)) / 64 * 64;
        Self { noise, announced }
    }

    /// A device of some MiB, of which a test can write every sector.
    #[cfg(test)]
    pub(crate) fn small(seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let announced = 24 * 2048 + noise.below(16 * 2048) / 64 * 64;
        Self { noise, announced }
    }

    /// A number from `low` to `high`, each order of magnitude as likely as the other.
    pub(crate) fn spread(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (low.max(1) as f64, high.max(low).max(1) as f64);
        let share = self.noise.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        (low * (high / low).powf(share)) as u64
    }

    /// One of `choices`, which are not empty.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.noise.below(choices.len() as u64) as usize]
    }

    /// A device that holds all it announces; the parts of a kind are changed from here.
    pub(crate) fn sound(&mut self) -> Specimen {
        Specimen {
            announced: self.announced,
            logical_block: Bytes(SECTOR),
            layout: Layout::OneEdge { real: self.announced },
            void: Void::Same(0),
            refuses: Refuses::default(),
            store: None,
            reducing: None,
            read_only: false,
            never_written: self.pick(&[0, 0, 0xff]),
            flaws: Vec::new(),
            pace: self.pace(),
            truth: Truth::Sound,
        }
    }

    /// How fast it is: from a fast card to one that is slower than USB 1.
    fn pace(&mut self) -> Pace {
        let read_kb_s = self.spread(5_000, 200_000);
        let write_kb_s = self.spread(1_500, 90_000).min(read_kb_s);
        Pace {
            request: Nanos::from_micros(self.spread(60, 2_000)),
            read_sector: Nanos(512_000_000 / read_kb_s),
            write_sector: Nanos(512_000_000 / write_kb_s),
            burst_bytes: 0,
        }
    }

    /// So many sectors that a fake really has: a chip's size or any number.
    pub(crate) fn real(&mut self) -> u64 {
        let announced = self.announced;
        let missing = self.spread(announced / 50, announced / 100 * 98);
        match self.noise.below(3) {
            0 => 1 << (announced / 2).ilog2().saturating_sub(self.noise.below(4) as u32),
            _ => announced - missing,
        }
    }

    /// What is read beyond, for a device with so many cells from address 0 on.
    pub(crate) fn void(&mut self, real: u64) -> Void {
        let seed = self.noise.bits();
        match self.noise.below(6) {
            0 | 1 => Void::Same(0),
            2 => Void::Same(0xff),
            3 => Void::Stale { seed },
            4 => Void::Fresh,
            _ => Void::Others { distance: 1 + self.noise.below(real.max(1)) },
        }
    }
}
