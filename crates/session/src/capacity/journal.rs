//! The journal of a test that restores: the only copy of what the test overwrites.
//!
//! Each sector is saved, and the journal is on its disk, before the sector is overwritten. What holds:
//!
//! - **Each sector stands by itself**, in a [cell] with a checksum over head, data and place that also
//!   mends one wrong bit. Reading goes on behind a bad cell. A read error is an error and never the end.
//! - **The journal belongs to the card that carries its marks**: test sectors with the journal's random
//!   salt. They are written first and put back last, so equal or blank data show nothing.
//! - **It ends when every saved sector was put back and read back**, see [`Phase`]. What was not stays in it.
//!
//! On the paper: the head twice, at 0 and 4096; three phases at 8192, each in 1024 bytes of its own; the cells
//! from 12288. Phases have their room from the start, so that a full disk does not keep a journal from its end.

mod cell;
mod check;
mod paper;

use std::io;

use cardproof_evidence::capacity::stamp::SECTOR;
use cardproof_units::Bytes;

use cell::{BATCH_MAX, CELL, Cell, Kind, word};
pub(super) use paper::Paper;

/// The first bytes of a journal.
const MAGIC: &[u8; 16] = b"cardproof-undo-2";

/// How many of them all versions share.
const MAGIC_SHARED: usize = 15;

/// The length of a head: magic, salt, length of the device's name, name, checksum.
const HEAD: usize = 1024;

/// The longest name of a device, in bytes.
const DEVICE_MAX: usize = 512;

const HEADS: [u64; 2] = [0, 4096];
const PHASES_AT: u64 = 8192;
const PHASE_ROOM: u64 = 1024;
const CELLS_AT: u64 = 12288;

/// Phases and heads are summed as cells that no journal is long enough for.
const PHASE_NUMBER: u64 = 1 << 60;
const HEAD_NUMBER: u64 = 1 << 61;

/// How often the paper is read before it counts as unreadable.
const ATTEMPTS: u32 = 4;

/// How far a test is, for its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Phase {
    /// Marks are saved and written; nothing else was overwritten.
    Marking,
    /// The card carries a mark that was read back.
    Marked,
    /// All but the marks was put back and read back.
    Closing,
    /// The marks were too. Nothing depends on the journal.
    Ended,
}

impl Phase {
    const LATER: [Self; 3] = [Self::Marked, Self::Closing, Self::Ended];
}

/// Sectors that lie one behind the other, saved at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// The number of its first cell.
    first: u64,
    /// How many sectors it has.
    count: u32,
    /// Where they lie on the device.
    pub(super) offset: u64,
    pub(super) is_mark: bool,
}

impl Batch {
    pub(super) fn length(&self) -> u64 {
        u64::from(self.count) * SECTOR as u64
    }
}

/// A sector as the journal holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// What the device held.
    Data([u8; SECTOR]),
    /// One of several readings that all differed.
    Unstable([u8; SECTOR]),
    /// The cell is damaged or cannot be read.
    Damaged,
}

impl Held {
    /// What is to be put back.
    pub(super) const fn saved(&self) -> Option<&[u8; SECTOR]> {
        match self {
            Self::Data(sector) | Self::Unstable(sector) => Some(sector),
            Self::Damaged => None,
        }
    }
}

/// Sectors to be saved, which lie one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: u64,
    /// Each with whether it read differently each time.
    pub(super) sectors: Vec<([u8; SECTOR], bool)>,
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal<P> {
    paper: P,
    salt: u64,
    phase: Phase,
    /// In the order of saving.
    batches: Vec<Batch>,
    /// The number of the next cell.
    next: u64,
    /// Cells that are damaged or cannot be read, of which not even the place on the device is known.
    lost: u64,
}

/// What a file is that was taken for a journal.
#[derive(Debug)]
pub(super) enum Opened<P> {
    /// A journal, and the device that it is for.
    Journal(Journal<P>, String),
    /// A journal in the form of another version of cardproof.
    OtherVersion,
    /// Something else.
    Nothing,
}

impl<P: Paper> Journal<P> {
    /// A new journal for `device` on `paper`, which is empty; `salt` is that of the test's sectors.
    pub(super) fn create(mut paper: P, device: &str, salt: u64) -> io::Result<Self> {
        if device.len() > DEVICE_MAX {
            return Err(io::Error::other("the device's identity is too long"));
        }
        let head = head(device, salt);
        let mut start = vec![0; CELLS_AT as usize];
        for at in HEADS {
            start[at as usize..][..HEAD].copy_from_slice(&head);
        }
        paper.write_at(0, &start)?;
        paper.sync()?;
        let phase = Phase::Marking;
        Ok(Self { paper, salt, phase, batches: Vec::new(), next: 0, lost: 0 })
    }

