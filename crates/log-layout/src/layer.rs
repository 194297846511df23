//! The layer itself: takes requests, fills batches, and reads through the map.

use std::collections::BTreeMap;

use cardproof_io::{Abilities, Fault, Op, OpKind, Target, TargetError};
use cardproof_units::{Bytes, Nanos};

use crate::form::{BATCH_MAX, BLOCK_LEN, Header, Superblock, checksum};
use crate::inner::{BUFFER, Inner};
use crate::map::Map;
use crate::{BLOCK, LogError};

/// In [`Mode::Delayed`] the device is flushed once in so many batches at the latest, so that
/// segments can be cleaned.
const FLUSH_EVERY: u64 = 8;

/// What a flush means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It waits until all that was written before is durable.
    Barriers,
    /// It is acknowledged at once. After a power cut the state is that after some write, and of
    /// the writes after it nothing is there.
    Delayed,
}

impl Mode {
    /// Its name in records and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barriers => "barriers",
            Self::Delayed => "delayed",
        }
    }
}

/// How a log is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What a flush means.
    pub mode: Mode,
    /// How much it offers; three quarters of the target where the user does not say.
    pub size: Option<Bytes>,
    /// How much of the target, from its start, it may use; all of it where the user does not say.
    pub within: Option<Bytes>,
    /// The unit of cleaning: a multiple of the card's allocation unit does best. From 64 KiB.
    pub segment: Bytes,
    /// In [`Mode::Delayed`] a write is sent to the device after this time at the latest, if any
    /// request comes by then.
    pub delay: Nanos,
    /// Tells this log from others that lay there before.
    pub id: u64,
}

impl Options {
    /// Segments of 4 MiB, and a delay of one second.
    #[must_use]
    pub const fn new(mode: Mode, id: u64) -> Self {
        Self {
            mode,
            size: None,
            within: None,
            segment: Bytes::mib(4),
            delay: Nanos::from_secs(1),
            id,
        }
    }
}

/// What a log has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What was handed over to be written.
    pub asked: Bytes,
    /// What was written, with headers and what cleaning moved.
    pub written: Bytes,
    /// What cleaning moved.
    pub moved: Bytes,
    /// Segments that cleaning emptied.
    pub cleaned_segments: u64,
}

/// A target whose writes go to the end of a log.
#[derive(Debug)]
pub struct LogLayout<T> {
    pub(crate) inner: Inner<T>,
    pub(crate) map: Map,
    pub(crate) superblock: Superblock,
    pub(crate) options: Options,
    pub(crate) abilities: Abilities,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) buffer_size: Bytes,
    /// Blocks that wait for the end of their batch, and where their data are.
    waiting: BTreeMap<u32, usize>,
    data: Vec<u8>,
    /// When the first of them came.
    waiting_since: Nanos,
    /// The last batch.
    pub(crate) sequence: u64,
    /// How often the log was found again, and the first batch since then.
    pub(crate) incarnation: u64,
    pub(crate) base: u64,
    /// All batches up to this one are durable.
    pub(crate) durable: u64,
    /// The headers that are durable say so of all batches up to this one.
    pub(crate) recorded: u64,
    /// What the header of the last batch says.
    pub(crate) said: u64,
    pub(crate) counts: Counts,
    pub(crate) engine_error: Option<TargetError>,
}

impl<T: Target> LogLayout<T> {
    /// Lays a new log out on `target`. What is there is lost.
    ///
    /// # Errors
    /// The target is too small, or fails.
    pub fn format(target: T, options: Options) -> Result<Self, LogError> {
        let mut inner = Inner::new(target)?;
        let before = Superblock::get(inner.read(0, 1)?).map_or(0, |found| found.generation);
        let superblock = lay_out(inner.target.abilities().size, &options, before + 1)?;
        inner.write(0, 1, |block| superblock.put(block))?;
        inner.flush()?;
        let Superblock { segments, segment_blocks, logical_blocks, .. } = superblock;
        Ok(Self::with(
            inner,
            superblock,
            options,
            Map::new(segments, segment_blocks, logical_blocks),
        ))
    }

