//! Journals as files: where they lie, whose they are, and what later runs do about them.
//!
//! A journal lies where the user says, or in a directory of our own. Of a journal elsewhere our own
//! directory keeps a note, so that the next test finds it without being told. A journal is locked while a
//! test uses it. One that has ended is renamed and kept for a week.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cardproof_io::Target;
use cardproof_units::{Bytes, Seed, in_words, with_causes};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::journal::{Journal, Opened, Phase, length_of};
use super::marks;
use super::putting_back::{Restored, Trust, put_back};
use crate::failure::Failure;
use crate::file::open_regular;
use crate::frontend::Frontend;

/// How the names of journals end.
const ENDING: &str = "undo";

/// The same of those that are being made, and hold nothing yet.
const BEGUN_ENDING: &str = "begun";

/// The same of those that have ended.
const ENDED_ENDING: &str = "restored";

/// How the names of notes end that say where a journal lies, and of those of journals that have ended.
const NOTE_ENDING: &str = "elsewhere";
const ENDED_NOTE_ENDING: &str = "restored-elsewhere";

/// How long a journal is kept that has ended.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where the journals of tests that restore lie, and the device to which they belong.
#[derive(Clone, Debug)]
pub struct Journals {
    /// The directory for journals where the user names none; it also says where the others are.
    pub home: PathBuf,
    /// The directory that the user names.
    pub named: Option<PathBuf>,
    /// The device, by what stays the same when it is plugged in again.
    pub device: String,
    /// Random bits, so that no two tests have the same marks.
    pub random_bits: u64,
    /// The time of day.
    pub now: SystemTime,
}

impl Journals {
    /// Where the next journal lies.
    pub(super) fn directory(&self) -> &Path {
        self.named.as_deref().unwrap_or(&self.home)
    }

    /// Every directory in which journals lie.
    fn directories(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.home), self.named.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// By what the next test's sectors are known: nothing that blank data could be taken for.
    fn salt(&self) -> u64 {
        let random = Seed::from_bits(self.random_bits);
        let salts = ["journal", "journal again", "and again"].map(|label| random.derive(label));
        let is_mixed = |salt: &u64| (16..=48).contains(&salt.count_ones());
        salts.into_iter().find(is_mixed).unwrap_or(0x5555_5555_5555_5555)
    }

    /// The note of a journal elsewhere.
    fn note_of(&self, journal: &Path) -> PathBuf {
        let name = journal.file_stem().unwrap_or_default();
        self.home.join(name).with_extension(NOTE_ENDING)
    }

    /// Whether the file at `path` is old enough to go.
    fn is_old(&self, path: &Path) -> bool {
        let changed = fs::symlink_metadata(path).and_then(|found| found.modified());
        changed.is_ok_and(|at| self.now.duration_since(at).is_ok_and(|age| age > KEPT))
    }
}

/// A journal that this process alone uses.
#[derive(Debug)]
pub(super) struct LockedJournal {
    pub(super) path: PathBuf,
    pub(super) journal: Journal<File>,
    /// Where a note of it is, if there is one.
    note: PathBuf,
    /// Holds the lock.
    file: File,
}

impl Drop for LockedJournal {
    /// A journal in which nothing was saved is of no use to anybody.
    fn drop(&mut self) {
        if self.journal.is_empty() {
            // What stays goes with a later run.
            let _ = fs::remove_file(&self.path);
            let _ = fs::remove_file(&self.note);
        }
    }
}

pub(super) fn failed(path: &Path, doing: &str, error: &io::Error) -> Failure {
    Failure::incomplete(format!(
        "cannot {doing} the journal {}: {error}; name another directory with --journal",
        path.display(),
        error = in_words(error)
    ))
}

