//! Which operations of a phase read and which write.
//!
//! Of every hundred operations exactly the share asked for reads, in an order drawn by chance:
//! kinds are dealt like cards from a pack of a hundred. Drawn independently, the share of a
//! phase with 600 operations would stray by 2 points, and on a device that limits writes alone
//! the rate would stray with it by 6 %.

use cardproof_io::OpKind;

/// The cards of a pack.
const PACK: u8 = 100;

/// Deals the kinds of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    read_percent: u8,
    reads_left: u8,
    left: u8,
}

impl Mix {
    /// Deals `read_percent` reads, 0 to 100, among each hundred operations.
    pub(crate) const fn new(read_percent: u8) -> Self {
        Self { read_percent, reads_left: 0, left: 0 }
    }

    /// The next kind; `random` gives 64 random bits and is not asked where there is no choice.
    pub(crate) fn next(&mut self, random: impl FnOnce() -> u64) -> OpKind {
        match self.read_percent {
            0 => return OpKind::Write,
            PACK.. => return OpKind::Read,
            _ => {}
        }
        if self.left == 0 {
            (self.reads_left, self.left) = (self.read_percent, PACK);
        }
        let drawn = crate::stream::below(u64::from(self.left), random());
        self.left -= 1;
        if drawn < u64::from(self.reads_left) {
            self.reads_left -= 1;
            OpKind::Read
        } else {
            OpKind::Write
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn dealt(read_percent: u8, count: usize) -> Vec<OpKind> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut mix = Mix::new(read_percent);
        (0..count).map(|_| mix.next(|| random.next_u64())).collect()
    }

    #[test]
    fn every_hundred_has_exactly_its_share() {
        for percent in [0, 1, 30, 70, 99, 100] {
            for hundred in dealt(percent, 1000).chunks(100) {
                let reads = hundred.iter().filter(|kind| **kind == OpKind::Read).count();
                assert_eq!(reads, usize::from(percent));
            }
        }
    }

    #[test]
    fn the_order_is_another_in_each_hundred() {
        let kinds = dealt(50, 200);
        assert_ne!(kinds[..100], kinds[100..]);
    }

    /// Each place of the pack is a read about as often as any other.
    #[test]
    fn no_place_is_favoured() {
        let mut reads_at = [0; 100];
        for hundred in dealt(70, 100_000).chunks(100) {
            for (place, kind) in hundred.iter().enumerate() {
                reads_at[place] += u32::from(*kind == OpKind::Read);
            }
        }
        assert!(reads_at.iter().all(|reads| (620..780).contains(reads)), "{reads_at:?}");
    }
}
