//! `browser`: a browser's profile, cache and session while somebody reads a hundred pages.
//!
//! The way is Firefox's: each thing fetched is a file of its own in the cache, which nobody waits
//! for. The session is written anew every few pages, beside its place, synced and renamed over it.
//! History and cookies are databases with a log before them: a page appends to the log, and now and
//! then what is in it goes into the database, with a sync on both.

use cardproof_units::Bytes;

use super::batch::{Batch, FILE};
use super::dice::Dice;
use super::job::{Form, Generator, Job, StepSpec, Timing};
use super::op::{Contents, FileOp, Opening};

/// Pages that are read.
const PAGES: usize = 100;

/// Cache entries of a page, on average.
const ENTRIES_PER_PAGE: usize = 24;

/// The smallest and the largest cache entry.
const ENTRY_MIN: Bytes = Bytes(300);
const ENTRY_MAX: Bytes = Bytes::kib(900);

/// Cache entries that are there before.
const ENTRIES_BEFORE: usize = 600;

/// The session file, compressed.
const SESSION: Bytes = Bytes::kib(90);

/// The session is written after so many pages.
const PAGES_PER_SESSION: usize = 2;

/// A page of a database, and how large one is.
const DATABASE_PAGE: Bytes = Bytes::kib(32);
const DATABASE_PAGES: usize = 320;

/// A log goes into its database after so many pages of it.
const LOG_PAGES: usize = 16;

const DATABASES: [&str; 2] = ["profile/places.sqlite", "profile/cookies.sqlite"];
const STATE: &str = "profile/sessionstore-backups/recovery.jsonlz4";

const STEPS: &[StepSpec] = &[
    StepSpec {
        name: "prepare",
        what: "writes the profile of a browser in use",
        timing: Timing::Prepares,
    },
    StepSpec { name: "start", what: "reads the profile", timing: Timing::Counts },
    StepSpec {
        name: "browse",
        what: "keeps what a hundred pages bring, and the session",
        timing: Timing::Counts,
    },
    StepSpec {
        name: "settle",
        what: "waits until all that was written is on the storage",
        timing: Timing::Settles,
    },
];

pub(super) fn job() -> Job {
    Job {
        name: "browser",
        version: 1,
        deed: format!("saving {PAGES} pages in the cache of a browser"),
        purpose: "how long a browser waits for the storage",
        source: "the files of a Firefox profile and cache and how they are written, with sizes of \
                 the order found there",
        form: Form::Full,
        short: None,
        steps: STEPS,
        notes: &[
            "Nobody reads or thinks between the pages, and the databases are written as SQLite \
             would, not by SQLite; the profile sqlite runs it.",
        ],
        generator: |seed| {
            Box::new(Browser {
                dice: Dice::new(seed, "browser"),
                page: None,
                entries: Vec::new(),
                logged: [0; 2],
            })
        },
    }
}

/// Makes the operations.
struct Browser {
    dice: Dice,
    /// The next page; none before the profile is there.
    page: Option<usize>,
    /// The cache.
    entries: Vec<(String, Bytes)>,
    /// Pages in each database's log.
    logged: [usize; 2],
}

impl Generator for Browser {
    fn fill(&mut self, batch: &mut Batch) -> bool {
        match self.page {
            None => {
                self.lay_out(batch);
                self.start(batch);
                batch.push(FileOp::Step(2));
                self.page = Some(0);
            }
            Some(PAGES) => {
                batch.push(FileOp::Step(3));
                batch.push(FileOp::SyncAll);
                self.page = Some(PAGES + 1);
            }
            Some(page) if page < PAGES => {
                self.read_page(batch, page);
                self.page = Some(page + 1);
            }
            Some(_) => return false,
        }
        true
    }
}

impl Browser {
    fn lay_out(&mut self, batch: &mut Batch) {
        batch.push(FileOp::Step(0));
        for directory in ["profile", "profile/sessionstore-backups", "cache", "cache/entries"] {
            batch.push(FileOp::MakeDir(directory.to_owned()));
        }
        for database in DATABASES {
            let size = Bytes(DATABASE_PAGES as u64 * DATABASE_PAGE.get());
            batch.file(database, size, Contents::Compressible);
            batch.file(format!("{database}-wal"), Bytes::ZERO, Contents::Compressible);
        }
        batch.file(STATE, SESSION, Contents::Incompressible);
        (0..ENTRIES_BEFORE).for_each(|_| self.keep(batch));
        batch.push(FileOp::SyncAll);
    }

    /// The browser reads its session, the head of each database, and the names of its cache.
    fn start(&self, batch: &mut Batch) {
        batch.push(FileOp::Step(1));
        batch.push(FileOp::List("cache/entries".to_owned()));
        batch.read(STATE, SESSION, Bytes::kib(64), Opening::Read);
        for database in DATABASES {
            batch.read(database, Bytes::mib(1), DATABASE_PAGE, Opening::Read);
        }
    }

    fn read_page(&mut self, batch: &mut Batch, page: usize) {
        for _ in 0..self.dice.below(2 * ENTRIES_PER_PAGE) + 1 {
            // Of what a page needs, a part is there already.
            if self.dice.chance(30) {
                self.find(batch);
            } else {
                self.keep(batch);
            }
        }
        for database in 0..DATABASES.len() {
            self.log(batch, database);
        }
        if page.is_multiple_of(PAGES_PER_SESSION) {
            let new = format!("{STATE}.tmp");
            batch.durable(new.as_str(), SESSION, Contents::Incompressible);
            batch.rename(new, STATE);
        }
    }

    /// A cache entry is made; Firefox names it by a hash of 40 digits.
    fn keep(&mut self, batch: &mut Batch) {
        let path = format!("cache/entries/{}{:06}", self.dice.name(34), self.entries.len());
        let size = self.dice.bytes(ENTRY_MIN, ENTRY_MAX);
        batch.file(path.as_str(), size, Contents::Incompressible);
        self.entries.push((path, size));
    }

    /// A cache entry is read.
    fn find(&mut self, batch: &mut Batch) {
        let (path, size) = self.entries[self.dice.below(self.entries.len())].clone();
        batch.read(path, size, Bytes::kib(64), Opening::Read);
    }

    /// A page of a database goes to its log, and a full log into the database.
    fn log(&mut self, batch: &mut Batch, database: usize) {
        let (name, log) = (DATABASES[database], format!("{}-wal", DATABASES[database]));
        let pages = 1 + self.dice.below(3);
        batch.append(log.as_str(), Bytes(pages as u64 * DATABASE_PAGE.get()));
        self.logged[database] += pages;
        if self.logged[database] < LOG_PAGES {
            return;
        }
        batch.open(log.as_str(), Opening::Update);
        batch.push(FileOp::SyncData(FILE));
        batch.push(FileOp::Close(FILE));
        batch.open(name, Opening::Update);
        for _ in 0..self.logged[database] {
            let page = self.dice.below(DATABASE_PAGES) as u64;
            batch.push(FileOp::WriteAt {
                handle: FILE,
                offset: Bytes(page * DATABASE_PAGE.get()),
                length: DATABASE_PAGE,
                contents: Contents::Compressible,
            });
        }
        batch.push(FileOp::SyncData(FILE));
        batch.push(FileOp::Close(FILE));
        batch.open(log, Opening::Update);
        batch.push(FileOp::Truncate { handle: FILE, length: Bytes::ZERO });
        batch.push(FileOp::Close(FILE));
        self.logged[database] = 0;
    }
}
