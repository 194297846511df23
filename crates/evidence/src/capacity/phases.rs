//! The phase of an address in a period.

/// Tells in which part of a period an address lies, without a division: this is done for a hundred places
/// under some hundred thousand periods, and small processors divide slowly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    /// 2^64 / period, rounded up: the product with an address, without its carry, is the phase in
    /// 2^-64 of the period. Rounding adds at most the address in this unit, of 64 TB a 2^18th.
    per_byte: u64,
}

impl Phases {
    /// Those of `period`, which is not zero.
    pub(super) const fn of(period: u64) -> Self {
        Self { per_byte: u64::MAX / period + 1 }
    }

    /// In which of `COUNT` parts, a power of two, `address` lies.
    pub(super) const fn part<const COUNT: usize>(self, address: u64) -> usize {
        (address.wrapping_mul(self.per_byte) >> (u64::BITS - COUNT.ilog2())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_period_are_those_of_a_division() {
        const TB: u64 = 1_000_000_000_000;
        for period in [8192, 12_288, 65_536, 3 << 20, 4096 * 999_983, TB / 3] {
            let phases = Phases::of(period);
            for number in 0..4000 {
                let address = number * 4096 * 131_071 % (4 * TB);
                let exact = u128::from(address % period) * 64;
                let part = phases.part::<64>(address);
                // Where the last page of a part ends, rounding may carry into the next.
                let is_near = exact % u128::from(period) + 64 > u128::from(period);
                let right = (exact / u128::from(period)) as usize;
                assert!(part == right || is_near && part == (right + 1) % 64, "{address} {period}");
            }
            assert_eq!(phases.part::<64>(period * 7), 0, "{period}");
        }
    }
}
