//! One half of a cycle: writing all pieces, or reading them back and comparing.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::Fault;
use cardproof_units::Nanos;

use super::bad::PAGE;
use super::run::{Runner, Stop};
use super::state::Pass;

/// How often a failed operation is repeated at once.
const ATTEMPTS: u32 = 2;

/// A piece that fails is cut into so many parts.
const PARTS: u64 = 8;

/// No write is cut into smaller parts: the pages of a part that was not written are found by reading.
const WRITE_PART_MIN: u64 = 64 << 10;

/// How much of a pass is timed.
const TIMED_BYTES: u64 = 32 << 20;

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Good,
    Failed(Fault),
    /// Other data came back than were written.
    Different,
}

/// The part of a pass that is timed.
struct Timing {
    begun: Nanos,
    bytes: u64,
    is_on: bool,
}

impl Runner<'_> {
    /// Does what is left of the pass.
    pub(super) fn pass(&mut self, pass: Pass) -> Result<(), Stop> {
        let order = self.plan.order(pass, self.state.position.cycle);
        self.streak = 0;
        self.was_looked_at = false;
        let mut timing = self.begin_timing();
        for &number in order.iter().skip(self.state.position.done as usize) {
            self.tell(false)?;
            self.look_after_pause()?;
            let outcome = self.piece(pass, number)?;
            self.worked_at = self.drive.now();
            match outcome {
                Outcome::Good => {
                    self.streak = 0;
                    self.is_marked |= pass == Pass::Write;
                    timing.bytes += self.plan.piece(pass, number).1;
                }
                outcome => {
                    self.end_timing(&mut timing, pass);
                    self.streak += 1;
                    self.state.position.later.push(number);
                    self.look_if_many_fail(pass, outcome)?;
                }
            }
            self.state.position.done += 1;
            if timing.bytes >= TIMED_BYTES {
                self.end_timing(&mut timing, pass);
            }
            self.save_if_due()?;
        }
        self.end_timing(&mut timing, pass);
        while let Some(&number) = self.state.position.later.last() {
            self.tell(false)?;
            self.look_after_pause()?;
            let is_settled = self.settle(pass, number)?;
            self.worked_at = self.drive.now();
            if is_settled {
                self.state.position.later.pop();
            }
        }
        Ok(())
    }

    fn begin_timing(&mut self) -> Timing {
        let is_on = self.state.position.done == 0;
        if is_on {
            self.watch.timing_begins();
        }
        Timing { begun: self.drive.now(), bytes: 0, is_on }
    }

    fn end_timing(&mut self, timing: &mut Timing, pass: Pass) {
        if !timing.is_on {
            return;
        }
        timing.is_on = false;
        self.watch.timing_ended();
        let seconds = self.drive.now().saturating_sub(timing.begun).as_secs_f64();
        if timing.bytes > 0 && seconds > 0.0 {
            let rate = timing.bytes as f64 / seconds;
            match pass {
                Pass::Write => self.state.position.write_rate = rate,
                Pass::Read => self.state.position.read_rate = rate,
            }
        }
    }

    /// Writes or checks a piece; what is bad already is left out.
    pub(super) fn piece(&mut self, pass: Pass, number: u64) -> Result<Outcome, Stop> {
        let (offset, length) = self.plan.piece(pass, number);
        for (offset, length) in self.state.bad.good_parts(offset, length) {
            let outcome = self.repeated(pass, offset, length)?;
            if outcome != Outcome::Good {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Good)
    }

    /// Writes or checks bytes, again where that fails at first.
    fn repeated(&mut self, pass: Pass, offset: u64, length: u64) -> Result<Outcome, Stop> {
        let mut outcome = self.once(pass, offset, length)?;
        for _ in 1..ATTEMPTS {
            // A device that did not answer in time is not asked again at once.
            if matches!(outcome, Outcome::Good | Outcome::Failed(Fault::TimedOut)) {
                break;
            }
            outcome = self.once(pass, offset, length)?;
            self.state.position.tally.transient += u64::from(outcome == Outcome::Good);
        }
        Ok(outcome)
    }

    fn once(&mut self, pass: Pass, offset: u64, length: u64) -> Result<Outcome, Stop> {
        let stamp = self.plan.stamp(offset, self.state.position.cycle);
        match pass {
            Pass::Write => {
                self.state.position.written_bytes += length;
                let outcome = self.drive.write_stamped(offset, length, stamp)?;
                Ok(outcome.map_or_else(Outcome::Failed, |()| Outcome::Good))
            }
            Pass::Read => {
                self.state.position.read_bytes += length;
                let outcome = self.drive.check_stamped(offset, length, stamp)?;
                let of_data = |is_same| if is_same { Outcome::Good } else { Outcome::Different };
                Ok(outcome.map_or_else(Outcome::Failed, of_data))
            }
        }
    }

    /// Tries a piece that failed once more, and where it fails again finds what of it is bad. Whether
    /// that is settled: not where the whole device failed meanwhile and is there again.
    fn settle(&mut self, pass: Pass, number: u64) -> Result<bool, Stop> {
        let (offset, length) = self.plan.piece(pass, number);
        for (offset, length) in self.state.bad.good_parts(offset, length) {
            match self.repeated(pass, offset, length)? {
                Outcome::Good => self.state.position.tally.transient += 1,
                Outcome::Different => self.compare(offset, length),
                Outcome::Failed(_) if !self.narrow_if_device_works(pass, offset, length)? => {
                    return Ok(false);
                }
                Outcome::Failed(_) => {}
            }
        }
        Ok(true)
    }

    /// Finds the bad parts of what failed, if the device works elsewhere before and after that. A reader
    /// can fail when too little of a pass is left for pieces to fail in a row.
    fn narrow_if_device_works(
        &mut self,
        pass: Pass,
        offset: u64,
        length: u64,
    ) -> Result<bool, Stop> {
        if !self.works_elsewhere(pass)? {
            self.look_closer(pass)?;
            return Ok(false);
        }
        let outcome = self.repeated(pass, offset, length)?;
        if outcome == Outcome::Good {
            self.state.position.tally.transient += 1;
            return Ok(true);
        }
        let (tally, known) = (self.state.position.tally, self.state.position.new_bad.len());
        self.narrow(pass, offset, length, outcome)?;
        if self.works_elsewhere(pass)? {
            return Ok(true);
        }
        self.state.position.tally = tally;
        for page in self.state.position.new_bad.split_off(known) {
            self.state.bad.remove(page);
        }
        self.look_closer(pass)?;
        Ok(false)
    }

    /// Finds the bad parts of what failed with `outcome`.
    fn narrow(
        &mut self,
        pass: Pass,
        offset: u64,
        length: u64,
        outcome: Outcome,
    ) -> Result<(), Stop> {
        if outcome == Outcome::Different {
            self.compare(offset, length);
            return Ok(());
        }
        let least = if pass == Pass::Write { WRITE_PART_MIN } else { PAGE };
        let part = (length / PARTS).next_multiple_of(PAGE).max(least);
        if length <= part {
            self.give_up(pass, offset, length);
            return Ok(());
        }
        let mut failed = Vec::new();
        let mut count = 0_usize;
        for start in (offset..offset + length).step_by(part as usize) {
            let length = part.min(offset + length - start);
            count += 1;
            match self.repeated(pass, start, length)? {
                Outcome::Good => {}
                // The buffer holds it now.
                Outcome::Different => self.compare(start, length),
                outcome => failed.push((start, length, outcome)),
            }
        }
        let all_fail = failed.len() == count;
        for (start, length, outcome) in failed {
            // Where all parts fail, a block is dead, and its pages need no look each.
            if all_fail {
                self.give_up(pass, start, length);
            } else {
                self.narrow(pass, start, length, outcome)?;
            }
        }
        Ok(())
    }

    /// Counts what failed for good. What was not written is found bad when it is read.
    fn give_up(&mut self, pass: Pass, offset: u64, length: u64) {
        match pass {
            Pass::Write => self.state.position.tally.write_errors += 1,
            Pass::Read => {
                self.state.position.tally.read_errors += 1;
                for page in offset / PAGE..(offset + length).div_ceil(PAGE) {
                    self.note_bad(page);
                }
            }
        }
    }

    /// Compares what the buffer holds of `length` bytes at `offset`, page by page.
    fn compare(&mut self, offset: u64, length: u64) {
        let (cycle, salt) = (self.state.position.cycle, self.plan.salt());
        let mut bad: Vec<(u64, bool)> = Vec::new();
        let data = self.drive.data(length);
        for (index, page) in data.chunks(PAGE as usize).enumerate() {
            let start = offset + index as u64 * PAGE;
            let stamp = self.plan.stamp(start, cycle);
            let sectors = page.as_chunks::<SECTOR>().0.iter().enumerate();
            let mut wrong = sectors
                .filter(|(number, sector)| stamp.further(*number as u64).wrong_bits(sector) > 0);
            if let Some((number, sector)) = wrong.next() {
                let expected = stamp.further(number as u64);
                let is_stale = Stamp::of_whole(sector).is_some_and(|found| {
                    found.salt == salt
                        && found.address_bytes == expected.address_bytes
                        && found.generation < expected.generation
                });
                bad.push((start / PAGE, is_stale));
            }
        }
        for (page, is_stale) in bad {
            self.note_bad(page);
            let tally = &mut self.state.position.tally;
            *(if is_stale { &mut tally.stale_pages } else { &mut tally.wrong_pages }) += 1;
        }
    }

    fn note_bad(&mut self, page: u64) {
        if self.state.bad.add(page) {
            self.state.position.new_bad.push(page);
        }
    }
}
