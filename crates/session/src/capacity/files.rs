//! The test of a directory: files `1.h2w`, `2.h2w` … in its free space, as h2testw and f3 write them,
//! so that each tool reads the others' files.
//!
//! A file holds 1 GiB, the last one less. Each sector of 512 bytes begins with its offset in the
//! whole set (8 bytes, the lowest first); each further word of 8 bytes is the one before it times
//! 4294967311 plus 17. Where the file system puts the files is its own choice, so a test of a part of
//! the free space proves little; the answer says so.
//!
//! The files are ours by handle, see [`NamedFiles`]. The marker beside them lists them by name and number, so
//! that a later run knows those that a killed one has left.

mod marker;
mod reading;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_device::{ReadWitness, Surroundings, Sysroot};
use cardproof_io::scratch::{NamedFiles, ScratchError, Space, UsersDirectory};
use cardproof_record::{
    CapacityFiles, CapacityMethod, CapacityTest, Conditions, ProfileInfo, ReadOrigin, Record,
    State, TargetKind, Trial,
};
use cardproof_units::{Bytes, in_words};

use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::options::Options;
use crate::session::{Measured, blank, open_store};
use crate::target::{NoStorage, look, of_scratch};
use marker::Marker;

const SECTOR: usize = 512;
const FILE_BYTES: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// Files that leave no more than this free fill the file system.
const NEARLY_ALL: u64 = 64 << 20;

/// A file of a set: its number, and the file.
type Numbered<'a> = (u64, &'a File);

/// What the test of a directory is to do.
#[derive(Clone, Copy, Debug)]
pub struct FilesWish {
    /// Whether all free space is written.
    pub is_full: bool,
    /// The hidden store that a test of a part is to exclude.
    pub store: Bytes,
    /// Whether the files stay.
    pub keeps: bool,
}

/// A test that runs: what is the same in all its steps.
struct Test<'a> {
    wish: FilesWish,
    /// The directory as the user has named it.
    directory: &'a Path,
    /// A path that leads to it, whatever takes its name.
    lasting: &'a Path,
    frontend: &'a mut dyn Frontend,
    stop: &'a AtomicBool,
}

/// A set of our own.
struct OwnSet {
    files: NamedFiles,
    marker: Marker,
    /// The number of each file of the set, and by which one [`NamedFiles`] knows it.
    set: Vec<(u64, usize)>,
}

/// Tests `directory`, which `options` name, as `wish` says; `None` where `stop` has ended it, and no record is made.
///
/// # Errors
/// Nothing was tested: the directory is in memory, has no room, or has files of somebody else's in the way.
pub fn test_files(
    wish: FilesWish,
    directory: &UsersDirectory,
    options: &Options,
    frontend: &mut dyn Frontend,
    stop: &AtomicBool,
) -> Result<Option<Measured>, Failure> {
    let lasting = directory.lasting_path();
    if let Some(nothing) = NoStorage::find(&look(&lasting)) {
        // Files in memory say nothing of a device.
        return Err(nothing.refusal(&options.target));
    }
    let store = open_store(options, frontend)?;
    let place = files_in(directory)?;
    let space = place.space().map_err(|error| of_scratch(&error))?;
    let found = numbers_in(&place)?;
    let is_file = |number: &u64| place.look(&name_of(*number)).is_ok();
    let is_ours = Marker::is_in(&place) || !found.iter().any(is_file);
    let mut test = Test { wish, directory: &options.target, lasting: &lasting, frontend, stop };
    let tested = if is_ours { test.own(place, &found)? } else { test.others(&place, &found)? };
    test.frontend.tell(Event::Ended);
    let Some(tested) = tested else { return Ok(None) };
    let all = tested.shown.tested_bytes.get() + NEARLY_ALL;
    let is_all_free_space = wish.is_full || all >= space.free.get();
    let record = record(tested, is_all_free_space, &lasting, options, space);
    let unsaved = store.as_ref().and_then(|store| store.save(&record).err());
    Ok(Some(Measured { record, store, unsaved }))
}

