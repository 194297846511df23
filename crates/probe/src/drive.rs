//! One operation at a time on a target, with the bytes counted.
//!
//! Experiments need to know in which order the storage took their writes; so nothing is queued.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::{
    Completion, Described, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError,
    Wait,
};
use cardproof_units::{Bytes, Nanos};

use crate::capacity::shorthand;

/// Why an experiment cannot go on. A fault of the storage is none of these, but for its vanishing.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// An operation was refused; the experiment made a mistake.
    #[error("the target refused an operation")]
    Refused(#[from] SubmitError),
    /// The engine failed.
    #[error("the engine that drives the target failed")]
    Failed(#[from] TargetError),
    /// The device is gone.
    #[error("the device was disconnected; connect it and start again")]
    Vanished,
    /// It was to be reconnected.
    #[error(
        "the device cannot be disconnected and connected again; unplug it, plug it in, and start \
         again without --reconnect"
    )]
    Unconnected(#[source] std::io::Error),
}

/// A target, driven one operation at a time.
pub struct Drive<'a> {
    target: &'a mut dyn Target,
    buffer_bytes: u64,
    written: u64,
    read: u64,
    completions: Vec<Completion>,
}

impl std::fmt::Debug for Drive<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Drive")
            .field("written", &self.written)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

/// The only slot.
const SLOT: Slot = Slot(0);

/// Test sectors as numbers, for targets that take them so.
const fn described(stamp: Stamp) -> Described {
    Described { numbers: shorthand::numbers(stamp), fill: shorthand::fill }
}

impl<'a> Drive<'a> {
    /// Prepares `target` for operations of up to `buffer` each.
    ///
    /// # Errors
    /// The buffer cannot be had.
    pub fn new(target: &'a mut dyn Target, buffer: Bytes) -> Result<Self, DriveError> {
        target.prepare(1, buffer)?;
        let completions = Vec::with_capacity(1);
        Ok(Self { target, buffer_bytes: buffer.get(), written: 0, read: 0, completions })
    }

    /// The target's clock.
    pub fn now(&mut self) -> Nanos {
        self.target.now()
    }

    /// Takes the device from the system and brings it back, where the target was opened for that;
    /// whether it did.
    ///
    /// # Errors
    /// It did not come back.
    pub fn reconnect(&mut self) -> Result<bool, DriveError> {
        self.target.reconnect().map_err(DriveError::Unconnected)
    }

    /// The longest operation.
    #[must_use]
    pub const fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// All bytes written so far.
    #[must_use]
    pub const fn written(&self) -> Bytes {
        Bytes(self.written)
    }

    /// All bytes read so far.
    #[must_use]
    pub const fn read_so_far(&self) -> Bytes {
        Bytes(self.read)
    }

    /// Writes `length_bytes` at `offset_bytes` that `fill` makes; the inner error is the storage's.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn write(
        &mut self,
        offset_bytes: u64,
        length_bytes: u64,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Result<(), Fault>, DriveError> {
        let length = Bytes(length_bytes);
        fill(&mut self.target.buffer(SLOT)[..length.as_len()]);
        let outcome = self.finish(OpKind::Write, offset_bytes, length)?;
        self.written += length_bytes;
        Ok(outcome)
    }

    /// Reads `length_bytes` at `offset_bytes`; the inner error is the storage's.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn read(
        &mut self,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Result<&[u8], Fault>, DriveError> {
        let length = Bytes(length_bytes);
        let outcome = self.finish(OpKind::Read, offset_bytes, length)?;
        self.read += length_bytes;
        Ok(match outcome {
            Ok(()) => Ok(&self.target.buffer(SLOT)[..length.as_len()]),
            Err(fault) => Err(fault),
        })
    }

    /// Writes the test sectors that begin with `stamp`; the inner error is the storage's.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn write_stamped(
        &mut self,
        offset_bytes: u64,
        length_bytes: u64,
        stamp: Stamp,
    ) -> Result<Result<(), Fault>, DriveError> {
        if !self.target.describe(SLOT, described(stamp)) {
            stamp.fill(&mut self.target.buffer(SLOT)[..Bytes(length_bytes).as_len()]);
        }
        let outcome = self.finish(OpKind::Write, offset_bytes, Bytes(length_bytes))?;
        self.written += length_bytes;
        Ok(outcome)
    }

    /// Whether the test sectors that begin with `stamp` come back; [`data`](Self::data) holds what
    /// came instead. The inner error is the storage's.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn check_stamped(
        &mut self,
        offset_bytes: u64,
        length_bytes: u64,
        stamp: Stamp,
    ) -> Result<Result<bool, Fault>, DriveError> {
        self.target.describe(SLOT, described(stamp));
        let outcome = self.finish(OpKind::Read, offset_bytes, Bytes(length_bytes))?;
        self.read += length_bytes;
        if let Err(fault) = outcome {
            return Ok(Err(fault));
        }
        let buffer = Bytes(length_bytes).as_len();
        if let Some(numbers) = self.target.described(SLOT) {
            if numbers == shorthand::numbers(stamp) {
                return Ok(Ok(true));
            }
            shorthand::fill(numbers, &mut self.target.buffer(SLOT)[..buffer]);
            return Ok(Ok(false));
        }
        let (sectors, _) = self.target.buffer(SLOT)[..buffer].as_chunks::<SECTOR>();
        let mut numbered = sectors.iter().enumerate();
        Ok(
            Ok(numbered
                .all(|(number, sector)| stamp.further(number as u64).wrong_bits(sector) == 0)),
        )
    }

    /// The first `length_bytes` that the last operation moved.
    pub fn data(&mut self, length_bytes: u64) -> &[u8] {
        &self.target.buffer(SLOT)[..Bytes(length_bytes).as_len()]
    }

    /// Waits until the target's clock reads `time`.
    ///
    /// # Errors
    /// The engine failed.
    pub fn wait_until(&mut self, time: Nanos) -> Result<(), DriveError> {
        self.completions.clear();
        Ok(self.target.complete(Wait::Until(time), &mut self.completions)?)
    }

    /// Makes what was written durable, as far as the device tells the truth.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn flush(&mut self) -> Result<Result<(), Fault>, DriveError> {
        self.finish(OpKind::Flush, 0, Bytes::ZERO)
    }

    /// Tells the device that `length_bytes` at `offset_bytes` hold nothing of value; the inner error is the
    /// storage's.
    ///
    /// # Errors
    /// The experiment cannot go on.
    pub fn discard(
        &mut self,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Result<(), Fault>, DriveError> {
        self.finish(OpKind::Discard, offset_bytes, Bytes(length_bytes))
    }

    fn finish(
        &mut self,
        kind: OpKind,
        offset_bytes: u64,
        length: Bytes,
    ) -> Result<Result<(), Fault>, DriveError> {
        let op = Op { slot: SLOT, kind, offset: Bytes(offset_bytes), length };
        self.completions.clear();
        if let Submission::Done(completion) = self.target.submit(op)? {
            self.completions.push(completion);
        }
        while self.completions.is_empty() {
            self.target.complete(Wait::One, &mut self.completions)?;
        }
        match self.completions[0].outcome {
            Err(fault) if fault.is_final() => Err(DriveError::Vanished),
            Err(fault) => Ok(Err(fault)),
            // A short transfer is an error of the medium that its driver did not name.
            Ok(moved) if kind != OpKind::Flush && moved < length => Ok(Err(Fault::InputOutput)),
            Ok(_) => Ok(Ok(())),
        }
    }
}