    pub(crate) fn with(
        inner: Inner<T>,
        superblock: Superblock,
        options: Options,
        map: Map,
    ) -> Self {
        let size = BLOCK * u64::from(superblock.logical_blocks);
        let abilities =
            Abilities { size, queue_depth_max: u16::MAX, ..inner.target.abilities().clone() };
        Self {
            inner,
            map,
            superblock,
            options,
            abilities,
            buffers: Vec::new(),
            buffer_size: Bytes::ZERO,
            waiting: BTreeMap::new(),
            data: Vec::new(),
            waiting_since: Nanos::ZERO,
            sequence: 0,
            incarnation: 0,
            base: 1,
            durable: 0,
            recorded: 0,
            said: 0,
            counts: Counts::default(),
            engine_error: None,
        }
    }

    /// What it has done so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The target below.
    pub const fn inner(&mut self) -> &mut T {
        &mut self.inner.target
    }

    /// The target below, with all that was written there and durable.
    ///
    /// # Errors
    /// The target fails.
    pub fn close(mut self) -> Result<T, LogError> {
        self.settle()?;
        Ok(self.inner.target)
    }

    /// The target below as it is: what waits for the end of its batch is lost, as in a power cut.
    #[must_use]
    pub fn abandon(self) -> T {
        self.inner.target
    }

    /// When what waits is to be sent at the latest; `None` where nothing waits for a time.
    #[must_use]
    pub fn next_send(&self) -> Option<Nanos> {
        let is_timed = self.options.mode == Mode::Delayed && !self.waiting.is_empty();
        is_timed.then(|| self.waiting_since.saturating_add(self.options.delay))
    }

    /// How much a log can offer on `size` of a target with segments of `segment`.
    #[must_use]
    pub fn offered(size: Bytes, segment: Bytes) -> Bytes {
        Bytes(size.get() / segment.get().max(1)).saturating_sub(Bytes(5)) * (segment.get() / 4 * 3)
    }

    /// Writes all that waits and makes it durable.
    ///
    /// # Errors
    /// The target fails.
    pub fn settle(&mut self) -> Result<(), LogError> {
        self.send()?;
        self.make_durable()
    }

    /// Makes every batch durable.
    pub(crate) fn make_durable(&mut self) -> Result<(), LogError> {
        if self.durable == self.sequence {
            return self.inner.wait_for_batches();
        }
        self.inner.flush()?;
        self.durable = self.sequence;
        self.recorded = self.said;
        Ok(())
    }

    /// Ends the batch that is being filled and writes it behind.
    fn send(&mut self) -> Result<(), LogError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.options.mode == Mode::Delayed && self.sequence - self.durable >= FLUSH_EVERY {
            self.make_durable()?;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let data = std::mem::take(&mut self.data);
        let order: Vec<(u32, usize)> = waiting.into_iter().collect();
        let numbers: Vec<u32> = order.iter().map(|(number, _)| *number).collect();
        self.write_batch(&numbers, |block, into| {
            if let Some(from) = data.get(order[block].1..order[block].1 + BLOCK_LEN) {
                into.copy_from_slice(from);
            }
        })?;
        self.data = data;
        self.data.clear();
        self.clean()
    }

    /// Writes a batch with the blocks `numbers` behind; `fill` makes the data of each.
    ///
    /// There is room for it: at most as many blocks as the open segment has left, less the header.
    pub(crate) fn write_batch(
        &mut self,
        numbers: &[u32],
        fill: impl Fn(usize, &mut [u8]),
    ) -> Result<(), LogError> {
        let blocks = 1 + numbers.len() as u32;
        let sequence = self.sequence + 1;
        let place = self.map.take(blocks, sequence);
        let (mark, flushed) = (self.superblock.mark(), self.durable);
        let (incarnation, base) = (self.incarnation, self.base);
        let keeps_data = self.abilities.keeps_data;
        self.inner.write_behind(place, blocks, |buffer| {
            if !keeps_data {
                return;
            }
            let (head, data) = buffer.split_at_mut(BLOCK_LEN);
            data.chunks_mut(BLOCK_LEN).enumerate().for_each(|(block, into)| fill(block, into));
            let data_sum = checksum(data);
            let numbers = numbers.to_vec();
            Header { sequence, flushed, place, incarnation, base, data_sum, numbers }
                .put(mark, head);
        })?;
        self.sequence = sequence;
        self.said = flushed;
        self.counts.written += BLOCK * u64::from(blocks);
        for (number, place) in numbers.iter().zip(place + 1..) {
            self.map.put(*number, place);
        }
        if self.map.room() < 2 && !self.map.open_next() {
            return Err(LogError::Fault(Fault::NoSpace));
        }
        Ok(())
    }

