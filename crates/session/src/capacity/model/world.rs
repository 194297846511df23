//! Two cards and their journals in memory, with everything that can go wrong at any operation.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::io;
use std::rc::Rc;

use cardproof_evidence::capacity::stamp::SECTOR;
use cardproof_io::{
    Abilities, Completion, Directness, Engine, Fault, Op, OpKind, Slot, Submission, SubmitError,
    Target, TargetError, Wait,
};
use cardproof_units::{Bytes, Nanos};

use super::super::journal::Paper;
use super::choices::Choices;

pub(super) type Sector = [u8; SECTOR];

/// What outlives a process: the cards and the journals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Media {
    pub(super) cards: [Vec<Sector>; 2],
    /// `None` for a journal that was removed.
    pub(super) papers: Vec<Option<Vec<u8>>>,
    /// Faults that may still come.
    pub(super) faults: u32,
    /// Whether all of them are kills.
    pub(super) are_kills: bool,
    /// Whether a bit of a journal has turned over already.
    pub(super) has_bad_bit: bool,
    /// Whether somebody has written to the first card.
    pub(super) is_written_to: bool,
}

/// A write that a power cut may undo.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Undo {
    Card { card: usize, sector: usize, before: Box<Sector> },
    Paper { paper: usize, before: Vec<u8> },
}

/// The media while a process is at work.
#[derive(Debug)]
pub(super) struct World {
    pub(super) media: Media,
    /// Addresses of a card start again after so many sectors.
    pub(super) real_sectors: usize,
    pub(super) choices: Choices,
    undo: Vec<Undo>,
    pub(super) is_dead: bool,
    /// A sector that cannot be read until the process ends.
    stuck: Option<usize>,
    /// So that two wrong readings differ.
    events: u64,
    /// All states that were seen, where somebody counts them.
    pub(super) seen: Option<HashSet<u64>>,
    /// Whether the state has changed since it was counted.
    has_changed: bool,
}

/// FNV-1a over words, for states that are told apart and kept nowhere.
#[derive(Default)]
pub(super) struct Digest(u64);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3);
            self.0 = mixed ^ (mixed >> 29);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Luck {
    Good,
    /// The process is killed before it.
    Killed,
    /// The process is killed in its middle.
    Torn,
    /// It fails once.
    Fails,
    /// One bit of what was read is wrong, once.
    WrongBit,
    /// It fails as long as the process lives.
    Stuck,
}

pub(super) type Shared = Rc<RefCell<World>>;

impl World {
    pub(super) fn new(media: Media, real_sectors: usize, choices: Choices) -> Self {
        Self {
            media,
            real_sectors,
            choices,
            undo: Vec::new(),
            is_dead: false,
            stuck: None,
            events: 0,
            seen: None,
            has_changed: true,
        }
    }

    fn luck(&mut self, kinds: &[Luck]) -> Luck {
        if self.is_dead {
            return Luck::Killed;
        }
        self.events += 1;
        if let Some(seen) = self.seen.as_mut().filter(|_| self.has_changed) {
            let mut digest = Digest::default();
            (&self.media, &self.undo).hash(&mut digest);
            seen.insert(digest.finish());
            self.has_changed = false;
        }
        if self.media.faults == 0 {
            return Luck::Good;
        }
        let is_kill = |luck: &Luck| matches!(luck, Luck::Good | Luck::Killed | Luck::Torn);
        let kinds: Vec<Luck> =
            kinds.iter().copied().filter(|luck| !self.media.are_kills || is_kill(luck)).collect();
        if kinds.len() == 1 {
            return kinds[0];
        }
        let luck = kinds[self.choices.choose(kinds.len())];
        if luck != Luck::Good {
            self.media.faults -= 1;
            self.has_changed = true;
        }
        self.is_dead = matches!(luck, Luck::Killed | Luck::Torn);
        luck
    }

    /// What is left once the process has ended: after a kill the kernel and the device still write, after a
    /// power cut they do not, or only what came first.
    pub(super) fn end_process(&mut self) {
        let kept = match self.is_dead {
            true if !self.undo.is_empty() => match self.choices.choose(3) {
                0 => self.undo.len(),
                1 => 0,
                _ => self.undo.len() / 2,
            },
            _ => self.undo.len(),
        };
        for undo in self.undo.drain(..).skip(kept).rev() {
            match undo {
                Undo::Card { card, sector, before } => self.media.cards[card][sector] = *before,
                Undo::Paper { paper, before } => self.media.papers[paper] = Some(before),
            }
        }
        self.is_dead = false;
        self.stuck = None;
    }

    fn write_sectors(&mut self, card: usize, first: usize, data: &[Sector]) {
        self.has_changed = true;
        for (number, sector) in data.iter().enumerate() {
            let sector_number = (first + number) % self.real_sectors;
            let place = &mut self.media.cards[card][sector_number];
            self.undo.push(Undo::Card { card, sector: sector_number, before: Box::new(*place) });
            *place = *sector;
        }
    }
}

/// A card of the world.
pub(super) struct ModelCard {
    world: Shared,
    card: usize,
    abilities: Abilities,
    buffers: Vec<Vec<u8>>,
}

impl ModelCard {
    pub(super) fn new(world: &Shared, card: usize, announced_sectors: usize) -> Self {
        let abilities = Abilities {
            engine: Engine::Simulated,
            engine_fallback: None,
            size: Bytes((announced_sectors * SECTOR) as u64),
            logical_block: Bytes(SECTOR as u64),
            directness: Directness::Direct,
            read_only: false,
            written_before: false,
            discard: false,
            keeps_data: true,
            queue_depth_max: 1,
        };
        Self { world: Rc::clone(world), card, abilities, buffers: Vec::new() }
    }

