//! What jobs write into files.
//!
//! No two blocks are alike, so that nothing can be stored once for many. Of compressible contents
//! 55 % of each block of 4 KiB is noise and the rest is one byte repeated, which every compressor
//! folds to almost nothing: so a file system or controller that compresses saves what it would save
//! of a real system's files, of which Debian's archives are about two fifths.

use cardproof_units::{Bytes, Seed};

use super::op::Contents;
use cardproof_workload::{DataPattern, Generation};

/// The unit in which compressible contents are mixed.
const BLOCK: usize = 4096;

/// How much of it is noise: 55 %, in whole sectors.
const NOISE: usize = 2304;

/// What stands in the rest.
const REST: u8 = b' ';

/// The contents of one job's files.
#[derive(Clone, Debug)]
pub struct JobData {
    pattern: DataPattern,
    /// Where in an endless stream of noise the next write begins.
    position: Bytes,
}

impl JobData {
    /// The contents that follow from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { pattern: DataPattern::new(seed), position: Bytes::ZERO }
    }

    /// Fills `buffer` with what comes next.
    pub fn fill(&mut self, buffer: &mut [u8], contents: Contents) {
        match contents {
            Contents::Incompressible => self.noise(buffer),
            Contents::Compressible => {
                for block in buffer.chunks_mut(BLOCK) {
                    let noise = NOISE.min(block.len() * NOISE / BLOCK);
                    let (noisy, plain) = block.split_at_mut(noise);
                    self.noise(noisy);
                    plain.fill(REST);
                }
            }
        }
    }

    fn noise(&mut self, buffer: &mut [u8]) {
        self.pattern.fill(buffer, self.position, Generation(0));
        let length = (buffer.len() as u64).next_multiple_of(cardproof_workload::SECTOR.get());
        self.position = Bytes(self.position.get().wrapping_add(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed_to(contents: Contents) -> f64 {
        let mut data = vec![0; 1 << 18];
        let mut source = JobData::new(Seed::from_bits(5));
        data.chunks_mut(32 << 10).for_each(|piece| source.fill(piece, contents));
        miniz_oxide::deflate::compress_to_vec(&data, 6).len() as f64 / data.len() as f64
    }

    #[test]
    fn contents_compress_as_stated() {
        let half = compressed_to(Contents::Compressible);
        assert!((0.55..0.60).contains(&half), "{half}");
        assert!(compressed_to(Contents::Incompressible) > 0.99);
    }

    #[test]
    fn no_two_blocks_are_alike_and_the_seed_decides() {
        let mut source = JobData::new(Seed::from_bits(5));
        let (mut first, mut second) = ([0; 700], [0; 700]);
        source.fill(&mut first, Contents::Compressible);
        source.fill(&mut second, Contents::Compressible);
        assert_ne!(first, second);
        JobData::new(Seed::from_bits(5)).fill(&mut second, Contents::Compressible);
        assert_eq!(first, second);
    }
}
