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
    device_time: Nanos,
    failure: Option<String>,
}

impl SavingState {
    /// How long the device has read what was saved and written what was asked: so long does it take
    /// to put back as much.
    pub(super) fn device_time(&self) -> Nanos {
        self.0.borrow().device_time
    }

    /// Why the journal could not be written.
    pub(super) fn failure(&self) -> Option<String> {
        self.0.borrow().failure.clone()
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

    fn note_time(&self, took: Nanos) {
        self.state.0.borrow_mut().device_time += took;
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
        completions.iter().for_each(|done| self.note_time(latency(done)));
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
            if let (OpKind::Write, Submission::Done(done)) = (op.kind, &submission) {
                self.note_time(latency(done));
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
        for done in completions[before..].iter().filter(|done| done.kind == OpKind::Write) {
            self.note_time(latency(done));
        }
        Ok(())
    }
}