/// Whether `directory` has room for a journal of so much, and a little more.
pub(super) fn check_room(journals: &Journals, to_save: Bytes) -> Result<(), Failure> {
    let directory = journals.directory();
    let Ok(found) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free = Bytes(found.f_bavail.saturating_mul(found.f_frsize));
    let needed = length_of(to_save) + Bytes(to_save.get() / 50) + Bytes::mib(16);
    if free >= needed {
        return Ok(());
    }
    let ended = files_in(directory, ENDED_ENDING);
    let kept = match ended.as_slice() {
        [] => String::new(),
        _ => format!(
            ", remove journals of tests whose data was put back ({} files *.{ENDED_ENDING} there)",
            ended.len()
        ),
    };
    Err(Failure::refused(format!(
        "{} has {free} of free space, and the journal needs {needed}; name a directory with more \
         room with --journal{kept}, or exclude a smaller hidden store with --exclude-store",
        directory.display()
    )))
}

/// Begins a journal. No other process takes it for one before it is locked.
pub(super) fn begin(journals: &Journals) -> Result<LockedJournal, Failure> {
    let directory = journals.directory();
    fs::create_dir_all(directory).map_err(|error| failed(directory, "make", &error))?;
    let salt = journals.salt();
    let path = directory.join(format!("{salt:016x}.{ENDING}"));
    let begun = path.with_extension(BEGUN_ENDING);
    let create = || -> io::Result<LockedJournal> {
        // It holds what lies on the device, which other users may not read there.
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&begun)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let journal = Journal::create(file.try_clone()?, &journals.device, salt)?;
        rustix::fs::renameat_with(
            rustix::fs::CWD,
            &begun,
            rustix::fs::CWD,
            &path,
            rustix::fs::RenameFlags::NOREPLACE,
        )
        .or_else(|_| rename_to_free(&begun, &path))?;
        File::open(directory)?.sync_all()?;
        Ok(LockedJournal { path: path.clone(), journal, note: journals.note_of(&path), file })
    };
    let made = create().map_err(|error| {
        // The first error is the one to tell of.
        let _ = fs::remove_file(&begun);
        failed(&path, "write", &error)
    })?;
    if journals.named.is_some() {
        leave_note(journals, &made)?;
    }
    Ok(made)
}

/// Renames where the file system cannot refuse to replace.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Leaves a note of a journal that lies elsewhere.
fn leave_note(
    journals: &Journals,
    LockedJournal { path, note, .. }: &LockedJournal,
) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        fs::create_dir_all(&journals.home)?;
        fs::write(note, fs::canonicalize(path)?.as_os_str().as_bytes())?;
        File::open(note)?.sync_all()
    };
    write().map_err(|error| failed(note, "note", &error))
}

/// Ends a journal whose data were put back: it is kept under another name, which is returned.
pub(super) fn end(journals: &Journals, ended: &LockedJournal) -> Result<PathBuf, Failure> {
    let kept = ended.path.with_extension(ENDED_ENDING);
    let note = &ended.note;
    let rename = || -> io::Result<()> {
        // Its week begins.
        ended.file.set_modified(journals.now)?;
        fs::rename(&ended.path, &kept)?;
        File::open(ended.path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        if fs::symlink_metadata(note).is_ok() {
            fs::write(note, fs::canonicalize(&kept)?.as_os_str().as_bytes())?;
            fs::rename(note, note.with_extension(ENDED_NOTE_ENDING))?;
        }
        Ok(())
    };
    rename().map_err(|error| failed(&ended.path, "rename", &error))?;
    Ok(kept)
}

/// What was found under the name of a journal.
enum Found {
    Locked(LockedJournal, String),
    /// A running test uses the journal of this device.
    InUse(String),
    OtherVersion,
    Nothing,
}

fn look_at(journals: &Journals, path: &Path) -> io::Result<Found> {
    let seen = match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Found::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        opened => opened?,
    };
    let lock = rustix::fs::flock(&seen, FlockOperation::NonBlockingLockExclusive);
    match (Journal::open(seen.try_clone()?)?, lock) {
        (Opened::Nothing, _) => Ok(Found::Nothing),
        (Opened::OtherVersion, _) => Ok(Found::OtherVersion),
        (Opened::Journal(_, device), Err(Errno::WOULDBLOCK)) => Ok(Found::InUse(device)),
        (Opened::Journal(..), Err(errno)) => Err(errno.into()),
        (Opened::Journal(..), Ok(())) => {
            // What was read before it was locked may have changed, and the name may be another's.
            let file = File::options().read(true).write(true).open(path)?;
            let (one, other) = (seen.metadata()?, file.metadata()?);
            if (one.dev(), one.ino()) != (other.dev(), other.ino()) {
                return Ok(Found::Nothing);
            }
            match Journal::open(file)? {
                Opened::Journal(journal, device) => {
                    let (path, note) = (path.to_owned(), journals.note_of(path));
                    Ok(Found::Locked(LockedJournal { path, journal, note, file: seen }, device))
                }
                _ => Ok(Found::Nothing),
            }
        }
    }
}

