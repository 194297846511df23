//! Which pages have lost data.

/// The unit in which pages are counted, in bytes.
pub(super) const PAGE: u64 = 4096;

/// The pages of a span that are bad, as a set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadPages {
    words: Vec<u64>,
    count: u64,
}

impl BadPages {
    /// None of `pages`.
    #[must_use]
    pub fn none(pages: u64) -> Self {
        Self { words: vec![0; pages.div_ceil(64) as usize], count: 0 }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the page `number` is one.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds the page `number`; whether it was not there.
    pub fn add(&mut self, number: u64) -> bool {
        let Some(word) = self.words.get_mut((number / 64) as usize) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += u64::from(is_new);
        is_new
    }

    /// Takes the page `number` out again.
    pub(super) fn remove(&mut self, number: u64) {
        if self.has(number) {
            self.words[(number / 64) as usize] &= !(1 << (number % 64));
            self.count -= 1;
        }
    }

    /// The parts of `length` bytes at `offset` that hold no bad page, as (offset, length).
    pub(super) fn good_parts(&self, offset: u64, length: u64) -> Vec<(u64, u64)> {
        let end = offset + length;
        let pages = offset / PAGE..end.div_ceil(PAGE);
        if self.count == 0 || !pages.clone().any(|page| self.has(page)) {
            return vec![(offset, length)];
        }
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for page in pages {
            if self.has(page) {
                continue;
            }
            let from = (page * PAGE).max(offset);
            let to = ((page + 1) * PAGE).min(end);
            match parts.last_mut() {
                Some((start, length)) if *start + *length == from => *length += to - from,
                _ => parts.push((from, to - from)),
            }
        }
        parts
    }
}

/// Numbers in any order as stretches (first, count), in order.
pub(super) fn stretches(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        match stretches.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => stretches.push((number, 1)),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_parts_leave_bad_pages_out() {
        let mut bad = BadPages::none(16);
        assert!(bad.add(2) && bad.add(3) && !bad.add(3) && bad.add(7));
        assert_eq!(bad.count(), 3);
        assert_eq!(bad.good_parts(0, 8 * PAGE), [(0, 2 * PAGE), (4 * PAGE, 3 * PAGE)]);
        assert_eq!(bad.good_parts(2 * PAGE, 2 * PAGE), []);
        assert_eq!(bad.good_parts(512, 1024), [(512, 1024)]);
        assert!(!bad.add(1000), "outside");
        bad.remove(7);
        bad.remove(8);
        assert_eq!((bad.count(), bad.has(7)), (2, false));
    }

    #[test]
    fn neighbours_are_one_stretch() {
        assert_eq!(stretches(&[9, 3, 4, 5, 11]), [(3, 3), (9, 1), (11, 1)]);
    }
}