    fn operate(&mut self, op: &Op) -> Result<Bytes, Fault> {
        let world = &mut *self.world.borrow_mut();
        let first = Bytes(op.offset.get() / SECTOR as u64).as_len();
        let buffer = &mut self.buffers[op.slot.index()];
        let sectors = buffer[..op.length.as_len()].as_chunks_mut::<SECTOR>().0;
        let luck = world.luck(match op.kind {
            OpKind::Read => &[Luck::Good, Luck::Fails, Luck::WrongBit, Luck::Stuck],
            OpKind::Write if sectors.len() > 1 => {
                &[Luck::Good, Luck::Killed, Luck::Torn, Luck::Fails]
            }
            _ => &[Luck::Good, Luck::Killed, Luck::Fails],
        });
        if luck == Luck::Stuck {
            world.stuck = Some(first % world.real_sectors);
        }
        match (op.kind, luck) {
            (OpKind::Write, Luck::Torn) => {
                let half = sectors.len() / 2;
                world.write_sectors(self.card, first, &sectors[..half]);
                Err(Fault::Vanished)
            }
            (_, Luck::Killed | Luck::Torn) => Err(Fault::Vanished),
            (_, Luck::Fails) => Err(Fault::InputOutput),
            (OpKind::Read, _) => {
                for (number, sector) in sectors.iter_mut().enumerate() {
                    let place = (first + number) % world.real_sectors;
                    if world.stuck == Some(place) {
                        return Err(Fault::InputOutput);
                    }
                    *sector = world.media.cards[self.card][place];
                }
                if luck == Luck::WrongBit {
                    let bit = world.events as usize * 7 % (SECTOR * 8);
                    sectors[0][bit / 8] ^= 1 << (bit % 8);
                }
                Ok(op.length)
            }
            (OpKind::Write, _) => {
                world.write_sectors(self.card, first, sectors);
                Ok(op.length)
            }
            _ => {
                let card = self.card;
                world.has_changed = true;
                world
                    .undo
                    .retain(|undo| !matches!(undo, Undo::Card { card: of, .. } if *of == card));
                Ok(Bytes::ZERO)
            }
        }
    }
}

impl Target for ModelCard {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        Nanos::ZERO
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.buffers = vec![vec![0; buffer_size.as_len()]; usize::from(slots)];
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot.index()]
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.abilities.check(&op, op.length)?;
        let outcome = self.operate(&op);
        let Op { slot, kind, .. } = op;
        let (submitted, completed) = (Nanos::ZERO, Nanos::ZERO);
        Ok(Submission::Done(Completion { slot, kind, submitted, completed, outcome }))
    }

    fn complete(&mut self, _: Wait, _: &mut Vec<Completion>) -> Result<(), TargetError> {
        Ok(())
    }
}

/// A journal's paper in the world.
#[derive(Clone)]
pub(super) struct ModelPaper {
    pub(super) world: Shared,
    pub(super) number: usize,
}

impl ModelPaper {
    fn change(&mut self, luck: &[Luck], change: impl Fn(&mut Vec<u8>, bool)) -> io::Result<()> {
        let world = &mut *self.world.borrow_mut();
        let luck = world.luck(luck);
        let before = world.media.papers[self.number].clone().unwrap_or_default();
        if matches!(luck, Luck::Good | Luck::Torn) {
            let mut after = before.clone();
            change(&mut after, luck == Luck::Torn);
            world.media.papers[self.number] = Some(after);
            world.has_changed = true;
            world.undo.push(Undo::Paper { paper: self.number, before });
        }
        if luck == Luck::Good { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}

impl Paper for ModelPaper {
    fn length(&self) -> io::Result<u64> {
        let world = self.world.borrow();
        Ok(world.media.papers[self.number].as_ref().map_or(0, Vec::len) as u64)
    }

    fn read_at(&self, at: u64, data: &mut [u8]) -> io::Result<()> {
        let world = &mut *self.world.borrow_mut();
        if world.luck(&[Luck::Good, Luck::Fails]) != Luck::Good {
            return Err(io::Error::other("the disk fails"));
        }
        let bytes = world.media.papers[self.number].as_deref().unwrap_or_default();
        let start = (at as usize).min(bytes.len());
        let Some(found) = bytes[start..].get(..data.len()) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        data.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&mut self, at: u64, data: &[u8]) -> io::Result<()> {
        self.change(&[Luck::Good, Luck::Killed, Luck::Torn, Luck::Fails], |bytes, is_torn| {
            let part = if is_torn { &data[..data.len() / 2] } else { data };
            let end = at as usize + part.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[at as usize..end].copy_from_slice(part);
        })
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.change(&[Luck::Good, Luck::Killed, Luck::Fails], |bytes, _| {
            bytes.truncate(length as usize);
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        let world = &mut *self.world.borrow_mut();
        if world.luck(&[Luck::Good, Luck::Killed, Luck::Fails]) != Luck::Good {
            return Err(io::Error::other("the disk fails"));
        }
        let number = self.number;
        world.has_changed = true;
        world.undo.retain(|undo| !matches!(undo, Undo::Paper { paper, .. } if *paper == number));
        Ok(())
    }
}
