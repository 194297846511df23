//! A sector of 512 bytes that carries the number, the address, the epoch and the seed of the write
//! that it belongs to, and a checksum over all of it.

/// The unit in which data are made and compared, in bytes.
pub const SECTOR: usize = 512;

/// The words of 8 bytes in a sector.
const WORDS: usize = SECTOR / 8;

/// The first word of every sector: `CPPWRCUT` in ASCII.
const MAGIC: u64 = u64::from_le_bytes(*b"CPPWRCUT");

/// An odd constant whose multiples are spread evenly (2^64 divided by the golden ratio).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A multiplier of the mixing function (from the finalizer of MurmurHash3, public domain).
const MULTIPLIER: u64 = 0xff51_afd7_ed55_8ccd;

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The run that wrote it.
    pub run: u64,
    /// Where it was written, in sectors from the start of the target.
    pub sector: u64,
    /// The number of its write; 0 for the data laid down before the first write.
    pub number: u64,
    /// The flush epoch of its write; 0 for the data laid down before the first write.
    pub epoch: u64,
}

impl Stamp {
    /// Makes the sector: the fields, a body that looks random, and the checksum.
    pub fn fill(self, sector: &mut [u8; SECTOR]) {
        let (words, _) = sector.as_chunks_mut::<8>();
        let head = [MAGIC, self.run, self.sector, self.number, self.epoch];
        for (word, value) in words.iter_mut().zip(head) {
            *word = value.to_le_bytes();
        }
        let mut state = mix(self.run ^ mix(self.sector.wrapping_add(STEP)))
            .wrapping_add(self.number.wrapping_mul(STEP));
        for word in &mut words[head.len()..WORDS - 1] {
            state = state.wrapping_add(STEP);
            *word = mix(state).to_le_bytes();
        }
        let sum = checksum(&words[..WORDS - 1]);
        words[WORDS - 1] = sum.to_le_bytes();
    }

    /// The stamp on `sector`; `None` where the checksum does not hold for all of it.
    #[must_use]
    pub fn of(sector: &[u8; SECTOR]) -> Option<Self> {
        let (words, _) = sector.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let is_whole = word(0) == MAGIC && word(WORDS - 1) == checksum(&words[..WORDS - 1]);
        is_whole.then(|| Self { run: word(1), sector: word(2), number: word(3), epoch: word(4) })
    }
}

/// A checksum of 64 bits; two different contents share one by accident once in 2^64.
fn checksum(words: &[[u8; 8]]) -> u64 {
    words.iter().fold(STEP, |sum, word| {
        mix(sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_add(STEP)
    })
}

/// Spreads each bit of `state` over the whole word.
pub(super) const fn mix(mut state: u64) -> u64 {
    state ^= state >> 32;
    state = state.wrapping_mul(MULTIPLIER);
    state ^= state >> 29;
    state = state.wrapping_mul(STEP);
    state ^ (state >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_is_found() {
        let stamp = Stamp { run: 7, sector: 1 << 33, number: 12, epoch: 3 };
        let mut sector = [0; SECTOR];
        stamp.fill(&mut sector);
        assert_eq!(Stamp::of(&sector), Some(stamp));
        for bit in 0..SECTOR * 8 {
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Stamp::of(&sector), None, "bit {bit}");
            sector[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn half_of_one_write_and_half_of_another_is_no_sector() {
        let stamp = Stamp { run: 7, sector: 9, number: 12, epoch: 3 };
        let (mut new, mut old) = ([0; SECTOR], [0; SECTOR]);
        stamp.fill(&mut new);
        Stamp { number: 4, epoch: 1, ..stamp }.fill(&mut old);
        new[256..].copy_from_slice(&old[256..]);
        assert_eq!(Stamp::of(&new), None);
    }
}
