//! The loop that keeps a target busy with one phase.
//!
//! It is the hottest code above the engines: nothing is allocated in it, and the clock is read
//! only by the target itself. Whether the phase is over is looked at once in a slice of time.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{
    Completion, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_record::{EndedBy, Verification};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::{DataPattern, Generation, OpStream, PhaseSpec, Precision, Role, StreamOp};

use crate::meter::Meter;

/// A phase's precision is looked at this often: it costs more than a look at the clock.
const PRECISION_EVERY: Nanos = Nanos::from_millis(100);

/// What laid-out data carries; later writes carry higher ones.
const LAID_OUT: Generation = Generation(0);

/// Why a phase yielded nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PhaseError {
    /// An operation failed.
    #[error("{what} at offset {offset} failed: {fault}")]
    Operation { what: &'static str, offset: Bytes, fault: Fault },
    /// An operation moved fewer bytes than asked for.
    #[error("a {what} of {wanted} at offset {offset} moved only {moved}")]
    Short { what: &'static str, offset: Bytes, wanted: Bytes, moved: Bytes },
    /// The target does not take what the phase asks for.
    #[error("the target refuses the phase")]
    Refused(#[from] SubmitError),
    /// The engine gave up.
    #[error(transparent)]
    Engine(#[from] TargetError),
}

impl PhaseError {
    /// Whether no later phase can work either.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Operation { fault, .. } => fault.is_final(),
            Self::Engine(TargetError::Engine { .. } | TargetError::InFlight(_)) => true,
            Self::Engine(TargetError::Memory { .. }) | Self::Short { .. } | Self::Refused(_) => {
                false
            }
        }
    }
}

/// What is known of a phase at its end, next to what its [`Meter`] holds.
#[derive(Debug, Default)]
pub(crate) struct PhaseEnd {
    pub(crate) ended_by: Option<EndedBy>,
    pub(crate) error: Option<PhaseError>,
    pub(crate) verification: Verification,
    /// Up to here, from the span's start, everything submitted was written.
    pub(crate) written_to: Bytes,
    /// How many operations were submitted, without flushes.
    pub(crate) submitted_ops: u64,
    /// So many operations later, at the latest, an operation was over.
    pub(crate) overlap: u64,
}

/// What is told the time, what was measured so far, and by which target.
pub(crate) type Tick<'t, 'm> = dyn FnMut(Nanos, &Meter<'m>, &dyn Target) -> Option<bool> + 't;

/// What a phase needs to run.
pub(crate) struct PhaseLoop<'a, 'm> {
    pub(crate) target: &'a mut dyn Target,
    pub(crate) spec: &'a PhaseSpec,
    /// How many operations are handed over at a time.
    pub(crate) slots: u16,
    pub(crate) span_offset: Bytes,
    pub(crate) stream: OpStream,
    pub(crate) data: DataPattern,
    /// The generation that the next write carries.
    pub(crate) generation: &'a mut Generation,
    pub(crate) meter: &'a mut Meter<'m>,
    /// What the span holds was laid out by this run, so that reads can be compared with it.
    pub(crate) is_laid_out: bool,
    pub(crate) deadline: Option<Nanos>,
    pub(crate) stop: &'a AtomicBool,
    /// Told the time once in a slice; says whether a part of the phase that has ended was disturbed.
    pub(crate) tick: &'a mut Tick<'a, 'm>,
}

/// The changing part of a running phase.
struct State {
    start: Nanos,
    free: Vec<Slot>,
    /// By slot, what is in flight there.
    flying: Vec<StreamOp>,
    /// By slot, how many operations were submitted before that.
    numbers: Vec<u64>,
    in_flight: u16,
    submitted_ops: u64,
    submitted_bytes: Bytes,
    next_look: Nanos,
    next_precision_look: Nanos,
    /// An operation that was drawn and not yet taken.
    waiting: Option<StreamOp>,
    first_failed: Option<Bytes>,
    end: PhaseEnd,
}

impl PhaseLoop<'_, '_> {
    /// Runs the phase to its end.
    pub(crate) fn run(mut self) -> PhaseEnd {
        let slots = self.slots;
        let start = self.meter.start();
        let none = StreamOp { kind: OpKind::Flush, offset: Bytes::ZERO };
        let mut state = State {
            start,
            free: (0..slots).rev().map(Slot).collect(),
            flying: vec![none; usize::from(slots)],
            numbers: vec![0; usize::from(slots)],
            in_flight: 0,
            submitted_ops: 0,
            submitted_bytes: Bytes::ZERO,
            next_look: self.meter.next_slice(),
            next_precision_look: start,
            waiting: None,
            first_failed: None,
            end: PhaseEnd::default(),
        };
        if let Err(error) = self.keep_busy(&mut state) {
            state.end.ended_by = Some(EndedBy::Fault);
            state.end.error.get_or_insert(error);
            self.drain(&mut state);
        }
        let written = self.spec.block_size * state.submitted_ops;
        state.end.submitted_ops = state.submitted_ops;
        state.end.written_to =
            state.first_failed.map_or(written, |offset| offset.saturating_sub(self.span_offset));
        state.end
    }

    fn keep_busy(&mut self, state: &mut State) -> Result<(), PhaseError> {
        let mut completions = Vec::with_capacity(usize::from(self.slots));
        loop {
            let wait = self.refill(state)?;
            if state.in_flight == 0 && state.end.ended_by.is_some() {
                break;
            }
            self.target.complete(wait, &mut completions)?;
            if completions.is_empty() {
                let now = self.target.now();
                self.look(state, now);
            }
            for completion in completions.drain(..) {
                state.in_flight -= 1;
                self.settle(state, &completion);
            }
        }
        // The flush is no part of the rate that holds at any time.
        self.meter.end_rate();
        if self.spec.flush_at_end
            && state.end.error.is_none()
            && self.meter.bytes_written > Bytes::ZERO
        {
            self.flush(state, &mut completions)?;
        }
        Ok(())
    }

    /// Waits for what is in flight after the phase has failed, as long as the engine works.
    fn drain(&mut self, state: &mut State) {
        let mut completions = Vec::new();
        while state.in_flight > 0 {
            if self.target.complete(Wait::One, &mut completions).is_err() {
                return;
            }
            for completion in completions.drain(..) {
                state.in_flight -= 1;
                self.settle(state, &completion);
            }
        }
    }

    /// Submits operations until the queue is full or the phase is over, and says how to wait.
    fn refill(&mut self, state: &mut State) -> Result<Wait, PhaseError> {
        while state.end.ended_by.is_none() {
            let Some(slot) = state.free.pop() else { break };
            let Some(next) = self.next_op(state) else {
                state.free.push(slot);
                break;
            };
            if let Some(due) = self.not_due_before(state) {
                state.waiting = Some(next);
                state.free.push(slot);
                return Ok(Wait::Until(self.deadline.map_or(due, |end| due.min(end))));
            }
            let op = self.build(slot, next);
            state.flying[slot.index()] = next;
            state.numbers[slot.index()] = state.submitted_ops;
            match self.target.submit(op)? {
                Submission::Done(completion) => {
                    self.count(state, next.kind);
                    self.settle(state, &completion);
                }
                Submission::Queued => {
                    self.count(state, next.kind);
                    state.in_flight += 1;
                }
                Submission::Busy => {
                    state.waiting = Some(next);
                    state.free.push(slot);
                    break;
                }
            }
        }
        Ok(Wait::One)
    }

    /// The next operation, or `None` and an end of the phase when it has had all of them.
    #[inline]
    fn next_op(&mut self, state: &mut State) -> Option<StreamOp> {
        if let Some(next) = state.waiting.take() {
            return Some(next);
        }
        let ends = &self.spec.ends;
        if ends.ops.is_some_and(|ops| state.submitted_ops >= ops) {
            state.end.ended_by = Some(EndedBy::Operations);
        } else if ends
            .bytes
            .is_some_and(|bytes| state.submitted_bytes + self.spec.block_size > bytes)
        {
            state.end.ended_by = Some(EndedBy::Bytes);
        } else {
            return Some(self.stream.next_op());
        }
        None
    }

    /// When the rate limit allows the next operation, if that is still to come.
    fn not_due_before(&mut self, state: &State) -> Option<Nanos> {
        let rate = self.spec.rate_limit?;
        let since = Nanos::from_secs_f64(state.submitted_ops as f64 / rate.0);
        let due = state.start.saturating_add(since);
        (self.target.now() < due).then_some(due)
    }

    /// The operation for `slot`, with its data in place.
    #[inline]
    fn build(&mut self, slot: Slot, next: StreamOp) -> Op {
        match next.kind {
            OpKind::Flush => return Op::flush(slot),
            OpKind::Write if self.target.abilities().keeps_data => {
                let generation = match self.spec.role {
                    Role::LayOut => LAID_OUT,
                    Role::Measure | Role::MeasureAndVerify => Generation(self.generation.0 + 1),
                };
                let length = self.spec.block_size.as_len();
                let filling = self.data.filling(next.offset, generation);
                if !self.target.fill_at_write(slot, filling)
                    && let Some(buffer) = self.target.buffer(slot).get_mut(..length)
                {
                    self.data.fill(buffer, next.offset, generation);
                }
            }
            OpKind::Write | OpKind::Read | OpKind::Discard => {}
        }
        Op { slot, kind: next.kind, offset: next.offset, length: self.spec.block_size }
    }

    #[inline]
    fn count(&mut self, state: &mut State, kind: OpKind) {
        // An operation that finds the target busy is built again, with the same generation.
        if kind == OpKind::Write && self.spec.role != Role::LayOut {
            self.generation.0 += 1;
        }
        if kind != OpKind::Flush {
            state.submitted_ops += 1;
            state.submitted_bytes += self.spec.block_size;
        }
    }

    /// Takes one finished operation.
    #[inline]
    fn settle(&mut self, state: &mut State, completion: &Completion) {
        let slot = completion.slot;
        let flown = state.flying[slot.index()];
        state.free.push(slot);
        let since = state.submitted_ops - state.numbers[slot.index()];
        state.end.overlap = state.end.overlap.max(since);
        let wanted = match flown.kind {
            OpKind::Flush => Bytes::ZERO,
            OpKind::Read | OpKind::Write | OpKind::Discard => self.spec.block_size,
        };
        match completion.outcome {
            Ok(moved) if moved == wanted => {
                self.meter.record(completion, moved);
                if self.spec.role == Role::MeasureAndVerify && flown.kind == OpKind::Read {
                    self.verify(state, slot, flown.offset);
                }
            }
            Ok(moved) => {
                let what = name_of(flown.kind);
                fail(state, flown, PhaseError::Short { what, offset: flown.offset, wanted, moved });
            }
            Err(fault) => {
                let what = name_of(flown.kind);
                fail(state, flown, PhaseError::Operation { what, offset: flown.offset, fault });
            }
        }
        if completion.completed >= state.next_look {
            self.look(state, completion.completed);
        }
    }

    /// Compares all that was read with what was laid out.
    fn verify(&mut self, state: &mut State, slot: Slot, offset: Bytes) {
        if !self.is_laid_out || !self.target.abilities().keeps_data {
            return;
        }
        let length = self.spec.block_size.as_len();
        let buffer = self.target.buffer(slot).get(..length).unwrap_or_default();
        let wrong = self.data.wrong_bytes(buffer, offset, Some(LAID_OUT));
        state.end.verification.compared_bytes += self.spec.block_size;
        state.end.verification.wrong_bytes += wrong;
    }

    /// Looks whether the phase is over, once in a slice.
    #[cold]
    fn look(&mut self, state: &mut State, now: Nanos) {
        self.meter.advance(now);
        state.next_look = self.meter.next_slice();
        if let Some(is_disturbed) = (self.tick)(now, self.meter, self.target) {
            self.meter.undisturbed.end_part(now, is_disturbed);
        }
        if state.end.ended_by.is_some() {
            return;
        }
        if self.stop.load(Ordering::Relaxed) {
            state.end.ended_by = Some(EndedBy::Interrupted);
        } else if self.deadline.is_some_and(|deadline| now >= deadline) {
            state.end.ended_by = Some(EndedBy::Time);
        } else if let Some(precision) = self.spec.ends.precision
            && now >= state.next_precision_look
        {
            state.next_precision_look = now + PRECISION_EVERY;
            if self.is_precise(state, precision, now) {
                state.end.ended_by = Some(EndedBy::Precision);
            }
        } else if let Some(decision) = &self.spec.ends.decision
            && self.meter.has_decided(decision, now)
        {
            state.end.ended_by = Some(EndedBy::Decision);
        }
        if let Some(deadline) = self.deadline {
            state.next_look = state.next_look.min(deadline);
        }
    }

    fn is_precise(&mut self, state: &State, wanted: Precision, now: Nanos) -> bool {
        now.saturating_sub(state.start) >= wanted.time_min
            && self
                .meter
                .rate(wanted.confidence)
                .is_some_and(|rate| rate.relative_half_width() <= wanted.relative_half_width)
            && self.meter.has_left(wanted.limits, now)
    }

    /// The flush at the phase's end.
    fn flush(
        &mut self,
        state: &mut State,
        completions: &mut Vec<Completion>,
    ) -> Result<(), PhaseError> {
        let slot = Slot(0);
        state.flying[slot.index()] = StreamOp { kind: OpKind::Flush, offset: Bytes::ZERO };
        let completion = match self.target.submit(Op::flush(slot))? {
            Submission::Done(completion) => completion,
            Submission::Queued | Submission::Busy => loop {
                self.target.complete(Wait::One, completions)?;
                if let Some(completion) = completions.pop() {
                    break completion;
                }
                let now = self.target.now();
                (self.tick)(now, self.meter, self.target);
            },
        };
        self.settle(state, &completion);
        Ok(())
    }
}

/// Notes a failure: the first is the cause, all bound what has been written.
#[cold]
fn fail(state: &mut State, flown: StreamOp, error: PhaseError) {
    if flown.kind != OpKind::Flush {
        let first = state.first_failed.map_or(flown.offset, |first| first.min(flown.offset));
        state.first_failed = Some(first);
    }
    state.end.ended_by = Some(EndedBy::Fault);
    state.end.error.get_or_insert(error);
}

fn name_of(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Flush => "flush",
        OpKind::Discard => "discard",
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::with_causes;

    use super::*;

    #[test]
    fn each_error_of_a_phase_names_its_cause_once() {
        let refused = PhaseError::from(SubmitError::NoDiscard);
        let said = "the target refuses the phase: the target cannot discard";
        assert_eq!(with_causes(&refused), said);
        let source = std::io::Error::from_raw_os_error(12);
        let engine = TargetError::Engine { engine: "psync", doing: "start", source };
        let said = "the psync engine failed to start: Cannot allocate memory";
        assert_eq!(with_causes(&PhaseError::from(engine)), said);
        let offset = Bytes::kib(4);
        let fault = Fault::InputOutput;
        let failed = PhaseError::Operation { what: "read", offset, fault };
        let said = "read at offset 4 KiB failed: the device reported an input/output error";
        assert_eq!(with_causes(&failed), said);
    }
}
