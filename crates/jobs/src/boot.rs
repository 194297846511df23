//! `boot`: what a starting system reads, from a cold cache.
//!
//! About 130 MB were read at the start of a small desktop, in requests of 48 KB on average, and next
//! to nothing written. The files are laid out before, made durable, and their pages given back by
//! the kernel file by file, which needs no root. Then they are read directory by directory, in the
//! order in which a starting system comes to need them, which is not that of their making. Whether
//! the reads came from the storage is checked by the runner.

use cardproof_units::{Bytes, Seed};

use super::batch::{Batch, FILE};
use super::dice::Dice;
use super::job::{Form, Generator, Job, StepSpec, Timing};
use super::op::{Contents, FileOp, Opening};

/// What is read in all.
const TOTAL: Bytes = Bytes(130_000_000);

/// In such pieces.
const PIECE: Bytes = Bytes(48_000);

/// The smallest and the largest file, from a unit's description to a library.
const FILE_MIN: Bytes = Bytes::kib(1);
const FILE_MAX: Bytes = Bytes::mib(1);

const DIRECTORIES: usize = 60;

const STEPS: &[StepSpec] = &[
    StepSpec {
        name: "prepare",
        what: "writes the system's files and drops them from the cache",
        timing: Timing::Prepares,
    },
    StepSpec {
        name: "read",
        what: "reads them in pieces, directory by directory",
        timing: Timing::Counts,
    },
];

pub(super) fn job() -> Job {
    Job {
        name: "boot",
        version: 1,
        deed: "reading what a starting system reads (130 MB)".to_owned(),
        purpose: "how long a system start waits for the storage",
        source: "counts of the starts of a small desktop on a single-board computer: 120 to 130 MB \
                 in pieces of 48 KB",
        form: Form::Full,
        short: None,
        steps: STEPS,
        notes: &[
            "Only the reading: a starting system also computes, and waits for devices.",
            "The kernel is asked to forget the files before; where it does not, the time is not \
             that of the storage, and the result says so.",
        ],
        generator: |seed| Box::new(Boot::new(seed)),
    }
}

/// Makes the operations.
struct Boot {
    /// Each directory's files with their sizes.
    directories: Vec<(String, Vec<(String, Bytes)>)>,
    /// In which order the directories are read.
    order: Vec<usize>,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    LayOut(usize),
    Forget(usize),
    Read(usize),
}

impl Boot {
    fn new(seed: Seed) -> Self {
        let mut dice = Dice::new(seed, "boot");
        let mut directories: Vec<(String, Vec<(String, Bytes)>)> =
            (0..DIRECTORIES).map(|number| (format!("system-{number:02}"), Vec::new())).collect();
        let mut left = TOTAL;
        while left > Bytes::ZERO {
            let size = dice.bytes(FILE_MIN, FILE_MAX).min(left);
            let (directory, files) = &mut directories[dice.below(DIRECTORIES)];
            let name = dice.name(12);
            files.push((format!("{directory}/{name}{:05}", files.len()), size));
            left = left - size;
        }
        let mut order: Vec<usize> = (0..DIRECTORIES).collect();
        dice.shuffle(&mut order);
        Self { directories, order, stage: Stage::LayOut(0) }
    }
}

impl Generator for Boot {
    fn fill(&mut self, batch: &mut Batch) -> bool {
        match self.stage {
            Stage::LayOut(number) => {
                if number == 0 {
                    batch.push(FileOp::Step(0));
                }
                let (directory, files) = &self.directories[number];
                batch.push(FileOp::MakeDir(directory.clone()));
                for (path, size) in files {
                    batch.file(path.as_str(), *size, Contents::Compressible);
                }
                self.stage = next(number, Stage::LayOut).unwrap_or_else(|| {
                    batch.push(FileOp::SyncAll);
                    Stage::Forget(0)
                });
            }
            Stage::Forget(number) => {
                for (path, _) in &self.directories[number].1 {
                    batch.open(path.as_str(), Opening::ReadPieces);
                    batch.push(FileOp::DropCache(FILE));
                    batch.push(FileOp::Close(FILE));
                }
                self.stage = next(number, Stage::Forget).unwrap_or_else(|| {
                    batch.push(FileOp::Step(1));
                    Stage::Read(0)
                });
            }
            Stage::Read(number) => {
                let Some(&directory) = self.order.get(number) else { return false };
                let (directory, files) = &self.directories[directory];
                batch.push(FileOp::List(directory.clone()));
                for (path, size) in files {
                    batch.read(path.as_str(), *size, PIECE, Opening::ReadPieces);
                }
                self.stage = Stage::Read(number + 1);
            }
        }
        true
    }
}

/// The stage of the directory after `number`, unless that was the last.
fn next(number: usize, stage: fn(usize) -> Stage) -> Option<Stage> {
    (number + 1 < DIRECTORIES).then(|| stage(number + 1))
}