    /// How many blocks the next batch can have.
    fn batch_max(&self) -> usize {
        BATCH_MAX.min(self.map.room() as usize - 1)
    }

    /// Takes a block to be written, with `data` at `from` in it.
    fn take_block(&mut self, number: u32, from: usize, data: &[u8]) -> Result<(), LogError> {
        if !self.waiting.contains_key(&number) {
            if self.waiting.len() >= self.batch_max() {
                self.send()?;
            }
            let mut block = [0; BLOCK_LEN];
            if data.len() < BLOCK_LEN {
                self.read_block(number, &mut block)?;
            }
            if self.waiting.is_empty() {
                self.waiting_since = self.inner.target.now();
            }
            self.waiting.insert(number, self.data.len());
            if self.abilities.keeps_data {
                self.data.extend_from_slice(&block);
            }
        }
        let at = self.waiting.get(&number).copied().unwrap_or_default();
        if let Some(place) = self.data.get_mut(at + from..at + from + data.len()) {
            place.copy_from_slice(data);
        }
        Ok(())
    }

    fn read_block(&mut self, number: u32, into: &mut [u8; BLOCK_LEN]) -> Result<(), LogError> {
        let place = self.map.place(number);
        let read = self.inner.read(place.unwrap_or_else(|| self.stand_in(number)), 1)?;
        match place {
            Some(_) => into.copy_from_slice(read),
            None => into.fill(0),
        }
        Ok(())
    }

    /// Where a block that was never written would lie without a log. It is read for the time that
    /// reading takes, and its data are zeros.
    fn stand_in(&self, number: u32) -> u32 {
        self.superblock.segment_blocks + number
    }

    fn write(&mut self, op: &Op, data: &[u8]) -> Result<(), LogError> {
        self.counts.asked += op.length;
        for_each_block(op.offset, data.len(), |number, from, range| {
            self.take_block(number, from, &data[range])
        })?;
        if self.options.mode == Mode::Delayed {
            return self.send_late();
        }
        Ok(())
    }

    /// Lets time pass, and sends what is due.
    pub(crate) fn pass_time(&mut self, until: Nanos) -> Result<(), LogError> {
        if let Some(due) = self.next_send().filter(|due| *due <= until) {
            self.inner.pass_time(due)?;
            self.send()?;
        }
        self.inner.pass_time(until)
    }

