//! Cleaning: what is still needed of a segment moves to the end of the log, and the segment is free.
//!
//! A segment is taken only when the medium itself says that all of its batches are durable, and it
//! is free only when what was moved is durable. So a power cut at any moment finds each block at its
//! old place or at its new one.

use cardproof_io::Target;

use crate::form::{BATCH_MAX, BLOCK_LEN};
use crate::layer::LogLayout;
use crate::{BLOCK, LogError};

/// Cleaning begins when fewer segments than this are free.
const FREE_MIN: usize = 3;

impl<T: Target> LogLayout<T> {
    /// Cleans until enough segments are free, or none can be won.
    pub(crate) fn clean(&mut self) -> Result<(), LogError> {
        while self.map.free_segments() < FREE_MIN {
            let mut victim = self.map.emptiest(self.recorded);
            let is_worth = |segment: u32, layout: &Self| {
                layout.map.live(segment) + 8 < layout.superblock.segment_blocks
            };
            if victim.is_none_or(|segment| !is_worth(segment, self))
                && self.recorded < self.sequence
            {
                self.record_durable()?;
                victim = self.map.emptiest(self.recorded);
            }
            let Some(segment) = victim.filter(|segment| is_worth(*segment, self)) else {
                return Ok(());
            };
            self.empty(segment)?;
        }
        Ok(())
    }

    /// Makes the medium say that all batches so far are durable: by a batch without blocks.
    fn record_durable(&mut self) -> Result<(), LogError> {
        self.make_durable()?;
        self.write_batch(&[], |_, _| ())?;
        self.make_durable()
    }

    fn empty(&mut self, segment: u32) -> Result<(), LogError> {
        let held = self.map.held(segment);
        let mut rest = &held[..];
        while !rest.is_empty() {
            let most = BATCH_MAX.min(self.map.room() as usize - 1).min(rest.len());
            let (part, later) = rest.split_at(most);
            self.move_blocks(part)?;
            rest = later;
        }
        self.make_durable()?;
        self.map.release(segment);
        self.counts.cleaned_segments += 1;
        Ok(())
    }

    /// Reads the blocks of `part`, given with their ascending places, and writes them to the log.
    fn move_blocks(&mut self, part: &[(u32, u32)]) -> Result<(), LogError> {
        let mut data = Vec::with_capacity(part.len() * BLOCK_LEN);
        let mut rest = part;
        while let Some(&(_, first)) = rest.first() {
            let together =
                rest.iter().zip(first..).take_while(|((_, place), next)| place == next).count();
            data.extend_from_slice(self.inner.read(first, together as u32)?);
            rest = &rest[together..];
        }
        self.counts.moved += BLOCK * part.len() as u64;
        let numbers: Vec<u32> = part.iter().map(|(number, _)| *number).collect();
        self.write_batch(&numbers, |block, into| {
            into.copy_from_slice(&data[block * BLOCK_LEN..(block + 1) * BLOCK_LEN]);
        })
    }
}
