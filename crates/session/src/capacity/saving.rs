//! A target that saves to a journal what it overwrites.
//!
//! What cannot be read twice alike cannot be saved, and is left as it is: the write goes around it, and the
//! state knows the place. Where the journal cannot be written, nothing more is overwritten.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cardproof_io::{
    Abilities, Completion, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError,
    Wait,
};
use cardproof_probe::DriveError;
use cardproof_units::{Bytes, Nanos, in_words};

use super::journal::{Journal, Paper};
use super::stable;
use super::steady::Steady;

/// What others may know of a [`Saving`] while it is used.
#[derive(Clone, Debug, Default)]
pub(super) struct SavingState(Rc<RefCell<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The device's time for reading what was saved, for writing what was asked and for flushes.
    device_time: Nanos,
    written: Bytes,
    /// The same of long writes and flushes alone.
    long_time: Nanos,
    long_written: Bytes,
    failure: Option<String>,
    /// All that was read to be saved.
    read: Bytes,
    /// What writes have gone around.
    skipped: Bytes,
    /// Blocks that could not be saved, with their length.
    untouched: BTreeMap<u64, u64>,
}

/// Shorter writes take as long as their number, longer ones as long as their bytes.
const LONG: Bytes = Bytes::kib(64);

impl SavingState {
    /// How long it takes to put everything back once `to_write` are written in all, of which long
    /// writes are left: the device reads and writes as much as it did for saving and writing.
    pub(super) fn time_to_restore(&self, to_write: Bytes) -> Nanos {
        let known = self.0.borrow();
        let left = to_write.saturating_sub(known.written).as_f64();
        let per_byte = known.long_time.as_secs_f64() / known.long_written.as_f64().max(1.0);
        known.device_time + Nanos::from_secs_f64(per_byte * left)
    }

    /// Why the journal could not be written.
    pub(super) fn failure(&self) -> Option<String> {
        self.0.borrow().failure.clone()
    }

    /// Whether any of `length_bytes` at `offset_bytes` was left as it was.
    pub(super) fn is_untouched(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let known = self.0.borrow();
        let before = known.untouched.range(..offset_bytes + length_bytes).next_back();
        before.is_some_and(|(start, length)| start + length > offset_bytes)
    }

    /// All that was read to be saved.
    pub(super) fn read(&self) -> Bytes {
        self.0.borrow().read
    }

    /// How much of what was to be written was not, since it could not be saved.
    pub(super) fn skipped(&self) -> Bytes {
        self.0.borrow().skipped
    }

    /// What was left as it was, as stretches (start, length), and how much that is.
    pub(super) fn untouched(&self) -> (Vec<[Bytes; 2]>, Bytes) {
        let known = self.0.borrow();
        let mut stretches: Vec<[Bytes; 2]> = Vec::new();
        for (&start, &length) in &known.untouched {
            match stretches.last_mut() {
                Some([from, so_far]) if from.get() + so_far.get() == start => {
                    *so_far += Bytes(length);
                }
                _ => stretches.push([Bytes(start), Bytes(length)]),
            }
        }
        (stretches, Bytes(known.untouched.values().sum()))
    }

    fn note_time(&self, length: Bytes, took: Nanos) {
        let mut known = self.0.borrow_mut();
        known.device_time += took;
        if length >= LONG {
            known.long_time += took;
        }
    }

    fn note(&self, done: &Completion) {
        match done.kind {
            OpKind::Write => {
                let length = done.outcome.unwrap_or_default();
                self.note_time(length, latency(done));
                let mut known = self.0.borrow_mut();
                known.written += length;
                if length >= LONG {
                    known.long_written += length;
                }
            }
            // It empties the caches that long writes fill, and putting back ends with one too.
            OpKind::Flush => self.note_time(LONG, latency(done)),
            OpKind::Read | OpKind::Discard => {}
        }
    }
}

/// A target that saves what it overwrites.
pub(super) struct Saving<'a, P> {
    inner: &'a mut dyn Target,
    journal: &'a mut Journal<P>,
    state: SavingState,
    /// The slot with which it reads what it saves: the one behind the caller's.
    own: Slot,
}

