//! The published figures of eight devices, and the workload by which a model is held to them.
//!
//! The figures are Thomas Kaiser's of 2018, taken on one board with iozone: a file of 100 MiB,
//! for each record size written, rewritten, read, read again, then read and written once at
//! random, one request at a time, direct, a flush at the end of each pass. [`measure`] does the
//! same to a target. What is compared is the mean rate of a pass on the target's clock; for
//! sequential writing that of the rewrite, because the first write after a random pass also pays
//! for what that pass left behind.

use cardproof_facts::{PUBLISHED_CARDS, PublishedCard};
use cardproof_io::{
    Completion, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

mod deep;

pub use deep::{Amount, Deep};

/// The size of the test file.
pub const FILE_SIZE: Bytes = Bytes::mib(100);

/// The record sizes, in the order of the passes.
const RECORDS: [Bytes; 4] = [Bytes::kib(1), Bytes::kib(4), Bytes::kib(16), Bytes::mib(16)];

/// One row of the published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Random reads of 1 KiB, operations a second.
    Read1K,
    /// Random writes of 1 KiB, operations a second.
    Write1K,
    /// Random reads of 4 KiB, operations a second.
    Read4K,
    /// Random writes of 4 KiB, operations a second.
    Write4K,
    /// Random reads of 16 KiB, operations a second.
    Read16K,
    /// Random writes of 16 KiB, operations a second.
    Write16K,
    /// Sequential reads of 16 MiB, MB/s.
    SequentialRead,
    /// Sequential writes of 16 MiB, MB/s.
    SequentialWrite,
}

impl Cell {
    /// Every row, in the order of [`Figures`].
    pub const ALL: [Self; 8] = [
        Self::Read1K,
        Self::Write1K,
        Self::Read4K,
        Self::Write4K,
        Self::Read16K,
        Self::Write16K,
        Self::SequentialRead,
        Self::SequentialWrite,
    ];

    /// The row's usual name, with its unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read1K => "1K read IOPS",
            Self::Write1K => "1K write IOPS",
            Self::Read4K => "4K read IOPS",
            Self::Write4K => "4K write IOPS",
            Self::Read16K => "16K read IOPS",
            Self::Write16K => "16K write IOPS",
            Self::SequentialRead => "sequential read MB/s",
            Self::SequentialWrite => "sequential write MB/s",
        }
    }
}

/// A figure for every [`Cell`], in the order of [`Cell::ALL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures(pub [f64; 8]);

impl Figures {
    /// The figure of `cell`.
    #[must_use]
    pub const fn of(&self, cell: Cell) -> f64 {
        self.0[cell as usize]
    }
}

/// What was published of one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The card's name in the catalogue.
    pub card: &'static str,
    /// Its figures.
    pub figures: Figures,
}

/// The published cards, in the order of [`PUBLISHED_CARDS`].
pub static PUBLISHED: [Published; 8] = {
    let mut all = [Published::from_card(&PUBLISHED_CARDS[0]); 8];
    let mut index = 1;
    while index < all.len() {
        all[index] = Published::from_card(&PUBLISHED_CARDS[index]);
        index += 1;
    }
    all
};

impl Published {
    const fn from_card(card: &PublishedCard) -> Self {
        Self {
            card: card.reference,
            figures: Figures([
                card.random_read_1k.0,
                card.random_write_1k.0,
                card.random_read.0,
                card.random_write.0,
                card.random_read_16k.0,
                card.random_write_16k.0,
                card.sequential_read.as_mb_per_s(),
                card.sequential_write.as_mb_per_s(),
            ]),
        }
    }
}

