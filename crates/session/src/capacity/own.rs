//! Which sectors are a test's own, and which are another test's.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};

/// So many wrong bits of 64 leave a random number recognisable: by accident once in 10^9, and then the
/// address must be right too.
const WRONG_BITS_MAX: u32 = 8;

/// Whether `sector`, which lies at `address`, was written by the test of `salt`, though some bits of it may
/// be wrong.
pub(super) fn is_own(sector: &[u8; SECTOR], salt: u64, address: u64) -> bool {
    let (words, _) = sector.as_chunks::<8>();
    let (found, place) = (u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1]));
    let wrong_bits = (found ^ salt).count_ones();
    wrong_bits == 0 || (wrong_bits <= WRONG_BITS_MAX && place == address)
}

/// Whether `sector` was written by any test.
pub(super) fn is_of_a_test(sector: &[u8; SECTOR]) -> bool {
    Stamp::of_whole(sector).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sectors_are_known_with_wrong_bits_and_other_data_are_not() {
        let stamp = Stamp { salt: 0x1234_5678_9abc_def0, address_bytes: 4096, generation: 3 };
        let mut sector = [0; SECTOR];
        stamp.fill(&mut sector);
        assert!(is_own(&sector, stamp.salt, 4096) && is_own(&sector, stamp.salt, 8192));
        assert!(!is_own(&sector, stamp.salt ^ u64::MAX, 4096));
        assert!(is_of_a_test(&sector));
        for bit in [0, 63, 64, 127, 128, 191, 192, 4095] {
            let mut wrong = sector;
            wrong[bit / 8] ^= 1 << (bit % 8);
            let is_in_address = (64..128).contains(&bit);
            assert!(is_own(&wrong, stamp.salt, 4096), "bit {bit}");
            assert_eq!(is_own(&wrong, stamp.salt, 8192), bit > 63 || is_in_address, "bit {bit}");
            assert!(!is_of_a_test(&wrong), "bit {bit}");
        }
        for blank in [[0; SECTOR], [0xff; SECTOR]] {
            assert!(!is_own(&blank, stamp.salt, 0) && !is_of_a_test(&blank));
        }
    }
}
