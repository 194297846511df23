//! Requests of every shape on a card's file, as programs and virtual machines make them: what is on
//! the card's grid, on the card and in memory, is done, however long it is and in however many
//! pieces; what is not is refused past the page cache, as a block device does, and done through it.

use std::fs::{File, OpenOptions};
use std::io::{IoSlice, IoSliceMut};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::process::Command;

use cardproof_sim_serve::{ServeError, ServeOptions, Server};
use cardproof_testkit::{LabError, Noise, lab_or_skip, require_root};
use cardproof_units::Seed;
use rustix::fs::OFlags;
use rustix::io::{Errno, pread, preadv, pwrite, pwritev};
use tempfile::TempDir;

/// The unit in which the card is addressed.
const GRID: usize = 512;

const PAGE: usize = 4096;

/// Lengths around those of a unit, a page, a kernel's request and the server's longest one.
const LENGTHS: [usize; 9] =
    [512, 1024, 1536, 3584, 4608, 130_560, 131_584, (1 << 20) - 512, (1 << 20) + 1536];

/// Places on the grid, before and behind a page's beginning.
const OFFSETS: [u64; 4] = [512, 3584, 4096, (1 << 20) - 1536];

/// How much of the card all of them lie in.
const SPAN: usize = 4 << 20;

/// A card that is up, with the directory it is in.
struct Lab {
    server: Server,
    _directory: TempDir,
}

fn lab() -> Result<Lab, LabError> {
    require_root()?;
    let directory = tempfile::Builder::new().prefix("cardproof-lab-card-").tempdir().unwrap();
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1000.0,
        block_device: false,
        backing: None,
        log: None,
    };
    let card = cardproof_sim::find("sandisk-extreme-a1").unwrap();
    match Server::start(card, Seed::from_bits(1), &options) {
        Ok(server) => Ok(Lab { server, _directory: directory }),
        Err(error @ ServeError::Mount { .. }) => Err(LabError::Unavailable(error.to_string())),
        Err(error) => panic!("{error}"),
    }
}

impl Lab {
    fn open(&self, flags: OFlags) -> File {
        let flags = i32::try_from(flags.bits()).unwrap();
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(flags).open(self.server.file()).unwrap()
    }

    fn stop(mut self) {
        self.server.stop().unwrap();
    }
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Noise::new(seed).fill(&mut bytes);
    bytes
}

/// Memory that begins so many bytes behind a page's beginning.
struct Memory {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Memory {
    fn new(length: usize, behind_page: usize) -> Self {
        let bytes = vec![0; length + 2 * PAGE];
        let start = bytes.as_ptr().align_offset(PAGE) + behind_page;
        Self { bytes, start, length }
    }

    fn holding(content: &[u8], behind_page: usize) -> Self {
        let mut memory = Self::new(content.len(), behind_page);
        memory.get_mut().copy_from_slice(content);
        memory
    }

    fn get(&self) -> &[u8] {
        &self.bytes[self.start..][..self.length]
    }

    fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.length]
    }
}

/// `bytes` in pieces of the lengths that `pieces` repeats.
fn cut<'a>(mut bytes: &'a [u8], pieces: &[usize]) -> Vec<&'a [u8]> {
    let mut cut = Vec::new();
    for &piece in pieces.iter().cycle() {
        if bytes.is_empty() {
            return cut;
        }
        let (head, rest) = bytes.split_at(piece.min(bytes.len()));
        cut.push(head);
        bytes = rest;
    }
    cut
}

#[test]
fn whatever_is_on_the_grid_is_written_and_read_past_the_page_cache() {
    let lab = lab_or_skip!(lab());
    let file = lab.open(OFlags::DIRECT);
    let mut card = vec![0; SPAN];
    let mut seed = 0;
    for length in LENGTHS {
        for offset in OFFSETS {
            for behind_page in [0, GRID, PAGE - GRID] {
                seed += 1;
                let bytes = Memory::holding(&noise(length, seed), behind_page);
                let case = format!("{length} at {offset}, {behind_page} behind a page in memory");
                assert_eq!(pwrite(&file, bytes.get(), offset), Ok(length), "{case}");
                let start = usize::try_from(offset).unwrap();
                card[start..start + length].copy_from_slice(bytes.get());
                let mut back = Memory::new(length, behind_page);
                assert_eq!(pread(&file, back.get_mut(), offset), Ok(length), "{case}");
                assert!(back.get() == bytes.get(), "{case}");
            }
        }
    }
    let mut whole = Memory::new(SPAN, 0);
    file.read_exact_at(whole.get_mut(), 0).unwrap();
    assert!(whole.get() == card);
    drop(file);
    lab.stop();
}

