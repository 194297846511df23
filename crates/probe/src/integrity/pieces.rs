//! The pieces of data that a queue is tested with: where they lie, and what is known of each.

use cardproof_evidence::capacity::stamp::Stamp;
use cardproof_units::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::PlanError;

/// The unit of addresses and lengths, in bytes: no device in use has larger logical blocks.
pub(super) const UNIT: u64 = 4096;

/// The longest piece, in bytes.
pub(super) const LENGTH_MAX: u64 = 128 << 10;

/// So many pieces, where there is room.
const PIECES_MAX: u64 = 2048;

/// Fewer say nothing of a queue.
const PIECES_MIN: u64 = 64;

/// The lengths of pieces in units, each as often as it stands here: mostly short, as small writes are what a
/// queue is for, and some as long as those of a file that is copied.
const LENGTHS: [u64; 20] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 32];

/// The mean length of a piece, in bytes.
pub(super) const LENGTH_MEAN: u64 = 74 * UNIT / 20;

/// What is known of a piece's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Written, and not read since.
    Fresh,
    /// Read rightly since it was written.
    Read,
    /// Read rightly after a flush that followed its write: it may be overwritten.
    Settled,
    /// Never written, or discarded: it may hold anything.
    Empty,
}

/// A piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// How often it was written.
    pub(super) generation: u32,
    pub(super) known: Known,
    /// A request to it is under way.
    pub(super) is_busy: bool,
    /// The number of the flush that makes its write durable.
    pub(super) needs_flush: u64,
}

impl Piece {
    /// A piece of `length` units, `unit` units from the start, which nobody has written.
    const fn new(unit: u64, length: u64) -> Self {
        Self {
            offset: unit * UNIT,
            length: length * UNIT,
            generation: 0,
            known: Known::Empty,
            is_busy: false,
            needs_flush: 0,
        }
    }

    /// The stamp of its first sector.
    pub(super) const fn stamp(&self, salt: u64) -> Stamp {
        Stamp { salt, address_bytes: self.offset, generation: self.generation }
    }

    /// Whether its data have to be read before it is overwritten.
    pub(super) const fn is_unsettled(&self) -> bool {
        matches!(self.known, Known::Fresh | Known::Read)
    }
}

/// How many pieces go into `span`.
pub(super) fn count_in(span: Bytes) -> Result<u64, PlanError> {
    let count = (span.get() / LENGTH_MAX).min(PIECES_MAX) / 2 * 2;
    if count < PIECES_MIN {
        return Err(PlanError::TooSmall { size: span, needed: Bytes(PIECES_MIN * LENGTH_MAX) });
    }
    Ok(count)
}

/// `count` pieces in `span`, an even number, in pairs: one pair at a random place of each of its equal parts. The
/// second of a pair begins where the first ends, since neighbours share pages of the flash.
pub(super) fn lay_out(span: Bytes, count: u64, seed: u64) -> Vec<Piece> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let part_units = span.get() / UNIT / (count / 2);
    let mut pieces = Vec::new();
    for pair in 0..count / 2 {
        let lengths =
            [0; 2].map(|_: u64| LENGTHS[(random.next_u64() % LENGTHS.len() as u64) as usize]);
        let room = part_units - lengths.iter().sum::<u64>() + 1;
        let unit = pair * part_units + random.next_u64() % room;
        pieces.push(Piece::new(unit, lengths[0]));
        pieces.push(Piece::new(unit + lengths[0], lengths[1]));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_apart_and_within_the_span() {
        for span in [Bytes::mib(8), Bytes(9 * 1024 * 1024 + 4096), Bytes::gib(64)] {
            let count = count_in(span).unwrap();
            let pieces = lay_out(span, count, 7);
            assert_eq!(pieces.len() as u64, count);
            for pair in pieces.windows(2) {
                assert!(pair[0].offset + pair[0].length <= pair[1].offset, "{span}");
            }
            let last = pieces.last().unwrap();
            assert!(last.offset + last.length <= span.get(), "{span}");
            let bytes: u64 = pieces.iter().map(|piece| piece.length).sum();
            let ratio = bytes as f64 / (count * LENGTH_MEAN) as f64;
            assert!((0.6..1.5).contains(&ratio), "{ratio}");
            let touch = |pair: &[Piece]| pair[0].offset + pair[0].length == pair[1].offset;
            assert!(pieces.chunks(2).all(touch), "neighbours touch");
        }
        assert!(count_in(Bytes::mib(7)).is_err());
    }
}
