//! Which request comes next.

use cardproof_io::OpKind;
use rand_core::Rng;

use super::{Exerciser, Known};

/// How often a piece is drawn before whatever was drawn last is taken.
const DRAWS_MAX: usize = 64;

/// One in so many pieces that may be overwritten is discarded.
const DISCARD_PART: u64 = 16;

/// After one in so many writes, the neighbouring piece is written next, as a file is written.
const NEIGHBOUR_PART: u64 = 4;

impl Exerciser<'_> {
    /// Mostly the full depth, sometimes any.
    pub(super) fn depth_of(&mut self, most: u16) -> u16 {
        if most <= 2 || !self.random.next_u64().is_multiple_of(4) {
            return most;
        }
        2 + (self.random.next_u64() % u64::from(most - 1)) as u16
    }

    pub(super) fn draw(&mut self, range: std::ops::Range<u64>) -> u64 {
        range.start + self.random.next_u64() % (range.end - range.start)
    }

    /// The next request: a piece that has to be read is read, one that may be overwritten is.
    pub(super) fn choose(&mut self, discards: bool) -> (OpKind, usize) {
        if self.random.next_u64().is_multiple_of(3)
            && let Some(piece) = self.take_soon()
            && !self.pieces[piece].is_busy
            && self.pieces[piece].known == Known::Fresh
        {
            return (OpKind::Read, piece);
        }
        if let Some(piece) = self.neighbour.take()
            && !self.pieces[piece].is_busy
            && matches!(self.pieces[piece].known, Known::Empty | Known::Settled)
        {
            return (OpKind::Write, piece);
        }
        let mut drawn = 0;
        for _ in 0..DRAWS_MAX {
            drawn = (self.random.next_u64() % self.pieces.len() as u64) as usize;
            let piece = &self.pieces[drawn];
            if piece.is_busy {
                continue;
            }
            match piece.known {
                Known::Empty => return self.write_of(drawn),
                Known::Settled
                    if discards && self.random.next_u64().is_multiple_of(DISCARD_PART) =>
                {
                    return (OpKind::Discard, drawn);
                }
                Known::Settled => return self.write_of(drawn),
                _ if self.flushes_done >= piece.needs_flush => return (OpKind::Read, drawn),
                Known::Fresh if self.random.next_u64().is_multiple_of(4) => {
                    return (OpKind::Read, drawn);
                }
                Known::Fresh | Known::Read => {}
            }
        }
        // Everything waits for a flush: a read more does no harm.
        let idle = (0..self.pieces.len())
            .map(|step| (drawn + step) % self.pieces.len())
            .find(|&piece| !self.pieces[piece].is_busy && self.pieces[piece].known != Known::Empty);
        (OpKind::Read, idle.unwrap_or(drawn))
    }

    /// A write of `piece`, and sometimes one of its neighbour to follow: pieces lie in pairs.
    fn write_of(&mut self, piece: usize) -> (OpKind, usize) {
        let is_pair = self.random.next_u64().is_multiple_of(NEIGHBOUR_PART);
        self.neighbour = is_pair.then_some(piece ^ 1);
        (OpKind::Write, piece)
    }

    /// One of the latest writes, the very latest as often as all the others.
    fn take_soon(&mut self) -> Option<usize> {
        if self.random.next_u64().is_multiple_of(2) {
            return self.soon.pop_back();
        }
        let chosen = self.random.next_u64().checked_rem(self.soon.len() as u64)?;
        self.soon.remove(chosen as usize)
    }
}
