//! What is compared, in words: columns, shapes, and why a card has no figure.

use std::fmt;

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use crate::compare::{Absence, Column, Shape};

use super::told::told_in_words;

told_in_words!(Absence, Shape);

impl Column {
    /// In words, such as `4 KiB random write`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::RandomRead => "4 KiB random read",
            Self::RandomWrite => "4 KiB random write",
            Self::SyncedWrite => "4 KiB synced write",
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::SustainedWrite => "sustained sequential write",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.block_size > Bytes::ZERO {
            write!(f, "{} ", self.block_size.in_short())?;
        }
        match self.pattern {
            PatternName::Sequential => f.write_str("sequential ")?,
            PatternName::Random => f.write_str("random ")?,
            PatternName::Unknown => {}
        }
        match self.op {
            OpName::Read => f.write_str("read")?,
            OpName::Write => f.write_str("write")?,
            _ if self.read_percent > 0 => write!(f, "mix, {} % reads", self.read_percent)?,
            _ => f.write_str("transfer")?,
        }
        if self.queue_depth > 0 {
            write!(f, ", depth {}", self.queue_depth)?;
        }
        match self.fsync_every {
            Some(1) => f.write_str(", fsync after each"),
            Some(every) => write!(f, ", fsync every {every}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInSource => f.write_str("its source has no such figure"),
            Self::OtherDepth { measured, compared } => write!(
                f,
                "measured at queue depth {measured}, but compared at queue depth {compared}"
            ),
            Self::OtherSequential(other) => other.fmt(f),
            Self::NoFigure(cause) => cause.fmt(f),
        }
    }
}
