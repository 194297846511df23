//! The form on the medium: a superblock, and batches of blocks with a header each.
//!
//! All numbers are little-endian. A header says where it lies, so that a copy of it elsewhere is no
//! header, and carries a checksum of itself and one of its data.

/// A block in bytes.
pub(crate) const BLOCK_LEN: usize = 4096;

/// The most blocks of data in a batch: with the header a batch is 1 MiB.
pub(crate) const BATCH_MAX: usize = 255;

const BATCH_MAGIC: u64 = u64::from_le_bytes(*b"CPLOGBAT");
const SUPER_MAGIC: u64 = u64::from_le_bytes(*b"CPLOGSUP");

/// The version of the form.
const VERSION: u64 = 1;

/// Where the numbers of the blocks begin in a header.
const NUMBERS_AT: usize = 72;

/// What the superblock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    /// Tells this log from others that lay on the medium before.
    pub(crate) id: u64,
    /// How often the medium was laid out.
    pub(crate) generation: u64,
    /// The blocks of a segment.
    pub(crate) segment_blocks: u32,
    /// How many segments there are, that of the superblock included.
    pub(crate) segments: u32,
    /// How many blocks the log offers.
    pub(crate) logical_blocks: u32,
}

/// The header of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The batches of a log are numbered from 1.
    pub(crate) sequence: u64,
    /// All batches up to this one were durable when this one was made.
    pub(crate) flushed: u64,
    /// The block in which the header lies.
    pub(crate) place: u32,
    /// How often the log had been found again when this was made.
    pub(crate) incarnation: u64,
    /// The first batch of this incarnation: batches of earlier ones from here on do not count.
    pub(crate) base: u64,
    /// The checksum of the data.
    pub(crate) data_sum: u64,
    /// Which block each block of data is.
    pub(crate) numbers: Vec<u32>,
}

fn put(block: &mut [u8], at: usize, value: u64) {
    block[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn get(block: &[u8], at: usize) -> u64 {
    block[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn get_half(block: &[u8], at: usize) -> u32 {
    block[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// A checksum of 64 bits of whole words.
pub(crate) fn checksum(data: &[u8]) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    const MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;
    let mut sum = STEP ^ data.len() as u64;
    for word in data.as_chunks::<8>().0 {
        sum = (sum.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
        sum ^= sum >> 29;
    }
    sum.wrapping_mul(STEP)
}

/// The checksum of a block whose field at `at` counts as zero.
fn sum_without(block: &[u8], at: usize) -> u64 {
    let (before, after) = (&block[..at], &block[at + 8..BLOCK_LEN]);
    checksum(before).rotate_left(7) ^ checksum(after)
}

impl Superblock {
    pub(crate) fn put(&self, block: &mut [u8]) {
        block.fill(0);
        put(block, 0, SUPER_MAGIC);
        put(block, 8, VERSION);
        put(block, 16, self.id);
        put(block, 24, self.generation);
        put(block, 32, u64::from(self.segment_blocks));
        put(block, 40, u64::from(self.segments));
        put(block, 48, u64::from(self.logical_blocks));
        let sum = sum_without(block, 56);
        put(block, 56, sum);
    }

    pub(crate) fn get(block: &[u8]) -> Option<Self> {
        let half = |at| u32::try_from(get(block, at)).ok();
        let is_ours = get(block, 0) == SUPER_MAGIC
            && get(block, 8) == VERSION
            && get(block, 56) == sum_without(block, 56);
        is_ours.then_some(())?;
        Some(Self {
            id: get(block, 16),
            generation: get(block, 24),
            segment_blocks: half(32)?,
            segments: half(40)?,
            logical_blocks: half(48)?,
        })
    }

    /// What the headers of this log carry.
    pub(crate) const fn mark(&self) -> u64 {
        self.id.rotate_left(13) ^ self.generation.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Header {
    pub(crate) fn put(&self, mark: u64, block: &mut [u8]) {
        block.fill(0);
        put(block, 0, BATCH_MAGIC);
        put(block, 8, mark);
        put(block, 16, self.sequence);
        put(block, 24, self.flushed);
        put(block, 32, u64::from(self.place) | (self.numbers.len() as u64) << 32);
        put(block, 40, self.data_sum);
        put(block, 56, self.incarnation);
        put(block, 64, self.base);
        for (number, bytes) in self.numbers.iter().zip(block[NUMBERS_AT..].as_chunks_mut::<4>().0) {
            *bytes = number.to_le_bytes();
        }
        let sum = sum_without(block, 48);
        put(block, 48, sum);
    }

    /// The header in `block`, which lies at `place`, if it is one of the log with this `mark`.
    pub(crate) fn get(mark: u64, place: u32, block: &[u8]) -> Option<Self> {
        let count = get_half(block, 36) as usize;
        let is_ours = get(block, 0) == BATCH_MAGIC
            && get(block, 8) == mark
            && get_half(block, 32) == place
            && count <= BATCH_MAX
            && get(block, 48) == sum_without(block, 48);
        is_ours.then(|| Self {
            sequence: get(block, 16),
            flushed: get(block, 24),
            place,
            data_sum: get(block, 40),
            incarnation: get(block, 56),
            base: get(block, 64),
            numbers: (0..count).map(|index| get_half(block, NUMBERS_AT + 4 * index)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_and_nothing_else_does() {
        let header = Header {
            sequence: 7,
            flushed: 5,
            place: 1025,
            incarnation: 2,
            base: 6,
            data_sum: 99,
            numbers: vec![3, 1, 2],
        };
        let mut block = vec![0; BLOCK_LEN];
        header.put(42, &mut block);
        assert_eq!(Header::get(42, 1025, &block), Some(header));
        assert_eq!(Header::get(42, 1026, &block), None, "a copy elsewhere");
        assert_eq!(Header::get(41, 1025, &block), None, "another log");
        for bit in [0, 70, 150, 200, 300, 330, 400, 450, 520, 600, 32_000] {
            block[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::get(42, 1025, &block), None, "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_superblock_comes_back() {
        let superblock = Superblock {
            id: 1,
            generation: 2,
            segment_blocks: 1024,
            segments: 50,
            logical_blocks: 30_000,
        };
        let mut block = vec![0; BLOCK_LEN];
        superblock.put(&mut block);
        assert_eq!(Superblock::get(&block), Some(superblock));
        block[100] ^= 1;
        assert_eq!(Superblock::get(&block), None);
    }
}
