//! Filling a buffer that another processor has just read, and will read again.
//!
//! The kernel copies what is written on another processor as often as not. A plain store into such a
//! buffer first fetches its line from there: on a machine of two cores 1,860 ns for 4 KiB, where
//! stores past the caches take 370. So the data are made in a piece that stays in the first cache and
//! go out from there.

use crate::Filling;

/// Data are made in pieces of this size.
const PIECE: usize = 4096;

/// A line of the caches.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// The unit of [`Filling`].
const SECTOR: usize = 512;

/// Makes data in a piece of memory of its own.
#[derive(Debug)]
pub(crate) struct Filler {
    piece: Box<Piece>,
}

/// A piece that begins with a cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Piece([u8; PIECE]);

impl Filler {
    /// One for each thread that fills.
    pub(crate) fn new() -> Self {
        Self { piece: Box::new(Piece([0; PIECE])) }
    }

    /// Fills `buffer` with the data of `filling`.
    pub(crate) fn fill(&mut self, buffer: &mut [u8], filling: &Filling) {
        let piece = &mut self.piece.0;
        let (pieces, rest) = buffer.as_chunks_mut::<PIECE>();
        let mut sector = 0;
        for out in pieces {
            (filling.fill)(filling.numbers, sector, piece);
            stream(out, piece);
            sector += (PIECE / SECTOR) as u64;
        }
        (filling.fill)(filling.numbers, sector, rest);
        finish();
    }
}

/// Copies `from` to `to` without fetching what was there, where the processor can.
#[cfg(target_arch = "x86_64")]
fn stream(to: &mut [u8; PIECE], from: &[u8; PIECE]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    if to.as_ptr().align_offset(align_of::<__m128i>()) != 0 {
        to.copy_from_slice(from);
        return;
    }
    // A cache line in each round: the loop is not unrolled by the compiler in a program that is built for
    // size as a whole.
    let (lines, _) = to.as_chunks_mut::<LINE>();
    for (to, from) in lines.iter_mut().zip(from.as_chunks::<LINE>().0) {
        let (to, from) = (to.as_mut_ptr().cast::<__m128i>(), from.as_ptr().cast::<__m128i>());
        // SAFETY: both are borrowed arrays of four vectors; the target is aligned to vectors, the load
        // needs no alignment, and SSE2 is part of the architecture.
        unsafe {
            _mm_stream_si128(to, _mm_loadu_si128(from));
            _mm_stream_si128(to.add(1), _mm_loadu_si128(from.add(1)));
            _mm_stream_si128(to.add(2), _mm_loadu_si128(from.add(2)));
            _mm_stream_si128(to.add(3), _mm_loadu_si128(from.add(3)));
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn stream(to: &mut [u8; PIECE], from: &[u8; PIECE]) {
    // Arm's cores stop fetching lines by themselves where whole lines are written one after the other.
    to.copy_from_slice(from);
}

/// What was streamed is in memory before whatever this thread does next.
fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a fence has no precondition, and SSE is part of the architecture.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors that hold their number.
    fn numbered([first, ..]: [u64; 3], sector: u64, buffer: &mut [u8]) {
        for (number, sector) in (first + sector..).zip(buffer.chunks_mut(SECTOR)) {
            sector.fill(number as u8);
        }
    }

    #[test]
    fn pieces_and_what_is_left_over_are_filled_at_any_alignment() {
        let filling = Filling { numbers: [3, 0, 0], fill: numbered };
        for (length, skipped) in [(512, 0), (4096, 0), (4096, 3), (12_288, 16), (10_000, 1)] {
            let mut memory = vec![0xff; length + skipped];
            let buffer = &mut memory[skipped..];
            Filler::new().fill(buffer, &filling);
            let mut expected = vec![0; length];
            numbered([3, 0, 0], 0, &mut expected);
            assert_eq!(buffer, expected, "{length} bytes, {skipped} off");
        }
    }
}