/// Says that a journal waits for the device, to somebody who may not write to it.
pub(super) fn mention(target: &mut dyn Target, journals: &Journals, frontend: &mut dyn Frontend) {
    sweep(journals);
    for path in found(journals, frontend) {
        if let Ok(Found::Locked(locked, device)) = look_at(journals, &path)
            && device == journals.device
            && locked.journal.phase() < Phase::Ended
            && marks::are_on(target, &locked.journal).unwrap_or_default()
        {
            frontend.note(&format!(
                "A test of this device was killed, and part of its data is in {} only: \
                 cardproof verify with --restore puts it back.",
                path.display()
            ));
        }
    }
}

/// Restores what killed tests left on `target`; `own` is the journal of the test to come.
///
/// # Errors
/// Another test uses a journal of this device, or not all could be put back.
pub(super) fn recover(
    target: &mut dyn Target,
    journals: &Journals,
    own: Option<&Path>,
    frontend: &mut dyn Frontend,
) -> Result<(), Failure> {
    sweep(journals);
    let own = own.and_then(|own| fs::canonicalize(own).ok());
    let mut paths = found(journals, frontend);
    paths.retain(|path| Some(path) != own.as_ref());
    // A later test may lie over an earlier one: what it has saved are the earlier one's sectors.
    paths.sort_by_key(|path| fs::metadata(path).and_then(|found| found.modified()).ok());
    let mut failure = None;
    for path in paths.iter().rev() {
        match look_at(journals, path) {
            Ok(Found::Locked(locked, device)) => {
                let recovered = recover_one(target, journals, (locked, device), frontend);
                failure = failure.or(recovered.err());
            }
            Ok(Found::InUse(device)) if device == journals.device => return Err(in_use(path)),
            Ok(Found::InUse(_) | Found::Nothing) => {}
            Ok(Found::OtherVersion) => frontend.note(&format!(
                "{} is a journal of another version of cardproof, which alone can put it back.",
                path.display()
            )),
            Err(error) => frontend.note(&format!(
                "The journal {} cannot be read: {error}. If it is of this device, its data is not back.",
                path.display(), error = in_words(&error)
            )),
        }
    }
    failure.map_or(Ok(()), Err)
}

fn in_use(path: &Path) -> Failure {
    Failure::refused(format!(
        "another cardproof verify is at work on a device of this size with the journal {}; wait until it \
         has ended, and start again",
        path.display()
    ))
}

fn recover_one(
    target: &mut dyn Target,
    journals: &Journals,
    (mut locked, device): (LockedJournal, String),
    frontend: &mut dyn Frontend,
) -> Result<(), Failure> {
    if locked.journal.phase() == Phase::Ended {
        return end(journals, &locked).map(|_| ());
    }
    if device != journals.device {
        return Ok(());
    }
    // Where nothing was saved, nothing was overwritten.
    if locked.journal.is_empty() {
        return Ok(());
    }
    let cannot_look = |error: cardproof_probe::DriveError| Failure::incomplete(with_causes(&error));
    if !marks::are_on(target, &locked.journal).map_err(cannot_look)? {
        not_of_this_card(journals, &mut locked, frontend);
        return Ok(());
    }
    let restored = put_back(target, &mut locked.journal, Trust::FoundAgain);
    if !restored.is_whole() {
        return Err(incomplete(&locked.path, &restored));
    }
    if let Some(error) = &restored.unclosed {
        frontend.note(&unclosed(&locked.path, error));
        return Ok(());
    }
    let kept = end(journals, &locked)?;
    frontend.note(&format!(
        "Put back what an earlier test had saved when it was killed, {} sectors. Its journal is kept for a \
         week: {}",
        restored.put_back,
        kept.display()
    ));
    if restored.foreign > 0 {
        frontend.note(&format!(
            "{} sectors were written by somebody else since, and stay as they are.",
            restored.foreign
        ));
    }
    Ok(())
}

