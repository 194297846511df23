//! What the files of traces are made of: pieces that are compressed, each with its length before it.
//!
//! zlib carries a checksum, so damage is found in the piece in which it is.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::TraceError;

/// zlib's level: traces are written once and read often.
const LEVEL: u8 = 9;

/// Small numbers of either sign become small numbers without one.
pub(crate) const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Undoes [`zigzag`].
pub(crate) const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Compresses `plain` and appends it to `bytes`, its length before it.
pub(crate) fn append_piece(plain: &[u8], bytes: &mut Vec<u8>) {
    let packed = compress_to_vec_zlib(plain, LEVEL);
    bytes.extend((packed.len() as u32).to_le_bytes());
    bytes.extend(packed);
}

/// The piece at `offset`, which is preceded by its length, and where the next one begins.
pub(crate) fn piece<'a>(
    bytes: &'a [u8],
    offset: usize,
    what: &'static str,
) -> Result<(&'a [u8], usize), TraceError> {
    let cut_off = TraceError::CutOff { offset, what };
    let rest = bytes.get(offset..).unwrap_or_default();
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(cut_off.clone())?;
    let length = u32::from_le_bytes(*length) as usize;
    let piece = rest.get(..length).ok_or(cut_off)?;
    Ok((piece, offset + 4 + length))
}

/// Unpacks at most `length_max` bytes; `None` where they are damaged, which zlib's checksum tells,
/// or more.
pub(crate) fn unpack(packed: &[u8], length_max: usize) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(packed, length_max).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_either_sign_comes_back() {
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
    }
}
