//! The data that cardproof writes: incompressible, different in every block, and able to say
//! which block it is.
//!
//! Every sector of 512 bytes begins with three scrambled words: its address, its generation (how
//! often the address has been written), and a check of both. The rest is fixed noise that the check
//! word disguises differently in each sector. With the seed, any sector can be asked where it belongs;
//! a device that wraps addresses around, drops writes or returns old data betrays itself. Without the
//! seed it is noise.
//!
//! A block of 4 KiB must cost less than a system call, or the tool would limit fast storage. Hence a
//! table and two operations for each vector of words, instead of a generator for each word. The noise is
//! no secret and passes no test of randomness across sectors; nothing here needs one.

use std::array::from_fn;

use cardproof_io::Filling;
use cardproof_units::{Bytes, Lba, Seed};
use wide::u32x4;

/// The unit in which data identifies itself; no device in use has a smaller block.
pub const SECTOR: Bytes = Bytes(512);

const SECTOR_LENGTH: usize = 512;
const HEADER_LENGTH: usize = 24;
/// What a processor computes at a time: four words, with SSE2 or NEON where it has them. Explicit, because
/// a program that is built for size as a whole gets no vectors from the compiler, not even in a crate
/// that is built for speed: loops become vectors after all crates have been put together.
type Vector = u32x4;
const VECTOR_LANES: usize = 4;
const VECTOR_LENGTH: usize = VECTOR_LANES * 4;
/// The vectors of a row, which is what the keys of a sector disguise at a time.
const VECTORS: usize = 4;
const ROWS: usize = SECTOR_LENGTH / (VECTORS * VECTOR_LENGTH);

/// How often an address has been written before, within one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// What an intact sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorIdentity {
    /// The sector's address, in sectors of 512 bytes.
    pub lba: Lba,
    /// Which write of that address it is.
    pub generation: Generation,
}

/// The data of one run.
#[derive(Clone, Copy, Debug)]
pub struct DataPattern {
    key: u64,
}

impl DataPattern {
    /// The data that follows from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { key: seed.derive("data") }
    }

    /// The data that belong at `offset`, a multiple of [`SECTOR`], as its `generation`, for a target
    /// that fills its buffers itself.
    #[must_use]
    pub fn filling(&self, offset: Bytes, generation: Generation) -> Filling {
        let first = Lba::of_offset(offset, SECTOR).0;
        Filling { numbers: [self.key, first, generation.0], fill: fill_from }
    }

    /// Fills `buffer` with what belongs at `offset`, a multiple of [`SECTOR`], as its `generation`.
    ///
    /// A last part shorter than a sector is filled with that sector's beginning.
    pub fn fill(&self, buffer: &mut [u8], offset: Bytes, generation: Generation) {
        let first = Lba::of_offset(offset, SECTOR).0;
        let keys = keys_of(self.key);
        let (sectors, rest) = buffer.as_chunks_mut::<SECTOR_LENGTH>();
        let lba_after = first + sectors.len() as u64;
        for (lba, sector) in (first..).zip(sectors) {
            self.fill_sector(sector, &keys, SectorIdentity { lba: Lba(lba), generation });
        }
        if !rest.is_empty() {
            let mut whole = [0; SECTOR_LENGTH];
            let identity = SectorIdentity { lba: Lba(lba_after), generation };
            self.fill_sector(&mut whole, &keys, identity);
            rest.copy_from_slice(&whole[..rest.len()]);
        }
    }

    /// What an intact sector says of itself; `None` where a single bit is not as it was written,
    /// or where the sector was written by another run.
    #[must_use]
    pub fn identify(&self, sector: &[u8]) -> Option<SectorIdentity> {
        self.identify_with(&keys_of(self.key), sector)
    }

    fn identify_with(&self, keys: &Keys, sector: &[u8]) -> Option<SectorIdentity> {
        let sector: &[u8; SECTOR_LENGTH] = sector.try_into().ok()?;
        let [address, generation, check] = [0, 8, 16].map(|at| word_at(sector, at));
        if check != self.check_word(address, generation) {
            return None;
        }
        let identity = SectorIdentity {
            lba: Lba(unscramble(address) ^ self.key),
            generation: Generation(unscramble(generation) ^ address),
        };
        let mut expected = [0; SECTOR_LENGTH];
        self.fill_sector(&mut expected, keys, identity);
        (*sector == expected).then_some(identity)
    }

    /// How many bytes of `buffer`, read from `offset`, are in sectors that do not hold, to the last
    /// bit, what was written there, as `generation` or, for `None`, as any.
    #[must_use]
    pub fn wrong_bytes(
        &self,
        buffer: &[u8],
        offset: Bytes,
        generation: Option<Generation>,
    ) -> Bytes {
        let first = Lba::of_offset(offset, SECTOR).0;
        let keys = keys_of(self.key);
        let mut expected = [0; SECTOR_LENGTH];
        let mut wrong = 0;
        for (lba, sector) in (first..).zip(buffer.chunks(SECTOR_LENGTH)) {
            let is_right = if let Some(generation) = generation {
                let identity = SectorIdentity { lba: Lba(lba), generation };
                self.fill_sector(&mut expected, &keys, identity);
                sector == &expected[..sector.len()]
            } else {
                self.identify_with(&keys, sector).is_some_and(|identity| identity.lba == Lba(lba))
            };
            if !is_right {
                wrong += sector.len() as u64;
            }
        }
        Bytes(wrong)
    }

    #[inline]
    fn fill_sector(&self, sector: &mut [u8; SECTOR_LENGTH], keys: &Keys, identity: SectorIdentity) {
        let address = scramble(identity.lba.0 ^ self.key);
        let generation = scramble(identity.generation.0 ^ address);
        let check = self.check_word(address, generation);
        disguise(sector, keys, check);
        let header = [address, generation, check].map(u64::to_le_bytes);
        sector[..HEADER_LENGTH].copy_from_slice(header.as_flattened());
    }

    #[inline]
    fn check_word(&self, address: u64, generation: u64) -> u64 {
        scramble(address.rotate_left(29) ^ generation ^ self.key.rotate_left(32))
    }
}

