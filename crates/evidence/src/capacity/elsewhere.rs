//! What reading places that a test has not written says of repeated addresses.
//!
//! A device whose addresses start again after R bytes keeps what is written at an address w of R or more in a place
//! that has a lower address too. So of L bytes that are written from an address D on, with R at most D, each can be
//! read at a second address below D. A place chosen at random over all N bytes of the device then shows data of the
//! test with a chance of L / N.

use super::modulus::greatest_common_divisor;

/// With this chance repeated addresses stay unseen.
const UNSEEN: f64 = 0.01;

/// Of what was written last at the end of the addresses, so much is still to be found elsewhere: a test that reads
/// its places back has seen it where more was overwritten.
const LEFT: f64 = 0.9;

/// How many places of a device of `device_bytes` to read, chosen at random, so that 99 of 100 devices are found whose
/// addresses repeat below the `top_bytes` that were written. At least 1.
#[must_use]
pub fn places_to_read(top_bytes: u64, device_bytes: u64) -> u64 {
    let chance = (LEFT * top_bytes as f64 / device_bytes.max(1) as f64).clamp(1e-9, 1.0 - 1e-9);
    (UNSEEN.ln() / (1.0 - chance).ln()).ceil().max(1.0) as u64
}

/// What every one of `distances`, in bytes, between two addresses of one place is a multiple of: the most that a
/// device holds whose addresses repeat. `None` where there is none, or one is zero.
#[must_use]
pub fn repeats_after(distances: impl IntoIterator<Item = u64>) -> Option<u64> {
    distances.into_iter().reduce(greatest_common_divisor).filter(|&distance| distance > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_places_are_read_as_find_99_of_100() {
        // 128 MiB of 32 GiB: 1 in 256, less a tenth.
        assert_eq!(places_to_read(128 << 20, 32 << 30), 1308);
        assert_eq!(places_to_read(1 << 30, 1 << 30), 2);
        assert!(places_to_read(0, 1 << 40) > 1 << 30);
        assert!(places_to_read(5, 0) >= 1);
    }

    #[test]
    fn the_real_size_divides_every_distance() {
        assert_eq!(repeats_after([6 << 20, 9 << 20]), Some(3 << 20));
        assert_eq!(repeats_after([7]), Some(7));
        assert_eq!(repeats_after([]), None);
        assert_eq!(repeats_after([0]), None);
    }
}
