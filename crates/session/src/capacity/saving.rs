//! A target that saves to a journal what it overwrites.
//!
//! Where the journal cannot be written, nothing more is overwritten, and whoever holds the state hears
//! of it.

use std::cell::RefCell;
use std::rc::Rc;

use cardproof_io::{
    Abilities, Completion, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError,
    Wait,
};
use cardproof_units::{Bytes, Nanos};

use super::journal::Journal;

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
pub(super) struct Saving<'a> {
    inner: &'a mut dyn Target,
    journal: Journal,
    state: SavingState,
    /// The slot with which it reads what it saves: the one behind the caller's.
    own: Slot,
}

impl<'a> Saving<'a> {
    pub(super) fn new(inner: &'a mut dyn Target, journal: Journal) -> Self {
        Self { inner, journal, state: SavingState::default(), own: Slot(0) }
    }

    pub(super) fn state(&self) -> SavingState {
        self.state.clone()
    }

    pub(super) fn into_journal(self) -> Journal {
        self.journal
    }

    /// Saves what `op` will overwrite; whether it is safe on the journal's disk.
    fn save(&mut self, op: &Op) -> bool {
        if self.state.failure().is_some() {
            return false;
        }
        let read = Op { slot: self.own, kind: OpKind::Read, ..*op };
        let mut completions = Vec::new();
        match self.inner.submit(read) {
            Ok(Submission::Done(completion)) => completions.push(completion),
            Ok(Submission::Queued) => {}
            Ok(Submission::Busy) | Err(_) => return false,
        }
        while completions.is_empty() {
            if self.inner.complete(Wait::One, &mut completions).is_err() {
                return false;
            }
        }
        if completions.iter().any(|done| done.outcome != Ok(op.length)) {
            return false;
        }
        completions.iter().for_each(|done| self.state.note_time(op.length, latency(done)));
        let data = &self.inner.buffer(self.own)[..op.length.as_len()];
        let saved = self.journal.save(op.offset.get(), data);
        if let Err(error) = &saved {
            self.state.0.borrow_mut().failure = Some(error.to_string());
        }
        saved.is_ok()
    }
}

fn latency(done: &Completion) -> Nanos {
    done.completed.saturating_sub(done.submitted)
}

impl Target for Saving<'_> {
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
        if op.kind != OpKind::Write || self.save(&op) {
            let submission = self.inner.submit(op)?;
            if let Submission::Done(done) = &submission {
                self.state.note(done);
            }
            return Ok(submission);
        }
        // What cannot be saved is not overwritten.
        let now = self.inner.now();
        let outcome = Err(Fault::InputOutput);
        let Op { slot, kind, .. } = op;
        Ok(Submission::Done(Completion { slot, kind, submitted: now, completed: now, outcome }))
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
mod tests {
    use super::*;

    fn done(kind: OpKind, length: Bytes, took: Nanos) -> Completion {
        let outcome = Ok(length);
        Completion { slot: Slot(0), kind, submitted: Nanos::ZERO, completed: took, outcome }
    }

    #[test]
    fn the_time_to_restore_has_the_flush_that_long_writes_need() {
        let state = SavingState::default();
        state.note_time(Bytes::mib(1), Nanos::from_millis(5));
        state.note(&done(OpKind::Write, Bytes::mib(1), Nanos::from_millis(10)));
        state.note(&done(OpKind::Flush, Bytes::ZERO, Nanos::from_millis(15)));
        assert_eq!(state.time_to_restore(Bytes::mib(1)), Nanos::from_millis(30));
        assert_eq!(state.time_to_restore(Bytes::mib(3)), Nanos::from_millis(90));
    }
}
