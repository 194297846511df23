//! The plumbing that all layers share: operations in flight, answers that never reached the
//! target below, and turns that it had no room for.

use cardproof_io::{
    Abilities, Completion, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError,
    Wait,
};
use cardproof_units::{Bytes, Nanos};

use crate::target::Due;

/// What a layer does to operations.
pub(super) trait Layer<T> {
    /// Makes room for slots `0..slots`.
    fn prepare(&mut self, slots: u16);

    /// Decides on an operation that keeps to the contract. What is changed in the buffer of a
    /// write must be put right by [`finish`](Self::finish).
    fn admit(&mut self, below: &mut T, op: &Op) -> Admission;

    /// Ends the turn of `asked` on the target below: the outcome of the operation.
    fn finish(&mut self, below: &mut T, asked: &Op, turn: &Completion) -> Result<Bytes, Fault>;
}

/// What becomes of an operation.
pub(super) enum Admission {
    /// The target below does this one in its place, under the same slot.
    Pass(Op),
    /// The target below never hears of it.
    Answer {
        /// The time it takes.
        after: Nanos,
        /// What comes of it.
        outcome: Result<Bytes, Fault>,
    },
}

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    asked: Op,
    submitted: Nanos,
}

/// `inner` under `layer`.
#[derive(Debug)]
pub(super) struct Layered<T, L> {
    pub(super) inner: T,
    pub(super) layer: L,
    abilities: Abilities,
    buffer_size: Bytes,
    flying: Vec<Option<Flying>>,
    /// Answers of the layer itself, with the time at which they are due.
    answers: Vec<Completion>,
    /// Turns that the target below had no room for yet.
    waiting: Vec<Op>,
    turns: Vec<Completion>,
}

impl<T: Target, L: Layer<T>> Layered<T, L> {
    /// Puts `layer` over `inner`; the two together are what `abilities` says.
    pub(super) fn new(inner: T, layer: L, abilities: Abilities) -> Self {
        Self {
            inner,
            layer,
            abilities,
            buffer_size: Bytes::ZERO,
            flying: Vec::new(),
            answers: Vec::new(),
            waiting: Vec::new(),
            turns: Vec::new(),
        }
    }

    fn in_flight(&self) -> usize {
        self.flying.iter().flatten().count()
    }

    fn check_free(&self, slot: Slot) -> Result<(), SubmitError> {
        match self.flying.get(slot.index()) {
            None => Err(SubmitError::NoSuchSlot(slot.0)),
            Some(Some(_)) => Err(SubmitError::SlotInFlight(slot.0)),
            Some(None) => Ok(()),
        }
    }

    /// Gives `op` to the target below, now or when it has room. A turn the target refuses is a
    /// layer's mistake, which its user sees as a failed operation.
    fn take_turn(&mut self, op: Op, completions: &mut Vec<Completion>) {
        match self.inner.submit(op) {
            Ok(Submission::Queued) => {}
            Ok(Submission::Busy) => self.waiting.push(op),
            Ok(Submission::Done(turn)) => self.end_turn(&turn, completions),
            Err(_) => {
                let now = self.inner.now();
                self.end(op.slot, now, Err(Fault::InputOutput), completions);
            }
        }
    }

    /// Ends the turn of an operation, and the operation.
    fn end_turn(&mut self, turn: &Completion, completions: &mut Vec<Completion>) {
        let Some(Some(flying)) = self.flying.get(turn.slot.index()).copied() else { return };
        let outcome = self.layer.finish(&mut self.inner, &flying.asked, turn);
        self.end(turn.slot, turn.completed, outcome, completions);
    }

    fn end(
        &mut self,
        slot: Slot,
        completed: Nanos,
        outcome: Result<Bytes, Fault>,
        completions: &mut Vec<Completion>,
    ) {
        let Some(Flying { asked, submitted }) = self.flying[slot.index()].take() else { return };
        completions.push(Completion { slot, kind: asked.kind, submitted, completed, outcome });
    }

    /// Hands out the layer's own answers that are due.
    fn hand_out_answers(&mut self, completions: &mut Vec<Completion>) {
        let now = self.inner.now();
        let mut kept = 0;
        for index in 0..self.answers.len() {
            let answer = self.answers[index];
            if answer.completed <= now {
                self.flying[answer.slot.index()] = None;
                completions.push(answer);
            } else {
                self.answers[kept] = answer;
                kept += 1;
            }
        }
        self.answers.truncate(kept);
    }