    /// The journal on `paper`.
    ///
    /// # Errors
    /// Neither head can be read.
    pub(super) fn open(paper: P) -> io::Result<Opened<P>> {
        let (salt, device) = match read_head(&paper)? {
            Head::Of(salt, device) => (salt, device),
            Head::OtherVersion => return Ok(Opened::OtherVersion),
            Head::None => return Ok(Opened::Nothing),
        };
        let phase = Phase::Marking;
        let mut journal = Self { paper, salt, phase, batches: Vec::new(), next: 0, lost: 0 };
        journal.read_phases();
        journal.find_batches()?;
        Ok(Opened::Journal(journal, device))
    }

    /// A phase that cannot be read is not reached: then more is put back than needs to be.
    fn read_phases(&mut self) {
        for (number, phase) in Phase::LATER.into_iter().enumerate() {
            let mut bytes = [0; CELL];
            let at = PHASES_AT + number as u64 * PHASE_ROOM;
            if read(&self.paper, at, &mut bytes).is_err() {
                continue;
            }
            let number = number as u64;
            let cell = Cell::read(&bytes, self.salt, PHASE_NUMBER + number);
            if cell.is_some_and(|cell| cell.kind == Kind::Phase && cell.address == number) {
                self.phase = phase;
            }
        }
    }

    /// Finds the batches by the cells that are good. What is bad before a good cell was saved and is
    /// damaged; bad content behind the last good cell was torn before its place was overwritten.
    fn find_batches(&mut self) -> io::Result<()> {
        let length = self.paper.length()?;
        let cells = length.saturating_sub(CELLS_AT) / CELL as u64;
        let mut at = 0;
        let mut unreadable = 0;
        while at < cells {
            match self.cell(at) {
                Ok(Some(cell)) if u64::from(cell.index) <= at - self.next => {
                    let first = at - u64::from(cell.index);
                    self.lost += first - self.next;
                    self.batches.push(Batch {
                        first,
                        count: cell.count,
                        offset: cell.address.saturating_sub(u64::from(cell.index) * SECTOR as u64),
                        is_mark: cell.kind == Kind::Mark,
                    });
                    self.next = first + u64::from(cell.count.max(cell.index + 1));
                    at = self.next;
                    unreadable = 0;
                }
                Ok(_) => at += 1,
                Err(_) => {
                    unreadable += 1;
                    at += 1;
                }
            }
        }
        self.lost += unreadable;
        Ok(())
    }

    /// The saved cell `number`, if it is good.
    fn cell(&self, number: u64) -> io::Result<Option<Cell>> {
        let mut bytes = [0; CELL];
        read(&self.paper, CELLS_AT + number * CELL as u64, &mut bytes)?;
        let cell = Cell::read(&bytes, self.salt, number);
        Ok(cell.filter(|cell| cell.kind != Kind::Phase))
    }

    /// Saves `pieces`; they are on the journal's disk when this returns.
    pub(super) fn save(&mut self, pieces: &[Piece], is_mark: bool) -> io::Result<()> {
        let kind = if is_mark { Kind::Mark } else { Kind::Saved };
        let mut bytes = Vec::new();
        let mut batches = Vec::new();
        let mut next = self.next;
        for piece in pieces.iter().filter(|piece| !piece.sectors.is_empty()) {
            let count = piece.sectors.len() as u32;
            if u64::from(count) > BATCH_MAX {
                return Err(io::Error::other("more sectors at once than a journal takes"));
            }
            batches.push(Batch { first: next, count, offset: piece.offset, is_mark });
            for (index, &(sector, is_unstable)) in (0..).zip(&piece.sectors) {
                let address = piece.offset + u64::from(index) * SECTOR as u64;
                let cell = Cell { kind, is_unstable, index, count, address, sector };
                cell.write(self.salt, next, &mut bytes);
                next += 1;
            }
        }
        if batches.is_empty() {
            return Ok(());
        }
        let at = CELLS_AT + self.next * CELL as u64;
        let written = self.paper.write_at(at, &bytes).and_then(|()| self.paper.sync());
        if let Err(error) = written {
            // What was written of them is no part of the journal; whether it goes is no matter, since
            // nothing of the device was overwritten.
            let _ = self.paper.cut(at);
            return Err(error);
        }
        self.batches.extend(batches);
        self.next = next;
        Ok(())
    }