/// What became of saving.
enum Saved {
    /// All of it: the write may be done as it is.
    Whole,
    /// Of these stretches, which may be written.
    Parts(Vec<(u64, u64)>),
    /// The write must not be done.
    Failed(Fault),
}

impl<'a, P: Paper> Saving<'a, P> {
    pub(super) fn new(inner: &'a mut dyn Target, journal: &'a mut Journal<P>) -> Self {
        Self { inner, journal, state: SavingState::default(), own: Slot(0) }
    }

    pub(super) fn state(&self) -> SavingState {
        self.state.clone()
    }

    /// Saves what `op` will overwrite; it is on the journal's disk when this returns.
    fn save(&mut self, op: &Op) -> Saved {
        if self.state.failure().is_some() {
            return Saved::Failed(Fault::InputOutput);
        }
        let mut steady = Steady::new(&mut *self.inner, self.own);
        let block = steady.block();
        let (offset, length) = (op.offset.get(), op.length.get());
        let found = stable::find(&mut steady, offset, length, self.journal.salt());
        self.state.note_time(op.length, steady.time);
        self.state.0.borrow_mut().read += steady.moved.read;
        let found = match found {
            Ok(found) => found,
            Err(DriveError::Vanished) => return Saved::Failed(Fault::Vanished),
            Err(_) => return Saved::Failed(Fault::InputOutput),
        };
        if let Err(error) = self.journal.save(&found.pieces, false) {
            self.state.0.borrow_mut().failure = Some(in_words(&error));
            return Saved::Failed(Fault::InputOutput);
        }
        let mut known = self.state.0.borrow_mut();
        let blocks = |stretches: &[(u64, u64)]| -> Vec<u64> {
            let each = |&(from, length): &(u64, u64)| (from..from + length).step_by(block as usize);
            stretches.iter().flat_map(each).collect()
        };
        for unreadable in blocks(&found.unreadable) {
            known.untouched.insert(unreadable, block);
            known.skipped += Bytes(block);
        }
        for savable in blocks(&found.savable) {
            known.untouched.remove(&savable);
        }
        if found.unreadable.is_empty() { Saved::Whole } else { Saved::Parts(found.savable) }
    }

    /// Writes `parts` of what the buffer of `op` holds, which begin at the offset of `op`.
    fn write_parts(&mut self, op: &Op, parts: &[(u64, u64)]) -> Result<Bytes, Fault> {
        let data = self.inner.buffer(op.slot)[..op.length.as_len()].to_vec();
        let mut steady = Steady::new(&mut *self.inner, self.own);
        for &(from, length) in parts {
            let at = Bytes(from - op.offset.get()).as_len();
            match steady.write(from, &data[at..at + Bytes(length).as_len()]) {
                Ok(0) => {}
                Ok(_) => return Err(Fault::InputOutput),
                Err(DriveError::Vanished) => return Err(Fault::Vanished),
                Err(_) => return Err(Fault::InputOutput),
            }
        }
        Ok(op.length)
    }
}

fn latency(done: &Completion) -> Nanos {
    done.completed.saturating_sub(done.submitted)
}

impl<P: Paper> Target for Saving<'_, P> {
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }

    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.own = Slot(slots);
        self.inner.prepare(slots + 1, buffer_size)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let saved = if op.kind == OpKind::Write { self.save(&op) } else { Saved::Whole };
        let submitted = self.inner.now();
        let outcome = match saved {
            Saved::Whole => {
                let submission = self.inner.submit(op)?;
                if let Submission::Done(done) = &submission {
                    self.state.note(done);
                }
                return Ok(submission);
            }
            // What cannot be saved is not overwritten.
            Saved::Parts(parts) => self.write_parts(&op, &parts),
            Saved::Failed(fault) => Err(fault),
        };
        let Op { slot, kind, .. } = op;
        let completed = self.inner.now();
        let done = Completion { slot, kind, submitted, completed, outcome };
        self.state.note(&done);
        Ok(Submission::Done(done))
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = completions.len();
        self.inner.complete(wait, completions)?;
        completions[before..].iter().for_each(|done| self.state.note(done));
        Ok(())
    }
}

#[cfg(test)]
#[path = "saving_tests.rs"]
mod tests;
