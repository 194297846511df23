//! Writes and reads pieces with many requests under way, so that every write is read before it is
//! overwritten, and once more after a flush.
//!
//! No two requests under way touch the same piece, since a device may do those in any order. A piece that
//! comes back wrong is read again when nothing else is under way: that tells a wrong read from wrong data on
//! the flash.

mod choice;

use std::collections::VecDeque;

use cardproof_evidence::integrity::compare;
use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::patient::{FAULTS_MAX, TRIES};
use super::pieces::{Known, LENGTH_MAX, Piece};
use super::queue::End;
use super::{Progress, Tally, WrongPiece};
use crate::drive::DriveError;

/// So many wrong pieces make the answer certain.
const WRONG_MAX: u64 = 100;

/// Between two flushes lie so many requests.
const FLUSH_EVERY: std::ops::Range<u64> = 16..112;

/// The queue is kept at one depth for so many requests.
const DEPTH_EVERY: u64 = 64;

/// So many of the latest writes are remembered, to read one of them soon.
const SOON_MAX: usize = 16;

/// What one part of a test is to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// The most requests under way.
    pub(super) depth: u16,
    /// How many writes.
    pub(super) writes: u64,
    /// Whether pieces are discarded on the way.
    pub(super) discards: bool,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    piece: usize,
    depth: u16,
    /// The flushes that were over when it was handed over.
    flushed: u64,
}

/// A read that was wrong, to be looked at alone.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    piece: usize,
    found: WrongPiece,
}

/// Drives a target with pieces.
pub(super) struct Exerciser<'a> {
    target: &'a mut dyn Target,
    pieces: Vec<Piece>,
    salt: u64,
    flying: Vec<Option<Flight>>,
    in_flight: u16,
    is_flushing: bool,
    flushes_begun: u64,
    flushes_done: u64,
    /// Pieces that were written a moment ago.
    soon: VecDeque<usize>,
    /// The neighbour of the latest write, to be written while that is under way.
    neighbour: Option<usize>,
    suspects: Vec<Suspect>,
    completions: Vec<Completion>,
    random: Xoshiro256PlusPlus,
    tally: Tally,
    wrong: Vec<(WrongPiece, bool)>,
    wrong_count: u64,
    is_at_depth: bool,
    faults: u64,
    /// Those of them that a further try did not show.
    mended: u64,
    /// Requests that failed, to be tried again alone.
    failed: Vec<(OpKind, usize)>,
    last_fault: Fault,
    written: u64,
    read: u64,
}

