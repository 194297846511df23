//! Blocks written all over the part of the span that no phase has filled, so that a check reaches it.
//!
//! A slow card cannot fill a large span in the time of a run, and a card that announces more than it
//! holds is slow. Without this only the part that was filled would be compared, which such a card has.
//! It happens when all phases are over, so that it changes no figure.

use cardproof_io::{Arrangement, Op, OpKind, Slot, Submission, Target, TargetError, Wait};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::{DataPattern, Generation};

use crate::check::{Dice, unit_of};
use crate::history::{Source, Written, draw};

/// How many blocks are written, one in each of so many equal parts.
const BLOCKS: u64 = 32;

/// The size of each: together they are several times the memory with which fakes hide that later
/// writes are lost.
const BLOCK: Bytes = Bytes::kib(256);

/// No more blocks after this time, once there are a few.
pub(crate) const SPREAD_TIME: Nanos = Nanos::from_secs(1);

/// Not ended for time before so many blocks.
const BLOCKS_MIN: usize = 16;

/// The least distance between two addresses that may stand for one another.
const DISTANCE_MIN: u32 = 20;

/// Where to spread blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// Up to here everything was written.
    pub(crate) start: Bytes,
    /// The end of the span.
    pub(crate) end: Bytes,
    /// The most that may be written.
    pub(crate) room: Bytes,
}

/// What was spread.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    pub(crate) written: Vec<Written>,
    /// Places that are to be compared: one of each block, and those that would be overwritten if
    /// addresses began again at a power of two.
    pub(crate) places: Vec<Bytes>,
    pub(crate) bytes: Bytes,
}

/// Writes blocks into `gap` of `target`, and one at each power of two above a place that is known
/// from what was `written` before. `generation` is the last one in use and moves on.
pub(crate) fn spread(
    target: &mut dyn Target,
    data: DataPattern,
    written: &[Written],
    gap: Gap,
    generation: &mut Generation,
    dice: &mut Dice,
) -> Spread {
    let unit = unit_of(target);
    let block = BLOCK.max(unit);
    let gap = Gap { end: gap.end.min(target.abilities().size), ..gap };
    let length = gap.end.saturating_sub(gap.start);
    if length < block || gap.room < block || target.arrange(Arrangement::default()).is_err() {
        return Spread::default();
    }
    let (known, aliases) = doubles(written, gap, unit, dice);
    let mut spread = Spread { places: known, ..Spread::default() };
    let mut writer = Writer { target, data, generation, until: None };
    writer.write(&aliases, unit, &mut spread);
    let room = gap.room.saturating_sub(spread.bytes);
    let count = BLOCKS.min(length.get() / block.get()).min(room.get() / block.get());
    let offsets = one_in_each_part(gap, block, unit, count, dice);
    writer.until = Some(writer.target.now().saturating_add(SPREAD_TIME));
    writer.write(&offsets, block, &mut spread);
    let _ = writer.flush();
    spread
}

/// Places that are known, and for each the place a power of two above it.
fn doubles(
    written: &[Written],
    gap: Gap,
    unit: Bytes,
    dice: &mut Dice,
) -> (Vec<Bytes>, Vec<Bytes>) {
    let known = draw(written, BLOCKS, unit, || dice.bits());
    let pairs =
        (DISTANCE_MIN..u64::BITS - 1).map(|power| Bytes(1 << power)).filter_map(|distance| {
            let mut below = known.iter().filter(|place| **place < distance);
            let reaches = |place: &&Bytes| (**place + distance + unit) <= gap.end;
            let place = *below.rfind(reaches)?;
            (place + distance >= gap.start).then_some((place, place + distance))
        });
    pairs.take((gap.room.get() / unit.get()) as usize).unzip()
}

fn one_in_each_part(
    gap: Gap,
    block: Bytes,
    unit: Bytes,
    count: u64,
    dice: &mut Dice,
) -> Vec<Bytes> {
    let length = gap.end.saturating_sub(gap.start).get();
    let mut offsets: Vec<Bytes> = (0..count)
        .map(|index| {
            let part = length / count;
            let within = dice.below(part.saturating_sub(block.get()) + 1);
            let offset = gap.start + Bytes(part * index + within);
            offset.round_down_to(unit).max(gap.start.round_down_to(unit))
        })
        .collect();
    // In no order, so that what is written last is anywhere.
    for last in (1..offsets.len()).rev() {
        offsets.swap(last, dice.below(last as u64 + 1) as usize);
    }
    offsets
}

struct Writer<'a> {
    target: &'a mut dyn Target,
    data: DataPattern,
    generation: &'a mut Generation,
    until: Option<Nanos>,
}

impl Writer<'_> {
    /// Writes blocks at `offsets` and notes them in `spread`.
    fn write(&mut self, offsets: &[Bytes], block: Bytes, spread: &mut Spread) {
        let first = Generation(self.generation.0 + 1);
        let mut done = Vec::with_capacity(offsets.len());
        let mut failed = Vec::new();
        if self.target.prepare(1, block).is_err() {
            return;
        }
        for &offset in offsets {
            let is_late = self.until.is_some_and(|until| self.target.now() >= until);
            if is_late && done.len() >= BLOCKS_MIN {
                break;
            }
            let generation = Generation(self.generation.0 + 1);
            if let Some(buffer) = self.target.buffer(Slot(0)).get_mut(..block.as_len()) {
                self.data.fill(buffer, offset, generation);
            }
            let op = Op { slot: Slot(0), kind: OpKind::Write, offset, length: block };
            if matches!(self.submit(op), Ok(Some(moved)) if moved == block) {
                *self.generation = generation;
                done.push(offset);
            } else {
                failed.push(offset);
                break;
            }
        }
        spread.bytes += block * done.len() as u64;
        spread.places.extend(&done);
        let entry = |offsets: Vec<Bytes>, is_certain| Written {
            writes: offsets.len() as u64,
            source: Source::Offsets(offsets),
            block_size: block,
            first,
            is_laid_out: false,
            overlap: 0,
            is_certain,
        };
        spread.written.push(entry(done, true));
        spread.written.push(entry(failed, false));
    }

    /// Does `op`, and says how much it moved; nothing where it failed.
    fn submit(&mut self, op: Op) -> Result<Option<Bytes>, TargetError> {
        let outcome = match self.target.submit(op) {
            Ok(Submission::Done(completion)) => completion.outcome,
            Ok(Submission::Queued) => {
                let mut completions = Vec::new();
                while completions.is_empty() {
                    self.target.complete(Wait::One, &mut completions)?;
                }
                completions[0].outcome
            }
            Ok(Submission::Busy) | Err(_) => return Ok(None),
        };
        Ok(outcome.ok())
    }

    fn flush(&mut self) -> Result<Option<Bytes>, TargetError> {
        self.submit(Op::flush(Slot(0)))
    }
}
