//! Which sectors each numbered write covers: it follows from the seed and the number alone.

use std::ops::Range;

use cardproof_units::{Bytes, Seed};

use super::stamp::{SECTOR, Stamp, mix};

/// How many blocks the place of one write has.
const PLACE_BLOCKS: u64 = 16;

/// The fewest blocks of one write: with two of them a write can be torn.
const WRITE_BLOCKS_MIN: u64 = 2;

const SECTOR_BYTES: u64 = SECTOR as u64;

/// A plan of writes in an area: its middle is written again and again, and the data in front of it
/// and behind it stay as they were laid down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    run: u64,
    /// The first sector of the area.
    start: u64,
    /// The sectors of the area.
    sectors: u64,
    /// The sectors in front of those that are written again and again.
    front: u64,
    /// The places of writes in the middle, a power of two.
    places: u64,
    /// The sectors of a block.
    block: u64,
    /// The writes of an epoch.
    epoch_writes: u64,
}

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// From 1.
    pub number: u64,
    /// From 1: the flush that ends epoch `n` is the `n`th.
    pub epoch: u64,
    /// Its first sector on the target.
    pub sector: u64,
    /// How many sectors it covers.
    pub sectors: u64,
}

/// An area in which no plan fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The area is too small.
    #[error("{size} are too few for this test; it needs {needed}")]
    TooSmall {
        /// The size of the area.
        size: Bytes,
        /// The smallest size that fits the test.
        needed: Bytes,
    },
    /// The block size is no multiple of 512 bytes.
    #[error("blocks of {0} are no multiple of 512 bytes")]
    Block(Bytes),
}

impl Request {
    /// The sectors on the target.
    #[must_use]
    pub const fn range(&self) -> Range<u64> {
        self.sector..self.sector + self.sectors
    }

    /// Where it begins on the target.
    #[must_use]
    pub const fn offset(&self) -> Bytes {
        Bytes(self.sector * SECTOR_BYTES)
    }

    /// How long it is.
    #[must_use]
    pub const fn length(&self) -> Bytes {
        Bytes(self.sectors * SECTOR_BYTES)
    }
}

impl Plan {
    /// A plan for `size` bytes of a target from `start` on, whose logical block is `block`, with
    /// `epoch_writes` writes between two flushes (at least 1). `seed` decides every address.
    ///
    /// # Errors
    /// The area is too small, or the block is no multiple of a sector.
    pub fn new(
        seed: Seed,
        start: Bytes,
        size: Bytes,
        block: Bytes,
        epoch_writes: u32,
    ) -> Result<Self, PlanError> {
        if block == Bytes::ZERO || !block.is_multiple_of(Bytes(SECTOR_BYTES)) {
            return Err(PlanError::Block(block));
        }
        let epoch_writes = u64::from(epoch_writes.max(1));
        let place = PLACE_BLOCKS * block.get();
        let places_needed = epoch_writes.next_power_of_two().max(2);
        let needed = Bytes(4 * places_needed * place);
        if size < needed {
            return Err(PlanError::TooSmall { size, needed });
        }
        let half = size.get() / 2 / place;
        // The largest power of two in half of the area.
        let places = 1 << half.ilog2();
        let whole = size.get() / block.get() * block.get();
        let margin = (whole - places * place) / 2 / block.get() * block.get();
        Ok(Self {
            run: seed.derive("power cut"),
            start: start.get() / SECTOR_BYTES,
            sectors: whole / SECTOR_BYTES,
            front: margin / SECTOR_BYTES,
            places,
            block: block.get() / SECTOR_BYTES,
            epoch_writes,
        })
    }

    /// The sectors of the area on the target.
    #[must_use]
    pub const fn area(&self) -> Range<u64> {
        self.start..self.start + self.sectors
    }

    /// The sectors of the area that are written again and again.
    #[must_use]
    pub const fn written(&self) -> Range<u64> {
        let first = self.start + self.front;
        first..first + self.places * PLACE_BLOCKS * self.block
    }

    /// How many writes an epoch has.
    #[must_use]
    pub const fn epoch_writes(&self) -> u64 {
        self.epoch_writes
    }

