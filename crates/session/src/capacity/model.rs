//! Journals, cards, kills and errors as a state machine, explored exhaustively for small cards.
//!
//! The code is the real one, from marks and saving to putting back; cards and journals lie in memory, and at
//! each of their operations everything that can go wrong does in turn: a kill before it or in its middle, a
//! power cut that undoes what was not flushed, a failure, a wrong bit, a place that stays unreadable, a bit of
//! the journal that turns over, somebody's writing to the card, and the other card in the reader. The
//! invariant: **no saved sector is lost while any copy exists**; and a run without faults brings all back.

mod choices;
mod world;

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_probe::Drive;
use cardproof_units::Bytes;

use super::journal::{Held, Journal, Opened, Phase};
use super::marks;
use super::putting_back::{Trust, put_back};
use super::saving::Saving;
use super::steady::Moved;
use choices::Choices;
use world::{Media, ModelCard, ModelPaper, Sector, Shared, World};

/// The size of a card in sectors.
const SECTORS: usize = 8;

/// Where the marks are, and what the test writes: sector and count.
const MARKS: [u64; 2] = [SECTOR as u64, 2 * SECTOR as u64];
const WRITES: [(usize, usize); 3] = [(4, 2), (6, 1), (2, 1)];

/// The sector to which somebody writes.
const SOMEBODYS: usize = 5;

/// The salts of the journals, one each.
const SALTS: [u64; 3] = [0x1111_2222_3333_4444, 0x5a5a_6b6b_7c7c_0d0d, 0x0123_4567_89ab_cdef];

/// What the cards hold before.
#[derive(Clone, Copy, Debug)]
enum Contents {
    Different,
    Cloned,
    Blank,
}

/// What is explored.
#[derive(Clone, Copy, Debug)]
struct Case {
    contents: Contents,
    /// Addresses start again after so many sectors.
    real_sectors: usize,
    /// Faults in all.
    faults: u32,
    /// Whether all of them are kills and power cuts.
    are_kills: bool,
    /// Sessions with faults.
    sessions: u32,
    /// Whether somebody writes to the first card, in the place of another fault.
    has_somebody: bool,
}

fn sector_of(card: usize, number: usize, contents: Contents) -> Sector {
    match contents {
        Contents::Blank => [0; SECTOR],
        Contents::Cloned => [number as u8 + 1; SECTOR],
        Contents::Different => [(16 * (card + 1) + number) as u8; SECTOR],
    }
}

impl Case {
    fn card(&self, card: usize) -> Vec<Sector> {
        (0..self.real_sectors).map(|number| sector_of(card, number, self.contents)).collect()
    }

    fn start(&self) -> Media {
        Media {
            cards: [self.card(0), self.card(1)],
            papers: Vec::new(),
            faults: self.faults,
            are_kills: self.are_kills,
            has_bad_bit: false,
            is_written_to: false,
        }
    }

    /// What a card must hold in the end.
    fn wanted(&self, media: &Media, card: usize) -> Vec<Sector> {
        let mut wanted = self.card(card);
        if card == 0 && media.is_written_to {
            wanted[SOMEBODYS % self.real_sectors] = [0xee; SECTOR];
        }
        wanted
    }
}

/// Opens the journal `number`, unless it was removed or has ended.
fn open(world: &Shared, number: usize) -> Option<Journal<ModelPaper>> {
    world.borrow().media.papers[number].as_ref()?;
    let paper = ModelPaper { world: Rc::clone(world), number };
    match Journal::open(paper) {
        Ok(Opened::Journal(journal, _)) if journal.phase() < Phase::Ended => Some(journal),
        _ => None,
    }
}

