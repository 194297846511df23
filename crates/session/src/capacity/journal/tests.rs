//! What a journal bears: torn ends, bad cells, read errors, files of others.

use std::cell::Cell as Counter;
use std::rc::Rc;

use super::*;

/// Bytes in memory, of which some cannot be read.
#[derive(Clone, Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    /// What of it fails to read.
    bad: Option<std::ops::Range<u64>>,
    /// So often writing fails.
    failing: Rc<Counter<u32>>,
}

impl Paper for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, at: u64, data: &mut [u8]) -> io::Result<()> {
        let end = at + data.len() as u64;
        if self.bad.as_ref().is_some_and(|bad| at < bad.end && bad.start < end) {
            return Err(io::Error::other("the disk fails"));
        }
        let found = self.bytes.get(at as usize..end as usize);
        data.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&mut self, at: u64, data: &[u8]) -> io::Result<()> {
        let is_failing = self.failing.get() > 0;
        self.failing.set(self.failing.get().saturating_sub(1));
        let data = if is_failing { &data[..data.len() / 2] } else { data };
        let end = at as usize + data.len();
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[at as usize..end].copy_from_slice(data);
        if is_failing { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.bytes.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn piece(offset: u64, count: u8) -> Piece {
    Piece { offset, sectors: (1..=count).map(|byte| ([byte; SECTOR], false)).collect() }
}

/// A journal of three batches, of 4, 1 and 4 sectors.
fn journal() -> Journal<Memory> {
    let mut journal = Journal::create(Memory::default(), "64000000000", 7).unwrap();
    journal.save(&[piece(4096, 4)], true).unwrap();
    journal.save(&[piece(8192, 1)], false).unwrap();
    journal.save(&[piece(12288, 4)], false).unwrap();
    journal
}

fn reopened(paper: Memory) -> Journal<Memory> {
    match Journal::open(paper).unwrap() {
        Opened::Journal(journal, device) => {
            assert_eq!(device, "64000000000");
            journal
        }
        other => panic!("{other:?}"),
    }
}

/// How many sectors of each batch are good, and how many cells have lost their place.
fn good(journal: &Journal<Memory>) -> (Vec<usize>, u64) {
    let good = |batch: &Batch| {
        journal.load(batch).iter().filter(|held| matches!(held, Held::Data(_))).count()
    };
    (journal.batches().iter().map(good).collect(), journal.lost())
}

const fn at(cell: u64) -> u64 {
    CELLS_AT + cell * CELL as u64
}

#[test]
fn what_was_saved_comes_back_with_its_phase() {
    let mut journal = journal();
    journal.reach(Phase::Marked).unwrap();
    let again = reopened(journal.into_paper());
    assert_eq!(good(&again), (vec![4, 1, 4], 0));
    assert_eq!((again.phase(), again.saved()), (Phase::Marked, Bytes(9 * SECTOR as u64)));
    let marks: Vec<(u64, bool)> =
        again.batches().iter().map(|batch| (batch.offset, batch.is_mark)).collect();
    assert_eq!(marks, [(4096, true), (8192, false), (12288, false)]);
    assert_eq!(again.load(&again.batches()[0])[2], Held::Data([3; SECTOR]));
}

#[test]
fn one_bad_bit_anywhere_takes_nothing() {
    let mut journal = journal();
    journal.reach(Phase::Marked).unwrap();
    let paper = journal.into_paper();
    for bit in (0..paper.bytes.len() * 8).step_by(37) {
        let mut paper = paper.clone();
        paper.bytes[bit / 8] ^= 1 << (bit % 8);
        let again = reopened(paper);
        assert_eq!((good(&again), again.phase()), ((vec![4, 1, 4], 0), Phase::Marked), "bit {bit}");
    }
}

#[test]
fn reading_goes_on_behind_bad_cells_and_read_errors() {
    for (first, count, wanted) in [
        (1, 1, (vec![3, 1, 4], 0)),
        (0, 3, (vec![1, 1, 4], 0)),
        (3, 3, (vec![3, 3], 1)),
        (4, 1, (vec![4, 4], 1)),
        (2, 5, (vec![2, 2], 1)),
        (0, 5, (vec![4], 5)),
    ] {
        let mut damaged = journal().into_paper();
        damaged.bytes[at(first) as usize..at(first + count) as usize].fill(0xa5);
        assert_eq!(good(&reopened(damaged)), wanted, "damaged from {first}, {count}");
        let unreadable =
            Memory { bad: Some(at(first)..at(first + count)), ..journal().into_paper() };
        assert_eq!(good(&reopened(unreadable)), wanted, "unreadable from {first}, {count}");
    }
}

#[test]
fn a_torn_end_was_never_saved_and_an_unreadable_end_was() {
    let paper = journal().into_paper();
    let mut cut = paper.clone();
    cut.bytes.truncate(at(5) as usize + 100);
    assert_eq!(good(&reopened(cut)), (vec![4, 1], 0));
    let mut zeros = paper.clone();
    zeros.bytes[at(5) as usize..].fill(0);
    assert_eq!(good(&reopened(zeros)), (vec![4, 1], 0));
    let unreadable = Memory { bad: Some(at(5)..at(9)), ..paper };
    assert_eq!(good(&reopened(unreadable)), (vec![4, 1], 4));
}

#[test]
fn either_head_is_enough_and_none_is_an_error_or_another_file() {
    for head in HEADS {
        let mut paper = journal().into_paper();
        paper.bytes[head as usize..head as usize + HEAD].fill(0);
        assert_eq!(good(&reopened(paper)), (vec![4, 1, 4], 0));
    }
    let unreadable = Memory { bad: Some(0..8192), ..journal().into_paper() };
    assert!(Journal::open(unreadable).is_err());
    for text in [&b"not a journal"[..], &[], &[0; 20_000]] {
        let paper = Memory { bytes: text.to_vec(), ..Memory::default() };
        assert!(matches!(Journal::open(paper).unwrap(), Opened::Nothing));
    }
    let mut older = journal().into_paper();
    for head in HEADS {
        older.bytes[head as usize + 15] = b'1';
    }
    assert!(matches!(Journal::open(older).unwrap(), Opened::OtherVersion));
}

#[test]
fn a_full_disk_keeps_neither_earlier_cells_nor_the_end_from_the_journal() {
    let mut journal = journal();
    journal.paper.failing.set(1);
    assert!(journal.save(&[piece(1 << 20, 8)], false).is_err());
    journal.reach(Phase::Closing).unwrap();
    let again = reopened(journal.into_paper());
    assert_eq!((good(&again), again.phase()), ((vec![4, 1, 4], 0), Phase::Closing));
}

#[test]
fn the_marks_alone_can_be_kept() {
    let mut journal = journal();
    journal.reach(Phase::Closing).unwrap();
    journal.keep_marks_alone().unwrap();
    let again = reopened(journal.into_paper());
    assert_eq!((good(&again), again.phase()), ((vec![4], 0), Phase::Closing));
}
