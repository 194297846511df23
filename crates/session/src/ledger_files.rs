//! The ledger's files: the state in memory, the state and the list of days for good, and the key of its hashes.
//!
//! The state is replaced as a whole: written beside, brought to the medium, renamed. The list of days only grows,
//! after the state, so that a cut at any moment loses nothing but what was not kept yet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardproof_rating::ledger::{Day, Open, days, lines};
use rustix::fs::{FlockOperation, OFlags, flock};

use cardproof_units::in_words;

use crate::failure::Failure;
use crate::file::replace_all;
use crate::keyed_hash::{KEY_BYTES, new_key};

/// Names below the directories.
const STATE: &str = "state";
const DAYS: &str = "days";
const KEY: &str = "key";
const LOCK: &str = "lock";

/// Where a ledger is.
#[derive(Clone, Debug)]
pub struct LedgerFiles {
    /// Where it is kept for good.
    pub directory: PathBuf,
    /// Where the state of the last minutes is, in memory; `None` where there is no such place.
    pub memory: Option<PathBuf>,
}

/// A ledger while one process has it.
#[derive(Debug)]
pub struct LockedLedger<'f> {
    files: &'f LedgerFiles,
    _lock: File,
}

impl LedgerFiles {
    /// The state, the newest of those that are whole, and the days that are over. A user who may not read the
    /// state in memory sees the one that was kept last.
    ///
    /// # Errors
    /// A file is there and cannot be read.
    pub fn read(&self) -> Result<(Open, Vec<Day>), Failure> {
        let days = days(&text(&self.directory.join(DAYS))?.unwrap_or_default());
        let in_memory = self.memory.as_ref().and_then(|it| text(&it.join(STATE)).ok().flatten());
        let kept = text(&self.directory.join(STATE))?;
        let states = [in_memory, kept].into_iter().flatten();
        let newest = states.filter_map(|text| Open::read(&text)).max_by_key(|open| open.looks);
        let mut open = newest.unwrap_or_default();
        open.forget_kept(&days);
        Ok((open, days))
    }

    /// The key, if this user may read it.
    #[must_use]
    pub fn readable_key(&self) -> Option<Vec<u8>> {
        fs::read(self.directory.join(KEY)).ok().filter(|key| key.len() == KEY_BYTES)
    }

    /// The ledger for this process alone.
    ///
    /// # Errors
    /// The directories or the lock cannot be made.
    pub fn lock(&self) -> Result<LockedLedger<'_>, Failure> {
        for directory in self.memory.iter().chain([&self.directory]) {
            fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
        }
        let path = self.directory.join(LOCK);
        let open = open_own(&path, File::options().truncate(false).write(true));
        let lock = open.map_err(|error| failed(&path, &error))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| failed(&path, &error.into()))?;
        Ok(LockedLedger { files: self, _lock: lock })
    }
}

impl LockedLedger<'_> {
    /// The key under which this computer hashes what tells cards apart; made where there is none.
    ///
    /// # Errors
    /// There is no key, and none can be made.
    pub fn key(&self) -> Result<Vec<u8>, Failure> {
        let path = self.files.directory.join(KEY);
        match fs::read(&path) {
            Ok(key) if key.len() == KEY_BYTES => return Ok(key),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&path, &error)),
        }
        let key = new_key().map_err(|error| failed(&path, &error))?.to_vec();
        // It keeps the mode that it is made with, so nobody else ever reads it.
        open_own(&path, File::options().truncate(false).write(true).mode(0o600))
            .map_err(|error| failed(&path, &error))?;
        replace(&self.files.directory, KEY, &key)?;
        Ok(key)
    }

    /// Keeps `open` in memory; for good where there is no such place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&self, open: &Open) -> Result<(), Failure> {
        match &self.files.memory {
            Some(memory) => replace(memory, STATE, open.text().as_bytes()),
            None => replace(&self.files.directory, STATE, open.text().as_bytes()),
        }
    }

    /// Keeps `open` for good, and the days that are over.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn keep(&self, open: &mut Open) -> Result<(), Failure> {
        open.kept_at_s = open.uptime_s;
        replace(&self.files.directory, STATE, open.text().as_bytes())?;
        self.append(&open.over)?;
        self.note(open)
    }

    /// Appends `days` on lines of their own, also behind a line that was cut.
    fn append(&self, days: &[Day]) -> Result<(), Failure> {
        if days.is_empty() {
            return Ok(());
        }
        let path = self.files.directory.join(DAYS);
        let is_cut = text(&path)?.is_some_and(|text| !text.is_empty() && !text.ends_with('\n'));
        let more = if is_cut { format!("\n{}", lines(days)) } else { lines(days) };
        let append = || -> io::Result<()> {
            let mut file = open_own(&path, File::options().append(true).mode(0o644))?;
            file.write_all(more.as_bytes())?;
            file.sync_all()
        };
        append().map_err(|error| failed(&path, &error))
    }
}

/// The text at `path`; `None` where there is none.
fn text(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Opens the file at `path`, which is no link: whoever else may write to the directory could lead root elsewhere.
fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}

/// Replaces the file `name` of `directory` as a whole; one that is a link is refused.
fn replace(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    replace_all(directory, &[(name.to_owned(), bytes.to_vec())])
        .map_err(|error| failed(&directory.join(name), &error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::of_opening(
        error,
        format!(
            "cannot keep the ledger at {}: {error}; name a directory that you may write to with --state",
            path.display(),
            error = in_words(error)
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn no_link_in_the_directory_of_a_ledger_leads_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("somebody's");
        for name in [DAYS, KEY, LOCK, STATE] {
            let place = tempfile::tempdir().unwrap();
            fs::write(&other, "kept\n").unwrap();
            symlink(&other, place.path().join(name)).unwrap();
            let files = LedgerFiles { directory: place.path().to_owned(), memory: None };
            let day = Day::default();
            let done = files.lock().and_then(|locked| {
                locked.key()?;
                locked.append(&[day])?;
                locked.note(&Open::default())
            });
            assert!(done.is_err(), "{name}");
            assert_eq!(fs::read_to_string(&other).unwrap(), "kept\n", "{name}");
        }
        let place = tempfile::tempdir().unwrap();
        let files = LedgerFiles { directory: place.path().to_owned(), memory: None };
        let locked = files.lock().unwrap();
        let key = locked.key().unwrap();
        assert_eq!(locked.key().unwrap(), key);
        let mode = fs::metadata(place.path().join(KEY)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
