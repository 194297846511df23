//! Every number below a bound exactly once, in an order that follows from a key.
//!
//! It needs no table, so a span of any size can be visited without repetition in a few bytes of
//! memory.

/// A permutation of `0..count`.
///
/// A balanced Feistel network over the smallest even number of bits that holds `count`, with
/// cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002); fewer than
/// four steps a number on average.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `0..count` that follows from `key`.
    #[must_use]
    pub fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mut state = key;
        let keys = [(); 4].map(|()| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        });
        Self { count, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// How many numbers it permutes.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The number at `index`; `None` from [`count`](Self::count) on.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        let mut number = index;
        loop {
            number = self.encipher(number);
            if number < self.count {
                return Some(number);
            }
        }
    }

    fn encipher(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x94d0_49bb_1331_11eb);
            (left, right) = (right, left ^ ((mixed >> 32) & mask));
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_number_comes_once(count in 1..5000_u64, key: u64) {
            let permutation = Permutation::new(count, key);
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let number = permutation.get(index).expect("inside") as usize;
                proptest::prop_assert!(!std::mem::replace(&mut seen[number], true));
            }
            proptest::prop_assert_eq!(permutation.get(count), None);
        }
    }

    #[test]
    fn neighbours_end_up_apart() {
        let permutation = Permutation::new(65_536, 7);
        let near = (1..65_536_u64)
            .filter(|&index| {
                let (here, before) = (permutation.get(index), permutation.get(index - 1));
                here.unwrap().abs_diff(before.unwrap()) < 16
            })
            .count();
        // 32 expected of a random order; an order with structure has hundreds or none.
        assert!((8..100).contains(&near), "{near} neighbours stayed near");
    }
}
