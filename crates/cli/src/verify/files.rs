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

use cardproof_device::{ReadWitness, Surroundings, Sysroot, look_at_path};
use cardproof_io::scratch::{NamedFiles, ScratchError, Space, UsersDirectory};
use cardproof_record::{
    CapacityFiles, CapacityMethod, CapacityTest, Conditions, ProfileInfo, ReadOrigin, Record,
    State, TargetKind,
};
use cardproof_session::{NoStorage, Options, Store, blank, of_scratch};
use cardproof_units::Bytes;

use super::{VerifyArgs, answer, exit_of, publish};
use crate::earlier;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::not_saved;
use marker::Marker;

const SECTOR: usize = 512;
const FILE_BYTES: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// Files that leave no more than this free fill the file system.
const NEARLY_ALL: u64 = 64 << 20;

/// A file of a set: its number, and the file.
type Numbered<'a> = (u64, &'a File);

/// A set of our own.
struct OwnSet {
    files: NamedFiles,
    marker: Marker,
    /// The number of each file of the set, and by which one [`NamedFiles`] knows it.
    set: Vec<(u64, usize)>,
}

/// Tests `directory`, which `args` name.
pub(super) fn run(
    args: &VerifyArgs,
    options: &Options,
    directory: &UsersDirectory,
    signals: &Signals,
    talk: Talk,
) -> Result<Exit, Failure> {
    let lasting = directory.lasting_path();
    refuse_memory(args, &lasting)?;
    let store = store(options)?;
    let again = directory.again().map_err(|error| of_scratch(&error))?;
    let place = NamedFiles::open_in(again);
    let space = place.space().map_err(|error| of_scratch(&error))?;
    let found = numbers_in(&place)?;
    let is_file = |number: &u64| place.look(&name_of(*number)).is_ok();
    let is_ours = Marker::is_in(&place) || !found.iter().any(is_file);
    let tested = if is_ours {
        of_own(args, place, &lasting, &found, signals, talk)?
    } else {
        of_others(&place, &lasting, &found, signals, talk)?
    };
    let Some(Tested { written, mut shown, origin }) = tested else {
        return Ok(signals.exit().unwrap_or(Exit::Incomplete));
    };
    let tested = shown.tested_bytes.get();
    let mut record = record(&lasting, options, space, written, tested);
    if let Some(test) = &mut record.capacity {
        let is_all_free_space = args.full || tested + NEARLY_ALL >= space.free.get();
        shown.is_all_free_space = is_all_free_space;
        test.files = Some(shown);
        test.origin = Some(origin);
    }
    record.state = State::Complete;
    let answer = answer(&record);
    let saved = store.as_ref().map_or(Ok(()), |store| store.save(&record));
    let reported = match (&store, &saved) {
        (Some(store), Ok(())) => super::tell_kept(store, &record, talk),
        _ => Ok(()),
    };
    publish(args, &answer, talk)?;
    saved?;
    reported?;
    earlier::keep(&args.target, &record, talk);
    Ok(exit_of(&answer))
}

/// Files in memory say nothing of a device.
fn refuse_memory(args: &VerifyArgs, lasting: &Path) -> Result<(), Failure> {
    let surroundings = look_at_path(&Sysroot::default(), lasting).unwrap_or_default();
    match NoStorage::find(&surroundings) {
        Some(nothing) => Err(nothing.refusal(&args.target).into()),
        None => Ok(()),
    }
}

