//! The test of a directory: files `1.h2w`, `2.h2w` … in its free space, as h2testw and f3 write them,
//! so that each tool reads the others' files.
//!
//! A file holds 1 GiB, the last one less. Each sector of 512 bytes begins with its offset in the
//! whole set (8 bytes, the lowest first); each further word of 8 bytes is the one before it times
//! 4294967311 plus 17. Where the file system puts the files is its own choice, so a test of a part of
//! the free space proves little; the answer says so.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cardproof_record::{
    CapacityFiles, CapacityMethod, CapacityTest, ProfileInfo, Record, State, TargetKind,
};
use cardproof_session::{Options, Store, blank, open_regular};
use cardproof_units::Bytes;
use rustix::fs::OFlags;

use super::{VerifyArgs, answer, exit_of, publish};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::talk::Talk;

const SECTOR: usize = 512;
const FILE_BYTES: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// Says that the files beside it are ours: of a test that was interrupted.
const MARKER: &str = ".cardproof-h2w";

/// Files that leave no more than this free fill the file system.
const NEARLY_ALL: u64 = 64 << 20;

/// What reading a set of files has shown.
#[derive(Clone, Debug, Default)]
struct Tally {
    shown: CapacityFiles,
    /// Sectors up to here that are not right.
    stretch: u64,
}

/// Tests the directory that `args` name.
pub(super) fn run(
    args: &VerifyArgs,
    options: &Options,
    signals: &Signals,
    talk: Talk,
) -> Result<Exit, Failure> {
    let store = Store::open(&options.records.clone()?)?;
    let directory = &args.target;
    let set = files_in(directory)?;
    let marker = directory.join(MARKER);
    let has_marker = fs::symlink_metadata(&marker).is_ok();
    let is_ours = set.is_empty() || has_marker;
    let space = space(directory)?;
    let mut written = 0;
    if is_ours {
        let before: u64 = set.iter().map(|(_, _, length)| length).sum();
        let wanted = wanted(args, space, before);
        if wanted == 0 {
            return Err(Failure::refused(format!(
                "{} has {} of free space, too little for a test; remove something, or test the \
                 device itself",
                directory.display(),
                Bytes(space.free)
            )));
        }
        check_names(directory, &marker, wanted)?;
        announce(directory, wanted, before, space, talk);
        if !has_marker {
            mark(&marker)?;
        }
        written = write_set(directory, wanted, signals, talk)?;
    } else {
        talk.note(&format!(
            "Reads the {} files N.h2w that are there; writes nothing and removes nothing.",
            set.len()
        ));
    }
    if let Some(exit) = signals.exit() {
        talk.note("Stopped. The files stay; the next cardproof verify of this directory goes on.");
        return Ok(exit);
    }
    let set = files_in(directory)?;
    let mut shown = read_set(&set, signals, talk)?;
    let tested = shown.tested_bytes.get();
    if let Some(exit) = signals.exit() {
        return Ok(exit);
    }
    if is_ours && !args.keep {
        remove(&set, &marker)?;
    }
    let mut record = record(options, space, written, tested);
    if let Some(test) = &mut record.capacity {
        let is_all_free_space = args.full || tested + NEARLY_ALL >= space.free;
        shown.is_all_free_space = is_all_free_space;
        test.files = Some(shown);
    }
    record.state = State::Complete;
    let answer = answer(&record);
    store.save(&record)?;
    publish(args, &answer, talk)?;
    Ok(exit_of(&answer))
}

/// The size of a file system and what is free of it.
#[derive(Clone, Copy, Debug)]
struct Space {
    size: u64,
    free: u64,
}

fn space(directory: &Path) -> Result<Space, Failure> {
    let found = rustix::fs::statvfs(directory).map_err(|error| {
        Failure::usage(format!("cannot ask for the free space of {}: {error}", directory.display()))
    })?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(Space { size: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

/// The files N.h2w with their numbers and lengths, in order.
fn files_in(directory: &Path) -> Result<Vec<(u64, PathBuf, u64)>, Failure> {
    let entries = fs::read_dir(directory)
        .map_err(|error| Failure::usage(format!("cannot list {}: {error}", directory.display())))?;
    let mut files = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".h2w"));
        let number: Option<u64> = number.and_then(|number| number.parse().ok());
        let Some(number @ 1..) = number else { continue };
        // `01.h2w` is none of a set, or two files would have one number.
        if entry.path() != file_name(directory, number) {
            continue;
        }
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() {
            files.push((number, entry.path(), metadata.len() / SECTOR as u64 * SECTOR as u64));
        }
    }
    files.sort();
    Ok(files)
}

/// How many bytes the whole set is to have.
fn wanted(args: &VerifyArgs, space: Space, before: u64) -> u64 {
    let all = before + space.free;
    let quick = args.exclude_store.get() + args.exclude_store.get() / 4;
    let wanted = if args.full { all } else { quick.min(all / 2) };
    wanted / CHUNK as u64 * CHUNK as u64
}