impl<'a> Exerciser<'a> {
    /// Prepares `target` for `depth` requests.
    pub(super) fn new(
        target: &'a mut dyn Target,
        pieces: Vec<Piece>,
        depth: u16,
        seed: Seed,
    ) -> Result<Self, DriveError> {
        let slots = depth.clamp(1, target.abilities().queue_depth_max);
        target.prepare(slots, Bytes(LENGTH_MAX))?;
        Ok(Self {
            target,
            pieces,
            salt: seed.derive("salt of pieces"),
            flying: vec![None; usize::from(slots)],
            in_flight: 0,
            is_flushing: false,
            flushes_begun: 0,
            flushes_done: 0,
            soon: VecDeque::new(),
            neighbour: None,
            suspects: Vec::new(),
            completions: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("order of requests")),
            tally: Tally::default(),
            wrong: Vec::new(),
            wrong_count: 0,
            is_at_depth: false,
            faults: 0,
            mended: 0,
            failed: Vec::new(),
            last_fault: Fault::InputOutput,
            written: 0,
            read: 0,
        })
    }

    /// What was done since this was asked before.
    pub(super) fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// The wrong pieces, and whether each was found at depth.
    pub(super) fn found(&mut self) -> Vec<(WrongPiece, bool)> {
        std::mem::take(&mut self.wrong)
    }

    /// How many requests were answered with an error, and how many of these errors a further try did not show.
    pub(super) const fn faults(&self) -> (u64, u64) {
        (self.faults, self.mended)
    }

    /// The bytes written and read.
    pub(super) const fn moved(&self) -> (Bytes, Bytes) {
        (Bytes(self.written), Bytes(self.read))
    }

    /// Writes every piece once, one after the other, and reads all of them.
    pub(super) fn lay_down(
        &mut self,
        deed: &'static str,
        progress: &mut dyn Progress,
    ) -> Result<End, DriveError> {
        let begun = self.target.now();
        self.is_at_depth = false;
        let count = self.pieces.len();
        for piece in 0..count {
            if piece % 64 == 0 && !progress.step(deed, piece as f64 / count as f64) {
                return Ok(End::Stopped);
            }
            self.begin(OpKind::Write, piece)?;
            self.drain()?;
        }
        self.settle(1)?;
        self.tally.time += self.target.now().saturating_sub(begun);
        Ok(self.end().unwrap_or(End::Done))
    }

    /// Writes, reads and flushes until `goal` is reached and every write was read after a flush.
    pub(super) fn exercise(
        &mut self,
        goal: &Goal,
        deed: &'static str,
        progress: &mut dyn Progress,
    ) -> Result<End, DriveError> {
        let begun = self.target.now();
        self.is_at_depth = goal.depth > 1;
        let most = goal.depth.min(self.flying.len() as u16);
        let (mut depth, mut until_flush) = (most, FLUSH_EVERY.start);
        let (mut requests, mut writes) = (0_u64, 0);
        while writes < goal.writes {
            if let Some(end) = self.end() {
                return Ok(end);
            }
            if requests.is_multiple_of(DEPTH_EVERY) {
                depth = self.depth_of(most);
                if !progress.step(deed, writes as f64 / goal.writes as f64) {
                    return Ok(End::Stopped);
                }
            }
            requests += 1;
            until_flush = until_flush.saturating_sub(1);
            if until_flush == 0 && !self.is_flushing {
                until_flush = self.draw(FLUSH_EVERY);
                self.begin_flush()?;
                // Half of the flushes are waited for, so that there are many on a card that flushes slowly.
                if self.random.next_u64().is_multiple_of(2) {
                    self.wait_for_flush()?;
                }
            } else {
                let (kind, piece) = self.choose(goal.discards);
                writes += u64::from(kind == OpKind::Write);
                self.begin(kind, piece)?;
            }
            self.wait_below(depth)?;
            self.examine()?;
        }
        self.settle(most)?;
        self.tally.time += self.target.now().saturating_sub(begun);
        Ok(self.end().unwrap_or(End::Done))
    }

    /// Reads every piece, one after the other.
    pub(super) fn read_all(
        &mut self,
        deed: &'static str,
        progress: &mut dyn Progress,
    ) -> Result<End, DriveError> {
        let count = self.pieces.len();
        for piece in 0..count {
            if piece % 64 == 0 && !progress.step(deed, piece as f64 / count as f64) {
                return Ok(End::Stopped);
            }
            if self.pieces[piece].known != Known::Empty {
                self.begin(OpKind::Read, piece)?;
                self.drain()?;
                self.examine()?;
            }
        }
        Ok(self.end().unwrap_or(End::Done))
    }

    /// Why the test is over, if it is.
    fn end(&self) -> Option<End> {
        if self.faults >= FAULTS_MAX {
            return Some(End::Failing(self.last_fault));
        }
        (self.wrong_count >= WRONG_MAX).then_some(End::Certain)
    }

    /// Flushes, and reads what was written and not read after a flush.
    fn settle(&mut self, depth: u16) -> Result<(), DriveError> {
        self.drain()?;
        self.try_again()?;
        self.begin_flush()?;
        self.drain()?;
        let unsettled: Vec<usize> =
            (0..self.pieces.len()).filter(|&it| self.pieces[it].is_unsettled()).collect();
        for piece in unsettled {
            if !self.pieces[piece].is_busy {
                self.begin(OpKind::Read, piece)?;
            }
            self.wait_below(depth)?;
        }
        self.drain()?;
        self.examine()
    }

    fn begin(&mut self, kind: OpKind, piece: usize) -> Result<(), DriveError> {
        let depth = self.in_flight + 1;
        let Some(slot) = self.free_slot()? else { return Ok(()) };
        let (offset, length) = (self.pieces[piece].offset, self.pieces[piece].length);
        self.pieces[piece].is_busy = true;
        if kind == OpKind::Write {
            self.pieces[piece].generation += 1;
            let stamp = self.pieces[piece].stamp(self.salt);
            stamp.fill(&mut self.target.buffer(slot)[..Bytes(length).as_len()]);
            self.written += length;
        }
        self.flying[slot.index()] = Some(Flight { piece, depth, flushed: self.flushes_done });
        self.submit(Op { slot, kind, offset: Bytes(offset), length: Bytes(length) })
    }

    fn begin_flush(&mut self) -> Result<(), DriveError> {
        let Some(slot) = self.free_slot()? else { return Ok(()) };
        self.is_flushing = true;
        self.flushes_begun += 1;
        let depth = self.in_flight + 1;
        self.flying[slot.index()] = Some(Flight { piece: 0, depth, flushed: self.flushes_done });
        self.submit(Op::flush(slot))
    }

    /// A slot without a request, after waiting for one; `None` where there is none at all.
    fn free_slot(&mut self) -> Result<Option<Slot>, DriveError> {
        if usize::from(self.in_flight) >= self.flying.len() {
            self.wait_below(self.flying.len() as u16)?;
        }
        Ok(self.flying.iter().position(Option::is_none).map(|index| Slot(index as u16)))
    }

    fn submit(&mut self, op: Op) -> Result<(), DriveError> {
        self.in_flight += 1;
        loop {
            match self.target.submit(op)? {
                Submission::Queued => return Ok(()),
                Submission::Done(completion) => return self.finish(&completion),
                Submission::Busy => self.pump()?,
            }
        }
    }

    /// Waits until fewer than `depth` requests are under way.
    fn wait_below(&mut self, depth: u16) -> Result<(), DriveError> {
        while self.in_flight >= depth.max(1) {
            self.pump()?;
        }
        Ok(())
    }

    fn wait_for_flush(&mut self) -> Result<(), DriveError> {
        while self.is_flushing {
            self.pump()?;
        }
        Ok(())
    }

    /// Waits for all requests.
    pub(super) fn drain(&mut self) -> Result<(), DriveError> {
        self.wait_below(1)
    }

    fn pump(&mut self) -> Result<(), DriveError> {
        let mut completions = std::mem::take(&mut self.completions);
        self.target.complete(Wait::One, &mut completions)?;
        for completion in completions.drain(..) {
            self.finish(&completion)?;
        }
        self.completions = completions;
        Ok(())
    }

    fn finish(&mut self, completion: &Completion) -> Result<(), DriveError> {
        let Some(flight) = self.flying[completion.slot.index()].take() else { return Ok(()) };
        self.in_flight -= 1;
        let moved = match completion.outcome {
            Err(fault) if fault.is_final() => return Err(DriveError::Vanished),
            outcome => outcome,
        };
        if completion.kind == OpKind::Flush {
            self.is_flushing = false;
            match moved {
                Ok(_) => {
                    self.flushes_done = self.flushes_begun;
                    self.tally.flushes += 1;
                }
                Err(fault) => {
                    self.note_fault(fault);
                    self.forget_unsettled();
                }
            }
            return Ok(());
        }
        self.pieces[flight.piece].is_busy = false;
        let wanted = Bytes(self.pieces[flight.piece].length);
        match moved {
            // A discard moves nothing.
            Ok(moved) if moved >= wanted || completion.kind == OpKind::Discard => {
                self.succeed(completion, flight);
            }
            Ok(_) => self.fail(completion.kind, flight.piece, Fault::InputOutput),
            Err(fault) => self.fail(completion.kind, flight.piece, fault),
        }
        Ok(())
    }

    fn fail(&mut self, kind: OpKind, piece: usize, fault: Fault) {
        self.note_fault(fault);
        self.failed.push((kind, piece));
        if kind != OpKind::Read {
            self.pieces[piece].known = Known::Empty;
        }
    }

    /// After a flush that failed, nobody knows what lies where something was written since the one before.
    fn forget_unsettled(&mut self) {
        for piece in self.pieces.iter_mut().filter(|piece| piece.is_unsettled()) {
            piece.known = Known::Empty;
        }
    }

    const fn note_fault(&mut self, fault: Fault) {
        self.faults += 1;
        self.last_fault = fault;
    }

    fn succeed(&mut self, completion: &Completion, flight: Flight) {
        match completion.kind {
            OpKind::Write => {
                self.tally.writes += 1;
                let piece = &mut self.pieces[flight.piece];
                piece.known = Known::Fresh;
                piece.needs_flush = self.flushes_begun + 1;
                self.soon.push_back(flight.piece);
                if self.soon.len() > SOON_MAX {
                    self.soon.pop_front();
                }
            }
            OpKind::Discard => self.pieces[flight.piece].known = Known::Empty,
            OpKind::Read => self.compare(completion.slot, flight),
            OpKind::Flush => {}
        }
    }

    fn compare(&mut self, slot: Slot, flight: Flight) {
        self.tally.reads += 1;
        let piece = self.pieces[flight.piece];
        self.read += piece.length;
        if piece.known == Known::Empty {
            return;
        }
        let data = &self.target.buffer(slot)[..Bytes(piece.length).as_len()];
        let Some(wrong) = compare(piece.stamp(self.salt), data) else {
            let is_settled = flight.flushed >= piece.needs_flush;
            self.pieces[flight.piece].known = match piece.known {
                Known::Fresh | Known::Read if is_settled => Known::Settled,
                Known::Fresh => Known::Read,
                known => known,
            };
            return;
        };
        let found = WrongPiece {
            kind: wrong.kind,
            address_bytes: piece.offset + wrong.first_sector * 512,
            length_bytes: wrong.sectors * 512,
            from_bytes: wrong.from_bytes,
            depth: flight.depth,
            is_stored: false,
            was_right: piece.known != Known::Fresh,
        };
        self.suspects.push(Suspect { piece: flight.piece, found });
    }

    /// Tries again what failed, alone.
    fn try_again(&mut self) -> Result<(), DriveError> {
        while !self.failed.is_empty() && self.faults < FAULTS_MAX {
            self.drain()?;
            let Some((kind, piece)) = self.failed.pop() else { return Ok(()) };
            let others = std::mem::take(&mut self.failed);
            for tries in 1..TRIES {
                self.begin(kind, piece)?;
                self.drain()?;
                if self.failed.pop().is_none() {
                    self.mended += u64::from(tries);
                    break;
                }
            }
            self.failed = others;
        }
        Ok(())
    }

    /// Tries again what failed; reads what was wrong again, alone, and writes it anew.
    fn examine(&mut self) -> Result<(), DriveError> {
        self.try_again()?;
        while !self.suspects.is_empty() {
            self.drain()?;
            let Some(suspect) = self.suspects.pop() else { return Ok(()) };
            let is_stored = self.is_wrong_alone(suspect.piece)?;
            self.tally.wrong += 1;
            self.wrong_count += 1;
            if self.wrong.len() < WRONG_MAX as usize {
                self.wrong.push((WrongPiece { is_stored, ..suspect.found }, self.is_at_depth));
            }
            self.begin(OpKind::Write, suspect.piece)?;
            self.drain()?;
        }
        Ok(())
    }

    /// Whether `piece` is wrong again when nothing else is under way.
    fn is_wrong_alone(&mut self, piece: usize) -> Result<bool, DriveError> {
        let waiting = std::mem::take(&mut self.suspects);
        self.begin(OpKind::Read, piece)?;
        self.drain()?;
        let is_wrong = !self.suspects.is_empty();
        self.suspects = waiting;
        Ok(is_wrong)
    }
}
