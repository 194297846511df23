//! What a card holds: where its bytes are kept, and a place for them in memory.
//!
//! In memory only pages that were written take room. A table of 512 pages is made when the first of them is written, so a card takes memory for
//! what it holds and 8 bytes for each 2 MiB it could hold. What was never written reads as
//! zeros.

mod shorthand;

use std::fmt::Debug;

use cardproof_io::Fault;
use cardproof_units::Nanos;

use crate::model::PAGE;

pub(crate) use shorthand::Stretches;
pub use shorthand::{Numbers, SECTOR_LEN, ShortStore, Shorthand};

const PAGE_LEN: usize = PAGE.get() as usize;
const TABLE_PAGES: usize = 512;

type Page = Box<[u8; PAGE_LEN]>;
type Table = Box<[Option<Page>; TABLE_PAGES]>;

/// A place for the bytes of a card. What was never written reads as zeros.
///
/// This crate keeps bytes in memory only; a place on disk comes from whoever may touch one.
pub trait Store: Debug + Send {
    /// Copies what lies at `offset` into `into`.
    ///
    /// # Errors
    /// [`StoreError`] where the place failed; the card then reports an input/output error.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError>;

    /// Stores `from` at `offset`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError>;

    /// Forgets `length` bytes at `offset`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError>;

    /// Whether it can take data as numbers.
    fn takes_numbers(&self) -> bool {
        false
    }

    /// As [`write`](Self::write), with data that follow from `numbers`; whether it was done. Where it
    /// was not, nothing was, and the bytes are to be written.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write_numbers(
        &mut self,
        offset: u64,
        length: u64,
        numbers: Numbers,
    ) -> Result<bool, StoreError> {
        let _ = (offset, length, numbers);
        Ok(false)
    }

    /// The numbers that determine the `length` bytes at `offset`; `None` where the
    /// bytes are to be read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_numbers(&self, offset: u64, length: u64) -> Result<Option<Numbers>, StoreError> {
        let _ = (offset, length);
        Ok(None)
    }

    /// Makes everything written so far durable. A place that is durable at once has nothing to do.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Loses what is lost without power. A place that is durable at once loses nothing.
    fn cut_power(&mut self) {}

    /// Whether it works again once the power is back.
    fn survives(&self) -> bool {
        true
    }
}

/// A place for a card's bytes has failed.
#[derive(Debug, thiserror::Error)]
#[error("the place where the simulated card keeps its bytes has failed")]
pub struct StoreError(#[from] std::io::Error);

/// How long a host waits for a card that does not answer: the kernel's limit for a command.
const TIMEOUT: Nanos = Nanos::from_secs(30);

impl StoreError {
    /// What the host sees.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self.0.kind() {
            std::io::ErrorKind::TimedOut => Fault::TimedOut,
            std::io::ErrorKind::NotConnected => Fault::Vanished,
            _ => Fault::InputOutput,
        }
    }

    /// How much later than usual the host sees it.
    pub(crate) fn delay(&self) -> Nanos {
        if self.fault() == Fault::TimedOut { TIMEOUT } else { Nanos::ZERO }
    }
}

/// The bytes of a card in memory.
#[derive(Debug)]
pub(crate) struct Contents {
    tables: Vec<Option<Table>>,
}

impl Contents {
    /// An empty card of `capacity` bytes.
    pub(crate) fn new(capacity: u64) -> Self {
        let tables = capacity.div_ceil((PAGE_LEN * TABLE_PAGES) as u64);
        let tables = usize::try_from(tables).unwrap_or(usize::MAX);
        Self { tables: std::iter::repeat_with(|| None).take(tables).collect() }
    }

    fn page(&self, page: usize) -> Option<&[u8; PAGE_LEN]> {
        self.tables.get(page / TABLE_PAGES)?.as_ref()?[page % TABLE_PAGES].as_deref()
    }

    /// The place of `page`; `None` beyond the end of the card.
    fn place(&mut self, page: usize) -> Option<&mut Option<Page>> {
        let table = self.tables.get_mut(page / TABLE_PAGES)?;
        let table = table.get_or_insert_with(|| Box::new([const { None }; TABLE_PAGES]));
        Some(&mut table[page % TABLE_PAGES])
    }
}

impl Store for Contents {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        for_each_page(offset, into.len(), |page, start, range| {
            let part = &mut into[range];
            match self.page(page) {
                Some(bytes) => part.copy_from_slice(&bytes[start..start + part.len()]),
                None => part.fill(0),
            }
        });
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        for_each_page(offset, from.len(), |page, start, range| {
            let part = &from[range];
            let Some(place) = self.place(page) else { return };
            // A new page that is written whole need not be zeros before.
            if place.is_none() && part.len() == PAGE_LEN {
                *place = Box::<[u8]>::from(part).try_into().ok();
                return;
            }
            let bytes = place.get_or_insert_with(|| Box::new([0; PAGE_LEN]));
            bytes[start..start + part.len()].copy_from_slice(part);
        });
        Ok(())
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        for_each_page(offset, length, |page, start, range| {
            let Some(Some(table)) = self.tables.get_mut(page / TABLE_PAGES) else { return };
            let place = &mut table[page % TABLE_PAGES];
            if range.len() == PAGE_LEN {
                *place = None;
            } else if let Some(bytes) = place {
                bytes[start..start + range.len()].fill(0);
            }
        });
        Ok(())
    }
}

/// Cuts `length` bytes at `offset` at the page boundaries: hands over the page's number, where in
/// it the part starts, and which part of the whole it is.
fn for_each_page(
    offset: u64,
    length: usize,
    mut act: impl FnMut(usize, usize, std::ops::Range<usize>),
) {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let page = usize::try_from(at / PAGE_LEN as u64).unwrap_or(usize::MAX);
        let start = (at % PAGE_LEN as u64) as usize;
        let part = (PAGE_LEN - start).min(length - done);
        act(page, start, done..done + part);
        done += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_where_they_were_put() {
        let mut contents = Contents::new(8 << 20);
        let pattern: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
        contents.write(2 * 1024 * 1024 - 3000, &pattern).unwrap();
        let mut back = vec![9; 12_000];
        contents.read(2 * 1024 * 1024 - 4000, &mut back).unwrap();
        assert!(back[..1000].iter().all(|&byte| byte == 0));
        assert_eq!(back[1000..11_000], pattern);
        assert!(back[11_000..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_discarded_reads_as_zeros() {
        let mut contents = Contents::new(1 << 20);
        contents.write(0, &[7; 16_384]).unwrap();
        contents.discard(2048, 8192).unwrap();
        let mut back = vec![1; 16_384];
        contents.read(0, &mut back).unwrap();
        let kept = |range: std::ops::Range<usize>| back[range].iter().all(|&byte| byte == 7);
        assert!(kept(0..2048) && kept(10_240..16_384));
        assert!(back[2048..10_240].iter().all(|&byte| byte == 0));
    }
}
