//! Finds a log again, whatever a power cut has left of it.
//!
//! The last batch that counts is the last of an unbroken row from those that the medium says are
//! durable. Batches behind a gap were never promised and do not count: recovery erases their headers.
//! A torn header can hide such a batch from the recovery, and it can come to light later. So each
//! recovery begins an *incarnation*: its batches say where it began, and from there on the batches of
//! earlier incarnations do not count.

use std::collections::{BTreeMap, BTreeSet};

use cardproof_io::Target;

use crate::LogError;
use crate::form::{BLOCK_LEN, Header, Superblock, checksum};
use crate::inner::Inner;
use crate::layer::{LogLayout, Options};
use crate::map::Map;

impl<T: Target> LogLayout<T> {
    /// Finds the log on `target`. Of `options` its form on the medium is not asked.
    ///
    /// # Errors
    /// There is none, or the target fails.
    pub fn recover(target: T, options: Options) -> Result<Self, LogError> {
        let mut inner = Inner::new(target)?;
        let superblock = Superblock::get(inner.read(0, 1)?).ok_or(LogError::NoLog)?;
        check(&superblock, inner.target.abilities().size.get())?;
        let found = scan(&mut inner, &superblock)?;
        let incarnation = found.iter().map(|header| header.incarnation).max().unwrap_or(0) + 1;
        let places: Vec<u32> = found.iter().map(|header| header.place).collect();
        let mut batches = counting(found);
        let flushed = batches.values().map(|header| header.flushed).max().unwrap_or(0);
        let last = last_of_row(&mut inner, &batches, flushed)?;
        batches.split_off(&(last + 1));
        erase_others(&mut inner, places, &batches)?;
        let Superblock { segments, segment_blocks, logical_blocks, .. } = superblock;
        let mut map = Map::new(segments, segment_blocks, logical_blocks);
        for header in batches.values() {
            map.found(header.place / segment_blocks, header.sequence);
            for (number, place) in header.numbers.iter().zip(header.place + 1..) {
                if *number < logical_blocks {
                    map.put(*number, place);
                }
            }
        }
        if !map.reopen(flushed) {
            return Err(LogError::Unfit("it has no free segment"));
        }
        let mut layout = Self::with(inner, superblock, options, map);
        layout.sequence = last;
        (layout.incarnation, layout.base) = (incarnation, last + 1);
        layout.durable = last;
        layout.recorded = flushed;
        layout.said = flushed;
        // An incarnation is used once: without a durable batch of its own, the next recovery
        // would take its number again, and its lost batches could count among the new ones.
        layout.write_batch(&[], |_, _| {})?;
        layout.make_durable()?;
        layout.clean()?;
        Ok(layout)
    }
}

/// Whether the log can lie on a target of `size_bytes`.
fn check(superblock: &Superblock, size_bytes: u64) -> Result<(), LogError> {
    let Superblock { segment_blocks, segments, logical_blocks, .. } = *superblock;
    let blocks = u64::from(segment_blocks) * u64::from(segments);
    if segment_blocks < 2 || segments < 3 || u64::from(logical_blocks) >= blocks {
        return Err(LogError::Unfit("its superblock makes no sense"));
    }
    if blocks * BLOCK_LEN as u64 > size_bytes {
        return Err(LogError::Unfit("it is larger than the target"));
    }
    Ok(())
}

/// The batches that count, by their numbers: those that lie before the beginning of every later
/// incarnation.
fn counting(mut found: Vec<Header>) -> BTreeMap<u64, Header> {
    found.sort_by_key(|header| std::cmp::Reverse(header.incarnation));
    let mut batches = BTreeMap::new();
    // The first batch of the incarnations looked at, and of the one that is being looked at.
    let (mut limit, mut incarnation, mut base) = (u64::MAX, u64::MAX, u64::MAX);
    for header in found {
        if header.incarnation != incarnation {
            limit = limit.min(base);
            (incarnation, base) = (header.incarnation, header.base);
        }
        if header.sequence < limit {
            batches.insert(header.sequence, header);
        }
    }
    batches
}

/// Erases every header at `places` that is not one of `batches`, for good: once the headers of the
/// incarnations in between are cleaned away, nothing would tell that it does not count.
fn erase_others<T: Target>(
    inner: &mut Inner<T>,
    places: Vec<u32>,
    batches: &BTreeMap<u64, Header>,
) -> Result<(), LogError> {
    let kept: BTreeSet<u32> = batches.values().map(|header| header.place).collect();
    let others: Vec<u32> = places.into_iter().filter(|place| !kept.contains(place)).collect();
    for place in &others {
        inner.write(*place, 1, |block| block.fill(0))?;
    }
    if others.is_empty() { Ok(()) } else { inner.flush() }
}

/// Every batch on the medium. Within a segment numbers rise; what does not is left from
/// an earlier use of the segment.
fn scan<T: Target>(inner: &mut Inner<T>, superblock: &Superblock) -> Result<Vec<Header>, LogError> {
    let mut batches = Vec::new();
    for segment in 1..superblock.segments {
        let end = (segment + 1) * superblock.segment_blocks;
        let (mut place, mut before) = (segment * superblock.segment_blocks, 0);
        while place < end {
            let found = Header::get(superblock.mark(), place, inner.read(place, 1)?);
            let Some(header) = found.filter(|header| header.sequence > before) else { break };
            let next = place + 1 + header.numbers.len() as u32;
            if next > end {
                break;
            }
            (place, before) = (next, header.sequence);
            batches.push(header);
        }
    }
    Ok(batches)
}

/// The last batch of the unbroken row behind `flushed`.
fn last_of_row<T: Target>(
    inner: &mut Inner<T>,
    batches: &BTreeMap<u64, Header>,
    flushed: u64,
) -> Result<u64, LogError> {
    let mut last = flushed;
    for (&sequence, header) in batches.range(flushed + 1..) {
        let blocks = header.numbers.len() as u32;
        if sequence != last + 1 {
            break;
        }
        if blocks > 0 && checksum(inner.read(header.place + 1, blocks)?) != header.data_sum {
            break;
        }
        last = sequence;
    }
    Ok(last)
}
