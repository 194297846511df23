//! `pread` and `pwrite`: the engine that works everywhere.
//!
//! One slot is served on the caller's thread, as cheaply as the kernel allows. More are served by
//! worker threads, because a plain read cannot be queued; on fast storage each has
//! its next operation at hand. Where plain calls are asked for, and through the page cache, all slots
//! are served on the caller's thread, one after the other.

mod crew;

use cardproof_units::{Bytes, Nanos};
use rustix::io::Errno;

use crate::clock;
use crate::filling::Filler;
use crate::medium::Medium;
use crate::slots::Slots;
use crate::{
    Abilities, Arrangement, Completion, Directness, Engine, Fault, Filling, Op, OpKind, Slot,
    Submission, SubmitError, Target, TargetError, Usage, Wait, usage,
};
use crew::{Crew, PendingOp};

/// More threads than this help no storage and cost memory.
const QUEUE_DEPTH_MAX: u16 = 256;

/// A file or block device driven by plain system calls.
#[derive(Debug)]
pub struct PsyncTarget {
    abilities: Abilities,
    // Declared before the buffers and the medium: the workers end before what they use.
    crew: Option<Crew>,
    /// By slot, what the next write on it holds.
    fillings: Vec<Option<Filling>>,
    filler: Filler,
    slots: Slots,
    medium: std::sync::Arc<Medium>,
}

impl PsyncTarget {
    /// Drives `medium`; `fallback` says why io_uring does not, if it should have.
    pub(crate) fn new(
        medium: Medium,
        read_only: bool,
        fallback: Option<String>,
    ) -> Result<Self, TargetError> {
        let abilities = medium.abilities(Engine::Psync, QUEUE_DEPTH_MAX, read_only);
        let abilities = Abilities { engine_fallback: fallback, ..abilities };
        let slots = Slots::new(1, abilities.logical_block)?;
        let fillings = Vec::new();
        let filler = Filler::new();
        Ok(Self {
            abilities,
            crew: None,
            fillings,
            filler,
            slots,
            medium: std::sync::Arc::new(medium),
        })
    }
}

impl Target for PsyncTarget {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        clock::monotonic()
    }

    fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
        self.slots.ensure_idle()?;
        // Without the workers nobody shares the medium.
        self.crew = None;
        match std::sync::Arc::get_mut(&mut self.medium) {
            Some(medium) => {
                medium.arrange(arrangement).map_err(|error| error.in_engine(Engine::Psync.name()))
            }
            None => Ok(self.medium.directness.clone()),
        }
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.slots.ensure_idle()?;
        self.crew = None;
        self.slots = Slots::new(slots, buffer_size)?;
        self.fillings = vec![None; usize::from(slots)];
        if slots > 1 && !self.medium.is_plain() {
            self.crew = Some(Crew::new(slots, &self.medium)?);
        }
        Ok(())
    }

    fn slots_for(&self, queue_depth: u16) -> u16 {
        crew::slots_for(queue_depth)
    }

    fn cost(&self) -> Option<Usage> {
        Some(usage())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.slots.free_buffer(slot)
    }

    fn fill_at_write(&mut self, slot: Slot, filling: Filling) -> bool {
        if self.crew.is_none() {
            let buffer = self.slots.free_buffer(slot);
            self.filler.fill(buffer, &filling);
            return !buffer.is_empty();
        }
        if self.slots.flight.check_free(slot).is_err() {
            return false;
        }
        let Some(place) = self.fillings.get_mut(slot.index()) else { return false };
        *place = Some(filling);
        true
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.slots.check(&self.abilities, &op)?;
        let Some(crew) = &mut self.crew else {
            let buffer = self.slots.buffers.slice_mut(op.slot);
            return Ok(Submission::Done(performed(&self.medium, &op, buffer)));
        };
        let start = self.slots.buffers.start(op.slot).ok_or(SubmitError::NoSuchSlot(op.slot.0))?;
        let filling = self.fillings.get(op.slot.index()).copied().flatten();
        if !crew.add(PendingOp { op, start, filling }) {
            return Ok(Submission::Busy);
        }
        if let Some(place) = self.fillings.get_mut(op.slot.index()) {
            *place = None;
        }
        self.slots.flight.take_off(op, Nanos::ZERO);
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        match &mut self.crew {
            Some(crew) if self.slots.flight.count() > 0 => {
                let first = completions.len();
                crew.collect(wait, completions);
                for done in completions.iter().skip(first) {
                    self.slots.flight.land(done.slot, done.completed, |_| done.outcome);
                }
            }
            _ => {
                if let Wait::Until(deadline) = wait {
                    clock::sleep_until(deadline);
                }
            }
        }
        Ok(())
    }
}

/// Does one operation, waits for its end and tells both times.
pub(crate) fn performed(medium: &Medium, op: &Op, buffer: &mut [u8]) -> Completion {
    let submitted = clock::monotonic();
    let outcome = perform(medium, op, buffer);
    Completion::new(op, submitted, clock::monotonic(), outcome)
}

/// Does one operation. A signal only repeats it.
fn perform(medium: &Medium, op: &Op, buffer: &mut [u8]) -> Result<Bytes, Fault> {
    let length = op.length.as_len();
    let moved = loop {
        let result = match op.kind {
            OpKind::Read => rustix::io::pread(
                &medium.file,
                buffer.get_mut(..length).unwrap_or_default(),
                op.offset.get(),
            ),
            OpKind::Write => rustix::io::pwrite(
                &medium.file,
                buffer.get(..length).unwrap_or_default(),
                op.offset.get(),
            ),
            OpKind::Flush => return medium.flush(),
            OpKind::Discard => return medium.discard(op),
        };
        match result {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    Ok(Bytes(moved as u64))
}