    /// Notes that the test has reached `phase`; it is on the journal's disk when this returns.
    pub(super) fn reach(&mut self, phase: Phase) -> io::Result<()> {
        let Some(number) = Phase::LATER.iter().position(|later| *later == phase) else {
            return Ok(());
        };
        let number = number as u64;
        let sector = [0; SECTOR];
        let kind = Kind::Phase;
        let cell = Cell { kind, is_unstable: false, index: 0, count: 1, address: number, sector };
        let mut bytes = Vec::with_capacity(CELL);
        cell.write(self.salt, PHASE_NUMBER + number, &mut bytes);
        self.paper.write_at(PHASES_AT + number * PHASE_ROOM, &bytes)?;
        self.paper.sync()?;
        self.phase = self.phase.max(phase);
        Ok(())
    }

    /// Gives up all but what lay under the marks, which are the first cells.
    pub(super) fn keep_marks_alone(&mut self) -> io::Result<()> {
        let marks = self.batches.iter().take_while(|batch| batch.is_mark).count();
        let cells: u64 = self.batches[..marks].iter().map(|batch| u64::from(batch.count)).sum();
        self.paper.cut(CELLS_AT + cells * CELL as u64)?;
        self.batches.truncate(marks);
        self.next = cells;
        Ok(())
    }

    /// The sectors of `batch`.
    pub(super) fn load(&self, batch: &Batch) -> Vec<Held> {
        let mut bytes = vec![0; batch.count as usize * CELL];
        let is_whole = read(&self.paper, CELLS_AT + batch.first * CELL as u64, &mut bytes).is_ok();
        let (cells, _) = bytes.as_chunks::<CELL>();
        let held = |(index, bytes): (u64, &[u8; CELL])| {
            let number = batch.first + index;
            let cell = if is_whole {
                Cell::read(bytes, self.salt, number)
            } else {
                self.cell(number).unwrap_or_default()
            };
            match cell {
                Some(cell) if cell.is_unstable => Held::Unstable(cell.sector),
                Some(cell) => Held::Data(cell.sector),
                None => Held::Damaged,
            }
        };
        (0..).zip(cells).map(held).collect()
    }

    /// The batches in the order of saving.
    pub(super) fn batches(&self) -> &[Batch] {
        &self.batches
    }

    pub(super) const fn salt(&self) -> u64 {
        self.salt
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// How many saved sectors are damaged so that not even their place is known.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// How many bytes were saved.
    #[cfg(test)]
    pub(super) fn saved(&self) -> Bytes {
        Bytes(self.batches.iter().map(Batch::length).sum())
    }

    /// Whether nothing was saved, so that nothing was overwritten.
    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty() && self.lost == 0 && self.phase == Phase::Marking
    }

    /// What it is written on.
    #[cfg(test)]
    pub(super) fn into_paper(self) -> P {
        self.paper
    }
}

/// How long the journal of so many saved bytes is.
pub(super) fn length_of(saved: Bytes) -> Bytes {
    Bytes(CELLS_AT + saved.get().div_ceil(SECTOR as u64) * CELL as u64)
}

enum Head {
    Of(u64, String),
    OtherVersion,
    None,
}

fn head(device: &str, salt: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..16].copy_from_slice(MAGIC);
    head[16..24].copy_from_slice(&salt.to_le_bytes());
    head[24..32].copy_from_slice(&(device.len() as u64).to_le_bytes());
    head[32..32 + device.len()].copy_from_slice(device.as_bytes());
    let sum = check::sum(HEAD_NUMBER, &head[..HEAD - 8]);
    head[HEAD - 8..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// The head, from whichever of its two places is good.
fn read_head(paper: &impl Paper) -> io::Result<Head> {
    let mut failure = None;
    let mut found = Head::None;
    for at in HEADS {
        let mut bytes = [0; HEAD];
        if let Err(error) = read(paper, at, &mut bytes) {
            // A file that is too short is something else.
            failure = failure.or(Some(error).filter(|e| e.kind() != io::ErrorKind::UnexpectedEof));
            continue;
        }
        let is_other = bytes[..MAGIC_SHARED] == MAGIC[..MAGIC_SHARED] && bytes[..16] != *MAGIC;
        let (head, stored) = bytes.split_at_mut(HEAD - 8);
        if check::mend(HEAD_NUMBER, head, word(stored)) && head[..16] == *MAGIC {
            let length = (word(&head[24..]) as usize).min(DEVICE_MAX);
            let device = String::from_utf8_lossy(&head[32..32 + length]).into_owned();
            return Ok(Head::Of(word(&head[16..]), device));
        }
        if is_other {
            found = Head::OtherVersion;
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Reads, again where that fails.
fn read(paper: &impl Paper, at: u64, data: &mut [u8]) -> io::Result<()> {
    let mut result = paper.read_at(at, data);
    for _ in 1..ATTEMPTS {
        match &result {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                result = paper.read_at(at, data);
            }
            _ => break,
        }
    }
    result
}

#[cfg(test)]
#[path = "journal/tests.rs"]
mod tests;