    /// How the target below is to wait when the caller wants `wait`.
    fn wait_below(&self, wait: Wait, found_some: bool) -> Wait {
        let due = self.answers.iter().map(|answer| answer.completed).min();
        match (wait, due) {
            _ if found_some => Wait::No,
            (Wait::No, _) => Wait::No,
            (Wait::One, None) => Wait::One,
            (Wait::One, Some(due)) => Wait::Until(due),
            (Wait::Until(deadline), due) => Wait::Until(due.unwrap_or(deadline).min(deadline)),
        }
    }

    /// Whether nothing more is to be waited for.
    fn waited_enough(&mut self, wait: Wait) -> bool {
        match wait {
            Wait::No => true,
            Wait::One => self.in_flight() == 0,
            Wait::Until(deadline) => self.inner.now() >= deadline,
        }
    }
}

impl<T: Target, L: Layer<T>> Target for Layered<T, L> {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn temperature_millicelsius(&mut self) -> Option<i32> {
        self.inner.temperature_millicelsius()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        if self.in_flight() > 0 {
            return Err(TargetError::InFlight(self.in_flight()));
        }
        self.inner.prepare(slots, buffer_size)?;
        self.buffer_size = buffer_size;
        self.flying = vec![None; usize::from(slots)];
        self.layer.prepare(slots);
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        match self.check_free(slot) {
            Ok(()) => self.inner.buffer(slot),
            Err(_) => &mut [],
        }
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.check_free(op.slot)?;
        self.abilities.check(&op, self.buffer_size)?;
        let now = self.inner.now();
        let admission = self.layer.admit(&mut self.inner, &op);
        self.flying[op.slot.index()] = Some(Flying { asked: op, submitted: now });
        let mut done = Vec::new();
        match admission {
            Admission::Pass(turn) => self.take_turn(turn, &mut done),
            Admission::Answer { after, outcome } => {
                let Op { slot, kind, .. } = op;
                let completed = now.saturating_add(after);
                self.answers.push(Completion { slot, kind, submitted: now, completed, outcome });
            }
        }
        Ok(done.pop().map_or(Submission::Queued, Submission::Done))
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = completions.len();
        loop {
            for op in std::mem::take(&mut self.waiting) {
                self.take_turn(op, completions);
            }
            self.hand_out_answers(completions);
            let below = self.wait_below(wait, completions.len() > before);
            let mut turns = std::mem::take(&mut self.turns);
            self.inner.complete(below, &mut turns)?;
            for turn in turns.drain(..) {
                self.end_turn(&turn, completions);
            }
            self.turns = turns;
            self.hand_out_answers(completions);
            if completions.len() > before || self.waited_enough(wait) {
                return Ok(());
            }
        }
    }
}

impl<T: Target + Due, L: Layer<T>> Due for Layered<T, L> {
    fn next_due(&mut self) -> Option<Nanos> {
        let answer = self.answers.iter().map(|answer| answer.completed).min();
        [answer, self.inner.next_due()].into_iter().flatten().min()
    }
}

/// The abilities of something that passes flushes, reads and writes on.
pub(super) fn abilities_of<T: Target>(inner: &T) -> Abilities {
    inner.abilities().clone()
}

/// The outcome of a turn that did all that `asked` wanted.
pub(super) fn as_asked(asked: &Op, turn: &Completion) -> Result<Bytes, Fault> {
    match asked.kind {
        OpKind::Flush => turn.outcome,
        OpKind::Read | OpKind::Write | OpKind::Discard => turn.outcome.map(|_| asked.length),
    }
}

/// Makes a newtype around a [`Layered`] a [`Target`].
macro_rules! delegate_target {
    ($name:ident<$inner:ident: $bound:path>) => {
        impl<$inner: $bound> cardproof_io::Target for $name<$inner> {
            fn abilities(&self) -> &cardproof_io::Abilities {
                self.0.abilities()
            }

            fn now(&mut self) -> cardproof_units::Nanos {
                self.0.now()
            }

            fn prepare(
                &mut self,
                slots: u16,
                buffer_size: cardproof_units::Bytes,
            ) -> Result<(), cardproof_io::TargetError> {
                self.0.prepare(slots, buffer_size)
            }

            fn buffer(&mut self, slot: cardproof_io::Slot) -> &mut [u8] {
                self.0.buffer(slot)
            }

            fn submit(
                &mut self,
                op: cardproof_io::Op,
            ) -> Result<cardproof_io::Submission, cardproof_io::SubmitError> {
                self.0.submit(op)
            }

            fn complete(
                &mut self,
                wait: cardproof_io::Wait,
                completions: &mut Vec<cardproof_io::Completion>,
            ) -> Result<(), cardproof_io::TargetError> {
                self.0.complete(wait, completions)
            }
        }
    };
}
pub(super) use delegate_target;
