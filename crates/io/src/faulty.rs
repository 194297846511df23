//! A target that fails on purpose: the decorator with which every layer above is tested.
//!
//! It wraps any target and turns chosen operations into the faults that real storage shows.

use cardproof_units::{Bytes, Nanos};

use crate::{
    Abilities, Arrangement, Completion, Directness, Fault, Op, OpKind, Slot, Submission,
    SubmitError, Target, TargetError, Usage, Wait,
};

/// Which operations fail, and how. Operations are counted from 1, flushes and discards included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Operation number `nth` fails with `fault`; all others work.
    Once {
        /// Which operation.
        nth: u64,
        /// How it fails.
        fault: Fault,
    },
    /// From operation number `nth` on, all operations of `kind` fail with `fault`.
    From {
        /// The first that fails.
        nth: u64,
        /// The kind that fails; all kinds for `None`.
        kind: Option<OpKind>,
        /// How they fail.
        fault: Fault,
    },
    /// Operation number `nth` moves only its first half, rounded down to a block.
    Short {
        /// Which operation.
        nth: u64,
    },
    /// The block read by operation number `nth` has one bit turned over.
    BitFlip {
        /// Which operation; a read.
        nth: u64,
    },
}

/// `inner`, with failures.
#[derive(Debug)]
pub struct FaultyTarget<T> {
    inner: T,
    failures: Vec<Failure>,
    submitted_ops: u64,
    /// By slot: what is to become of the operation in flight.
    fates: Vec<Fate>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Fate {
    #[default]
    Works,
    Fails(Fault),
    Shortened,
    Corrupted,
}

impl<T: Target> FaultyTarget<T> {
    /// Decorates `inner`.
    pub fn new(inner: T, failures: Vec<Failure>) -> Self {
        Self { inner, failures, submitted_ops: 0, fates: vec![Fate::Works; 1] }
    }

    fn fate_of(&self, number: u64, op: &Op) -> Fate {
        for failure in &self.failures {
            match *failure {
                Failure::Once { nth, fault } if nth == number => return Fate::Fails(fault),
                Failure::From { nth, kind, fault }
                    if number >= nth && kind.is_none_or(|kind| kind == op.kind) =>
                {
                    return Fate::Fails(fault);
                }
                Failure::Short { nth } if nth == number => return Fate::Shortened,
                Failure::BitFlip { nth } if nth == number => return Fate::Corrupted,
                _ => {}
            }
        }
        Fate::Works
    }

    /// Applies the fate of a finished operation.
    fn apply(&mut self, mut completion: Completion) -> Completion {
        let fate = self.fates.get_mut(completion.slot.index()).map(std::mem::take);
        match (fate, completion.outcome) {
            (Some(Fate::Fails(fault)), _) => completion.outcome = Err(fault),
            (Some(Fate::Shortened), Ok(moved)) => {
                let half = Bytes(moved.get() / 2);
                completion.outcome = Ok(half.round_down_to(self.inner.abilities().logical_block));
            }
            (Some(Fate::Corrupted), Ok(_)) => {
                if let Some(byte) = self.inner.buffer(completion.slot).get_mut(100) {
                    *byte ^= 0x10;
                }
            }
            _ => {}
        }
        completion
    }
}

impl<T: Target> Target for FaultyTarget<T> {
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }

    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn temperature_millicelsius(&mut self) -> Option<i32> {
        self.inner.temperature_millicelsius()
    }

    fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
        self.inner.arrange(arrangement)
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner.prepare(slots, buffer_size)?;
        self.fates = vec![Fate::Works; usize::from(slots)];
        Ok(())
    }

    fn slots_for(&self, queue_depth: u16) -> u16 {
        self.inner.slots_for(queue_depth)
    }

    fn cost(&self) -> Option<Usage> {
        self.inner.cost()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let fate = self.fate_of(self.submitted_ops + 1, &op);
        // A write that fails must not reach the storage: it is turned into a flush.
        let passed_on = match (fate, op.kind) {
            (Fate::Fails(_), OpKind::Write | OpKind::Discard) => {
                self.inner.abilities().check(&op, op.length)?;
                Op::flush(op.slot)
            }
            _ => op,
        };
        let submission = self.inner.submit(passed_on)?;
        if submission == Submission::Busy {
            return Ok(submission);
        }
        self.submitted_ops += 1;
        if let Some(place) = self.fates.get_mut(op.slot.index()) {
            *place = fate;
        }
        Ok(match submission {
            Submission::Done(completion) => {
                let completion = self.apply(completion);
                Submission::Done(Completion { kind: op.kind, ..completion })
            }
            other => other,
        })
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = completions.len();
        self.inner.complete(wait, completions)?;
        for completion in completions.iter_mut().skip(before) {
            *completion = self.apply(*completion);
        }
        Ok(())
    }
}
