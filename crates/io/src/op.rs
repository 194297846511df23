//! One operation on a target, and what became of it.

use cardproof_units::{Bytes, Nanos};

/// The number of a buffer and of the one operation that may use it at a time, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u16);

impl Slot {
    /// The slot as an index into a table of slots.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Reads into the slot's buffer.
    Read,
    /// Writes from the slot's buffer.
    Write,
    /// Makes every write completed before it durable, as far as the device tells the truth.
    Flush,
    /// Tells the device that the range holds nothing of value; what it reads as is unknown.
    Discard,
}

impl OpKind {
    /// Whether the operation changes what the target holds.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        matches!(self, Self::Write | Self::Discard)
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The buffer to use; also the operation's name in its [`Completion`].
    pub slot: Slot,
    /// What to do.
    pub kind: OpKind,
    /// Where it starts, from the target's first byte; zero for a flush.
    pub offset: Bytes,
    /// How many bytes; zero for a flush.
    pub length: Bytes,
}

impl Op {
    /// A flush under the name `slot`.
    #[must_use]
    pub const fn flush(slot: Slot) -> Self {
        Self { slot, kind: OpKind::Flush, offset: Bytes::ZERO, length: Bytes::ZERO }
    }
}

/// What became of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The operation's slot, free again.
    pub slot: Slot,
    /// What it did.
    pub kind: OpKind,
    /// When it was handed to the storage, on the target's clock.
    pub submitted: Nanos,
    /// When its end was seen, on the target's clock; never before `submitted`.
    pub completed: Nanos,
    /// The bytes moved, which may be fewer than asked for (a short read or write), or the fault.
    pub outcome: Result<Bytes, Fault>,
}

impl Completion {
    /// The completion of `op`.
    pub(crate) const fn new(
        op: &Op,
        submitted: Nanos,
        completed: Nanos,
        outcome: Result<Bytes, Fault>,
    ) -> Self {
        Self { slot: op.slot, kind: op.kind, submitted, completed, outcome }
    }

    /// The time from submission to completion.
    #[must_use]
    pub const fn latency(&self) -> Nanos {
        self.completed.saturating_sub(self.submitted)
    }
}

/// A failed operation, as the storage reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    /// The medium or the bus failed (EIO and its like).
    #[error("the device reported an input/output error")]
    InputOutput,
    /// The file system or a thin-provisioned device is full, or the file may grow no further (ENOSPC,
    /// EDQUOT, EFBIG).
    #[error("no space left")]
    NoSpace,
    /// The device is gone (ENODEV, ENXIO, ENOMEDIUM).
    #[error("the device has vanished")]
    Vanished,
    /// The device did not answer in time (ETIMEDOUT).
    #[error("the device did not answer in time")]
    TimedOut,
    /// The target turned read-only, or the medium is write-protected (EROFS, EPERM).
    #[error("the device has turned read-only")]
    WriteProtected,
    /// The device cannot do this operation (EOPNOTSUPP).
    #[error("the device does not support this operation")]
    Unsupported,
    /// Any other error, by its number.
    #[error("the system reported error {0}")]
    Os(i32),
}

impl Fault {
    /// Whether every later operation must fail as well.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Vanished)
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match errno {
            Errno::IO | Errno::REMOTEIO | Errno::ILSEQ => Self::InputOutput,
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace,
            Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM => Self::Vanished,
            Errno::TIMEDOUT => Self::TimedOut,
            Errno::ROFS | Errno::PERM | Errno::ACCESS => Self::WriteProtected,
            Errno::OPNOTSUPP | Errno::NOSYS => Self::Unsupported,
            other => Self::Os(other.raw_os_error()),
        }
    }
}

/// How a target took an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// It is finished already.
    Done(Completion),
    /// It will be returned by a later [`Target::complete`](crate::Target::complete).
    Queued,
    /// There is no room; complete something, then submit it again.
    Busy,
}