    /// The longest write.
    #[must_use]
    pub const fn length_max(&self) -> Bytes {
        Bytes(PLACE_BLOCKS * self.block * SECTOR_BYTES)
    }

    /// The epoch of the write `number`; 0 for the data laid down before the first.
    #[must_use]
    pub const fn epoch_of(&self, number: u64) -> u64 {
        number.div_ceil(self.epoch_writes)
    }

    /// The write `number`, from 1. No two writes of an epoch overlap.
    #[must_use]
    pub const fn request(&self, number: u64) -> Request {
        let epoch = self.epoch_of(number);
        let of_epoch = mix(self.run ^ mix(epoch));
        // An odd step meets every place of a power of two of them before it returns.
        let step = (of_epoch >> 32) | 1;
        let turn = (number.saturating_sub(1)) % self.epoch_writes;
        let place = of_epoch.wrapping_add(turn.wrapping_mul(step)) & (self.places - 1);
        let random = mix(self.run.wrapping_add(mix(number ^ self.run.rotate_left(17))));
        let blocks = WRITE_BLOCKS_MIN + random % (PLACE_BLOCKS - WRITE_BLOCKS_MIN + 1);
        let first = (random >> 32) % (PLACE_BLOCKS - blocks + 1);
        Request {
            number,
            epoch,
            sector: self.start + self.front + (place * PLACE_BLOCKS + first) * self.block,
            sectors: blocks * self.block,
        }
    }

    /// Fills `data` with the write `request`, or with a part of the area where its number is 0.
    pub fn fill(&self, request: &Request, data: &mut [u8]) {
        let (sectors, _) = data.as_chunks_mut::<SECTOR>();
        for (sector, address) in sectors.iter_mut().zip(request.range()) {
            let Request { number, epoch, .. } = *request;
            Stamp { run: self.run, sector: address, number, epoch }.fill(sector);
        }
    }

    /// A part of the area as it is laid down before the first write.
    #[must_use]
    pub const fn ground(&self, sector: u64, sectors: u64) -> Request {
        Request { number: 0, epoch: 0, sector, sectors }
    }

    /// Whether `stamp` is of this plan and of a write that covers its sector.
    pub(super) fn made(&self, stamp: &Stamp) -> bool {
        stamp.run == self.run
            && (stamp.number == 0 || self.request(stamp.number).range().contains(&stamp.sector))
    }

    /// The run that this plan's sectors name.
    #[must_use]
    pub const fn run(&self) -> u64 {
        self.run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_an_epoch_never_overlap_and_stay_in_the_middle() {
        for (seed, size, block, writes) in
            [(1, 1 << 20, 512, 8), (2, 3_000_000, 512, 32), (3, 4 << 20, 4096, 5)]
        {
            let block = Bytes(block);
            let plan = Plan::new(Seed::from_bits(seed), Bytes::mib(3), Bytes(size), block, writes)
                .unwrap();
            let (area, written) = (plan.area(), plan.written());
            assert!(area.start < written.start && written.end < area.end);
            for epoch in 0..500 {
                let mut ranges: Vec<_> = (1..=u64::from(writes))
                    .map(|turn| plan.request(epoch * u64::from(writes) + turn).range())
                    .collect();
                ranges.sort_by_key(|range| range.start);
                assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
                assert!(ranges.iter().all(|r| written.start <= r.start && r.end <= written.end));
            }
        }
    }

    #[test]
    fn epochs_end_after_their_writes() {
        let plan =
            Plan::new(Seed::from_bits(1), Bytes::ZERO, Bytes::mib(1), Bytes(512), 4).unwrap();
        let epochs: Vec<u64> = [0, 1, 4, 5, 8, 9].map(|number| plan.epoch_of(number)).to_vec();
        assert_eq!(epochs, [0, 1, 1, 2, 2, 3]);
        assert_eq!(plan.request(5).epoch, 2);
    }

    #[test]
    fn an_area_too_small_is_an_error_that_names_the_size() {
        let tiny = Plan::new(Seed::from_bits(1), Bytes::ZERO, Bytes::kib(8), Bytes(512), 4);
        assert!(tiny.unwrap_err().to_string().contains("128 KiB"));
    }
}
