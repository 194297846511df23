//! A checksum that also mends: CRC-64 of ECMA-182 in its reflected form.
//!
//! A block of up to some KiB with one wrong bit has a remainder that no other wrong bit leaves, so the
//! bit is found and turned back. Two wrong bits are told, and not mended.

/// The polynomial of ECMA-182 with its bits reversed.
const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// What a byte adds to the remainder.
const TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            let is_odd = remainder & 1 == 1;
            remainder >>= 1;
            if is_odd {
                remainder ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

const fn step(remainder: u64, byte: u8) -> u64 {
    TABLE[((remainder ^ byte as u64) & 0xff) as usize] ^ (remainder >> 8)
}

/// The checksum of `data` at the place `number`: the same data elsewhere have another one.
pub(super) fn sum(number: u64, data: &[u8]) -> u64 {
    data.iter().fold(!number, |remainder, &byte| step(remainder, byte))
}

/// Whether `data` are those of which `stored` is the checksum, after one wrong bit in either was turned
/// back.
pub(super) fn mend(number: u64, data: &mut [u8], stored: u64) -> bool {
    let difference = sum(number, data) ^ stored;
    // One bit of the stored checksum is wrong.
    if difference.count_ones() <= 1 {
        return true;
    }
    for bit in 0..8 {
        let mut remainder = TABLE[1 << bit];
        for byte in data.iter_mut().rev() {
            if remainder == difference {
                *byte ^= 1 << bit;
                return true;
            }
            remainder = step(remainder, 0);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        // The check value of CRC-64/XZ, which also turns over the end.
        assert_eq!(!sum(0, b"123456789"), 0x995d_c9bb_df19_39fa);
    }

    #[test]
    fn any_one_wrong_bit_is_mended_and_two_are_told() {
        let right: Vec<u8> = (0..536_u32).map(|n| (n * 7) as u8).collect();
        let stored = sum(3, &right);
        for bit in 0..right.len() * 8 {
            let mut data = right.clone();
            data[bit / 8] ^= 1 << (bit % 8);
            assert!(mend(3, &mut data, stored) && data == right, "bit {bit}");
            data[bit / 8] ^= 1 << (bit % 8);
            let other = (bit * 31 + 1) % (right.len() * 8);
            data[other / 8] ^= 1 << (other % 8);
            assert!(other == bit || !mend(3, &mut data, stored), "bits {bit} and {other}");
        }
        for bit in 0..64 {
            let mut data = right.clone();
            assert!(mend(3, &mut data, stored ^ 1 << bit) && data == right, "stored bit {bit}");
        }
        assert!(!mend(4, &mut right.clone(), stored), "another place");
    }
}