/// A virtual machine hands on its guest's pages as they lie: many small pieces a request.
#[test]
fn a_request_in_many_pieces_is_one_request() {
    let lab = lab_or_skip!(lab());
    let file = lab.open(OFlags::DIRECT);
    for (seed, pieces) in
        [&[GRID][..], &[1024], &[512, 1024, 4096, 1536], &[2048, 130_560, 512]].iter().enumerate()
    {
        let bytes = Memory::holding(&noise(300 << 10, seed as u64), 0);
        for offset in OFFSETS {
            let cut = cut(bytes.get(), pieces);
            let slices: Vec<_> = cut.iter().map(|piece| IoSlice::new(piece)).collect();
            assert_eq!(pwritev(&file, &slices, offset), Ok(300 << 10), "{pieces:?} at {offset}");
            let mut back: Vec<_> = cut.iter().map(|piece| Memory::new(piece.len(), GRID)).collect();
            let mut slices: Vec<_> =
                back.iter_mut().map(|piece| IoSliceMut::new(piece.get_mut())).collect();
            assert_eq!(preadv(&file, &mut slices, offset), Ok(300 << 10));
            let same = cut.iter().zip(&back).all(|(cut, back)| *cut == back.get());
            assert!(same, "{pieces:?} at {offset}");
        }
    }
    drop(file);
    lab.stop();
}

/// Programs try out how fine the grid is. One that were given a single byte would take it for a file
/// without a grid, and fill up its requests as it thinks best.
#[test]
fn what_is_off_the_grid_is_refused_past_the_page_cache() {
    let lab = lab_or_skip!(lab());
    let file = lab.open(OFlags::DIRECT);
    for (offset, length) in [(0, 1), (0, 511), (0, 513), (1, 512), (256, 512), (4096, 100)] {
        let mut bytes = Memory::new(length, 0);
        let read = pread(&file, bytes.get_mut(), offset);
        let written = pwrite(&file, bytes.get(), offset);
        assert_eq!([read, written], [Err(Errno::INVAL); 2], "{length} at {offset}");
    }
    drop(file);
    lab.stop();
}

#[test]
fn anything_is_written_and_read_through_the_page_cache() {
    let lab = lab_or_skip!(lab());
    let mut card = vec![0; SPAN];
    let file = lab.open(OFlags::empty());
    let mut seed = 100;
    for length in [1, 100, 513, 4095, 4097, 131_000, (1 << 20) + 7] {
        for offset in [0, 1, 511, 4000, (1 << 20) - 3] {
            seed += 1;
            let bytes = noise(length, seed);
            file.write_all_at(&bytes, offset).unwrap();
            let start = usize::try_from(offset).unwrap();
            card[start..start + length].copy_from_slice(&bytes);
        }
        file.sync_all().unwrap();
        // What is on the card is seen past the cache.
        let mut whole = Memory::new(SPAN, 0);
        lab.open(OFlags::DIRECT).read_exact_at(whole.get_mut(), 0).unwrap();
        assert!(whole.get() == card, "{length}");
    }
    drop(file);
    lab.stop();
}

/// QEMU's own block layer: a guest's write in a thousand pieces, not aligned to a page. Up to
/// version 8.0 it fails where QEMU believes that it must fill the write up, because it then has more
/// pieces than the kernel takes.
#[test]
fn a_virtual_machines_write_in_a_thousand_pieces_arrives() {
    let lab = lab_or_skip!(lab());
    let pieces = vec!["1k"; 1024].join(" ");
    let output = Command::new("qemu-io")
        .args(["-f", "raw", "-n", "-c", &format!("writev -P 7 1k {pieces}"), "-c"])
        .arg(format!("read -P 7 1k {}k", 1024))
        .arg(lab.server.file())
        .output()
        .map_err(|error| LabError::Unavailable(format!("qemu-io cannot be started ({error})")));
    let output = lab_or_skip!(output);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !said.contains("ailed"), "{said}");
    lab.stop();
}
