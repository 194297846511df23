//! Operations that are put together: what the jobs are written in.

use std::collections::VecDeque;

use cardproof_units::Bytes;

use super::op::{Contents, FileOp, Handle, Opening};

/// The handle of files that are opened, used and closed at once.
pub(super) const FILE: Handle = Handle(0);

/// Operations in order, to be taken from the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    ops: VecDeque<FileOp>,
}

impl Batch {
    /// The next operation.
    pub(super) fn take(&mut self) -> Option<FileOp> {
        self.ops.pop_front()
    }

    /// Appends `op`.
    pub(super) fn push(&mut self, op: FileOp) {
        self.ops.push_back(op);
    }

    /// Appends all of `ops`.
    pub(super) fn extend(&mut self, ops: impl IntoIterator<Item = FileOp>) {
        self.ops.extend(ops);
    }

    /// Opens `path` as [`FILE`].
    pub(super) fn open(&mut self, path: impl Into<String>, how: Opening) {
        self.push(FileOp::Open { handle: FILE, path: path.into(), how });
    }

    /// Writes to [`FILE`].
    pub(super) fn write(&mut self, length: Bytes, contents: Contents) {
        if length > Bytes::ZERO {
            self.push(FileOp::Write { handle: FILE, length, contents });
        }
    }

    /// A new file of `size`, and nothing awaited.
    pub(super) fn file(&mut self, path: impl Into<String>, size: Bytes, contents: Contents) {
        self.open(path, Opening::Create);
        self.write(size, contents);
        self.push(FileOp::Close(FILE));
    }

    /// A new file of `size` that is durable, though its name may not be.
    pub(super) fn durable(&mut self, path: impl Into<String>, size: Bytes, contents: Contents) {
        self.open(path, Opening::Create);
        self.write(size, contents);
        self.push(FileOp::Sync(FILE));
        self.push(FileOp::Close(FILE));
    }

    /// `length` more bytes at the end of `path`.
    pub(super) fn append(&mut self, path: impl Into<String>, length: Bytes) {
        self.open(path, Opening::Append);
        self.write(length, Contents::Compressible);
        self.push(FileOp::Close(FILE));
    }

    /// Reads all `size` of `path` in pieces of `piece`.
    pub(super) fn read(
        &mut self,
        path: impl Into<String>,
        size: Bytes,
        piece: Bytes,
        how: Opening,
    ) {
        self.open(path, how);
        let mut left = size;
        while left > Bytes::ZERO {
            let length = left.min(piece);
            self.push(FileOp::Read { handle: FILE, length });
            left = left - length;
        }
        self.push(FileOp::Close(FILE));
    }

    /// Renames `from` to `to`.
    pub(super) fn rename(&mut self, from: impl Into<String>, to: impl Into<String>) {
        self.push(FileOp::Rename { from: from.into(), to: to.into() });
    }

    /// Removes a file's name.
    pub(super) fn unlink(&mut self, path: impl Into<String>) {
        self.push(FileOp::Unlink(path.into()));
    }
}

/// The directories above `path`, outermost first.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_above_a_path() {
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(above("a").count(), 0);
    }

    #[test]
    fn a_file_is_read_to_its_end() {
        let mut batch = Batch::default();
        batch.read("a", Bytes(100), Bytes(48), Opening::Read);
        let mut lengths = Vec::new();
        while let Some(op) = batch.take() {
            if let FileOp::Read { length, .. } = op {
                lengths.push(length.get());
            }
        }
        assert_eq!(lengths, [48, 48, 4]);
    }
}
