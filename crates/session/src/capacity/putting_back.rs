//! Puts back what a journal holds, in rounds: each reads what is there, and writes what is wrong.
//!
//! A place is settled when it was read and holds what was saved, so what one round writes the next one
//! reads. Batches are taken in the reverse order of saving, so that on a device whose addresses start again
//! the oldest data win. Marks come last, when all else is settled and the journal says so.

use cardproof_evidence::capacity::stamp::SECTOR;
use cardproof_io::{Slot, Target, TargetError};
use cardproof_probe::DriveError;
use cardproof_units::{Bytes, in_words, with_causes};

use super::journal::{Batch, Held, Journal, Paper, Phase};
use super::own::{is_of_a_test, is_own};
use super::steady::{Moved, Steady};

/// After so many rounds what is not settled stays in the journal.
const ROUNDS: u32 = 5;

/// So often a sector must read the same before it counts as somebody's.
const ALIKE: u32 = 3;

/// What is known of the device that a journal is put back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trust {
    /// The test has just ended and nobody else has written: what is not as it was is put back.
    SameRun,
    /// It was found again by its marks: what is neither the test's nor as it was is somebody's.
    FoundAgain,
}

/// What putting back has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Restored {
    pub(super) moved: Moved,
    /// Sectors that were put back.
    pub(super) put_back: u64,
    /// Sectors that somebody has written since.
    pub(super) foreign: u64,
    /// Sectors that do not hold what was saved.
    pub(super) left: u64,
    /// Those of them that the journal cannot give back, since it is damaged there.
    pub(super) damaged: u64,
    /// What the device as a whole refused.
    pub(super) fault: Option<String>,
    /// Why the journal could not be told how far it is.
    pub(super) unclosed: Option<String>,
}

impl Restored {
    /// Whether all is back and was read back.
    pub(super) const fn is_whole(&self) -> bool {
        self.left == 0 && self.fault.is_none()
    }
}

/// Puts back what `journal` holds on `target`, which is the card of its test, and brings the journal to its
/// end if all is back.
pub(super) fn put_back<P: Paper>(
    target: &mut dyn Target,
    journal: &mut Journal<P>,
    trust: Trust,
) -> Restored {
    let mut restored = Restored::default();
    if let Err(fault) = put_all_back(target, journal, trust, &mut restored) {
        restored.fault = Some(fault);
    }
    restored
}

fn put_all_back<P: Paper>(
    target: &mut dyn Target,
    journal: &mut Journal<P>,
    trust: Trust,
    restored: &mut Restored,
) -> Result<(), String> {
    let longest = journal.batches().iter().map(Batch::length).max().unwrap_or(0);
    let block = target.abilities().logical_block.get();
    // A batch may begin and end within a block.
    let buffer = Bytes(longest.next_multiple_of(block) + block);
    target.prepare(1, buffer).map_err(|error| with_causes(&error))?;
    let steady = Steady::new(target, Slot(0));
    let mut work = Work { steady, journal, trust, restored, is_foreign_seen: false };
    let ended = work.steps();
    work.restored.moved += work.steady.moved;
    ended
}

struct Work<'a, 't, P> {
    steady: Steady<'t>,
    journal: &'a mut Journal<P>,
    trust: Trust,
    restored: &'a mut Restored,
    /// Whether somebody has written since.
    is_foreign_seen: bool,
}

/// How a batch was found, in sectors.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Not as they were saved.
    open: u64,
    /// Those that the journal cannot give back.
    damaged: u64,
    /// Somebody's.
    foreign: u64,
}

/// What is to be done about a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Nothing: it is as it was saved, or was never overwritten.
    Settled,
    /// Nothing: somebody has written it since.
    Foreign,
    /// What was saved must be written.
    Write,
    /// Another reading may tell.
    Later,
    /// It holds the test's data, and what was saved is damaged.
    Damaged,
}

impl<P: Paper> Work<'_, '_, P> {
    fn steps(&mut self) -> Result<(), String> {
        let of_device = |error: DriveError| with_causes(&error);
        if self.journal.phase() < Phase::Closing {
            self.rounds(false).map_err(of_device)?;
            let lost = self.journal.lost();
            self.restored.left += lost;
            self.restored.damaged += lost;
            if self.restored.left > 0 {
                return Ok(());
            }
            self.reach(Phase::Closing);
        }
        self.rounds(true).map_err(of_device)?;
        if self.restored.left == 0 {
            self.reach(Phase::Ended);
        }
        Ok(())
    }

    /// Has the journal know how far it is. Where that cannot be written, the card gets its data all the same.
    fn reach(&mut self, phase: Phase) {
        if let Err(error) = self.journal.reach(phase) {
            self.restored.unclosed = Some(in_words(&error));
        }
    }

