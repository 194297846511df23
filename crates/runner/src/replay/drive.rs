//! The loop that issues a trace's requests.
//!
//! Thinking shorter than a sleep can be told from is saved up until it is worth one, and what a
//! sleep or the loop itself took too long is taken off the thinking to come; so the sum is right
//! although the single pause is not. Data are made before the pause and requests handed over
//! within the next one: the job that was recorded also spent its thinking on that.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{Completion, Op, OpKind, Slot, Submission, Target, Usage, Wait};
use cardproof_trace::{Fold, Piece, RequestKind, Step, Steps, TraceReader};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::{DataPattern, Generation};

use super::tally::Tally;
use super::{ReplayError, ReplayPlan, ReplayProgress};
use crate::phase::PhaseError;

/// Shorter pauses are saved up: a sleep takes about this much longer than it should.
const PAUSE_MIN_NS: i64 = 50_000;

/// Time lost to others than the storage is made up for by at most this much less thinking.
const DEBT_MAX_NS: i64 = 20_000_000;

/// Progress is told once in so many requests.
const TELL_EVERY: u64 = 256;

/// An operation under way.
struct Flight {
    slot: Slot,
    op: Op,
    /// The request that it is a part of.
    number: u64,
    ends_epoch: bool,
}

/// A target under a replay.
pub(super) struct Drive<'a> {
    target: &'a mut dyn Target,
    plan: &'a ReplayPlan,
    fold: Fold,
    tally: &'a mut Tally,
    stop: &'a AtomicBool,
    data: DataPattern,
    /// How often anything was written, so that no write repeats another.
    generation: u64,
    free: Vec<Slot>,
    /// A slot that holds the data of the next write.
    ready: Option<Slot>,
    flying: Vec<Flight>,
    completions: Vec<Completion>,
    /// Requests that are over, but need not be before the next is issued.
    early: Vec<(u64, Nanos)>,
    /// When the last request was over that the next one waited for.
    released: Nanos,
    last_issue: Nanos,
    /// How long the job has still to think; negative where it has thought too long.
    owed_ns: i64,
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        target: &'a mut dyn Target,
        slots: u16,
        plan: &'a ReplayPlan,
        fold: Fold,
        tally: &'a mut Tally,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            target,
            plan,
            fold,
            tally,
            stop,
            data: DataPattern::new(plan.seed),
            generation: 0,
            free: (0..slots).rev().map(Slot).collect(),
            ready: None,
            flying: Vec::with_capacity(usize::from(slots)),
            completions: Vec::with_capacity(usize::from(slots)),
            early: Vec::new(),
            released: Nanos::ZERO,
            last_issue: Nanos::ZERO,
            owed_ns: 0,
        }
    }

    /// Issues everything and waits for its end.
    pub(super) fn run(
        &mut self,
        trace: &TraceReader<'_>,
        progress: &mut dyn FnMut(ReplayProgress),
    ) -> Result<(), ReplayError> {
        let requests_of = trace.header().requests;
        let mut steps = Steps::new(trace);
        let mut pieces = Vec::new();
        let now = self.target.now();
        self.tally.begin(now);
        (self.released, self.last_issue) = (now, now);
        while let Some(step) = steps.advance()? {
            if step.number % TELL_EVERY == 0 {
                progress(ReplayProgress { requests: step.number, requests_of, laid_out: None });
            }
            self.wait_for_others(&steps)?;
            let kind = self.lay_down(&step, &mut pieces);
            self.make_ready(kind, &pieces);
            self.think(step.think)?;
            self.issue(&step, kind, &pieces)?;
        }
        self.drain()
    }

    /// What driving the target has cost so far.
    pub(super) fn cost(&self) -> Option<Usage> {
        self.target.cost()
    }

    /// Writes the span once, from its start to its end.
    pub(super) fn lay_out(
        &mut self,
        progress: &mut dyn FnMut(ReplayProgress),
    ) -> Result<(), ReplayError> {
        let block = self.target.abilities().logical_block;
        let span = self.plan.span.min(self.target.abilities().size).round_down_to(block);
        let piece_max = super::piece_max(self.target);
        let mut offset = Bytes::ZERO;
        while offset < span {
            let length = piece_max.min(span.saturating_sub(offset));
            self.submit(0, OpKind::Write, Piece { offset, length }, false)?;
            offset += length;
            let laid_out = Some((offset, span));
            progress(ReplayProgress { requests: 0, requests_of: 0, laid_out });
        }
        self.drain()?;
        self.submit(0, OpKind::Flush, FLUSH, false)?;
        self.drain()?;
        self.early.clear();
        Ok(())
    }

    /// Waits until all is over that the last of `steps` waited for.
    fn wait_for_others(&mut self, steps: &Steps<'_>) -> Result<(), ReplayError> {
        loop {
            let others = self.flying.iter().filter(|flight| !steps.may_be_open(flight.number));
            let Some(kind) = most_telling(others) else { break };
            self.wait(kind)?;
        }
        let released = &mut self.released;
        self.early.retain(|&(number, end)| {
            let is_early = steps.may_be_open(number);
            if !is_early {
                *released = (*released).max(end);
            }
            is_early
        });
        Ok(())
    }

    /// Lets the job think for `think`, stretched as planned, since what it waited for.
    fn think(&mut self, think: Nanos) -> Result<(), ReplayError> {
        if self.plan.think_factor <= 0.0 {
            return self.look_for_stop();
        }
        let mut now = self.target.now();
        let since = self.released.max(self.last_issue);
        let wanted = (think.as_secs_f64() * self.plan.think_factor * 1e9) as i64;
        let passed = now.saturating_sub(since).get() as i64;
        self.owed_ns = self.owed_ns.saturating_add(wanted).saturating_sub(passed).max(-DEBT_MAX_NS);
        self.tally.thought += now.saturating_sub(since);
        if self.owed_ns < PAUSE_MIN_NS {
            return self.look_for_stop();
        }
        let until = now.saturating_add(Nanos(self.owed_ns.unsigned_abs()));
        let begin = now;
        while now < until {
            self.look_for_stop()?;
            self.collect(Wait::Until(until))?;
            now = self.target.now();
        }
        let paused = now.saturating_sub(begin);
        self.owed_ns -= paused.get() as i64;
        self.tally.thought += paused;
        Ok(())
    }

    /// Puts the pieces of the request of `step` into `pieces`.
    fn lay_down(&mut self, step: &Step, pieces: &mut Vec<Piece>) -> OpKind {
        let kind = match step.request.kind {
            RequestKind::Read => OpKind::Read,
            RequestKind::Write => OpKind::Write,
            RequestKind::Flush => OpKind::Flush,
            RequestKind::Discard => OpKind::Discard,
        };
        if kind == OpKind::Discard && !self.target.abilities().discard {
            self.tally.discards_left_out += 1;
            pieces.clear();
        } else if kind == OpKind::Flush {
            pieces.clear();
            pieces.push(FLUSH);
        } else {
            self.fold.pieces(&step.request, pieces);
        }
        kind
    }

    /// Makes the data of the first of `pieces`, if it is written and there is a slot for it.
    fn make_ready(&mut self, kind: OpKind, pieces: &[Piece]) {
        if let (OpKind::Write, Some(&piece)) = (kind, pieces.first()) {
            self.ready = self.free.pop();
            if let Some(slot) = self.ready {
                self.fill(slot, piece);
            }
        }
    }

    /// Makes the data of `piece` in `slot`.
    fn fill(&mut self, slot: Slot, piece: Piece) {
        if self.target.abilities().keeps_data {
            self.generation += 1;
            let buffer = &mut self.target.buffer(slot)[..piece.length.as_len()];
            self.data.fill(buffer, piece.offset, Generation(self.generation));
        }
    }

    /// Issues the request of `step`.
    fn issue(&mut self, step: &Step, kind: OpKind, pieces: &[Piece]) -> Result<(), ReplayError> {
        let is_flush = kind == OpKind::Flush;
        for piece in pieces {
            self.submit(step.number, kind, *piece, is_flush)?;
        }
        if step.request.durable {
            self.make_durable(step.number)?;
        }
        self.tally.requests += 1;
        Ok(())
    }

    /// Makes the write called `number` durable as a kernel does on a device without forced unit
    /// access, as SD cards are: by a flush behind it.
    fn make_durable(&mut self, number: u64) -> Result<(), ReplayError> {
        while self.flying.iter().any(|flight| flight.number == number) {
            self.wait(OpKind::Write)?;
        }
        self.submit(number, OpKind::Flush, FLUSH, true)
    }

    fn submit(
        &mut self,
        number: u64,
        kind: OpKind,
        piece: Piece,
        ends_epoch: bool,
    ) -> Result<(), ReplayError> {
        let slot = match self.ready.take() {
            Some(slot) => slot,
            None => self.free_slot(kind, piece)?,
        };
        let op = Op { slot, kind, offset: piece.offset, length: piece.length };
        loop {
            self.last_issue = self.target.now();
            match self.target.submit(op).map_err(PhaseError::from)? {
                Submission::Queued => {
                    self.flying.push(Flight { slot, op, number, ends_epoch });
                    return Ok(());
                }
                Submission::Done(completion) => {
                    // The job was held up by it, if inside of the call.
                    self.tally.waited_for(kind, completion.latency());
                    self.flying.push(Flight { slot, op, number, ends_epoch });
                    return self.land(&completion);
                }
                Submission::Busy => self.wait_for_room()?,
            }
        }
    }

    /// A slot for `piece`, with its data in it if it is written.
    fn free_slot(&mut self, kind: OpKind, piece: Piece) -> Result<Slot, ReplayError> {
        let slot = loop {
            if let Some(slot) = self.free.pop() {
                break slot;
            }
            self.wait_for_room()?;
        };
        if kind == OpKind::Write {
            self.fill(slot, piece);
        }
        Ok(slot)
    }

    /// Waits until something is over.
    fn wait_for_room(&mut self) -> Result<(), ReplayError> {
        match most_telling(self.flying.iter()) {
            Some(kind) => self.wait(kind),
            None => self.look_for_stop(),
        }
    }

    fn drain(&mut self) -> Result<(), ReplayError> {
        while let Some(kind) = most_telling(self.flying.iter()) {
            self.wait(kind)?;
        }
        Ok(())
    }

    /// Waits until something is over, on account of operations of `kind`.
    fn wait(&mut self, kind: OpKind) -> Result<(), ReplayError> {
        self.look_for_stop()?;
        let begin = self.target.now();
        self.collect(Wait::One)?;
        let time = self.target.now().saturating_sub(begin);
        self.tally.waited_for(kind, time);
        Ok(())
    }

    fn collect(&mut self, wait: Wait) -> Result<(), ReplayError> {
        let mut completions = std::mem::take(&mut self.completions);
        completions.clear();
        self.target.complete(wait, &mut completions)?;
        let landed = completions.iter().try_for_each(|completion| self.land(completion));
        self.completions = completions;
        landed
    }

    /// Takes one operation that is over.
    fn land(&mut self, completion: &Completion) -> Result<(), ReplayError> {
        let Some(place) = self.flying.iter().position(|flight| flight.slot == completion.slot)
        else {
            return Ok(());
        };
        let Flight { slot, op, number, ends_epoch } = self.flying.swap_remove(place);
        self.free.push(slot);
        let what = name(op.kind);
        let moved = completion.outcome.map_err(|fault| PhaseError::Operation {
            what,
            offset: op.offset,
            fault,
        })?;
        if matches!(op.kind, OpKind::Read | OpKind::Write) && moved < op.length {
            let (offset, wanted) = (op.offset, op.length);
            return Err(PhaseError::Short { what, offset, wanted, moved }.into());
        }
        self.early.push((number, completion.completed));
        self.tally.count(completion, moved, ends_epoch);
        Ok(())
    }

    fn look_for_stop(&self) -> Result<(), ReplayError> {
        if self.stop.load(Ordering::Relaxed) { Err(ReplayError::Stopped) } else { Ok(()) }
    }
}

/// A flush has no range.
const FLUSH: Piece = Piece { offset: Bytes::ZERO, length: Bytes::ZERO };

const fn name(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Flush => "flush",
        OpKind::Discard => "discard",
    }
}

/// What is to be called the cause of waiting for `flights`; `None` where there are none.
fn most_telling<'f>(flights: impl Iterator<Item = &'f Flight>) -> Option<OpKind> {
    flights.map(|flight| flight.op.kind).max_by_key(|kind| match kind {
        OpKind::Write => 0,
        OpKind::Read => 1,
        OpKind::Discard => 2,
        OpKind::Flush => 3,
    })
}
