//! Documents as they lie in the database: JSON, compressed. Reading has a limit, as all decompression here.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::ZlibEncoder;

use crate::error::Error;

/// `text` in the form of the database.
///
/// # Errors
/// Memory is exhausted.
pub(crate) fn packed(text: &[u8]) -> Result<Vec<u8>, Error> {
    let failed = |error: std::io::Error| Error::Internal(error.to_string());
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// What [`packed`] has made, at most `length_max` bytes of it.
///
/// # Errors
/// The bytes are not of that form, or hold more.
pub(crate) fn unpacked(bytes: &[u8], length_max: usize) -> Result<Vec<u8>, Error> {
    let damaged = |_| Error::Internal("a document in the database is damaged".to_owned());
    limited(ZlibDecoder::new(bytes), length_max, damaged)
}

/// A body with `Content-Encoding: gzip`, at most `length_max` bytes of it: a bomb ends there.
///
/// # Errors
/// The bytes are no gzip, or hold more.
pub(crate) fn gunzipped(bytes: &[u8], length_max: usize) -> Result<Vec<u8>, Error> {
    limited(GzDecoder::new(bytes), length_max, |_| Error::Encoding)
}

fn limited(
    reader: impl Read,
    length_max: usize,
    damaged: impl FnOnce(std::io::Error) -> Error,
) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    reader.take(length_max as u64 + 1).read_to_end(&mut text).map_err(damaged)?;
    if text.len() > length_max { Err(Error::TooLong(length_max)) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back_and_no_more_than_may() {
        let text = b"{\"a\": 1}".repeat(100);
        let bytes = packed(&text).unwrap();
        assert!(bytes.len() < text.len() / 4);
        assert_eq!(unpacked(&bytes, 800).unwrap(), text);
        assert!(matches!(unpacked(&bytes, 799), Err(Error::TooLong(799))));
        assert!(unpacked(b"xx", 10).is_err());
    }
}
