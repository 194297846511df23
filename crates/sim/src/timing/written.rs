//! Which pages hold something: one bit a page, 32 KiB for each GiB of card.

use crate::model::PAGE;

const PAGE_BYTES: u64 = PAGE.get();

/// The pages that were written and not discarded since.
#[derive(Debug)]
pub(crate) struct WrittenPages {
    words: Vec<u64>,
}

impl WrittenPages {
    /// A card of `capacity` bytes with nothing on it.
    pub(crate) fn new(capacity: u64) -> Self {
        let pages = capacity.div_ceil(PAGE_BYTES);
        Self { words: vec![0; pages.div_ceil(64) as usize] }
    }

    /// Marks every page that the range touches as written.
    pub(crate) fn mark(&mut self, offset: u64, length: u64) {
        let first = offset / PAGE_BYTES;
        let end = (offset + length).div_ceil(PAGE_BYTES);
        self.each_word(first, end, |word, mask| *word |= mask);
    }

    /// Marks every page that lies wholly inside the range as empty; returns how many bytes of pages
    /// were not.
    pub(crate) fn clear(&mut self, offset: u64, length: u64) -> u64 {
        let first = offset.div_ceil(PAGE_BYTES);
        let end = (offset + length) / PAGE_BYTES;
        let mut pages = 0;
        self.each_word(first, end, |word, mask| {
            pages += u64::from((*word & mask).count_ones());
            *word &= !mask;
        });
        pages * PAGE_BYTES
    }

    /// Whether any page that the range touches is written.
    pub(crate) fn any(&mut self, offset: u64, length: u64) -> bool {
        let first = offset / PAGE_BYTES;
        let end = (offset + length).div_ceil(PAGE_BYTES);
        let mut found = false;
        self.each_word(first, end, |word, mask| found |= *word & mask != 0);
        found
    }

    /// Hands every word that has bits of pages `first..end`, with a mask of those bits, to `act`.
    fn each_word(&mut self, first: u64, end: u64, mut act: impl FnMut(&mut u64, u64)) {
        let mut page = first;
        // Nearly every request lies in one word.
        if first < end && first / 64 == (end - 1) / 64 {
            let mask = (u64::MAX >> (64 - (end - first))) << (first % 64);
            if let Some(word) = self.words.get_mut((first / 64) as usize) {
                act(word, mask);
            }
            return;
        }
        while page < end {
            let bit = page % 64;
            let count = (64 - bit).min(end - page);
            let mask = (u64::MAX >> (64 - count)) << bit;
            if let Some(word) = self.words.get_mut((page / 64) as usize) {
                act(word, mask);
            }
            page += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_marked_and_cleared_whole() {
        let mut pages = WrittenPages::new(1 << 20);
        assert!(!pages.any(0, 1 << 20));
        pages.mark(5000, 512);
        assert!(!pages.any(0, 4096) && pages.any(4096, 512) && !pages.any(8192, 1 << 18));
        assert_eq!(pages.clear(4096, 2048), 0);
        assert!(pages.any(4096, 4096), "half a page is not cleared");
        pages.mark(60 * 4096, 80 * 4096);
        assert!(pages.any(63 * 4096, 512) && pages.any(139 * 4096, 512));
        assert!(!pages.any(140 * 4096, 4096) && !pages.any(59 * 4096, 4096));
        assert_eq!(pages.clear(0, 1 << 20), 81 * 4096);
        assert!(!pages.any(0, 1 << 20));
    }
}
