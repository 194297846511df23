//! Test sectors that name themselves: each of 512 bytes carries its address, its generation and
//! the run it belongs to, and the rest follows from these three.
//!
//! A sector that reads back with another sector's stamp proves that two addresses share one place.
//! The rest of the sector looks random, so that nothing can compress it or keep it once for two
//! addresses, and every bit of it is compared.

/// The unit in which test data are made and compared, in bytes.
pub const SECTOR: usize = 512;

/// An odd constant whose multiples are spread evenly (2^64 divided by the golden ratio).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A multiplier of the mixing function (from the finalizer of MurmurHash3, public domain).
const MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;

/// The words of 8 bytes in a sector before the part that looks random.
const HEAD_WORDS: usize = 3;

/// What a test sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The run that wrote it; two runs share it by accident once in 2^64.
    pub salt: u64,
    /// Where it was written, in bytes from the start of the target.
    pub address_bytes: u64,
    /// Which writing of the run it was, from 1.
    pub generation: u32,
}

impl Stamp {
    /// The stamp `sectors` further on.
    #[must_use]
    pub const fn further(self, sectors: u64) -> Self {
        Self { address_bytes: self.address_bytes + sectors * SECTOR as u64, ..self }
    }

    /// Fills whole sectors of `data`: the first with this stamp, the others with those that follow.
    /// Bytes after the last whole sector are left alone.
    pub fn fill(self, data: &mut [u8]) {
        let (sectors, _) = data.as_chunks_mut::<SECTOR>();
        for (number, sector) in sectors.iter_mut().enumerate() {
            self.further(number as u64).fill_sector(sector);
        }
    }

    /// The stamp on `sector`, whose body may be damaged; `None` where the head is not a stamp.
    #[must_use]
    pub fn on(sector: &[u8; SECTOR]) -> Option<Self> {
        let (words, _) = sector.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let stamp = Self { salt: word(0), address_bytes: word(1), generation: word(2) as u32 };
        (word(2) >> 32 == u64::from(stamp.check())).then_some(stamp)
    }

    /// The stamp on `sector` if every bit of it is as this stamp makes it.
    #[must_use]
    pub fn of_whole(sector: &[u8; SECTOR]) -> Option<Self> {
        let stamp = Self::on(sector)?;
        (stamp.wrong_bits(sector) == 0).then_some(stamp)
    }

    /// How many bits of `sector` differ from what this stamp makes.
    #[must_use]
    pub fn wrong_bits(self, sector: &[u8; SECTOR]) -> u32 {
        let mut right = [0; SECTOR];
        self.fill_sector(&mut right);
        if right == *sector {
            return 0;
        }
        // Words, not bytes: not every processor has an instruction that counts bits.
        let (found, _) = sector.as_chunks::<8>();
        let (right, _) = right.as_chunks::<8>();
        let wrong = |(found, right): (&[u8; 8], &[u8; 8])| {
            (u64::from_ne_bytes(*found) ^ u64::from_ne_bytes(*right)).count_ones()
        };
        found.iter().zip(right).map(wrong).sum()
    }

    fn fill_sector(self, sector: &mut [u8; SECTOR]) {
        let (words, _) = sector.as_chunks_mut::<8>();
        words[0] = self.salt.to_le_bytes();
        words[1] = self.address_bytes.to_le_bytes();
        let last = u64::from(self.generation) | u64::from(self.check()) << 32;
        words[2] = last.to_le_bytes();
        let mut state = self.key();
        for word in &mut words[HEAD_WORDS..] {
            state = state.wrapping_add(STEP);
            *word = mix(state).to_le_bytes();
        }
    }

    /// A check of the head, so that random data pass for a stamp once in 2^32.
    fn check(self) -> u32 {
        (mix(self.key()) >> 32) as u32
    }

    fn key(self) -> u64 {
        let place = mix(self.address_bytes.wrapping_add(STEP));
        mix(self.salt ^ place).wrapping_add(u64::from(self.generation).wrapping_mul(STEP))
    }
}

/// Spreads each bit of `state` over the whole word.
const fn mix(mut state: u64) -> u64 {
    state ^= state >> 32;
    state = state.wrapping_mul(MULTIPLIER);
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { salt: 77, address_bytes: 1 << 40, generation: 3 };

    #[test]
    fn sectors_name_themselves() {
        let mut data = [0; 3 * SECTOR];
        STAMP.fill(&mut data);
        let (sectors, _) = data.as_chunks::<SECTOR>();
        for (number, sector) in sectors.iter().enumerate() {
            assert_eq!(Stamp::of_whole(sector), Some(STAMP.further(number as u64)));
        }
    }

    #[test]
    fn one_wrong_bit_is_seen_anywhere() {
        for byte in 0..SECTOR {
            let mut data = [0; SECTOR];
            STAMP.fill(&mut data);
            data[byte] ^= 0x10;
            assert_eq!(STAMP.wrong_bits(&data), 1, "byte {byte}");
            assert_eq!(Stamp::of_whole(&data), None, "byte {byte}");
        }
    }

    #[test]
    fn blank_and_foreign_sectors_carry_no_stamp() {
        assert_eq!(Stamp::on(&[0; SECTOR]), None);
        assert_eq!(Stamp::on(&[0xff; SECTOR]), None);
        assert_eq!(Stamp::on(&[0xa5; SECTOR]), None);
    }

    #[test]
    fn sectors_share_no_words() {
        let mut words = std::collections::HashSet::new();
        for sector in 0..200 {
            let mut data = [0; SECTOR];
            STAMP.further(sector).fill(&mut data);
            words.extend(data.as_chunks::<8>().0[1..].to_vec());
        }
        assert_eq!(words.len(), 200 * 63, "a compressor finds nothing twice");
    }
}