fn announce(directory: &Path, wanted: u64, before: u64, space: Space, talk: Talk) {
    let share = match 100.0 * wanted as f64 / space.size.max(1) as f64 {
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    };
    talk.note(&format!(
        "Writes {} of test files N.h2w into {} ({share} of the file system), reads {}, and removes the \
         files.",
        Bytes(wanted.saturating_sub(before)),
        directory.display(),
        Bytes(wanted)
    ));
    if before > 0 {
        talk.note(&format!("Continues with {} that an interrupted test has left.", Bytes(before)));
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::refused(format!("cannot write in {}: {error}; name another directory", path.display()))
}

/// Refuses a name that the test would write where something else than a plain file has it: behind a
/// link lie other people's data, and behind a device anything.
fn check_names(directory: &Path, marker: &Path, wanted: u64) -> Result<(), Failure> {
    let files = (1..=wanted.div_ceil(FILE_BYTES)).map(|number| file_name(directory, number));
    for path in files.chain([marker.to_owned()]) {
        if fs::symlink_metadata(&path).is_ok_and(|found| !is_plain(&found)) {
            return Err(in_the_way(&path));
        }
    }
    Ok(())
}

/// Whether it is a file that no other name has.
fn is_plain(found: &fs::Metadata) -> bool {
    found.is_file() && found.nlink() == 1
}

fn in_the_way(path: &Path) -> Failure {
    Failure::refused(format!(
        "{} is a link or no plain file, so nothing is written to it; remove it, or name another directory",
        path.display()
    ))
}

/// Leaves the marker, which must not be there.
fn mark(marker: &Path) -> Result<(), Failure> {
    let written = File::options().write(true).create_new(true).open(marker).and_then(|mut file| {
        file.write_all(
            b"Files of a test that was interrupted. cardproof verify continues this test.\n",
        )
    });
    written.map_err(|error| unwritable(marker, &error))
}

/// The file at `path` to be appended to, which is made where there is none. What has come there since
/// the names were checked, such as a link, is not followed.
fn own_file(path: &Path) -> Result<File, Failure> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = File::options()
        .append(true)
        .create(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match open {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(in_the_way(path));
        }
        Err(error) => return Err(unwritable(path, &error)),
    };
    let found = file.metadata().map_err(|error| unwritable(path, &error))?;
    if is_plain(&found) { Ok(file) } else { Err(in_the_way(path)) }
}

/// The path of the file with `number`.
fn file_name(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}.h2w"))
}

/// Fills `sector` as the one at `offset` of the set.
fn fill(offset: u64, sector: &mut [u8; SECTOR]) {
    let (words, _) = sector.as_chunks_mut::<8>();
    let mut state = offset;
    for word in words {
        *word = state.to_le_bytes();
        state = state.wrapping_mul(4_294_967_311).wrapping_add(17);
    }
}

/// Writes what is missing of a set of `wanted` bytes; returns how much was written.
fn write_set(directory: &Path, wanted: u64, signals: &Signals, talk: Talk) -> Result<u64, Failure> {
    let mut written = 0;
    let mut data = vec![0; CHUNK];
    let mut tenths = 0;
    for number in 1..=wanted.div_ceil(FILE_BYTES) {
        let path = file_name(directory, number);
        let base = (number - 1) * FILE_BYTES;
        let end = FILE_BYTES.min(wanted - base);
        let mut file = own_file(&path)?;
        let mut at = file.metadata().map_or(0, |metadata| metadata.len());
        let is_last = !file_name(directory, number + 1).exists();
        if at > 0 && is_last {
            // What was not flushed when the computer lost power may be missing in the middle.
            at = right_until(&path, base, at);
        }
        file.set_len(at).map_err(|error| unwritable(&path, &error))?;
        while at < end && signals.exit().is_none() {
            let length = (end - at).min(CHUNK as u64) as usize;
            let sectors = data[..length].as_chunks_mut::<SECTOR>().0;
            for (index, sector) in sectors.iter_mut().enumerate() {
                fill(base + at + (index * SECTOR) as u64, sector);
            }
            match file.write_all(&data[..length]) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    settle(&file);
                    return Ok(written);
                }
                Err(error) => return Err(unwritable(&path, &error)),
            }
            at += length as u64;
            written += length as u64;
            tell(&mut tenths, "written", base + at, wanted, talk);
        }
        settle(&file);
        if signals.exit().is_some() {
            break;
        }
    }
    Ok(written)
}

/// How many bytes from its start the interrupted file at `path` holds right sectors.
fn right_until(path: &Path, base: u64, length: u64) -> u64 {
    let Ok(file) = open_regular(path) else { return 0 };
    let mut file = io::BufReader::with_capacity(CHUNK, file);
    let mut sector = [0; SECTOR];
    let mut right = [0; SECTOR];
    let mut at = 0;
    while at + SECTOR as u64 <= length && file.read_exact(&mut sector).is_ok() {
        fill(base + at, &mut right);
        if sector != right {
            break;
        }
        at += SECTOR as u64;
    }
    at
}

