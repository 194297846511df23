//! One phase of a profile: which operations, where, and when it ends.

use cardproof_io::Arrangement;
use cardproof_units::{Bytes, Iops, Nanos};

/// In which order addresses are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Access {
    /// One after the other, from the start again after the last.
    Sequential,
    /// Anywhere in the span.
    Random(Repetition),
}

/// Whether a random address may come again before all others have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Repetition {
    /// It may: every address is drawn anew, as fio does with `norandommap`.
    Allowed,
    /// It may not: each block comes once, in random order, then all again in another order.
    EachBlockOnce,
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Role {
    /// It fills the span that later phases work in. It always starts at the span's beginning.
    LayOut,
    /// It measures and presumes nothing.
    Measure,
    /// It measures, and compares all that it reads with what was laid out. Only sound for reads
    /// with nothing but the laying out before them.
    MeasureAndVerify,
}

/// How much time a phase may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum TimeLimit {
    /// Its part of what is left of the run's time, in proportion to the shares of the phases
    /// still to come.
    Share(u32),
    /// Exactly this, whatever the run's time.
    Fixed(Nanos),
    /// Any: it ends by bytes or operations.
    None,
}

/// When an estimate is good enough to stop.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Precision {
    /// Half the interval's width, as a part of the estimate; between 0 and 1.
    pub relative_half_width: f64,
    /// The interval's confidence; between 0 and 1.
    pub confidence: f64,
    /// Not before this, however good the estimate looks.
    pub time_min: Nanos,
    /// Not while one of these limits lies in the interval on which verdicts rest.
    pub limits: &'static [Iops],
}

/// A limit that a phase is to decide: it ends as soon as its rate is surely above or below.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Decision {
    /// The limit.
    pub limit: Iops,
    /// The confidence of the interval that must leave the limit; between 0 and 1.
    pub confidence: f64,
    /// Whether the phase has to go on when its rate is surely above, since later phases need all
    /// of it. Surely below always ends it.
    pub only_a_miss_ends_it: bool,
    /// Whether the run is over with a rate that is surely below.
    pub a_miss_ends_the_run: bool,
}

/// What ends a phase: whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Ends {
    /// The time.
    pub time: TimeLimit,
    /// So many bytes moved.
    pub bytes: Option<Bytes>,
    /// So many operations done.
    pub ops: Option<u64>,
    /// A good enough estimate.
    pub precision: Option<Precision>,
    /// A limit decided.
    pub decision: Option<Decision>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PhaseSpec {
    /// Its name: pattern, operation, block size, depth.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// In which order addresses are visited.
    pub access: Access,
    /// The range of addresses, from the start of the run's; all of that where there is none.
    pub span: Option<Bytes>,
    /// The file, and the way to the storage.
    pub arrangement: Arrangement,
    /// Of 100 operations, how many read, drawn anew for each; 0 to 100.
    pub read_percent: u8,
    /// The size of each operation.
    pub block_size: Bytes,
    /// How far every operation is moved off its natural alignment.
    pub alignment_offset: Bytes,
    /// How many operations are kept in flight, at least 1.
    pub queue_depth: u16,
    /// A flush after every so many writes, waited for like any other operation.
    pub fsync_every: Option<u32>,
    /// A flush when the phase is over, whose time counts.
    pub flush_at_end: bool,
    /// At most so many operations a second.
    pub rate_limit: Option<Iops>,
    /// When it ends.
    pub ends: Ends,
}

/// Why a phase cannot be run in a span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not even one operation fits.
    #[error("{span} is too small for operations of {block_size}")]
    SpanTooSmall {
        /// The span.
        span: Bytes,
        /// The operation.
        block_size: Bytes,
        /// How far it is moved.
        alignment_offset: Bytes,
    },
    /// A number that must be positive is zero, or a percentage is above 100.
    #[error("the phase's {0} is out of range")]
    OutOfRange(&'static str),
    /// Nothing would ever end the phase.
    #[error("the phase has no end: give it a time, a number of bytes or of operations")]
    Endless,
}

impl PhaseSpec {
    /// The range of addresses where the run has `run_span`.
    #[must_use]
    pub fn span_within(&self, run_span: Bytes) -> Bytes {
        self.span.map_or(run_span, |own| own.min(run_span))
    }

    /// Whether it writes at all.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Whether it reads at all.
    #[must_use]
    pub const fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// The most it may write: its end by bytes or operations; `None` where only time ends it.
    #[must_use]
    pub fn bytes_written_max(&self) -> Option<Bytes> {
        if !self.writes() {
            return Some(Bytes::ZERO);
        }
        let by_ops = self.ends.ops.map(|ops| Bytes(ops.saturating_mul(self.block_size.get())));
        match (self.ends.bytes, by_ops) {
            (Some(bytes), Some(by_ops)) => Some(bytes.min(by_ops)),
            (bytes, by_ops) => bytes.or(by_ops),
        }
    }

    /// How many different operations fit `span`.
    ///
    /// # Errors
    /// None fits, or a number is out of its range.
    pub fn blocks_in(&self, span: Bytes) -> Result<u64, SpecError> {
        if self.block_size == Bytes::ZERO {
            return Err(SpecError::OutOfRange("block size"));
        }
        if self.queue_depth == 0 {
            return Err(SpecError::OutOfRange("queue depth"));
        }
        if self.read_percent > 100 {
            return Err(SpecError::OutOfRange("percentage of reads"));
        }
        if self.fsync_every == Some(0) {
            return Err(SpecError::OutOfRange("number of writes between flushes"));
        }
        let Ends { time, bytes, ops, .. } = self.ends;
        if time == TimeLimit::None && bytes.is_none() && ops.is_none() {
            return Err(SpecError::Endless);
        }
        match span.saturating_sub(self.alignment_offset).get() / self.block_size.get() {
            0 => Err(SpecError::SpanTooSmall {
                span,
                block_size: self.block_size,
                alignment_offset: self.alignment_offset,
            }),
            blocks => Ok(blocks),
        }
    }
}
