//! A card with a log-structured layer over it, for the thread that waits in real time.
//!
//! The layer does one request at a time and is done with it when it has taken it; its clock then
//! stands at the end of the request. Here the answer waits until that moment comes.

use std::collections::VecDeque;

use cardproof_io::{
    Abilities, Completion, Op, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_log_layout::{LogError, LogLayout, Options};
use cardproof_sim::{Due, PacedTarget};
use cardproof_units::{Bytes, Nanos};

/// A card that is a log inside.
pub(crate) struct LogCard {
    log: LogLayout<Box<dyn PacedTarget>>,
    /// The last moment of which anybody was told.
    clock: Nanos,
    /// Answers that wait for their moment, the earliest first.
    answers: VecDeque<Completion>,
    flying: Vec<bool>,
}

impl LogCard {
    /// Lays a log out on a card that `is_new`, or finds the one on it.
    pub(crate) fn open(
        card: Box<dyn PacedTarget>,
        options: Options,
        is_new: bool,
    ) -> Result<Self, LogError> {
        let log = if is_new {
            LogLayout::format(card, options)?
        } else {
            LogLayout::recover(card, options)?
        };
        let mut opened =
            Self { log, clock: Nanos::ZERO, answers: VecDeque::new(), flying: Vec::new() };
        opened.clock = opened.log.now();
        Ok(opened)
    }

    fn hand_out(&mut self, completions: &mut Vec<Completion>) {
        while let Some(answer) = self.answers.front().filter(|it| it.completed <= self.clock) {
            self.flying[answer.slot.index()] = false;
            completions.push(*answer);
            self.answers.pop_front();
        }
    }
}

impl Target for LogCard {
    fn abilities(&self) -> &Abilities {
        self.log.abilities()
    }

    fn now(&mut self) -> Nanos {
        self.clock
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        let in_flight = self.answers.len();
        if in_flight > 0 {
            return Err(TargetError::InFlight(in_flight));
        }
        self.log.prepare(slots, buffer_size)?;
        self.flying = vec![false; usize::from(slots)];
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        match self.flying.get(slot.index()) {
            Some(false) => self.log.buffer(slot),
            _ => &mut [],
        }
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        if self.flying.get(op.slot.index()) == Some(&true) {
            return Err(SubmitError::SlotInFlight(op.slot.0));
        }
        let submitted = self.clock;
        if let Submission::Done(done) = self.log.submit(op)? {
            self.flying[op.slot.index()] = true;
            self.answers.push_back(Completion { submitted, ..done });
        }
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let next = self.next_due();
        let until = match (wait, next) {
            (Wait::No, _) | (Wait::One, None) => self.clock,
            (Wait::One, Some(next)) => next,
            (Wait::Until(deadline), next) => next.map_or(deadline, |next| next.min(deadline)),
        };
        self.clock = self.clock.max(until);
        if self.log.now() < self.clock {
            self.log.complete(Wait::Until(self.clock), &mut Vec::new())?;
        }
        self.hand_out(completions);
        Ok(())
    }
}

impl Due for LogCard {
    fn next_due(&mut self) -> Option<Nanos> {
        let answer = self.answers.front().map(|answer| answer.completed);
        // What waits in the log is sent in time, though nobody asks for anything.
        let send = self.log.next_send().filter(|_| answer.is_none());
        answer.or(send).map(|due| due.max(self.clock))
    }
}

/// Switching off in order loses nothing.
impl Drop for LogCard {
    fn drop(&mut self) {
        let _ = self.log.settle();
    }
}
