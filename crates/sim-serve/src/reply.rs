//! Requests from the kernel, and how to answer them.

use std::time::Instant;

use cardproof_io::{Fault, OpKind};
use cardproof_units::Bytes;
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};

/// One request, with the means to answer it from any thread.
#[derive(Debug)]
pub(crate) struct Request {
    /// When it came.
    pub(crate) received: Instant,
    /// What is to be done.
    pub(crate) kind: OpKind,
    /// Where; on the grid of the card's logical block.
    pub(crate) offset: Bytes,
    /// How much; whole logical blocks.
    pub(crate) length: Bytes,
    /// What is to be written.
    pub(crate) data: Vec<u8>,
    /// Whom to tell.
    pub(crate) reply: Reply,
}

/// The kernel's end of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A read: the answer is `length` bytes from `start` of what the card gives.
    Data {
        /// The kernel's end.
        reply: ReplyData,
        /// Where in the card's bytes the asked ones start.
        start: usize,
        /// How many were asked for.
        length: usize,
    },
    /// A write.
    Written(ReplyWrite),
    /// A flush or discard.
    Done(ReplyEmpty),
}

impl Reply {
    /// Answers with what the card did; `data` is what it read.
    pub(crate) fn answer(self, outcome: Result<Bytes, Fault>, data: &[u8]) {
        match (self, outcome) {
            (reply, Err(fault)) => reply.fail(errno(fault)),
            (Self::Data { reply, start, length }, Ok(_)) => match data.get(start..start + length) {
                Some(asked) => reply.data(asked),
                None => reply.error(Errno::EIO),
            },
            (Self::Written(reply), Ok(moved)) => {
                reply.written(u32::try_from(moved.get()).unwrap_or(u32::MAX));
            }
            (Self::Done(reply), Ok(_)) => reply.ok(),
        }
    }

    /// Answers with an error.
    pub(crate) fn fail(self, errno: Errno) {
        match self {
            Self::Data { reply, .. } => reply.error(errno),
            Self::Written(reply) => reply.error(errno),
            Self::Done(reply) => reply.error(errno),
        }
    }
}

/// The error by which the kernel knows `fault`.
fn errno(fault: Fault) -> Errno {
    match fault {
        Fault::InputOutput => Errno::EIO,
        Fault::NoSpace => Errno::ENOSPC,
        Fault::Vanished => Errno::ENODEV,
        Fault::TimedOut => Errno::ETIMEDOUT,
        Fault::WriteProtected => Errno::EROFS,
        Fault::Unsupported => Errno::EOPNOTSUPP,
        Fault::Os(number) => Errno::from_i32(number),
    }
}
