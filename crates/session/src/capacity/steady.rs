//! Reads and writes that are tried again where they fail, and then block by block.

use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_probe::DriveError;
use cardproof_units::{Bytes, Nanos};

/// How often an operation is tried.
const ATTEMPTS: u32 = 4;

/// How much was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read: Bytes,
    pub(super) written: Bytes,
}

impl std::ops::AddAssign for Moved {
    fn add_assign(&mut self, more: Self) {
        self.read += more.read;
        self.written += more.written;
    }
}

/// A target on which one slot is used.
pub(super) struct Steady<'a> {
    target: &'a mut dyn Target,
    slot: Slot,
    block: u64,
    pub(super) moved: Moved,
    /// How long the operations took.
    pub(super) time: Nanos,
}

/// What reading has given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadBack {
    /// Zeros where nothing could be read.
    pub(super) data: Vec<u8>,
    /// For each block, whether it could be read.
    pub(super) is_read: Vec<bool>,
}

impl ReadBack {
    fn whole(data: Vec<u8>, blocks: usize) -> Self {
        Self { data, is_read: vec![true; blocks] }
    }
}

impl<'a> Steady<'a> {
    /// On `slot` of `target`, whose buffer holds all that is read or written at once.
    pub(super) fn new(target: &'a mut dyn Target, slot: Slot) -> Self {
        let block = target.abilities().logical_block.get();
        Self { target, slot, block, moved: Moved::default(), time: Nanos::ZERO }
    }

    /// The unit of reading and writing, in bytes.
    pub(super) const fn block(&self) -> u64 {
        self.block
    }

    /// Reads whole blocks.
    ///
    /// # Errors
    /// The device has vanished, or the engine failed.
    pub(super) fn read(&mut self, offset: u64, length: u64) -> Result<ReadBack, DriveError> {
        let blocks = (length / self.block) as usize;
        if self.repeat(OpKind::Read, offset, length)? {
            return Ok(ReadBack::whole(self.data(length).to_vec(), blocks));
        }
        let mut back = ReadBack { data: vec![0; Bytes(length).as_len()], is_read: Vec::new() };
        for index in 0..blocks {
            let is_read =
                self.repeat(OpKind::Read, offset + index as u64 * self.block, self.block)?;
            if is_read {
                let at = index * Bytes(self.block).as_len();
                let data = self.data(self.block);
                back.data[at..][..data.len()].copy_from_slice(data);
            }
            back.is_read.push(is_read);
        }
        Ok(back)
    }

    /// Writes whole blocks; how many could not be written.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) -> Result<u64, DriveError> {
        if self.write_once(offset, data)? {
            return Ok(0);
        }
        let mut failed = 0;
        let starts = (offset..).step_by(self.block as usize);
        for (start, data) in starts.zip(data.chunks(Bytes(self.block).as_len())) {
            failed += u64::from(!self.write_once(start, data)?);
        }
        Ok(failed)
    }

    /// Makes what was written durable; whether the device says so.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(super) fn flush(&mut self) -> Result<bool, DriveError> {
        self.repeat(OpKind::Flush, 0, 0)
    }

    fn data(&mut self, length: u64) -> &[u8] {
        &self.target.buffer(self.slot)[..Bytes(length).as_len()]
    }

    fn write_once(&mut self, offset: u64, data: &[u8]) -> Result<bool, DriveError> {
        self.target.buffer(self.slot)[..data.len()].copy_from_slice(data);
        self.repeat(OpKind::Write, offset, data.len() as u64)
    }

    fn repeat(&mut self, kind: OpKind, offset: u64, length: u64) -> Result<bool, DriveError> {
        for _ in 0..ATTEMPTS {
            if self.once(kind, offset, length)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn once(&mut self, kind: OpKind, offset: u64, length: u64) -> Result<bool, DriveError> {
        let length = Bytes(length);
        let op = Op { slot: self.slot, kind, offset: Bytes(offset), length };
        let done = complete(self.target, op)?;
        self.time += done.completed.saturating_sub(done.submitted);
        match kind {
            OpKind::Read => self.moved.read += length,
            OpKind::Write => self.moved.written += length,
            OpKind::Flush | OpKind::Discard => {}
        }
        match done.outcome {
            Err(fault) if fault.is_final() => Err(DriveError::Vanished),
            Err(Fault::Unsupported) if kind == OpKind::Flush => Ok(true),
            Err(_) => Ok(false),
            // A short transfer is an error of the medium that its driver did not name.
            Ok(moved) => Ok(kind == OpKind::Flush || moved == length),
        }
    }
}

/// Does `op` and waits for its end.
fn complete(target: &mut dyn Target, op: Op) -> Result<Completion, DriveError> {
    let mut completions = Vec::with_capacity(1);
    if let Submission::Done(completion) = target.submit(op)? {
        return Ok(completion);
    }
    loop {
        target.complete(Wait::One, &mut completions)?;
        if let Some(completion) = completions.first() {
            return Ok(*completion);
        }
    }
}
