//! Reading the places where marks are kept, from anything that can be read and sought.
//!
//! A place beyond the end is empty. A place that cannot be read is empty as well, but the first
//! such failure is kept: a scan that could not see everything must say so.

use std::io::{self, Read, Seek, SeekFrom};

use cardproof_units::Bytes;

/// What a device or file holds.
pub(super) struct Content<'reader, R> {
    reader: &'reader mut R,
    size: u64,
    failure: Option<io::Error>,
}

impl<'reader, R: Read + Seek> Content<'reader, R> {
    pub(super) fn new(reader: &'reader mut R, size: Bytes) -> Self {
        Self { reader, size: size.get(), failure: None }
    }

    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// The first failure to read.
    pub(super) fn into_failure(self) -> Option<io::Error> {
        self.failure
    }

    /// The `length` bytes at `offset`; empty where they are not all within the content.
    pub(super) fn bytes(&mut self, offset: u64, length: usize) -> Vec<u8> {
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > self.size) {
            return Vec::new();
        }
        let mut bytes = vec![0; length];
        let read = self
            .reader
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.reader.read_exact(&mut bytes));
        match read {
            Ok(()) => bytes,
            Err(error) => {
                self.failure.get_or_insert(error);
                Vec::new()
            }
        }
    }

    /// Whether `magic` stands at `offset`.
    pub(super) fn has(&mut self, offset: u64, magic: &[u8]) -> bool {
        self.bytes(offset, magic.len()) == magic
    }

    /// Where the last `length` bytes begin, counted in whole sectors of 512 bytes.
    pub(super) const fn before_end(&self, length: u64) -> Option<u64> {
        (self.size / 512 * 512).checked_sub(length)
    }
}

/// The little-endian number of two bytes at `offset` in `block`.
pub(super) fn le16(block: &[u8], offset: usize) -> Option<u16> {
    let bytes = block.get(offset..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

/// The little-endian number of four bytes at `offset` in `block`.
pub(super) fn le32(block: &[u8], offset: usize) -> Option<u32> {
    let bytes = block.get(offset..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_is_beyond_the_end_is_empty_and_no_failure() {
        let mut cursor = Cursor::new(vec![1_u8; 1000]);
        let mut content = Content::new(&mut cursor, Bytes(1000));
        assert_eq!(content.bytes(998, 2), [1, 1]);
        assert!(content.bytes(999, 2).is_empty());
        assert!(content.bytes(u64::MAX, 2).is_empty());
        assert_eq!(content.before_end(512), Some(0));
        assert_eq!(content.before_end(1024), None);
        assert!(content.into_failure().is_none());
    }

    #[test]
    fn what_cannot_be_read_is_a_failure() {
        let mut cursor = Cursor::new(vec![1_u8; 10]);
        let mut content = Content::new(&mut cursor, Bytes(1000));
        assert!(content.bytes(0, 512).is_empty());
        assert!(content.into_failure().is_some());
    }
}