/// Whether `directory` has files of a set, or the marker of one.
///
/// # Errors
/// It cannot be looked at.
pub fn has_test_files(directory: &UsersDirectory) -> Result<bool, Failure> {
    let place = files_in(directory)?;
    Ok(Marker::is_in(&place) || !numbers_in(&place)?.is_empty())
}

fn files_in(directory: &UsersDirectory) -> Result<NamedFiles, Failure> {
    directory.again().map(NamedFiles::open_in).map_err(|error| of_scratch(&error))
}

/// What was written, what reading has shown, and where the reads came from.
struct Tested {
    written: u64,
    shown: CapacityFiles,
    origin: ReadOrigin,
}

impl Test<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn tell(&mut self, deed: &str, done: u64, of: u64) {
        self.frontend.tell(Event::Part { deed, done, of });
    }

    /// Reads a set of files that somebody else has made; `None` where somebody has ended it.
    fn others(&mut self, place: &NamedFiles, found: &[u64]) -> Result<Option<Tested>, Failure> {
        self.frontend.note(&format!(
            "Reads the {} files N.h2w that are there; writes nothing and removes nothing.",
            found.len()
        ));
        let mut opened = Vec::new();
        for &number in found {
            match place.look(&name_of(number)) {
                Ok(file) => opened.push((number, file)),
                // It is no set's.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(error) => {
                    let name = name_of(number);
                    return Err(Failure::incomplete(format!(
                        "cannot open {name}: {error}",
                        error = in_words(&error)
                    )));
                }
            }
        }
        let set = opened.iter().map(|(number, file)| (*number, file)).collect();
        let tested = self.read(0, set);
        Ok((!self.is_stopped()).then_some(tested))
    }

    /// Writes a set of our own, or goes on with one, and reads it.
    fn own(&mut self, place: NamedFiles, found: &[u64]) -> Result<Option<Tested>, Failure> {
        let mut own = OwnSet::new(self.directory, place, found)?;
        let space = own.files.space().map_err(|error| of_scratch(&error))?;
        let before = own.length();
        let wanted = self.wish.wanted(space, before);
        if wanted == 0 {
            return Err(Failure::refused(format!(
                "{} has {} of free space, too little for a test; remove something, or test the \
                 device itself",
                self.directory.display(),
                space.free
            )));
        }
        self.announce(wanted, before, space);
        let written = own.write(self, wanted)?;
        if self.is_stopped() {
            self.frontend.note(
                "Stopped. The files stay; the next cardproof verify of this directory goes on.",
            );
            own.files.keep();
            return Ok(None);
        }
        let set = own.set.iter().map(|&(number, file)| (number, own.files.file(file))).collect();
        let tested = self.read(written, set);
        if self.is_stopped() || self.wish.keeps {
            own.files.keep();
        } else {
            own.files.remove().map_err(|left| Failure::incomplete(left.to_string()))?;
        }
        Ok((!self.is_stopped()).then_some(tested))
    }

    /// Reads `set`, of which `written` bytes were written now.
    fn read(&mut self, written: u64, set: Vec<Numbered<'_>>) -> Tested {
        let mut witness = ReadWitness::begin(&Sysroot::default(), self.lasting);
        let shown = reading::read_set(set, &mut witness, self);
        Tested { written, shown, origin: witness.end() }
    }

    fn announce(&mut self, wanted: u64, before: u64, space: Space) {
        let share = match 100.0 * wanted as f64 / space.size.as_f64().max(1.0) {
            percent if percent < 0.1 => "less than 0.1 %".to_owned(),
            percent => format!("{percent:.1} %"),
        };
        self.frontend.note(&format!(
            "Writes {} of test files N.h2w into {} ({share} of the file system), reads {}, and removes the \
             files.",
            Bytes(wanted.saturating_sub(before)),
            self.directory.display(),
            Bytes(wanted)
        ));
        if !self.wish.is_full {
            self.frontend.note(
                "A part of the free space can show that a card is a fake, but not that it is genuine; --full \
                 tests all of it.",
            );
        }
        if before > 0 {
            self.frontend.note(&format!(
                "Continues with {} that an interrupted test has left.",
                Bytes(before)
            ));
        }
    }
}