    /// Sends what has waited for the longest time that it may.
    fn send_late(&mut self) -> Result<(), LogError> {
        let waited = self.inner.target.now().saturating_sub(self.waiting_since);
        if waited >= self.options.delay { self.send() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        match self.options.mode {
            Mode::Delayed => self.send_late(),
            Mode::Barriers => self.settle(),
        }
    }

    fn read(&mut self, op: &Op, into: &mut [u8]) -> Result<(), LogError> {
        let first = (op.offset.get() / BLOCK.get()) as u32;
        let last = ((op.offset.get() + op.length.get() - 1) / BLOCK.get()) as u32;
        let mut block = first;
        while block <= last {
            let run = self.run_from(block, last);
            let start = u64::from(block) * BLOCK.get();
            let from = op.offset.get().max(start);
            let to = (op.offset.get() + op.length.get())
                .min(start + u64::from(run.blocks) * BLOCK.get());
            let part =
                &mut into[(from - op.offset.get()) as usize..(to - op.offset.get()) as usize];
            let skip = (from - start) as usize;
            match run.source {
                Source::Waiting(at) => {
                    if let Some(data) = self.data.get(at + skip..at + skip + part.len()) {
                        part.copy_from_slice(data);
                    }
                }
                Source::Medium(place) => {
                    let length = part.len();
                    part.copy_from_slice(&self.inner.read(place, run.blocks)?[skip..skip + length]);
                }
                Source::Nowhere(place) => {
                    self.inner.read(place, run.blocks)?;
                    part.fill(0);
                }
            }
            block += run.blocks;
        }
        Ok(())
    }

    /// The longest run of blocks from `block` to `last` that lie together.
    fn run_from(&self, block: u32, last: u32) -> Run {
        if let Some(&at) = self.waiting.get(&block) {
            return Run { source: Source::Waiting(at), blocks: 1 };
        }
        let most = (BUFFER.get() / BLOCK.get()) as u32;
        let begin = self.map.place(block);
        let goes_on = |next: &u32| {
            let expected = begin.map(|place| place + (*next - block));
            !self.waiting.contains_key(next) && self.map.place(*next) == expected
        };
        let more = (block + 1..=last).take(most as usize - 1).take_while(goes_on).count();
        let source = match begin {
            Some(place) => Source::Medium(place),
            None => Source::Nowhere(self.stand_in(block)),
        };
        Run { source, blocks: 1 + more as u32 }
    }

    fn discard(&mut self, op: &Op) -> Result<(), LogError> {
        let first = op.offset.get().div_ceil(BLOCK.get());
        let end = (op.offset.get() + op.length.get()) / BLOCK.get();
        // What waits must not come back later.
        if self.waiting.range(first as u32..end.max(first) as u32).next().is_some() {
            self.send()?;
        }
        (first..end).for_each(|number| self.map.forget(number as u32));
        Ok(())
    }

    pub(crate) fn perform(&mut self, op: &Op) -> Result<(), LogError> {
        let slot = op.slot.index();
        let mut buffer = std::mem::take(&mut self.buffers[slot]);
        let length =
            if op.kind == OpKind::Flush { 0 } else { op.length.as_len().min(buffer.len()) };
        let done = match op.kind {
            OpKind::Write => self.write(op, &buffer[..length]),
            OpKind::Read => self.read(op, &mut buffer[..length]),
            OpKind::Flush => self.flush(),
            OpKind::Discard => self.discard(op),
        };
        self.buffers[slot] = buffer;
        done
    }
}

/// Where blocks come from.
enum Source {
    /// They wait for the end of their batch: where their data begin.
    Waiting(usize),
    /// The medium.
    Medium(u32),
    /// They were never written; the place that is read in their stead.
    Nowhere(u32),
}

/// Blocks that lie together.
struct Run {
    source: Source,
    blocks: u32,
}

/// Cuts `length` bytes at `offset` into blocks: the block's number, where in it the part begins, and
/// which part of the whole it is.
fn for_each_block(
    offset: Bytes,
    length: usize,
    mut act: impl FnMut(u32, usize, std::ops::Range<usize>) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let mut done = 0;
    while done < length {
        let at = offset.get() + done as u64;
        let from = (at % BLOCK.get()) as usize;
        let part = (BLOCK_LEN - from).min(length - done);
        act((at / BLOCK.get()) as u32, from, done..done + part)?;
        done += part;
    }
    Ok(())
}

/// The superblock of a log on a target of `size`.
fn lay_out(size: Bytes, options: &Options, generation: u64) -> Result<Superblock, LogError> {
    let segment = options.segment.get().max(64 << 10) / BLOCK.get() * BLOCK.get();
    let size = options.within.map_or(size, |within| within.min(size));
    let segments = size.get() / segment;
    let per_segment = segment / BLOCK.get();
    // One for the superblock, one that is open, and three for cleaning.
    let offered = segments.saturating_sub(5) * per_segment / 4 * 3;
    let wanted = options.size.map_or(offered, |size| size.get().div_ceil(BLOCK.get()));
    if wanted == 0 || wanted > offered {
        let needed =
            Bytes((wanted.max(1).div_ceil(3) * 4).div_ceil(per_segment) * segment + 5 * segment);
        return Err(LogError::TooSmall { wanted: BLOCK * wanted.max(1), needed, size });
    }
    let too_large = |_| LogError::Unfit("it has more than 16 TiB");
    Ok(Superblock {
        id: options.id,
        generation,
        segment_blocks: u32::try_from(per_segment).map_err(too_large)?,
        segments: u32::try_from(segments.min(u64::from(u32::MAX) / per_segment))
            .map_err(too_large)?,
        logical_blocks: u32::try_from(wanted).map_err(too_large)?,
    })
}
