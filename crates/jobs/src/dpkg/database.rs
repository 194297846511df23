//! dpkg's database: the state of every package, and the journal before it.
//!
//! Each change of a state is a file of its own in `updates/`: it is written to a file that stands
//! ready with padding, cut to its length, synced and renamed, and the directory is synced. After
//! 250 of them, and when dpkg ends, everything is written into one file, `status`, anew.
//! (dpkg 1.21, `lib/dpkg/dbmodify.c` and `dump.c`.)

use cardproof_units::Bytes;

use crate::batch::{Batch, FILE};
use crate::op::{Contents, FileOp, Handle, Opening};

pub(super) const HOME: &str = "var/lib/dpkg";
pub(super) const INFO: &str = "var/lib/dpkg/info";
pub(super) const UPDATES: &str = "var/lib/dpkg/updates";
pub(super) const LOG: &str = "var/log/dpkg.log";
pub(super) const TERMINAL_LOG: &str = "var/log/apt/term.log";

/// So many changes before they are folded into the database (`MAXUPDATES`).
const UPDATES_MAX: u32 = 250;

/// The padding with which the next change's file stands ready: 512 lines of nine bytes.
const PADDING: Bytes = Bytes(512 * 9);

/// A line of the log.
const LOG_LINE: Bytes = Bytes(70);

/// What is noted of a package before its entry is known, or after it is forgotten.
const SHORT_ENTRY: Bytes = Bytes(120);

/// The database of a minimal Debian 12, of 88 packages.
const MINIMAL: Bytes = Bytes(77_102);

/// What the state adds to a package's paragraph.
const STATE: Bytes = Bytes(29);

/// The file of the next change, open while dpkg runs.
const NEXT: Handle = Handle(1);

/// The log, open while dpkg runs.
const LOG_FILE: Handle = Handle(2);

/// The database's state between operations.
#[derive(Clone, Debug)]
pub(super) struct Database {
    size: Bytes,
    updates: u32,
}

impl Database {
    /// That of a minimal system with packages whose paragraphs take `more`.
    pub(super) fn with(more: Bytes) -> Self {
        Self { size: MINIMAL + more, updates: 0 }
    }

    /// A package that was not known is known from here on, by a paragraph of `entry`.
    pub(super) fn learn(&mut self, entry: Bytes) {
        self.size += entry + STATE;
    }

    /// A package that was known is not from here on.
    pub(super) fn forget(&mut self, entry: Bytes) {
        self.size = self.size.saturating_sub(entry + STATE).max(MINIMAL);
    }

    /// How large the file with all states is.
    pub(super) const fn size(&self) -> Bytes {
        self.size
    }

    /// dpkg begins: it reads the database and makes the next change's file ready.
    pub(super) fn open(&self, batch: &mut Batch) {
        let status = format!("{HOME}/status");
        batch.read(status, self.size, Bytes::kib(64), Opening::Read);
        batch.push(FileOp::List(UPDATES.to_owned()));
        batch.push(FileOp::Open { handle: LOG_FILE, path: LOG.to_owned(), how: Opening::Append });
        make_ready(batch);
    }

    /// The state of a package changes whose paragraph takes `entry`.
    pub(super) fn note(&mut self, batch: &mut Batch, entry: Bytes) {
        self.note_of(batch, entry + STATE);
    }

    /// A package's state changes of which hardly more than the name is known.
    pub(super) fn note_in_short(&mut self, batch: &mut Batch) {
        self.note_of(batch, SHORT_ENTRY);
    }

    fn note_of(&mut self, batch: &mut Batch, length: Bytes) {
        batch.push(FileOp::Write {
            handle: LOG_FILE,
            length: LOG_LINE,
            contents: Contents::Compressible,
        });
        batch.push(FileOp::WriteAt {
            handle: NEXT,
            offset: Bytes::ZERO,
            length,
            contents: Contents::Compressible,
        });
        batch.push(FileOp::Truncate { handle: NEXT, length });
        batch.push(FileOp::Sync(NEXT));
        batch.push(FileOp::Close(NEXT));
        batch.rename(format!("{UPDATES}/tmp.i"), update(self.updates));
        batch.push(FileOp::SyncDir(UPDATES.to_owned()));
        self.updates += 1;
        if self.updates > UPDATES_MAX {
            self.fold(batch);
        }
        make_ready(batch);
    }

    /// dpkg ends.
    pub(super) fn close(&mut self, batch: &mut Batch) {
        self.fold(batch);
        batch.push(FileOp::Close(NEXT));
        batch.unlink(format!("{UPDATES}/tmp.i"));
        batch.push(FileOp::Close(LOG_FILE));
    }

    /// All changes go into the database, and their files go.
    fn fold(&mut self, batch: &mut Batch) {
        replace_with_backup(batch, &format!("{HOME}/status"), self.size);
        for number in 0..self.updates {
            batch.unlink(update(number));
        }
        batch.push(FileOp::SyncDir(UPDATES.to_owned()));
        self.updates = 0;
    }
}

fn update(number: u32) -> String {
    format!("{UPDATES}/{number:04}")
}

/// The next change's file, with its padding.
fn make_ready(batch: &mut Batch) {
    let path = format!("{UPDATES}/tmp.i");
    batch.push(FileOp::Open { handle: NEXT, path, how: Opening::Create });
    batch.push(FileOp::Write { handle: NEXT, length: PADDING, contents: Contents::Compressible });
}

/// Writes `path` anew as dpkg does its lists: beside it, synced, renamed over it, and its
/// directory synced.
pub(super) fn replace(batch: &mut Batch, path: &str, size: Bytes) {
    let new = format!("{path}-new");
    batch.durable(new.as_str(), size, Contents::Compressible);
    batch.rename(new, path);
    sync_around(batch, path);
}

/// The same, and the file that was there stays as `path` with `-old`.
fn replace_with_backup(batch: &mut Batch, path: &str, size: Bytes) {
    let (new, old) = (format!("{path}-new"), format!("{path}-old"));
    batch.durable(new.as_str(), size, Contents::Compressible);
    batch.unlink(old.as_str());
    batch.push(FileOp::Link { existing: path.to_owned(), new: old });
    batch.rename(new, path);
    sync_around(batch, path);
}

/// Makes the names beside `path` durable.
fn sync_around(batch: &mut Batch, path: &str) {
    if let Some((directory, _)) = path.rsplit_once('/') {
        batch.push(FileOp::SyncDir(directory.to_owned()));
    }
}

/// Opens a file that is there and makes it durable.
pub(super) fn sync_file(batch: &mut Batch, path: &str) {
    batch.open(path, Opening::Update);
    batch.push(FileOp::Sync(FILE));
    batch.push(FileOp::Close(FILE));
}