impl FilesWish {
    /// How many bytes the whole set is to have, of which `before` are there.
    fn wanted(self, space: Space, before: u64) -> u64 {
        let all = before + space.free.get();
        let quick = self.store.get() + self.store.get() / 4;
        let wanted = if self.is_full { all } else { quick.min(all / 2) };
        wanted / CHUNK as u64 * CHUNK as u64
    }
}

impl OwnSet {
    /// The set in `place`, of which the files `found` are there. What the marker does not list is
    /// somebody's, and must not have a name that the test would write.
    fn new(directory: &Path, mut files: NamedFiles, found: &[u64]) -> Result<Self, Failure> {
        let is_continued = Marker::is_in(&files);
        let marker = Marker::open(directory, &mut files)?;
        let mut set = Vec::new();
        for &number in found {
            match marker.take(&mut files, number) {
                Ok(file) => set.push((number, file)),
                Err(error) => {
                    if is_continued {
                        // What a killed test has left is gone on with once the other file is away.
                        files.keep();
                    }
                    return Err(in_the_way(directory, &name_of(number), &error));
                }
            }
        }
        Ok(Self { files, marker, set })
    }

    /// How long all files are.
    fn length(&self) -> u64 {
        self.set.iter().map(|&(_, file)| length_of(self.files.file(file))).sum()
    }

    /// Writes what is missing of a set of `wanted` bytes, as far as there is room; returns how much was
    /// written.
    fn write(&mut self, test: &mut Test<'_>, wanted: u64) -> Result<u64, Failure> {
        let mut written = 0;
        for number in 1..=wanted.div_ceil(FILE_BYTES) {
            let name = name_of(number);
            let base = (number - 1) * FILE_BYTES;
            let end = FILE_BYTES.min(wanted - base);
            let directory = test.directory;
            let unwritable = |error: &io::Error| unwritable(directory, &name, error);
            let found = self.set.iter().find(|(of, _)| *of == number).map(|(_, file)| *file);
            let file = match found {
                Some(file) => file,
                None => match self.marker.make(&mut self.files, number) {
                    Ok(file) => {
                        self.set.push((number, file));
                        file
                    }
                    Err(error) if is_full(&error) && written > 0 => return Ok(written),
                    Err(error) => return Err(unwritable(&error)),
                },
            };
            let is_last = self.set.iter().all(|(other, _)| *other <= number);
            let file = self.files.file(file);
            let mut at = length_of(file);
            if at > 0 && is_last {
                // What was not flushed when the computer lost power may be missing in the middle.
                at = right_until(file, base, at);
            }
            file.set_len(at).map_err(|error| unwritable(&error))?;
            let stop = test.stop;
            let mut tell = |at| test.tell("written", base + at, wanted);
            let (more, fault) = write_file(file, base, at..end, stop, &mut tell);
            written += more;
            settle(file);
            match fault {
                Some(error) if is_full(&error) && written + self.length() > 0 => {
                    test.frontend.note(&format!(
                        "No more could be written: {error}. Reads what there is.",
                        error = in_words(&error)
                    ));
                    return Ok(written);
                }
                Some(error) => return Err(unwritable(&error)),
                None => {}
            }
            if test.is_stopped() {
                break;
            }
        }
        Ok(written)
    }
}

