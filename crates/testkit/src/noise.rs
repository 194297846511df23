//! Bytes and numbers without pattern, from a seed: for filling images and choosing moments.
//!
//! The generator is xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
//! generators, scrambled", 2016). It is kept apart from cardproof's own generator so that a
//! test never checks that one against itself.

/// A reproducible stream of noise.
#[derive(Clone, Debug)]
pub struct Noise(u64);

impl Noise {
    /// The stream of `seed`; zero is taken as one, which the generator needs.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut noise = Self(seed.max(1));
        // Small seeds have few bits set, and so have the first numbers after them.
        for _ in 0..16 {
            noise.bits();
        }
        noise
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 up to but not including `end`; 0 where `end` is 0. The bias towards low
    /// numbers is below `end` in 2^64.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits().checked_rem(end).unwrap_or(0)
    }

    /// Overwrites `bytes` with noise.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            let noise = self.bits().to_le_bytes();
            word.copy_from_slice(&noise[..word.len()]);
        }
    }
}

/// A seed from the clock, for tests that explore; they print it so that a failure can be had
/// again by setting `CARDPROOF_TEST_SEED`.
#[must_use]
pub fn exploring_seed() -> u64 {
    let given = std::env::var("CARDPROOF_TEST_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |since| u64::from(since.subsec_nanos()) | 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_stream_and_another_seed_another() {
        let numbers = |seed| {
            let mut noise = Noise::new(seed);
            [noise.bits(), noise.bits(), noise.bits()]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn every_byte_of_a_buffer_is_filled() {
        let mut seen = [false; 13];
        let mut noise = Noise::new(1);
        for _ in 0..64 {
            let mut bytes = [0; 13];
            noise.fill(&mut bytes);
            bytes.iter().zip(&mut seen).for_each(|(&byte, seen)| *seen |= byte != 0);
        }
        assert!(seen.iter().all(|&seen| seen), "{seen:?}");
    }
}
