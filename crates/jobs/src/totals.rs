//! What a job will do, counted from its operations alone: said before the first write.

use std::collections::HashMap;

use cardproof_units::Bytes;

use super::job::StepSpec;
use super::op::{FileOp, Handle, Opening, WRITE_PIECE};

/// The unit in which file systems give space, and about what a directory takes.
const BLOCK: u64 = 4096;

/// The operations of a job, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// All operations.
    pub ops: u64,
    /// Files made.
    pub files: u64,
    /// Bytes written in the steps that count; the file system adds its own.
    pub bytes_written: Bytes,
    /// Bytes written in all, the preparation included.
    pub bytes_written_in_all: Bytes,
    /// Bytes read in the steps that count, from wherever they come.
    pub bytes_read: Bytes,
    /// Times in the steps that count that a program waits for something to be durable.
    pub syncs: u64,
    /// Renames.
    pub renames: u64,
    /// Names removed.
    pub unlinks: u64,
    /// The most space that the job's files take at a time, in whole blocks of 4 KiB, a block for
    /// each directory and link included.
    pub space_peak: Bytes,
}

impl Totals {
    /// The totals of `ops`, which belong to `steps`.
    pub(super) fn new(steps: &[StepSpec], ops: impl Iterator<Item = FileOp>) -> Self {
        let mut ledger = Ledger::new(steps);
        ops.for_each(|op| ledger.enter(&op));
        ledger.totals
    }
}

/// What one step of a job asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// Times that it waits for something to be durable.
    pub syncs: u64,
    /// Its other calls of the system; a long write is a call for each of its pieces.
    pub calls: u64,
}

impl StepTotals {
    /// The totals of each of `count` steps, of `ops`.
    pub(super) fn of_each(count: usize, ops: impl Iterator<Item = FileOp>) -> Vec<Self> {
        let mut steps = vec![Self::default(); count];
        let mut current = 0;
        for op in ops {
            if let FileOp::Step(index) = op {
                current = index;
                continue;
            }
            let Some(step) = steps.get_mut(current) else { continue };
            match op {
                FileOp::Write { length, .. } | FileOp::WriteAt { length, .. } => {
                    step.calls += length.get().div_ceil(WRITE_PIECE.get());
                }
                op if op.is_sync() => step.syncs += 1,
                _ => step.calls += 1,
            }
        }
        steps
    }
}

/// A file as far as its space goes.
#[derive(Clone, Copy, Default)]
struct File {
    length: u64,
    names: u32,
}

impl File {
    const fn space(self) -> u64 {
        self.length.next_multiple_of(BLOCK)
    }
}

/// Where an open file stands.
#[derive(Clone, Copy, Default)]
struct Open {
    file: usize,
    position: u64,
}

/// The files that a job has at a moment.
struct Ledger<'a> {
    totals: Totals,
    steps: &'a [StepSpec],
    /// Whether the step that it stands in counts.
    counts: bool,
    /// All that ever were.
    files: Vec<File>,
    names: HashMap<String, usize>,
    open: [Open; Handle::COUNT],
    space: u64,
}

impl<'a> Ledger<'a> {
    fn new(steps: &'a [StepSpec]) -> Self {
        Self {
            totals: Totals::default(),
            steps,
            counts: true,
            files: Vec::new(),
            names: HashMap::new(),
            open: Default::default(),
            space: 0,
        }
    }

