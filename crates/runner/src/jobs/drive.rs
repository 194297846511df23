//! Does the operations of a job on real files.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::Fault;
use cardproof_io::files::{FileFault, FileTree, FileUse, TreeFile};
use cardproof_jobs::{Contents, FileOp, Handle, JobData, Opening, READ_MAX, WRITE_PIECE};
use cardproof_units::{Bytes, Nanos, Seed};

use super::tally::Tally;
use super::watch::JobWatch;
use super::{JobError, JobProgress};

/// Progress is told this often at most.
const TELL_EVERY: Nanos = Nanos::from_millis(100);

/// A job under way.
pub(super) struct Drive<'a, 'w> {
    tree: &'a mut FileTree,
    tally: &'a mut Tally,
    watch: &'a mut JobWatch<'w>,
    stop: &'a AtomicBool,
    open: [Option<TreeFile>; Handle::COUNT],
    data: JobData,
    buffer: Vec<u8>,
    /// Links that the file system would not have: what is done with them is left out too.
    left_out: HashSet<String>,
    links_left_out: u64,
}

impl<'a, 'w> Drive<'a, 'w> {
    pub(super) fn new(
        tree: &'a mut FileTree,
        seed: Seed,
        tally: &'a mut Tally,
        watch: &'a mut JobWatch<'w>,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            tree,
            tally,
            watch,
            stop,
            open: Default::default(),
            data: JobData::new(seed),
            buffer: vec![0; READ_MAX.max(WRITE_PIECE).as_len()],
            left_out: HashSet::new(),
            links_left_out: 0,
        }
    }

    /// How many links the file system would not have.
    pub(super) const fn links_left_out(&self) -> u64 {
        self.links_left_out
    }

    /// Does `ops`, of which there are `ops_of`.
    pub(super) fn run(
        &mut self,
        ops: impl Iterator<Item = FileOp>,
        ops_of: u64,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<(), JobError> {
        let start = self.tree.now();
        let mut told = start;
        for (done, op) in (0..).zip(ops) {
            if self.stop.load(Ordering::Relaxed) {
                self.end();
                return Err(JobError::Stopped);
            }
            if let FileOp::Step(step) = op {
                let now = self.tree.now();
                self.tally.end(now);
                let elapsed = now.saturating_sub(start);
                progress(JobProgress { step, ops: done, ops_of, elapsed });
                self.watch.step(self.tally.timing(step));
            }
            self.perform(&op)?;
            let now = self.tree.now();
            if now.saturating_sub(told) >= TELL_EVERY {
                told = now;
                let elapsed = now.saturating_sub(start);
                progress(JobProgress { step: self.tally.step(), ops: done, ops_of, elapsed });
            }
        }
        self.end();
        Ok(())
    }

    /// There are no more operations.
    fn end(&mut self) {
        self.tally.end(self.tree.now());
        self.watch.end();
    }

    fn perform(&mut self, op: &FileOp) -> Result<(), JobError> {
        self.tally.op();
        if op.is_sync() {
            let start = self.tree.now();
            self.synchronise(op)?;
            self.tally.synced(self.tree.now().saturating_sub(start));
            return Ok(());
        }
        match op {
            FileOp::Step(index) => self.tally.begin(*index, self.tree.now()),
            FileOp::MakeDir(path) => self.tree.make_dir(path)?,
            FileOp::RemoveDir(path) => self.tree.remove_dir(path)?,
            FileOp::List(path) => drop(self.tree.list(path)?),
            FileOp::Open { handle, path, how } => {
                self.open[handle.index()] = Some(self.tree.open(path, usage(*how))?);
            }
            FileOp::Close(handle) => drop(self.open[handle.index()].take()),
            FileOp::Stat(path) => drop(self.tree.is_there(path)?),
            FileOp::Rename { .. }
            | FileOp::Link { .. }
            | FileOp::Symlink(_)
            | FileOp::Unlink(_) => {
                self.name(op)?;
            }
            _ => self.in_file(op)?,
        }
        Ok(())
    }

    /// Operations that wait until something is durable.
    fn synchronise(&mut self, op: &FileOp) -> Result<(), JobError> {
        match op {
            FileOp::Sync(handle) => self.file(*handle)?.sync()?,
            FileOp::SyncData(handle) => self.file(*handle)?.sync_data()?,
            FileOp::SyncDir(path) => self.tree.sync_dir(path)?,
            FileOp::SyncAll => self.tree.sync_all()?,
            _ => {}
        }
        Ok(())
    }

    /// Operations that change what files are called.
    fn name(&mut self, op: &FileOp) -> Result<(), JobError> {
        match op {
            FileOp::Rename { from, to } if self.left_out.remove(from) => {
                self.left_out.insert(to.clone());
            }
            FileOp::Rename { from, to } => self.tree.rename(from, to)?,
            FileOp::Unlink(path) if self.left_out.remove(path) => {}
            FileOp::Unlink(path) => self.tree.unlink(path)?,
            FileOp::Link { existing, new } => {
                let linked = self.tree.link(existing, new);
                self.unless_unsupported(linked, new)?;
            }
            FileOp::Symlink(path) => {
                let linked = self.tree.symlink(path);
                self.unless_unsupported(linked, path)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A link that the file system does not know is left out, and noted.
    fn unless_unsupported(
        &mut self,
        linked: Result<(), FileFault>,
        path: &str,
    ) -> Result<(), JobError> {
        match linked {
            Err(FileFault { fault: Fault::Unsupported, .. }) => {
                self.left_out.insert(path.to_owned());
                self.links_left_out += 1;
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// Operations on an open file.
    fn in_file(&mut self, op: &FileOp) -> Result<(), JobError> {
        match op {
            FileOp::Write { handle, length, contents } => {
                self.write(*handle, None, *length, *contents)?;
            }
            FileOp::WriteAt { handle, offset, length, contents } => {
                self.write(*handle, Some(*offset), *length, *contents)?;
            }
            FileOp::Read { handle, length } => {
                let length = (*length).min(READ_MAX).as_len();
                let file = file_of(&self.open, *handle)?;
                let count = file.read(&mut self.buffer[..length])?;
                self.tally.read(Bytes(count as u64));
            }
            FileOp::Truncate { handle, length } => self.file(*handle)?.truncate(*length)?,
            FileOp::StartWriteBack(handle) => self.file(*handle)?.start_write_back()?,
            FileOp::AwaitWriteBack(handle) => self.file(*handle)?.await_write_back()?,
            FileOp::DropCache(handle) => self.file(*handle)?.drop_cache(),
            _ => {}
        }
        Ok(())
    }

    /// Writes `length`, from `offset` or where the file stands.
    fn write(
        &mut self,
        handle: Handle,
        offset: Option<Bytes>,
        length: Bytes,
        contents: Contents,
    ) -> Result<(), JobError> {
        let file = file_of(&self.open, handle)?;
        let mut done = Bytes::ZERO;
        while done < length {
            let piece = (length - done).min(WRITE_PIECE);
            let buffer = &mut self.buffer[..piece.as_len()];
            self.data.fill(buffer, contents);
            match offset {
                Some(offset) => file.write_at(buffer, offset + done)?,
                None => file.write(buffer)?,
            }
            done += piece;
        }
        self.tally.wrote(done);
        Ok(())
    }

    fn file(&self, handle: Handle) -> Result<&TreeFile, JobError> {
        file_of(&self.open, handle)
    }
}

fn file_of(
    open: &[Option<TreeFile>; Handle::COUNT],
    handle: Handle,
) -> Result<&TreeFile, JobError> {
    open.get(handle.index()).and_then(Option::as_ref).ok_or(JobError::NotOpen(handle.0))
}

const fn usage(how: Opening) -> FileUse {
    match how {
        Opening::Create => FileUse::Create,
        Opening::Append => FileUse::Append,
        Opening::Update => FileUse::Update,
        Opening::Read => FileUse::Read,
        Opening::ReadPieces => FileUse::ReadPieces,
    }
}
