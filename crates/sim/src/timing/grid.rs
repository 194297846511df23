//! Equal units side by side, and which of them an address lies in.
//!
//! Most units are a power of two, where a shift takes the place of a division: with half a dozen of
//! them in each request, divisions would be a good part of a model's time.

/// Units of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    size: u64,
    /// The size as a power of two; 64 where it is none.
    shift: u32,
}

impl Grid {
    /// Units of `size`; of 1 where that is zero.
    pub(crate) const fn new(size: u64) -> Self {
        let size = if size == 0 { 1 } else { size };
        Self { size, shift: if size.is_power_of_two() { size.trailing_zeros() } else { 64 } }
    }

    /// The size of a unit.
    pub(crate) const fn size(self) -> u64 {
        self.size
    }

    /// The number of the unit that `offset` lies in.
    #[inline]
    pub(crate) const fn index(self, offset: u64) -> u64 {
        if self.shift < 64 { offset >> self.shift } else { offset / self.size }
    }

    /// How far `offset` lies into its unit.
    #[inline]
    pub(crate) const fn within(self, offset: u64) -> u64 {
        if self.shift < 64 { offset & (self.size - 1) } else { offset % self.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_gives_what_a_division_gives() {
        for size in [1, 2, 512, 3 << 19, 1000, 4 << 20] {
            let grid = Grid::new(size);
            for offset in [0, 1, size - 1, size, size + 1, 12_345_678_901, u64::MAX] {
                assert_eq!(grid.index(offset), offset / size, "{offset} by {size}");
                assert_eq!(grid.within(offset), offset % size, "{offset} by {size}");
            }
        }
        assert_eq!(Grid::new(0).index(7), 7);
    }
}
