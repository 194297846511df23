//! The target below: operations that are waited for, and batches that are written behind.

use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Nanos};

use crate::LogError;
use crate::form::BLOCK_LEN;

/// How many batches are under way at a time.
const BATCHES: u16 = 2;

/// The slot for everything that is waited for.
const WAITED: Slot = Slot(BATCHES);

/// The longest operation.
pub(crate) const BUFFER: Bytes = Bytes::mib(1);

/// The target below a log.
#[derive(Debug)]
pub(crate) struct Inner<T> {
    pub(crate) target: T,
    /// By slot: the places of the batch under way there.
    batches: [Option<(u32, u32)>; BATCHES as usize],
    completions: Vec<Completion>,
    /// Why a batch was not written; from then on nothing is.
    failed: Option<Fault>,
}

impl<T: Target> Inner<T> {
    /// Makes `target` ready.
    pub(crate) fn new(mut target: T) -> Result<Self, LogError> {
        target.prepare(BATCHES + 1, BUFFER)?;
        Ok(Self {
            target,
            batches: [None; BATCHES as usize],
            completions: Vec::new(),
            failed: None,
        })
    }

    /// Makes it ready again after [`Target::arrange`].
    pub(crate) fn prepare(&mut self) -> Result<(), LogError> {
        self.wait_for_batches()?;
        Ok(self.target.prepare(BATCHES + 1, BUFFER)?)
    }

    /// Lets time pass until `until`, or not at all.
    pub(crate) fn pass_time(&mut self, until: Nanos) -> Result<(), LogError> {
        while self.target.now() < until {
            self.collect(Wait::Until(until))?;
        }
        Ok(())
    }

    fn collect(&mut self, wait: Wait) -> Result<(), LogError> {
        let mut completions = std::mem::take(&mut self.completions);
        completions.clear();
        let done = self.target.complete(wait, &mut completions);
        completions.iter().for_each(|completion| self.land(completion));
        self.completions = completions;
        Ok(done?)
    }

    /// Takes a batch that is over; what is waited for is not in flight then.
    fn land(&mut self, completion: &Completion) {
        let Some(batch) = self.batches.get_mut(completion.slot.index()) else { return };
        let Some((_, blocks)) = batch.take() else { return };
        let length = Bytes(u64::from(blocks) * BLOCK_LEN as u64);
        match completion.outcome {
            Ok(moved) if moved == length => {}
            Ok(_) => self.failed = Some(Fault::InputOutput),
            Err(fault) => self.failed = Some(fault),
        }
    }

    /// Submits an operation and waits for it.
    fn run(&mut self, op: Op) -> Result<(), LogError> {
        let completion = loop {
            match self.target.submit(op)? {
                Submission::Done(completion) => break completion,
                Submission::Busy => self.collect(Wait::One)?,
                Submission::Queued => break self.wait_for(op.slot)?,
            }
        };
        match completion.outcome {
            Err(fault) => Err(LogError::Fault(fault)),
            Ok(moved) if op.kind != OpKind::Flush && moved < op.length => {
                Err(LogError::Fault(Fault::InputOutput))
            }
            Ok(_) => Ok(()),
        }
    }

    fn wait_for(&mut self, slot: Slot) -> Result<Completion, LogError> {
        loop {
            self.collect(Wait::One)?;
            if let Some(found) = self.completions.iter().find(|done| done.slot == slot) {
                return Ok(*found);
            }
        }
    }

    /// Waits for every batch that is under way.
    pub(crate) fn wait_for_batches(&mut self) -> Result<(), LogError> {
        while self.batches.iter().any(Option::is_some) {
            self.collect(Wait::One)?;
        }
        self.failed.map_or(Ok(()), |fault| Err(LogError::Fault(fault)))
    }

    /// Reads `blocks` from `place`.
    pub(crate) fn read(&mut self, place: u32, blocks: u32) -> Result<&[u8], LogError> {
        let end = place + blocks;
        let is_under_way =
            |batch: &(u32, u32)| batch.0 < end && place < batch.0.saturating_add(batch.1);
        while self.batches.iter().flatten().any(is_under_way) {
            self.collect(Wait::One)?;
        }
        let op = at(WAITED, OpKind::Read, place, blocks);
        self.run(op)?;
        Ok(&self.target.buffer(WAITED)[..op.length.as_len()])
    }

    /// Writes `blocks` to `place` that `fill` makes, and waits.
    pub(crate) fn write(
        &mut self,
        place: u32,
        blocks: u32,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), LogError> {
        let op = at(WAITED, OpKind::Write, place, blocks);
        fill(&mut self.target.buffer(WAITED)[..op.length.as_len()]);
        self.run(op)
    }

    /// Writes a batch behind: `fill` makes it.
    pub(crate) fn write_behind(
        &mut self,
        place: u32,
        blocks: u32,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), LogError> {
        let slot = loop {
            self.collect(Wait::No)?;
            if let Some(fault) = self.failed {
                return Err(LogError::Fault(fault));
            }
            match self.batches.iter().position(Option::is_none) {
                Some(free) => break Slot(free as u16),
                None => self.collect(Wait::One)?,
            }
        };
        let op = at(slot, OpKind::Write, place, blocks);
        fill(&mut self.target.buffer(slot)[..op.length.as_len()]);
        self.batches[slot.index()] = Some((place, blocks));
        loop {
            match self.target.submit(op)? {
                Submission::Queued => return Ok(()),
                Submission::Busy => self.collect(Wait::One)?,
                Submission::Done(completion) => {
                    self.land(&completion);
                    return Ok(());
                }
            }
        }
    }

    /// Waits for the batches and makes them durable.
    pub(crate) fn flush(&mut self) -> Result<(), LogError> {
        self.wait_for_batches()?;
        self.run(Op::flush(WAITED))
    }
}

fn at(slot: Slot, kind: OpKind, place: u32, blocks: u32) -> Op {
    let bytes = |blocks: u32| Bytes(u64::from(blocks) * BLOCK_LEN as u64);
    Op { slot, kind, offset: bytes(place), length: bytes(blocks) }
}