/// Why a target could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// An operation was refused.
    #[error("the target refused an operation of the calibration workload; it needs 100 MiB")]
    Refused(#[from] SubmitError),
    /// The target failed.
    #[error("the target failed under the calibration workload")]
    Failed(#[from] TargetError),
    /// An operation ended with a fault.
    #[error("an operation of the calibration workload failed")]
    Fault(#[from] cardproof_io::Fault),
}

/// Runs the workload on the first 100 MiB of `target`; `seed` decides the random orders.
///
/// # Errors
/// [`MeasureError`] where any operation fails: a partial figure would be none.
pub fn measure(target: &mut dyn Target, seed: Seed) -> Result<Figures, MeasureError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("calibration"));
    let mut figures = Figures([0.0; 8]);
    for (number, record) in RECORDS.into_iter().enumerate() {
        target.prepare(1, record)?;
        let pass = |target: &mut dyn Target, kind, order: &[u64]| pass(target, kind, record, order);
        let in_order: Vec<u64> = (0..FILE_SIZE.get() / record.get()).collect();
        let mut shuffled = in_order.clone();
        pass(target, OpKind::Write, &in_order)?;
        let rewrite = pass(target, OpKind::Write, &in_order)?;
        let read = pass(target, OpKind::Read, &in_order)?;
        pass(target, OpKind::Read, &in_order)?;
        if record > Bytes::kib(16) {
            let megabytes = record.as_f64() / 1e6;
            figures.0[Cell::SequentialRead as usize] = read * megabytes;
            figures.0[Cell::SequentialWrite as usize] = rewrite * megabytes;
            continue;
        }
        shuffle(&mut shuffled, &mut random);
        figures.0[number * 2] = pass(target, OpKind::Read, &shuffled)?;
        shuffle(&mut shuffled, &mut random);
        figures.0[number * 2 + 1] = pass(target, OpKind::Write, &shuffled)?;
    }
    Ok(figures)
}

/// One pass over the records whose numbers are in `order`, one at a time, on a target prepared
/// for them; returns the operations a second, the flush at the end of a writing pass counted in.
///
/// # Errors
/// [`MeasureError`] where any operation fails.
pub fn pass(
    target: &mut dyn Target,
    kind: OpKind,
    record: Bytes,
    order: &[u64],
) -> Result<f64, MeasureError> {
    let start = target.now();
    let mut completions = Vec::with_capacity(1);
    for &number in order {
        let op = Op { slot: Slot(0), kind, offset: record * number, length: record };
        finish(target, op, &mut completions)?;
    }
    if kind == OpKind::Write {
        finish(target, Op::flush(Slot(0)), &mut completions)?;
    }
    let seconds = target.now().saturating_sub(start).as_secs_f64();
    Ok(order.len() as f64 / seconds)
}

fn finish(
    target: &mut dyn Target,
    op: Op,
    completions: &mut Vec<Completion>,
) -> Result<(), MeasureError> {
    completions.clear();
    if let Submission::Done(completion) = target.submit(op)? {
        completions.push(completion);
    }
    while completions.is_empty() {
        target.complete(Wait::One, completions)?;
    }
    for completion in completions {
        completion.outcome?;
    }
    Ok(())
}

/// Brings `order` into a random one (Fisher and Yates).
pub fn shuffle(order: &mut [u64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..order.len()).rev() {
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
}

/// The pairs of cards that a row of `simulated` puts the other way round than the published
/// one. Cards with the same published figure may come in any order.
#[must_use]
pub fn order_broken(simulated: &[Figures; 8]) -> Vec<(Cell, &'static str, &'static str)> {
    let mut broken = Vec::new();
    for cell in Cell::ALL {
        for (a, published_a) in PUBLISHED.iter().enumerate() {
            for (b, published_b) in PUBLISHED.iter().enumerate() {
                let above = published_a.figures.of(cell) > published_b.figures.of(cell);
                if above && simulated[a].of(cell) <= simulated[b].of(cell) {
                    broken.push((cell, published_a.card, published_b.card));
                }
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use cardproof_io::Fault;
    use cardproof_units::with_causes;

    use super::*;

    #[test]
    fn a_failed_operation_names_its_cause_once() {
        let said = "an operation of the calibration workload failed: the device has vanished";
        assert_eq!(with_causes(&MeasureError::from(Fault::Vanished)), said);
    }
}