/// Writes the bytes `range` of the file that begins at `base` of the set; how many were written, and what
/// has ended that before.
fn write_file(
    mut file: &File,
    base: u64,
    range: std::ops::Range<u64>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(u64),
) -> (u64, Option<io::Error>) {
    let mut data = vec![0; CHUNK];
    let mut at = range.start;
    if let Err(error) = file.seek(SeekFrom::Start(at)) {
        return (0, Some(error));
    }
    while at < range.end && !stop.load(Ordering::Relaxed) {
        let length = (range.end - at).min(CHUNK as u64) as usize;
        let sectors = data[..length].as_chunks_mut::<SECTOR>().0;
        for (index, sector) in sectors.iter_mut().enumerate() {
            fill(base + at + (index * SECTOR) as u64, sector);
        }
        if let Err(error) = file.write_all(&data[..length]) {
            return (at - range.start, Some(error));
        }
        at += length as u64;
        tell(at);
    }
    (at - range.start, None)
}

/// Whether a write has found a full disk, a full quota or the limit of a file's size.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

fn length_of(file: &File) -> u64 {
    let length = file.metadata().map_or(0, |found| found.len());
    length / SECTOR as u64 * SECTOR as u64
}

/// The numbers of the files N.h2w, in order.
fn numbers_in(place: &NamedFiles) -> Result<Vec<u64>, Failure> {
    let names = place.names().map_err(|error| of_scratch(&error))?;
    let number = |name: &String| {
        let number: u64 = name.strip_suffix(".h2w")?.parse().ok()?;
        // `01.h2w` is none of a set, or two files would have one number.
        (number > 0 && *name == name_of(number)).then_some(number)
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// What the file with `number` is called.
fn name_of(number: u64) -> String {
    format!("{number}.h2w")
}

fn unwritable(directory: &Path, name: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        return of_scratch(&ScratchError::ReadOnly { path: directory.to_owned() });
    }
    Failure::refused(format!(
        "cannot write {}: {error}; name another directory",
        directory.join(name).display(),
        error = in_words(error)
    ))
}

/// Something that is not ours has a name that the test would write: behind a link lie other people's data,
/// and behind a device anything.
fn in_the_way(directory: &Path, name: &str, error: &io::Error) -> Failure {
    let path = directory.join(name);
    if error.kind() != io::ErrorKind::InvalidInput {
        return Failure::incomplete(format!(
            "cannot open {}: {error}",
            path.display(),
            error = in_words(error)
        ));
    }
    Failure::refused(format!(
        "{} is not a file that cardproof has made, so nothing is written to it; move or remove it, or \
         name another directory",
        path.display()
    ))
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

/// How many bytes from its start the interrupted `file` holds right sectors.
fn right_until(mut file: &File, base: u64, length: u64) -> u64 {
    if file.rewind().is_err() {
        return 0;
    }
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

fn record(
    tested: Tested,
    is_all_free_space: bool,
    lasting: &Path,
    options: &Options,
    space: Space,
) -> Record {
    let Tested { written, shown, origin } = tested;
    let profile = ProfileInfo::untimed("verify", 1);
    // A device of which nothing can be told is no reason to give up what was tested.
    let Surroundings { device, host, filesystem, settings, unknown } = look(lasting);
    let conditions =
        Conditions { device, host, filesystem, settings, unknown, ..Conditions::default() };
    let mut record = blank(profile, options.seed, conditions, options.identity.clone());
    record.conditions.target.kind = TargetKind::Directory;
    record.conditions.target.size_bytes = space.size;
    record.bytes_written = Bytes(written);
    record.bytes_read = shown.tested_bytes;
    record.trial = Some(Trial::Capacity(CapacityTest {
        method: CapacityMethod::Files,
        announced_bytes: space.size,
        filler_bytes: shown.tested_bytes,
        files: Some(CapacityFiles { is_all_free_space, ..shown }),
        origin: Some(origin),
        ..CapacityTest::default()
    }));
    record.state = State::Complete;
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_only_file_system_is_told_as_by_every_command() {
        let error = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        let failure = unwritable(Path::new("/media/card"), "1.h2w", &error);
        assert!(failure.message.contains("write-protect switch"), "{}", failure.message);
    }
}
