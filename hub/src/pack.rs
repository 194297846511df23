//! Documents as they lie in the database: JSON, compressed. Reading has a limit, as all decompression here.

use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cardproof_record::Record;
use cardproof_submission::record_of;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::{Compress, Compression, FlushCompress, Status};

use crate::error::Error;

/// The longest document that is read from the database: hubs took longer ones before.
const KEPT_MAX: usize = 2 << 20;

/// `text` in the form of the database.
///
/// # Errors
/// Memory is exhausted.
pub(crate) fn packed(text: &[u8]) -> Result<Vec<u8>, Error> {
    let kept = packers().pop();
    let mut packer = kept.unwrap_or_else(|| Compress::new(Compression::new(6), true));
    packer.reset();
    let mut bytes = Vec::with_capacity(text.len() / 2 + 64);
    loop {
        let rest =
            &text[usize::try_from(packer.total_in()).unwrap_or(usize::MAX).min(text.len())..];
        let state = packer.compress_vec(rest, &mut bytes, FlushCompress::Finish);
        match state.map_err(|error| Error::Internal(error.to_string()))? {
            Status::StreamEnd => break,
            Status::Ok | Status::BufError => bytes.reserve(bytes.capacity()),
        }
    }
    let mut kept = packers();
    if kept.len() < PACKERS_MAX {
        kept.push(packer);
    }
    drop(kept);
    bytes.shrink_to_fit();
    Ok(bytes)
}

/// Packers that are used again: a fresh one clears a quarter of a megabyte of memory first.
static PACKERS: Mutex<Vec<Compress>> = Mutex::new(Vec::new());

/// As many as documents are judged at once.
const PACKERS_MAX: usize = 4;

fn packers() -> MutexGuard<'static, Vec<Compress>> {
    PACKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What [`packed`] has made, at most `length_max` bytes of it.
///
/// # Errors
/// The bytes are not of that form, or hold more.
pub(crate) fn unpacked(bytes: &[u8], length_max: usize) -> Result<Vec<u8>, Error> {
    let damaged = |_| Error::Internal("a document in the database is damaged".to_owned());
    limited(ZlibDecoder::new(bytes), length_max, damaged)
}

/// The text of the document of the submission `id`, as it is kept.
///
/// # Errors
/// It cannot be read, and only this submission is concerned.
pub(crate) fn document(bytes: &[u8], id: &str) -> Result<String, Error> {
    let text = unpacked(bytes, KEPT_MAX).map_err(|error| match error {
        Error::TooLong(most) => unreadable(id, &format!("its document has more than {most} bytes")),
        other => unreadable(id, &other.detail()),
    })?;
    String::from_utf8(text).map_err(|error| unreadable(id, &error))
}

/// The record in `text`, the document of the submission `id`.
///
/// # Errors
/// As [`document`].
pub(crate) fn record(text: &str, id: &str) -> Result<Record, Error> {
    let value = serde_json::from_str(text).map_err(|error| unreadable(id, &error))?;
    record_of(&value, id).map_err(|error| unreadable(id, &error))
}

/// That the document of the submission `id` cannot be read.
pub(crate) fn unreadable(id: &str, why: &impl ToString) -> Error {
    Error::Unreadable(id.to_owned(), why.to_string())
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
    fn a_document_that_cannot_be_read_is_named() {
        let long = packed(&vec![b' '; KEPT_MAX + 1]).unwrap();
        for (bytes, why) in
            [(long, "more than"), (b"xx".to_vec(), "damaged"), (packed(&[255]).unwrap(), "utf-8")]
        {
            let error = document(&bytes, "the-name").unwrap_err();
            assert!(matches!(error, Error::Unreadable(..)) && error.is_of_one_record());
            assert!(
                error.detail().contains(why) && error.detail().contains("the-name"),
                "{}",
                error.detail()
            );
        }
        assert_eq!(document(&packed(b"{}").unwrap(), "x").unwrap(), "{}");
    }

    #[test]
    fn what_was_packed_comes_back_and_no_more_than_may() {
        let text = b"{\"a\": 1}".repeat(100);
        let bytes = packed(&text).unwrap();
        assert!(bytes.len() < text.len() / 4);
        assert_eq!(unpacked(&bytes, 800).unwrap(), text);
        assert!(matches!(unpacked(&bytes, 799), Err(Error::TooLong(799))));
        assert!(unpacked(b"xx", 10).is_err());
        // A packer that is used again remembers nothing, and noise that does not shrink has room too.
        assert_eq!(packed(&text).unwrap(), bytes);
        let noise: Vec<u8> =
            (0..40_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        assert_eq!(unpacked(&packed(&noise).unwrap(), noise.len()).unwrap(), noise);
        assert_eq!(unpacked(&packed(b"").unwrap(), 1).unwrap(), b"");
    }
}