/// What `verify --restore` does before its test; whether the test may begin.
fn recover(world: &Shared, card: usize) -> bool {
    let mut target = ModelCard::new(world, card, SECTORS);
    let mut is_whole = true;
    let count = world.borrow().media.papers.len();
    for number in (0..count).rev() {
        let Some(mut journal) = open(world, number) else { continue };
        if journal.is_empty() {
            let mut world = world.borrow_mut();
            if !world.is_dead {
                world.media.papers[number] = None;
            }
            continue;
        }
        match marks::are_on(&mut target, &journal) {
            Ok(false) => {}
            Ok(true) => {
                is_whole &= put_back(&mut target, &mut journal, Trust::FoundAgain).is_whole();
            }
            Err(_) => is_whole = false,
        }
    }
    is_whole
}

/// `verify --restore` of a card.
fn verify(world: &Shared, card: usize) {
    let is_possible = recover(world, card) && !world.borrow().is_dead;
    let number = world.borrow().media.papers.len();
    if !is_possible || number >= SALTS.len() {
        return;
    }
    world.borrow_mut().media.papers.push(Some(Vec::new()));
    let paper = ModelPaper { world: Rc::clone(world), number };
    let Ok(mut journal) = Journal::create(paper, "4096", SALTS[number]) else { return };
    let mut target = ModelCard::new(world, card, SECTORS);
    if marks::set(&mut target, &mut journal, &MARKS, &mut Moved::default()).is_ok() {
        overwrite(&mut Saving::new(&mut target, &mut journal), SALTS[number]);
    }
    put_back(&mut target, &mut journal, Trust::SameRun);
}

fn overwrite(saving: &mut Saving<'_, ModelPaper>, salt: u64) {
    let mut drive = Drive::new(saving, Bytes(2 * SECTOR as u64)).unwrap();
    for (generation, (sector, count)) in (1..).zip(WRITES) {
        let address_bytes = (sector * SECTOR) as u64;
        let stamp = Stamp { salt, address_bytes, generation };
        let written = drive.write(address_bytes, (count * SECTOR) as u64, |data| stamp.fill(data));
        if written.is_err() {
            return;
        }
    }
}

/// What the journals hold that have not ended: where on a card, and what.
fn saved(world: &Shared) -> HashSet<(usize, Sector)> {
    let (count, real_sectors) = (world.borrow().media.papers.len(), world.borrow().real_sectors);
    let mut saved = HashSet::new();
    for journal in (0..count).filter_map(|paper| open(world, paper)) {
        for batch in journal.batches() {
            let first = batch.offset as usize / SECTOR;
            for (index, held) in journal.load(batch).into_iter().enumerate() {
                if let Held::Data(sector) = held {
                    saved.insert(((first + index) % real_sectors, sector));
                }
            }
        }
    }
    saved
}

/// Checks that nothing is lost in `media`, and that runs without faults bring all back.
fn check(case: &Case, media: &Media, path: &Choices) {
    let world = shared(case, Media { faults: 0, ..media.clone() }, Choices::default());
    let saved = saved(&world);
    for card in 0..2 {
        for (number, wanted) in case.wanted(media, card).iter().enumerate() {
            let is_there = world.borrow().media.cards[card][number] == *wanted;
            let is_safe = is_there || saved.contains(&(number, *wanted));
            assert!(is_safe, "lost: card {card} sector {number} after {path:?} in {case:?}");
        }
    }
    for card in [1, 0, 1] {
        recover(&world, card);
    }
    let world = world.borrow();
    for card in 0..2 {
        let is_as_before = world.media.cards[card] == case.wanted(media, card);
        assert!(is_as_before, "card {card} is not as before after {path:?} in {case:?}");
    }
    let paper = |number| ModelPaper {
        world: shared(case, world.media.clone(), Choices::default()),
        number,
    };
    for number in 0..media.papers.len() {
        if world.media.papers[number].is_none() {
            continue;
        }
        let Ok(Opened::Journal(journal, _)) = Journal::open(paper(number)) else { continue };
        // Only a disk that fails to note the end keeps a journal from it.
        let is_open = case.are_kills && journal.phase() == Phase::Marked;
        assert!(!is_open, "journal {number} stays open after {path:?} in {case:?}");
    }
}

fn shared(case: &Case, media: Media, choices: Choices) -> Shared {
    Rc::new(RefCell::new(World::new(media, case.real_sectors, choices)))
}

