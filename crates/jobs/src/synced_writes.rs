//! `fsync-4k`: writes of 4 KiB anywhere in a file, each awaited.
//!
//! The smallest thing that a program can ask for and then wait until it is durable. On a bare card it
//! would be one write; what a file system makes of it is the whole difference between file systems,
//! and so this is what they are compared by. fio does the same with `rw=randwrite bs=4k fsync=1`.

use cardproof_units::Bytes;

use super::batch::{Batch, FILE};
use super::dice::Dice;
use super::job::{Form, Generator, Job, StepSpec, Timing};
use super::op::{Contents, FileOp, Opening};

/// The file.
const SIZE: Bytes = Bytes::mib(16);

/// What is written at a time.
const BLOCK: Bytes = Bytes::kib(4);

/// How many writes: ten seconds on a card that takes 20 a second.
const WRITES: usize = 200;

const PATH: &str = "file";

const STEPS: &[StepSpec] = &[
    StepSpec { name: "prepare", what: "writes the file", timing: Timing::Prepares },
    StepSpec {
        name: "write",
        what: "writes 4 KiB at a random place of the file, then fsync",
        timing: Timing::Counts,
    },
];

pub(super) fn job() -> Job {
    Job {
        name: "fsync-4k",
        version: 1,
        deed: format!("{WRITES} writes of 4 KiB, each with an fsync"),
        purpose: "speed of small writes that must be durable at once",
        source: "fio with rw=randwrite, bs=4k, fsync=1 through the page cache, as in published \
                 comparisons of file systems",
        form: Form::Full,
        short: None,
        steps: STEPS,
        notes: &[
            "The file system adds writes for each fsync. The card alone would do one write each.",
        ],
        generator: |seed| Box::new(SyncedWrites { dice: Dice::new(seed, "fsync-4k"), done: None }),
    }
}

/// Makes the operations.
struct SyncedWrites {
    dice: Dice,
    /// How many writes there were; none before the file is laid out.
    done: Option<usize>,
}

impl Generator for SyncedWrites {
    fn fill(&mut self, batch: &mut Batch) -> bool {
        match self.done {
            None => {
                batch.push(FileOp::Step(0));
                batch.durable(PATH, SIZE, Contents::Incompressible);
                batch.push(FileOp::SyncAll);
                batch.push(FileOp::Step(1));
                batch.open(PATH, Opening::Update);
                self.done = Some(0);
            }
            Some(WRITES) => {
                batch.push(FileOp::Close(FILE));
                self.done = Some(WRITES + 1);
            }
            Some(done) if done > WRITES => return false,
            Some(done) => {
                let blocks = (SIZE.get() / BLOCK.get()) as usize;
                let offset = Bytes(self.dice.below(blocks) as u64 * BLOCK.get());
                let contents = Contents::Incompressible;
                batch.push(FileOp::WriteAt { handle: FILE, offset, length: BLOCK, contents });
                batch.push(FileOp::Sync(FILE));
                self.done = Some(done + 1);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Seed;

    use super::*;

    #[test]
    fn every_write_is_waited_for_and_lies_in_the_file() {
        let totals = job().totals(Seed::from_bits(1));
        assert_eq!(totals.syncs, WRITES as u64);
        assert_eq!(totals.bytes_written, Bytes(WRITES as u64 * BLOCK.get()));
        assert_eq!(totals.space_peak, SIZE);
    }
}