    fn enter(&mut self, op: &FileOp) {
        self.totals.ops += 1;
        self.totals.syncs += u64::from(op.is_sync() && self.counts);
        match op {
            FileOp::Step(index) => {
                self.counts = self.steps.get(*index).is_none_or(StepSpec::counts);
            }
            FileOp::Open { handle, path, how } => self.open(*handle, path, *how),
            FileOp::Write { handle, length, .. } => self.write(*handle, None, *length),
            FileOp::WriteAt { handle, offset, length, .. } => {
                self.write(*handle, Some(offset.get()), *length);
            }
            FileOp::Read { length, .. } if self.counts => self.totals.bytes_read += *length,
            FileOp::Truncate { handle, length } => {
                let file = self.open[handle.index()].file;
                self.change(file, |file| file.length = length.get());
            }
            FileOp::Rename { from, to } => {
                self.totals.renames += 1;
                self.unname(to);
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            FileOp::Link { existing, new } => {
                if let Some(&file) = self.names.get(existing) {
                    self.names.insert(new.clone(), file);
                    self.files[file].names += 1;
                }
            }
            FileOp::Unlink(path) => {
                self.totals.unlinks += 1;
                self.unname(path);
            }
            FileOp::Symlink(path) | FileOp::MakeDir(path) => {
                let file = self.make(path);
                self.change(file, |file| file.length = BLOCK);
            }
            FileOp::RemoveDir(path) => self.unname(path),
            FileOp::Read { .. }
            | FileOp::SyncDir(_)
            | FileOp::List(_)
            | FileOp::Stat(_)
            | FileOp::StartWriteBack(_)
            | FileOp::AwaitWriteBack(_)
            | FileOp::Sync(_)
            | FileOp::SyncData(_)
            | FileOp::DropCache(_)
            | FileOp::Close(_)
            | FileOp::SyncAll => {}
        }
    }

    fn open(&mut self, handle: Handle, path: &str, how: Opening) {
        let file = match self.names.get(path) {
            Some(&file) => file,
            None => {
                self.totals.files += 1;
                self.make(path)
            }
        };
        let position = if how == Opening::Append { self.files[file].length } else { 0 };
        self.open[handle.index()] = Open { file, position };
    }

    fn make(&mut self, path: &str) -> usize {
        self.files.push(File { length: 0, names: 1 });
        self.names.insert(path.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }

    fn write(&mut self, handle: Handle, offset: Option<u64>, length: Bytes) {
        self.totals.bytes_written_in_all += length;
        if self.counts {
            self.totals.bytes_written += length;
        }
        let open = &mut self.open[handle.index()];
        let end = offset.unwrap_or(open.position) + length.get();
        if offset.is_none() {
            open.position = end;
        }
        self.lengthen(handle, end);
    }

    fn lengthen(&mut self, handle: Handle, end: u64) {
        let file = self.open[handle.index()].file;
        self.change(file, |file| file.length = file.length.max(end));
    }

    fn unname(&mut self, path: &str) {
        let Some(file) = self.names.remove(path) else { return };
        self.files[file].names -= 1;
        if self.files[file].names == 0 {
            self.change(file, |file| file.length = 0);
        }
    }

    fn change(&mut self, file: usize, change: impl FnOnce(&mut File)) {
        let Some(entry) = self.files.get_mut(file) else { return };
        let before = entry.space();
        change(entry);
        self.space = self.space + entry.space() - before;
        self.totals.space_peak = self.totals.space_peak.max(Bytes(self.space));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Batch;
    use crate::op::Contents;

    fn totals(fill: impl FnOnce(&mut Batch)) -> Totals {
        let mut batch = Batch::default();
        fill(&mut batch);
        Totals::new(&[], std::iter::from_fn(|| batch.take()))
    }

    #[test]
    fn space_is_what_is_there_at_a_time() {
        let found = totals(|batch| {
            batch.file("a", Bytes(5000), Contents::Compressible);
            batch.file("b", Bytes(1), Contents::Compressible);
            batch.rename("b", "a");
            batch.append("a", Bytes(4096));
        });
        assert_eq!((found.files, found.renames), (2, 1));
        assert_eq!(found.bytes_written, Bytes(5000 + 1 + 4096));
        assert_eq!(found.space_peak, Bytes(3 * 4096));
    }

    #[test]
    fn each_step_is_counted_by_itself() {
        let mut batch = Batch::default();
        batch.push(FileOp::Step(0));
        batch.file("a", WRITE_PIECE, Contents::Compressible);
        batch.push(FileOp::Step(1));
        batch.durable("b", WRITE_PIECE + Bytes(1), Contents::Compressible);
        let steps = StepTotals::of_each(2, std::iter::from_fn(|| batch.take()));
        // Opened, written and closed; the second in two pieces, and synced.
        let wanted = [StepTotals { syncs: 0, calls: 3 }, StepTotals { syncs: 1, calls: 4 }];
        assert_eq!(steps, wanted);
    }

    #[test]
    fn a_file_with_two_names_takes_its_space_once() {
        let found = totals(|batch| {
            batch.durable("a", Bytes(4096), Contents::Compressible);
            batch.push(FileOp::Link { existing: "a".to_owned(), new: "b".to_owned() });
            batch.unlink("a");
            batch.file("c", Bytes(4096), Contents::Compressible);
        });
        assert_eq!((found.space_peak, found.syncs, found.unlinks), (Bytes(8192), 1, 1));
    }
}