/// Brings a file to the device and out of the page cache, so that it is read from the device.
fn settle(file: &File) {
    // What cannot be brought there shows when it is read.
    let _ = file.sync_all();
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

fn tell(tenths: &mut u64, deed: &str, done: u64, of: u64, talk: Talk) {
    let now = done * 10 / of.max(1);
    if now != *tenths {
        *tenths = now;
        talk.note(&format!("  {} % {deed}", now * 10));
    }
}

fn read_set(
    set: &[(u64, PathBuf, u64)],
    signals: &Signals,
    talk: Talk,
) -> Result<CapacityFiles, Failure> {
    let of: u64 = set.iter().map(|(_, _, length)| length).sum();
    let mut tally = Tally::default();
    let (mut done, mut tenths, mut expected) = (0, 0, 1);
    for (number, path, length) in set {
        tally.shown.missing_files += number - expected;
        expected = number + 1;
        let mut file = open_regular(path).map_err(|error| {
            Failure::incomplete(format!("cannot open {}: {error}", path.display()))
        })?;
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        let mut at = 0;
        while at < *length && signals.exit().is_none() {
            let part = (length - at).min(CHUNK as u64);
            read_part(&mut file, (number - 1) * FILE_BYTES, at, part, &mut tally);
            at += part;
            done += part;
            tell(&mut tenths, "read", done, of, talk);
        }
    }
    tally.end_stretch(done);
    tally.shown.tested_bytes = Bytes(of);
    Ok(tally.shown)
}

/// Reads a part of a file; where that fails, sector by sector, each twice.
fn read_part(file: &mut File, base: u64, at: u64, length: u64, tally: &mut Tally) {
    let mut data = vec![0; length as usize];
    let whole = read_at(file, at, &mut data);
    for (index, sector) in data.as_chunks_mut::<SECTOR>().0.iter_mut().enumerate() {
        let inside = at + (index * SECTOR) as u64;
        let mut outcome = if whole.is_ok() { Ok(()) } else { read_at(file, inside, sector) };
        if whole.is_err() && outcome.is_err() {
            outcome = read_at(file, inside, sector);
            tally.shown.transient_errors += u64::from(outcome.is_ok());
        }
        tally.note(base + inside, sector, outcome.is_ok());
    }
}

fn read_at(file: &mut File, at: u64, data: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(data)
}

impl Tally {
    fn note(&mut self, offset: u64, sector: &[u8; SECTOR], is_read: bool) {
        let mut right = [0; SECTOR];
        fill(offset, &mut right);
        if is_read && *sector == right {
            self.shown.right_sectors += 1;
            self.end_stretch(offset);
            return;
        }
        self.stretch += 1;
        let named = sector.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        fill(named, &mut right);
        if !is_read {
            self.shown.unreadable_sectors += 1;
        } else if named.is_multiple_of(SECTOR as u64) && *sector == right {
            self.shown.foreign_sectors += 1;
        } else {
            self.shown.wrong_sectors += 1;
        }
    }

    /// Ends a stretch of bad sectors before `offset`.
    fn end_stretch(&mut self, offset: u64) {
        const RANGES_MAX: usize = 64;
        if self.stretch > 0 {
            self.shown.longest_bad_sectors = self.shown.longest_bad_sectors.max(self.stretch);
            if self.shown.bad_ranges.len() < RANGES_MAX {
                let start = offset - self.stretch * SECTOR as u64;
                self.shown.bad_ranges.push([Bytes(start), Bytes(offset)]);
            }
            self.stretch = 0;
        }
    }
}

fn remove(set: &[(u64, PathBuf, u64)], marker: &Path) -> Result<(), Failure> {
    for path in set.iter().map(|(_, path, _)| path.as_path()).chain([marker]) {
        fs::remove_file(path).map_err(|error| {
            Failure::incomplete(format!("cannot remove {}: {error}; remove it", path.display()))
        })?;
    }
    Ok(())
}

fn record(options: &Options, space: Space, written: u64, tested: u64) -> Record {
    let profile = ProfileInfo::untimed("verify", 1);
    let mut record = blank(profile, options.seed, Default::default(), options.identity.clone());
    record.conditions.target.kind = TargetKind::Directory;
    record.conditions.target.size_bytes = Bytes(space.size);
    record.bytes_written = Bytes(written);
    record.bytes_read = Bytes(tested);
    record.capacity = Some(CapacityTest {
        method: CapacityMethod::Files,
        announced_bytes: Bytes(space.size),
        filler_bytes: Bytes(tested),
        ..CapacityTest::default()
    });
    record
}
