//! The ledger's files: the state in memory, the state and the list of days for good, and the key of its hashes.
//!
//! The state is replaced as a whole: written beside, brought to the medium, renamed. The list of days only grows,
//! after the state, so that a cut at any moment loses nothing but what was not kept yet.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardproof_rating::ledger::{Day, Open, days, lines};
use rustix::fs::{FlockOperation, flock};

use crate::exit::Failure;

/// Names below the directories.
const STATE: &str = "state";
const DAYS: &str = "days";
const KEY: &str = "key";
const LOCK: &str = "lock";

/// The bytes of the key.
const KEY_BYTES: usize = 32;

/// Where a ledger is.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// Where it is kept for good.
    pub(super) directory: PathBuf,
    /// Where the state of the last minutes is, in memory; `None` where there is no such place.
    pub(super) memory: Option<PathBuf>,
}

/// A ledger while one process has it.
#[derive(Debug)]
pub(super) struct Locked<'f> {
    files: &'f Files,
    _lock: File,
}

impl Files {
    /// The state, the newest of those that are whole, and the days that are over. A user who may not read the
    /// state in memory sees the one that was kept last.
    pub(super) fn read(&self) -> Result<(Open, Vec<Day>), Failure> {
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
    pub(super) fn readable_key(&self) -> Option<Vec<u8>> {
        fs::read(self.directory.join(KEY)).ok().filter(|key| key.len() == KEY_BYTES)
    }

    /// The ledger for this process alone.
    pub(super) fn lock(&self) -> Result<Locked<'_>, Failure> {
        for directory in self.memory.iter().chain([&self.directory]) {
            fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
        }
        let path = self.directory.join(LOCK);
        let open = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = open.map_err(|error| failed(&path, &error))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| failed(&path, &error.into()))?;
        Ok(Locked { files: self, _lock: lock })
    }
}

impl Locked<'_> {
    /// The key under which this computer hashes what tells cards apart; made where there is none.
    pub(super) fn key(&self) -> Result<Vec<u8>, Failure> {
        let path = self.files.directory.join(KEY);
        match fs::read(&path) {
            Ok(key) if key.len() == KEY_BYTES => return Ok(key),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&path, &error)),
        }
        let mut key = vec![0; KEY_BYTES];
        rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| failed(&path, &error.into()))?;
        replace(&path, &key, 0o600)?;
        Ok(key)
    }

    /// Keeps `open` in memory; for good where there is no such place.
    pub(super) fn note(&self, open: &Open) -> Result<(), Failure> {
        match &self.files.memory {
            Some(memory) => replace(&memory.join(STATE), open.text().as_bytes(), 0o644),
            None => replace(&self.files.directory.join(STATE), open.text().as_bytes(), 0o644),
        }
    }

    /// Keeps `open` for good, and the days that are over.
    pub(super) fn keep(&self, open: &mut Open) -> Result<(), Failure> {
        open.kept_at_s = open.uptime_s;
        replace(&self.files.directory.join(STATE), open.text().as_bytes(), 0o644)?;
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
            let mut file = File::options().create(true).append(true).mode(0o644).open(&path)?;
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

/// Replaces the file at `path` as a whole.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    let beside = path.with_extension("new");
    let replace = || -> io::Result<()> {
        let mut file = File::options();
        let mut file = file.create(true).truncate(true).write(true).mode(mode).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // The name is on the medium with its directory.
        path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
    };
    replace().map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::of_opening(
        error,
        format!(
            "cannot keep the ledger at {}: {error}; name a directory that you may write to with --state",
            path.display()
        ),
    )
}
