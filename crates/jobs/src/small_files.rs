//! `small-files`: many small files, as a version control system makes them.
//!
//! The way is git's: a clone writes one pack, synced, and its index, then checks out thousands of
//! files that nobody waits for, and at last its list of them, beside its place and renamed over it.
//! A commit writes each changed file as an object of its own, synced, under a name for the time
//! being that is then changed for the right one. Looking for changes asks the state of every file.

use cardproof_units::{Bytes, Seed};

use super::batch::Batch;
use super::dice::Dice;
use super::job::{Form, Generator, Job, StepSpec, Timing};
use super::op::{Contents, FileOp, Opening};

/// Files that are checked out.
const FILES: usize = 4000;

/// Directories that they are in.
const DIRECTORIES: usize = 300;

/// The smallest and the largest of them.
const FILE_MIN: Bytes = Bytes(200);
const FILE_MAX: Bytes = Bytes::kib(160);

/// The pack.
const PACK: Bytes = Bytes::mib(24);

/// Objects that are committed.
const OBJECTS: usize = 200;

/// Entries of the list of files.
const INDEX_ENTRY: Bytes = Bytes(90);

const STEPS: &[StepSpec] = &[
    StepSpec { name: "prepare", what: "makes an empty repository", timing: Timing::Prepares },
    StepSpec { name: "receive", what: "writes the pack and its index", timing: Timing::Counts },
    StepSpec { name: "check-out", what: "writes all files", timing: Timing::Counts },
    StepSpec {
        name: "status",
        what: "looks at every file whether it has changed",
        timing: Timing::Counts,
    },
    StepSpec {
        name: "commit",
        what: "writes objects, each synced and renamed",
        timing: Timing::Counts,
    },
    StepSpec {
        name: "sync",
        what: "waits until all that was written is on the storage",
        timing: Timing::Counts,
    },
];

pub(super) fn job() -> Job {
    Job {
        name: "small-files",
        version: 1,
        deed: format!("cloning {FILES} small files and committing {OBJECTS}"),
        purpose: "how long work with many small files takes",
        source: "git's order of operations with its standard setting of core.fsync",
        form: Form::Full,
        short: None,
        steps: STEPS,
        notes: &["Its time ends when everything is on the storage: git itself ends before."],
        generator: |seed| Box::new(SmallFiles::new(seed)),
    }
}

/// Makes the operations.
struct SmallFiles {
    dice: Dice,
    directories: Vec<String>,
    files: Vec<String>,
    stage: usize,
}

impl SmallFiles {
    fn new(seed: Seed) -> Self {
        let mut dice = Dice::new(seed, "small files");
        let mut directories = vec!["tree".to_owned()];
        while directories.len() < DIRECTORIES {
            let parent = dice.below(directories.len());
            let name = format!("{}/{}{:03}", directories[parent], dice.name(6), directories.len());
            directories.push(name);
        }
        let mut files: Vec<String> = (0..FILES)
            .map(|number| {
                let directory = &directories[dice.below(DIRECTORIES)];
                format!("{directory}/{}{number:04}.c", dice.name(8))
            })
            .collect();
        files.sort();
        Self { dice, directories, files, stage: 0 }
    }

    fn prepare(batch: &mut Batch) {
        for directory in [".git", ".git/objects", ".git/objects/pack", ".git/refs"] {
            batch.push(FileOp::MakeDir(directory.to_owned()));
        }
        batch.file(".git/refs/main", Bytes(41), Contents::Incompressible);
        batch.push(FileOp::SyncAll);
    }

    fn receive(batch: &mut Batch) {
        for (name, size) in [("pack", PACK), ("idx", Bytes(32 * FILES as u64))] {
            let temporary = format!(".git/objects/pack/tmp_{name}_1");
            batch.durable(temporary.as_str(), size, Contents::Incompressible);
            batch.rename(temporary, format!(".git/objects/pack/pack-1.{name}"));
        }
        batch.push(FileOp::SyncDir(".git/objects/pack".to_owned()));
    }

    fn check_out(&mut self, batch: &mut Batch) {
        batch.extend(self.directories.iter().cloned().map(FileOp::MakeDir));
        for path in &self.files {
            let size = self.dice.bytes(FILE_MIN, FILE_MAX);
            batch.file(path.as_str(), size, Contents::Compressible);
        }
        Self::write_index(batch);
    }

    /// The list of files, which others may not write meanwhile because its new form is there.
    fn write_index(batch: &mut Batch) {
        let size = Bytes(FILES as u64 * INDEX_ENTRY.get());
        batch.file(".git/index.lock", size, Contents::Incompressible);
        batch.rename(".git/index.lock", ".git/index");
    }

    fn status(&self, batch: &mut Batch) {
        let index = Bytes(FILES as u64 * INDEX_ENTRY.get());
        batch.read(".git/index", index, Bytes::kib(256), Opening::Read);
        batch.extend(self.directories.iter().cloned().map(FileOp::List));
        batch.extend(self.files.iter().cloned().map(FileOp::Stat));
    }

    fn commit(&mut self, batch: &mut Batch) {
        // Objects lie in 256 directories by the first two digits of their names.
        let mut made = [false; 256];
        for number in 0..OBJECTS {
            let first = self.dice.below(made.len());
            let directory = format!(".git/objects/{first:02x}");
            if !made[first] {
                made[first] = true;
                batch.push(FileOp::MakeDir(directory.clone()));
            }
            let temporary = format!("{directory}/tmp_obj_{number:03}");
            let size = self.dice.bytes(Bytes(150), Bytes::kib(20));
            batch.durable(temporary.as_str(), size, Contents::Incompressible);
            let name = format!("{directory}/{}{number:03}", self.dice.name(35));
            batch.rename(temporary, name);
        }
        Self::write_index(batch);
        batch.durable(".git/refs/main.lock", Bytes(41), Contents::Incompressible);
        batch.rename(".git/refs/main.lock", ".git/refs/main");
    }
}

impl Generator for SmallFiles {
    fn fill(&mut self, batch: &mut Batch) -> bool {
        if self.stage >= STEPS.len() {
            return false;
        }
        batch.push(FileOp::Step(self.stage));
        match self.stage {
            0 => Self::prepare(batch),
            1 => Self::receive(batch),
            2 => self.check_out(batch),
            3 => self.status(batch),
            4 => self.commit(batch),
            _ => batch.push(FileOp::SyncAll),
        }
        self.stage += 1;
        true
    }
}