    /// Puts back the marks, or all but them.
    fn rounds(&mut self, marks: bool) -> Result<(), DriveError> {
        let all = self.journal.batches().iter().rev();
        let mut open: Vec<Batch> = all.filter(|batch| batch.is_mark == marks).copied().collect();
        let mut sum = Tally::default();
        let mut is_flushed = false;
        for round in 1..=ROUNDS {
            let writes = round < ROUNDS;
            let mut next = Vec::new();
            for batch in open {
                let found = self.visit(&batch, round)?;
                if found.open > 0 && writes {
                    next.push(batch);
                } else {
                    sum.open += found.open;
                    sum.damaged += found.damaged;
                    sum.foreign += found.foreign;
                }
            }
            open = next;
            if open.is_empty() && is_flushed {
                break;
            }
            is_flushed = self.steady.flush()?;
        }
        self.restored.left += sum.open + sum.damaged;
        self.restored.damaged += sum.damaged;
        self.restored.foreign += sum.foreign;
        if !is_flushed {
            return Err(DriveError::Failed(TargetError::Engine {
                engine: "device's",
                doing: "make the data durable",
                source: std::io::ErrorKind::Other.into(),
            }));
        }
        Ok(())
    }

    /// Reads the places of `batch` and, but in the last round, writes what is wrong there.
    fn visit(&mut self, batch: &Batch, round: u32) -> Result<Tally, DriveError> {
        let block = self.steady.block();
        let start = batch.offset / block * block;
        let end = (batch.offset + batch.length()).next_multiple_of(block);
        let mut now = self.steady.read(start, end - start)?;
        // Where nobody has written since, an unreadable place holds nothing of anybody.
        let is_unreadable_ours =
            self.trust == Trust::SameRun || (round > 1 && !self.is_foreign_seen);
        let mut tally = Tally::default();
        let mut is_wrong = vec![false; now.is_read.len()];
        for (number, held) in (0..).zip(self.journal.load(batch)) {
            let address = batch.offset + number * SECTOR as u64;
            let index = ((address - start) / block) as usize;
            let at = Bytes(address - start).as_len();
            let sector = now.is_read[index].then(|| now.data[at..].first_chunk().copied());
            let task = match sector.flatten() {
                Some(sector) => self.task(address, &sector, &held)?,
                None if is_unreadable_ours && is_covered(batch, start, index, block) => {
                    forced(&held)
                }
                None => Task::Later,
            };
            match task {
                Task::Settled => {}
                Task::Foreign => tally.foreign += 1,
                Task::Damaged => tally.damaged += 1,
                Task::Later => tally.open += 1,
                Task::Write => {
                    tally.open += 1;
                    if let Some(saved) = held.saved() {
                        is_wrong[index] = true;
                        now.data[at..at + SECTOR].copy_from_slice(saved);
                    }
                }
            }
        }
        self.is_foreign_seen |= tally.foreign > 0;
        if round < ROUNDS {
            self.restored.put_back += if round == 1 { tally.open } else { 0 };
            self.write(start, &now.data, &is_wrong)?;
        }
        Ok(tally)
    }

    /// Writes the blocks of `data` that are wrong, what lies side by side at once.
    fn write(&mut self, start: u64, data: &[u8], is_wrong: &[bool]) -> Result<(), DriveError> {
        let block = Bytes(self.steady.block()).as_len();
        let mut index = 0;
        while index < is_wrong.len() {
            let run = is_wrong[index..].iter().take_while(|&&is_wrong| is_wrong).count();
            if run > 0 {
                let part = &data[index * block..(index + run) * block];
                // What cannot be written is read as wrong in the next round.
                self.steady.write(start + (index * block) as u64, part)?;
            }
            index += run.max(1);
        }
        Ok(())
    }

    /// What is to be done about the sector at `address`, which holds `now`.
    fn task(&mut self, address: u64, now: &[u8; SECTOR], held: &Held) -> Result<Task, DriveError> {
        let is_own = is_own(now, self.journal.salt(), address);
        Ok(match held {
            Held::Damaged if is_own => Task::Damaged,
            Held::Unstable(_) if is_own => Task::Write,
            // What never read the same cannot be read back as it was.
            Held::Damaged | Held::Unstable(_) => Task::Settled,
            Held::Data(saved) if now == saved => Task::Settled,
            Held::Data(_) if is_own || self.trust == Trust::SameRun => Task::Write,
            // It comes back when that test's journal is put back.
            Held::Data(_) if is_of_a_test(now) => Task::Later,
            Held::Data(_) if self.reads_alike(address, now)? => Task::Foreign,
            Held::Data(_) => Task::Later,
        })
    }

    /// Whether the sector at `address` goes on to read as `now`: a reading may be wrong once.
    fn reads_alike(&mut self, address: u64, now: &[u8; SECTOR]) -> Result<bool, DriveError> {
        let block = self.steady.block();
        let start = address / block * block;
        for _ in 1..ALIKE {
            let again = self.steady.read(start, block)?;
            let at = Bytes(address - start).as_len();
            if again.is_read != [true] || again.data[at..at + SECTOR] != *now {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether all of the block number `index` from `start` belongs to `batch`.
fn is_covered(batch: &Batch, start: u64, index: usize, block: u64) -> bool {
    let from = start + index as u64 * block;
    batch.offset <= from && from + block <= batch.offset + batch.length()
}

/// What is to be done about a sector of the test's that cannot be read.
const fn forced(held: &Held) -> Task {
    match held {
        Held::Data(_) | Held::Unstable(_) => Task::Write,
        Held::Damaged => Task::Damaged,
    }
}