/// Without a mark a device may be another of the same size, whatever it holds.
fn not_of_this_card(journals: &Journals, locked: &mut LockedJournal, frontend: &mut dyn Frontend) {
    match locked.journal.phase() {
        Phase::Marked => frontend.note(&format!(
            "{} stays: it may belong to another device of this size, for nothing of its test is on this \
             one. Remove it if there is no other.",
            locked.path.display()
        )),
        // It was killed in the instant in which its card has or has not its marks. Only what lay there may
        // be needed, which is little.
        Phase::Closing if journals.is_old(&locked.path) => {
            // The rest goes with a later run then.
            let _ = locked.journal.keep_marks_alone();
        }
        Phase::Marking | Phase::Closing | Phase::Ended => {}
    }
}

/// Why not all is back, and where it is.
pub(super) fn incomplete(path: &Path, restored: &Restored) -> Failure {
    let mut why = Vec::new();
    if restored.left > 0 {
        why.push(format!("{} sectors do not hold what was saved", restored.left));
    }
    if restored.damaged > 0 {
        why.push(format!("{} of them are damaged in the journal", restored.damaged));
    }
    why.extend(restored.fault.clone());
    Failure::incomplete(format!(
        "cannot put everything back: {}; the journal is kept in {}: the next verify of this device that may \
         write tries again; remove that file to give up what it holds",
        why.join(", "),
        path.display()
    ))
}

/// All is back, but the journal does not say so.
pub(super) fn unclosed(path: &Path, error: &str) -> String {
    format!(
        "Everything is back and was read back, but the journal {} cannot be closed: {error}. Remove it.",
        path.display()
    )
}

/// Removes what is of no use any more: journals that have ended a week ago, and those that were never begun.
fn sweep(journals: &Journals) {
    for directory in journals.directories() {
        for path in files_in(directory, ENDED_ENDING) {
            remove_if_old(journals, &path);
        }
        for path in files_in(directory, BEGUN_ENDING) {
            let is_free = open_regular(&path).is_ok_and(|file| {
                rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            });
            if is_free {
                let _ = fs::remove_file(&path);
            }
        }
    }
    for note in files_in(&journals.home, ENDED_NOTE_ENDING) {
        let Ok(name) = fs::read(&note) else { continue };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&name));
        if journals.is_old(&note) && (!path.exists() || remove_if_old(journals, &path)) {
            let _ = fs::remove_file(&note);
        }
    }
}

/// Removes the journal at `path` if it has ended a week ago; whether it did.
fn remove_if_old(journals: &Journals, path: &Path) -> bool {
    let has_ended = || matches!(look_at(journals, path), Ok(Found::Locked(locked, _)) if locked.journal.phase() == Phase::Ended);
    journals.is_old(path) && has_ended() && fs::remove_file(path).is_ok()
}

/// Every journal in the directories of `journals`, and those elsewhere that are noted.
fn found(journals: &Journals, frontend: &mut dyn Frontend) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for directory in journals.directories() {
        for path in files_in(directory, ENDING) {
            paths.extend(fs::canonicalize(path));
        }
    }
    for note in files_in(&journals.home, NOTE_ENDING) {
        let Ok(name) = fs::read(&note) else { continue };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&name));
        if path.exists() {
            paths.push(path);
        } else {
            frontend.note(&format!(
                "A test that was killed has left the journal {}, which is not there. If it was of \
                 this device, connect its disk first; if you have removed it, remove {} too.",
                path.display(),
                note.display()
            ));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn files_in(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    // A pipe would be waited for.
    let paths =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