/// Where the record is kept; `None` where it cannot be, and the answer is shown all the same.
fn store(options: &Options) -> Result<Option<Store>, Failure> {
    match options.records.clone().and_then(|directory| Store::open(&directory)) {
        Ok(store) => Ok(Some(store)),
        Err(failure) if options.does_without_record => {
            Talk::new(false).note(&not_saved(&failure.message));
            Ok(None)
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Whether `directory` has files of a set, or the marker of one.
pub(super) fn is_set_in(directory: &UsersDirectory) -> Result<bool, Failure> {
    let again = directory.again().map_err(|error| of_scratch(&error))?;
    let place = NamedFiles::open_in(again);
    Ok(Marker::is_in(&place) || !numbers_in(&place)?.is_empty())
}

/// What was written, what reading has shown, and where the reads came from.
struct Tested {
    written: u64,
    shown: CapacityFiles,
    origin: ReadOrigin,
}

/// Reads a set of files that somebody else has made; `None` where somebody has ended it.
fn of_others(
    place: &NamedFiles,
    lasting: &Path,
    found: &[u64],
    signals: &Signals,
    talk: Talk,
) -> Result<Option<Tested>, Failure> {
    talk.note(&format!(
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
                return Err(Failure::incomplete(format!("cannot open {name}: {error}")));
            }
        }
    }
    let set: Vec<Numbered<'_>> = opened.iter().map(|(number, file)| (*number, file)).collect();
    let mut witness = ReadWitness::begin(&Sysroot::default(), lasting);
    let shown = reading::read_set(&set, &mut witness, signals, talk);
    let origin = witness.end();
    Ok(signals.exit().is_none().then_some(Tested { written: 0, shown, origin }))
}

/// Writes a set of our own, or goes on with one, and reads it.
fn of_own(
    args: &VerifyArgs,
    place: NamedFiles,
    lasting: &Path,
    found: &[u64],
    signals: &Signals,
    talk: Talk,
) -> Result<Option<Tested>, Failure> {
    let mut own = OwnSet::new(&args.target, place, found)?;
    let space = own.files.space().map_err(|error| of_scratch(&error))?;
    let before = own.length();
    let wanted = wanted(args, space, before);
    if wanted == 0 {
        return Err(Failure::refused(format!(
            "{} has {} of free space, too little for a test; remove something, or test the \
             device itself",
            args.target.display(),
            space.free
        )));
    }
    announce(args, wanted, before, space, talk);
    let written = own.write(&args.target, wanted, signals, talk)?;
    if signals.exit().is_some() {
        talk.note("Stopped. The files stay; the next cardproof verify of this directory goes on.");
        own.files.keep();
        return Ok(None);
    }
    let set: Vec<Numbered<'_>> =
        own.set.iter().map(|&(number, file)| (number, own.files.file(file))).collect();
    let mut witness = ReadWitness::begin(&Sysroot::default(), lasting);
    let shown = reading::read_set(&set, &mut witness, signals, talk);
    let origin = witness.end();
    if signals.exit().is_some() || args.keep {
        own.files.keep();
    } else {
        own.files.remove().map_err(|left| Failure::incomplete(left.to_string()))?;
    }
    Ok(signals.exit().is_none().then_some(Tested { written, shown, origin }))
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
    fn write(
        &mut self,
        directory: &Path,
        wanted: u64,
        signals: &Signals,
        talk: Talk,
    ) -> Result<u64, Failure> {
        let mut written = 0;
        let mut tenths = 0;
        for number in 1..=wanted.div_ceil(FILE_BYTES) {
            let name = name_of(number);
            let base = (number - 1) * FILE_BYTES;
            let end = FILE_BYTES.min(wanted - base);
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
            let mut tell = |at| tell(&mut tenths, "written", base + at, wanted, talk);
            let part = write_file(file, base, at..end, signals, &mut tell);
            let (more, fault) = part;
            written += more;
            settle(file);
            match fault {
                Some(error) if is_full(&error) && written + self.length() > 0 => {
                    talk.note(&format!("No more could be written: {error}. Reads what there is."));
                    return Ok(written);
                }
                Some(error) => return Err(unwritable(&error)),
                None => {}
            }
            if signals.exit().is_some() {
                break;
            }
        }
        self.set.sort_unstable();
        Ok(written)
    }
}

/// Writes the bytes `range` of the file that begins at `base` of the set; how many were written, and what
/// has ended that before.
fn write_file(
    mut file: &File,
    base: u64,
    range: std::ops::Range<u64>,
    signals: &Signals,
    tell: &mut dyn FnMut(u64),
) -> (u64, Option<io::Error>) {
    let mut data = vec![0; CHUNK];
    let mut at = range.start;
    if let Err(error) = file.seek(SeekFrom::Start(at)) {
        return (0, Some(error));
    }
    while at < range.end && signals.exit().is_none() {
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

/// How many bytes the whole set is to have.
fn wanted(args: &VerifyArgs, space: Space, before: u64) -> u64 {
    let all = before + space.free.get();
    let quick = args.exclude_store.get() + args.exclude_store.get() / 4;
    let wanted = if args.full { all } else { quick.min(all / 2) };
    wanted / CHUNK as u64 * CHUNK as u64
}

fn announce(args: &VerifyArgs, wanted: u64, before: u64, space: Space, talk: Talk) {
    let (directory, is_full) = (&args.target, args.full);
    let share = match 100.0 * wanted as f64 / space.size.as_f64().max(1.0) {
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
    if !is_full {
        talk.note(
            "A part of the free space can show that a card is a fake, but not that it is genuine; --full tests \
             all of it.",
        );
    }
    if before > 0 {
        talk.note(&format!("Continues with {} that an interrupted test has left.", Bytes(before)));
    }
}

fn unwritable(directory: &Path, name: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        return of_scratch(&ScratchError::ReadOnly { path: directory.to_owned() }).into();
    }
    Failure::refused(format!(
        "cannot write {}: {error}; name another directory",
        directory.join(name).display()
    ))
}

/// Something that is not ours has a name that the test would write: behind a link lie other people's data,
/// and behind a device anything.
fn in_the_way(directory: &Path, name: &str, error: &io::Error) -> Failure {
    let path = directory.join(name);
    if error.kind() != io::ErrorKind::InvalidInput {
        return Failure::incomplete(format!("cannot open {}: {error}", path.display()));
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

fn tell(tenths: &mut u64, deed: &str, done: u64, of: u64, talk: Talk) {
    let now = done * 10 / of.max(1);
    if now != *tenths {
        *tenths = now;
        talk.note(&format!("  {} % {deed}", now * 10));
    }
}

fn record(lasting: &Path, options: &Options, space: Space, written: u64, tested: u64) -> Record {
    let profile = ProfileInfo::untimed("verify", 1);
    // A device of which nothing can be told is no reason to give up what was tested.
    let Surroundings { device, host, filesystem, settings, unknown } =
        look_at_path(&Sysroot::default(), lasting).unwrap_or_default();
    let conditions =
        Conditions { device, host, filesystem, settings, unknown, ..Conditions::default() };
    let mut record = blank(profile, options.seed, conditions, options.identity.clone());
    record.conditions.target.kind = TargetKind::Directory;
    record.conditions.target.size_bytes = space.size;
    record.bytes_written = Bytes(written);
    record.bytes_read = Bytes(tested);
    record.capacity = Some(CapacityTest {
        method: CapacityMethod::Files,
        announced_bytes: space.size,
        filler_bytes: Bytes(tested),
        ..CapacityTest::default()
    });
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