/// What can happen to the media between two sessions.
fn between(case: &Case, media: &Media) -> Vec<Media> {
    let mut all = vec![media.clone()];
    if media.faults == 0 {
        return all;
    }
    let faults = media.faults - 1;
    if case.has_somebody && !media.is_written_to {
        let mut next = Media { is_written_to: true, faults, ..media.clone() };
        next.cards[0][SOMEBODYS % case.real_sectors] = [0xee; SECTOR];
        all.push(next);
    }
    for (number, paper) in media.papers.iter().enumerate() {
        let is_possible = !media.has_bad_bit && !media.are_kills;
        let Some(paper) = paper.as_ref().filter(|_| is_possible) else { continue };
        // Bits of both heads, of each phase and of each cell, in head and data.
        let heads = [16, 4096 + 40, 8192 + 3, 9216 + 20, 10240 + 3];
        let cells = (12288..paper.len()).step_by(272).map(|at| at + 17);
        for at in heads.into_iter().chain(cells).filter(|at| *at < paper.len()) {
            let mut next = Media { has_bad_bit: true, faults, ..media.clone() };
            if let Some(paper) = &mut next.papers[number] {
                paper[at] ^= 4;
            }
            all.push(next);
        }
    }
    all
}

/// What an exploration has met.
#[derive(Debug, Default)]
struct Explored {
    paths: u64,
    states: HashSet<u64>,
}

/// Takes every path of up to `case.sessions` sessions on either card, and checks what each leaves.
fn explore(case: &Case) -> Explored {
    let mut explored = Explored::default();
    let mut known = HashSet::new();
    let mut open = vec![case.start()];
    for session in 0..case.sessions {
        let mut next = Vec::new();
        for media in open.iter().flat_map(|media| between(case, media)) {
            // The first session is on the first card; the other has its turn later.
            for card in if session == 0 { 0..1 } else { 0..2 } {
                let mut choices = Choices::default();
                loop {
                    let world = shared(case, media.clone(), choices);
                    world.borrow_mut().seen = Some(HashSet::new());
                    verify(&world, card);
                    let mut world = world.borrow_mut();
                    world.end_process();
                    explored.paths += 1;
                    explored.states.extend(world.seen.take().unwrap_or_default());
                    if known.insert(world.media.clone()) {
                        check(case, &world.media, &world.choices);
                        next.push(world.media.clone());
                    }
                    choices = std::mem::take(&mut world.choices);
                    if !choices.next() {
                        break;
                    }
                }
            }
        }
        open = next;
    }
    explored
}

fn explore_all(cases: &[Case], states_min: usize) {
    let (mut paths, mut states) = (0, 0);
    for case in cases {
        let explored = explore(case);
        paths += explored.paths;
        states += explored.states.len();
    }
    assert!(states >= states_min, "{paths} paths, {states} states");
}

const BASE: Case = Case {
    contents: Contents::Different,
    real_sectors: SECTORS,
    faults: 1,
    are_kills: false,
    sessions: 2,
    has_somebody: false,
};

#[test]
fn no_saved_sector_is_lost_while_any_copy_exists() {
    explore_all(&[Case { contents: Contents::Cloned, ..BASE }], 300);
}

#[test]
#[ignore = "thousands of paths on cards of every kind; nightly"]
fn no_saved_sector_is_lost_whatever_the_card_holds() {
    let contents = [Contents::Different, Contents::Cloned, Contents::Blank];
    let mut cases = contents.map(|contents| Case { contents, ..BASE }).to_vec();
    cases.push(Case { real_sectors: 4, ..BASE });
    explore_all(&cases, 5000);
}

#[test]
#[ignore = "thousands of paths with two faults each; nightly"]
fn neither_a_second_kill_nor_somebodys_writing_loses_anything() {
    let case = Case { faults: 2, are_kills: true, has_somebody: true, ..BASE };
    explore_all(&[Case { contents: Contents::Cloned, ..case }], 900);
}
