//! The data that cardproof writes: incompressible, different in every block, and able to say
//! which block it is.
//!
//! Every sector of 512 bytes begins with three scrambled words: its address, its generation (how
//! often the address has been written), and a check of both. The rest is a pseudo-random stream
//! keyed by them. With the seed, any sector can be asked where it belongs; a device that wraps
//! addresses around, drops writes or returns old data betrays itself. Without the seed it is noise.

use cardproof_units::{Bytes, Lba, Seed};

/// The unit in which data identifies itself; no device in use has a smaller block.
pub const SECTOR: Bytes = Bytes(512);

const SECTOR_LENGTH: usize = 512;
const HEADER_LENGTH: usize = 24;
const LANES: usize = 16;

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
    address_key: u64,
    generation_key: u64,
    check_key: u64,
}

impl DataPattern {
    /// The data that follows from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            address_key: seed.derive("data address"),
            generation_key: seed.derive("data generation"),
            check_key: seed.derive("data check"),
        }
    }

    /// Fills `buffer` with what belongs at `offset`, a multiple of [`SECTOR`], as its `generation`.
    ///
    /// A last part shorter than a sector is filled with that sector's beginning.
    pub fn fill(&self, buffer: &mut [u8], offset: Bytes, generation: Generation) {
        let first = Lba::of_offset(offset, SECTOR).0;
        for (lba, sector) in (first..).zip(buffer.chunks_mut(SECTOR_LENGTH)) {
            let identity = SectorIdentity { lba: Lba(lba), generation };
            match sector.try_into() {
                Ok(whole) => self.fill_sector(whole, identity),
                Err(_) => {
                    let mut whole = [0; SECTOR_LENGTH];
                    self.fill_sector(&mut whole, identity);
                    let length = sector.len();
                    sector.copy_from_slice(&whole[..length]);
                }
            }
        }
    }

    /// What an intact sector says of itself; `None` where a single bit is not as it was written,
    /// or where the sector was written by another run.
    #[must_use]
    pub fn identify(&self, sector: &[u8]) -> Option<SectorIdentity> {
        let sector: &[u8; SECTOR_LENGTH] = sector.try_into().ok()?;
        let [address, generation, check] = [0, 8, 16].map(|at| word_at(sector, at));
        if check != self.check_word(address, generation) {
            return None;
        }
        let identity = SectorIdentity {
            lba: Lba(unscramble(address) ^ self.address_key),
            generation: Generation(unscramble(generation) ^ address ^ self.generation_key),
        };
        let mut expected = [0; SECTOR_LENGTH];
        self.fill_sector(&mut expected, identity);
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
        let mut expected = [0; SECTOR_LENGTH];
        let mut wrong = 0;
        for (lba, sector) in (first..).zip(buffer.chunks(SECTOR_LENGTH)) {
            let is_right = if let Some(generation) = generation {
                self.fill_sector(&mut expected, SectorIdentity { lba: Lba(lba), generation });
                sector == &expected[..sector.len()]
            } else {
                self.identify(sector).is_some_and(|identity| identity.lba == Lba(lba))
            };
            if !is_right {
                wrong += sector.len() as u64;
            }
        }
        Bytes(wrong)
    }

    fn fill_sector(&self, sector: &mut [u8; SECTOR_LENGTH], identity: SectorIdentity) {
        let address = scramble(identity.lba.0 ^ self.address_key);
        let generation = scramble(identity.generation.0 ^ address ^ self.generation_key);
        let check = self.check_word(address, generation);
        stream(sector, check);
        let header = [address, generation, check].map(u64::to_le_bytes);
        sector[..HEADER_LENGTH].copy_from_slice(header.as_flattened());
    }

    fn check_word(&self, address: u64, generation: u64) -> u64 {
        scramble(address.rotate_left(29) ^ generation ^ self.check_key)
    }
}

/// The little-endian word at `at`.
fn word_at(sector: &[u8; SECTOR_LENGTH], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Fills a sector with a stream keyed by `key`: sixteen xorshift generators of 32 bits side by
/// side (Marsaglia, "Xorshift RNGs", 2003), a shape that compilers turn into vector instructions
/// and that needs no wide multiplication on small processors.
fn stream(sector: &mut [u8; SECTOR_LENGTH], key: u64) {
    let (low, high) = (key as u32, (key >> 32) as u32);
    let mut lanes = [0_u32; LANES];
    for (number, lane) in (1_u32..).zip(&mut lanes) {
        let start = low.wrapping_add(high.wrapping_mul(number.wrapping_mul(0x9e37_79b9) | 1));
        // A xorshift generator never leaves zero.
        *lane = (start ^ (start >> 15)).wrapping_mul(0x2c1b_3c6d) | 1;
    }
    for row in sector.chunks_exact_mut(LANES * 4) {
        for (lane, out) in lanes.iter_mut().zip(row.chunks_exact_mut(4)) {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 17;
            *lane ^= *lane << 5;
            out.copy_from_slice(&lane.wrapping_add(high).to_le_bytes());
        }
    }
}

/// A scrambling of 64 bits that can be undone: the finalizer of SplitMix64 (Steele, Lea and
/// Flood, OOPSLA 2014).
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