/// [`DataPattern::fill`] from the numbers of [`DataPattern::filling`].
fn fill_from([key, lba, generation]: [u64; 3], sector: u64, buffer: &mut [u8]) {
    DataPattern { key }.fill(buffer, Lba(lba + sector).offset(SECTOR), Generation(generation));
}

/// The little-endian word at `at`.
fn word_at(sector: &[u8; SECTOR_LENGTH], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// The noise under every sector: the words of a xorshift generator of 64 bits (Marsaglia, "Xorshift
/// RNGs", 2003), multiplied, since its own low bits are weak.
static NOISE: [[Vector; VECTORS]; ROWS] = {
    let mut noise = [[Vector::ZERO; VECTORS]; ROWS];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut number = 0;
    while number < VECTORS * ROWS {
        let mut words = [0; VECTOR_LANES];
        let mut lane = 0;
        while lane < VECTOR_LANES {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words[lane] = (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32;
            lane += 1;
        }
        noise[number / VECTORS][number % VECTORS] = Vector::new(words);
        number += 1;
    }
    noise
};

/// A row takes the keys of its own vectors and those of the vectors after them.
type Keys = [Vector; VECTORS + 1];

/// A multiplier gives two keys, the halves of its product.
const MULTIPLIERS: usize = (VECTORS + 1) * VECTOR_LANES / 2;

/// What makes pairs of keys of one word: the odd multiples of the golden ratio's bits.
const KEY_MULTIPLIERS: [u64; MULTIPLIERS] = {
    let mut multipliers = [0; MULTIPLIERS];
    let mut number = 0;
    while number < multipliers.len() {
        multipliers[number] = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number as u64 + 1);
        number += 1;
    }
    multipliers
};

/// The keys of a run.
fn keys_of(word: u64) -> Keys {
    let pairs = KEY_MULTIPLIERS.map(|multiplier| scramble(word ^ multiplier));
    from_fn(|number| {
        let [first, second] = [pairs[2 * number], pairs[2 * number + 1]];
        Vector::new([first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32])
    })
}

/// Fills a sector with the noise in the disguise of `keys` and of its own `word`. An addition and an
/// exclusive or do not cancel in the difference of two sectors, as either alone would, and the two
/// take different halves of the word, which would cancel in the lowest bit.
#[inline]
fn disguise(sector: &mut [u8; SECTOR_LENGTH], keys: &Keys, word: u64) {
    let [low, high] = [word as u32, (word >> 32) as u32];
    let halves = Vector::new([low, high, low, high]);
    let swapped = Vector::new([high, low, high, low]);
    let own: [Vector; VECTORS] = from_fn(|number| keys[number] ^ halves);
    let further: [Vector; VECTORS] = from_fn(|number| keys[number + 1] ^ swapped);
    let (rows, _) = sector.as_chunks_mut::<VECTOR_LENGTH>().0.as_chunks_mut::<VECTORS>();
    for (row, noise) in rows.iter_mut().zip(&NOISE) {
        for (number, out) in row.iter_mut().enumerate() {
            let words = (noise[number] + own[number]) ^ further[number];
            out.copy_from_slice(words.to_array().map(u32::to_le_bytes).as_flattened());
        }
    }
}

/// A scrambling of 64 bits that can be undone: the finalizer of SplitMix64 (Steele, Lea and
/// Flood, OOPSLA 2014).
#[inline]
fn scramble(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Undoes [`scramble`]: its multipliers' inverses modulo 2^64, its shifts undone in turn.
fn unscramble(word: u64) -> u64 {
    let word = (word ^ (word >> 31) ^ (word >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let word = (word ^ (word >> 27) ^ (word >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    word ^ (word >> 30) ^ (word >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern() -> DataPattern {
        DataPattern::new(Seed::from_bits(42))
    }

    #[test]
    fn a_sector_knows_where_it_belongs() {
        let mut buffer = vec![0; 4096];
        pattern().fill(&mut buffer, Bytes(8192), Generation(7));
        for (number, sector) in (16..).zip(buffer.chunks(512)) {
            let identity = SectorIdentity { lba: Lba(number), generation: Generation(7) };
            assert_eq!(pattern().identify(sector), Some(identity));
        }
        assert_eq!(pattern().wrong_bytes(&buffer, Bytes(8192), Some(Generation(7))), Bytes(0));
        assert_eq!(pattern().wrong_bytes(&buffer, Bytes(8192), None), Bytes(0));
    }

    #[test]
    fn data_made_by_the_target_are_the_same() {
        for length in [512, 4096, 4097, 100] {
            let (mut ours, mut theirs) = (vec![0; length + 1024], vec![1; length]);
            pattern().fill(&mut ours, Bytes(1 << 40), Generation(9));
            let data = pattern().filling(Bytes(1 << 40), Generation(9));
            (data.fill)(data.numbers, 0, &mut theirs);
            assert_eq!(ours[..length], theirs);
            (data.fill)(data.numbers, 2, &mut theirs);
            assert_eq!(ours[1024..], theirs);
        }
    }

    #[test]
    fn displaced_old_and_foreign_data_are_wrong() {
        let mut buffer = vec![0; 4096];
        pattern().fill(&mut buffer, Bytes(8192), Generation(7));
        let all = Bytes(4096);
        assert_eq!(pattern().wrong_bytes(&buffer, Bytes(4096), Some(Generation(7))), all);
        assert_eq!(pattern().wrong_bytes(&buffer, Bytes(4096), None), all);
        assert_eq!(pattern().wrong_bytes(&buffer, Bytes(8192), Some(Generation(8))), all);
        let other = DataPattern::new(Seed::from_bits(43));
        assert_eq!(other.wrong_bytes(&buffer, Bytes(8192), None), all);
        assert_eq!(pattern().wrong_bytes(&[0; 4096], Bytes(0), None), all);
    }

    #[test]
    fn data_does_not_compress_even_across_blocks_and_generations() {
        let mut data = vec![0; 1 << 20];
        let half = data.len() / 2;
        pattern().fill(&mut data[..half], Bytes::ZERO, Generation(0));
        pattern().fill(&mut data[half..], Bytes::ZERO, Generation(1));
        let compressed = miniz_oxide::deflate::compress_to_vec(&data, 9);
        assert!(compressed.len() >= data.len(), "{} of {}", compressed.len(), data.len());
        // Only a sector's scrambled address is the same in each of its generations.
        let mut words: Vec<&[u8]> = data.chunks(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), data.len() / 8 - half / 512, "a word occurs twice");
    }

    #[test]
    fn every_byte_value_is_about_as_frequent() {
        let mut data = vec![0; 1 << 20];
        pattern().fill(&mut data, Bytes::ZERO, Generation(0));
        let mut counts = [0_u32; 256];
        for &byte in &data {
            counts[usize::from(byte)] += 1;
        }
        // 4096 expected, one sigma 64: six sigmas.
        assert!(counts.iter().all(|count| (3712..4480).contains(count)), "{counts:?}");
    }

    proptest::proptest! {
        #[test]
        fn scrambling_can_be_undone(word: u64) {
            proptest::prop_assert_eq!(unscramble(scramble(word)), word);
        }

        #[test]
        fn a_single_wrong_bit_is_found(lba in 0..1_u64 << 40, generation: u64, bit in 0..4096_usize) {
            let mut sector = [0; 512];
            pattern().fill(&mut sector, Lba(lba).offset(SECTOR), Generation(generation));
            sector[bit / 8] ^= 1 << (bit % 8);
            proptest::prop_assert_eq!(pattern().identify(&sector), None);
        }
    }
}
