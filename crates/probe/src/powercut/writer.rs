//! Writes by a plan, with flushes between the epochs, and tells of every step.

use cardproof_evidence::powercut::{Plan, Request};
use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Nanos};

use crate::drive::DriveError;

/// The data laid down before the first write come in pieces of this length.
const PIECE: Bytes = Bytes::kib(64);

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The most writes under way at a time; at least 1.
    pub queue_depth: u16,
    /// A write is durable when it is over, as with forced unit access: there are no flushes.
    pub writes_are_durable: bool,
}

/// Until when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// So many epochs, in full.
    Epochs(u64),
    /// A time on the target's clock; what is in flight then stays so.
    Time(Nanos),
    /// The ledger or the device ends it.
    Ended,
}

/// Why writing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// What was asked for is reached.
    Reached,
    /// The ledger wants no more.
    ByLedger,
    /// The device failed.
    Device(Fault),
}

/// Hears what is issued and what is durable; numbers never go down. Each answer says whether to go
/// on.
pub trait Ledger {
    /// All writes up to `number` are about to be issued, or were.
    fn issued(&mut self, number: u64) -> bool;

    /// All writes up to `number` were promised to be durable.
    fn durable(&mut self, number: u64) -> bool;
}

/// Writes a plan to a target.
pub struct Writer<'a> {
    target: &'a mut dyn Target,
    plan: Plan,
    style: Style,
    /// The next write.
    next: u64,
    /// By slot: the write in flight.
    flying: Vec<Option<u64>>,
    is_flushing: bool,
    completions: Vec<Completion>,
    written: Bytes,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Writer")
            .field("next", &self.next)
            .field("flying", &self.flying)
            .finish_non_exhaustive()
    }
}

impl<'a> Writer<'a> {
    /// Makes `target` ready for `plan`.
    ///
    /// # Errors
    /// The buffers cannot be had.
    pub fn new(target: &'a mut dyn Target, plan: Plan, style: Style) -> Result<Self, DriveError> {
        let slots = style.queue_depth.clamp(1, target.abilities().queue_depth_max);
        target.prepare(slots, PIECE.max(plan.length_max()))?;
        Ok(Self {
            target,
            plan,
            style,
            next: 1,
            flying: vec![None; usize::from(slots)],
            is_flushing: false,
            completions: Vec::new(),
            written: Bytes::ZERO,
        })
    }

    /// The time on the target's clock.
    pub fn now(&mut self) -> Nanos {
        self.target.now()
    }

    /// What was handed over to be written.
    #[must_use]
    pub const fn bytes_written(&self) -> Bytes {
        self.written
    }

    /// How many operations have not been completed.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flying.iter().flatten().count() + usize::from(self.is_flushing)
    }

    /// Writes the whole area once, before the first write, and flushes.
    ///
    /// # Errors
    /// The target cannot go on.
    pub fn lay_down(&mut self) -> Result<Ended, DriveError> {
        let area = self.plan.area();
        let piece = PIECE.get() / 512;
        let mut sector = area.start;
        while sector < area.end {
            let sectors = piece.min(area.end - sector);
            let slot = match self.free_slot(Until::Ended)? {
                Ok(slot) => slot,
                Err(ended) => return Ok(ended),
            };
            self.submit_write(slot, self.plan.ground(sector, sectors))?;
            sector += sectors;
        }
        self.settle(Until::Ended)
    }

    /// Writes from where it stands until `until`.
    ///
    /// # Errors
    /// The target cannot go on.
    pub fn write(&mut self, until: Until, ledger: &mut dyn Ledger) -> Result<Ended, DriveError> {
        let epochs = match until {
            Until::Epochs(epochs) => epochs,
            Until::Time(_) | Until::Ended => u64::MAX,
        };
        for _ in 0..epochs {
            match self.write_epoch(until, ledger)? {
                Some(ended) => return Ok(ended),
                None if self.is_over(until) => return Ok(Ended::Reached),
                None => {}
            }
        }
        Ok(Ended::Reached)
    }

    /// Writes an epoch and makes it durable; `None` when that is done.
    fn write_epoch(
        &mut self,
        until: Until,
        ledger: &mut dyn Ledger,
    ) -> Result<Option<Ended>, DriveError> {
        let last = self.next + self.plan.epoch_writes() - 1;
        while self.next <= last {
            let slot = match self.free_slot(until)? {
                Ok(slot) => slot,
                Err(ended) => return Ok(Some(ended)),
            };
            if !ledger.issued(self.next) {
                return Ok(Some(Ended::ByLedger));
            }
            self.submit_write(slot, self.plan.request(self.next))?;
            self.next += 1;
        }
        match self.settle(until)? {
            Ended::Reached if self.in_flight() == 0 => {}
            ended => return Ok(Some(ended)),
        }
        Ok((!ledger.durable(last)).then_some(Ended::ByLedger))
    }

    /// Waits for all writes, and flushes unless writes are durable. With a time to end at, it may
    /// come back with operations in flight.
    fn settle(&mut self, until: Until) -> Result<Ended, DriveError> {
        while self.in_flight() > 0 {
            if let Some(ended) = self.wait(until)? {
                return Ok(ended);
            }
        }
        if self.style.writes_are_durable {
            return Ok(Ended::Reached);
        }
        self.is_flushing = true;
        self.submit(Op::flush(Slot(0)))?;
        while self.in_flight() > 0 {
            if let Some(ended) = self.wait(until)? {
                return Ok(ended);
            }
        }
        Ok(Ended::Reached)
    }

    /// A slot without an operation, or why there is no more to write.
    fn free_slot(&mut self, until: Until) -> Result<Result<Slot, Ended>, DriveError> {
        loop {
            if let Some(index) = self.flying.iter().position(Option::is_none) {
                return Ok(Ok(Slot(index as u16)));
            }
            if let Some(ended) = self.wait(until)? {
                return Ok(Err(ended));
            }
        }
    }

    fn submit_write(&mut self, slot: Slot, request: Request) -> Result<(), DriveError> {
        let length = request.length();
        self.plan.fill(&request, &mut self.target.buffer(slot)[..length.as_len()]);
        self.flying[slot.index()] = Some(request.number);
        self.written += length;
        self.submit(Op { slot, kind: OpKind::Write, offset: request.offset(), length })
    }

    fn submit(&mut self, op: Op) -> Result<(), DriveError> {
        loop {
            match self.target.submit(op)? {
                Submission::Queued => return Ok(()),
                Submission::Done(completion) => {
                    self.completions.push(completion);
                    return Ok(());
                }
                Submission::Busy => self.target.complete(Wait::One, &mut self.completions)?,
            }
        }
    }

    fn is_over(&mut self, until: Until) -> bool {
        matches!(until, Until::Time(time) if self.target.now() >= time)
    }

    /// Waits for something to be over; an end where there is one.
    fn wait(&mut self, until: Until) -> Result<Option<Ended>, DriveError> {
        if self.completions.is_empty() {
            let wait = match until {
                Until::Time(time) => Wait::Until(time),
                Until::Epochs(_) | Until::Ended => Wait::One,
            };
            self.target.complete(wait, &mut self.completions)?;
        }
        let mut failed = None;
        for completion in std::mem::take(&mut self.completions) {
            match completion.kind {
                OpKind::Flush => self.is_flushing = false,
                _ => self.flying[completion.slot.index()] = None,
            }
            if let Err(fault) = completion.outcome {
                failed = Some(Ended::Device(fault));
            }
        }
        if failed.is_none() && self.is_over(until) {
            return Ok(Some(Ended::Reached));
        }
        Ok(failed)
    }
}
