//! One operation on files, as a program asks for it.
//!
//! A path is relative, `/` between its parts, without `.` or `..`: it leads nowhere but below the
//! directory in which the job runs. An open file goes by a small number. An operation says what a
//! program asked of the system, not what the storage then does: that is the file system's business,
//! and what is measured.

use cardproof_units::Bytes;

/// An open file's number, from 0 to [`Handle::COUNT`] - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub u8);

impl Handle {
    /// So many files are open at a time at most.
    pub const COUNT: usize = 8;

    /// The number as an index into a table of open files.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is made, and must not be there yet.
    Create,
    /// It is made where it is not there; writing goes to its end.
    Append,
    /// It is there, and is written to within.
    Update,
    /// It is there, and is only read, as the kernel sees fit to read ahead.
    Read,
    /// It is there, and is only read, exactly what is asked for and no more.
    ReadPieces,
}

/// How well what is written can be compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Not at all, as what is compressed already: archives, pictures, packs.
    Incompressible,
    /// To about 55 %, as programs and documents can.
    Compressible,
}

/// One operation on files. Only [`Sync`](Self::Sync), [`SyncData`](Self::SyncData),
/// [`SyncDir`](Self::SyncDir) and [`SyncAll`](Self::SyncAll) promise that anything is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// What follows belongs to this step of the job, by its index.
    Step(usize),
    /// Makes a directory that is not there.
    MakeDir(String),
    /// Removes an empty directory.
    RemoveDir(String),
    /// Makes the entries of a directory durable (`fsync` on it).
    SyncDir(String),
    /// Lists a directory.
    List(String),
    /// Opens a file under a number that is free.
    Open {
        /// The number.
        handle: Handle,
        /// The file.
        path: String,
        /// What for.
        how: Opening,
    },
    /// Writes on from where the last write or read ended.
    Write {
        /// The open file.
        handle: Handle,
        /// How many bytes, in the pieces of [`WRITE_PIECE`].
        length: Bytes,
        /// What.
        contents: Contents,
    },
    /// Writes anywhere within.
    WriteAt {
        /// The open file.
        handle: Handle,
        /// Where it begins.
        offset: Bytes,
        /// How many bytes.
        length: Bytes,
        /// What.
        contents: Contents,
    },
    /// Reads on from where the last write or read ended, or to the end of the file.
    Read {
        /// The open file.
        handle: Handle,
        /// How many bytes, in one call, at most [`READ_MAX`].
        length: Bytes,
    },
    /// Cuts or lengthens a file.
    Truncate {
        /// The open file.
        handle: Handle,
        /// Its length from then on.
        length: Bytes,
    },
    /// Starts to write the file's data back, and does not wait (`sync_file_range`).
    StartWriteBack(Handle),
    /// Waits for what is being written back (`sync_file_range`).
    AwaitWriteBack(Handle),
    /// Makes the file durable (`fsync`).
    Sync(Handle),
    /// Makes the file's data durable (`fdatasync`).
    SyncData(Handle),
    /// Gives the file's clean pages in the page cache back (`POSIX_FADV_DONTNEED`).
    DropCache(Handle),
    /// Closes a file.
    Close(Handle),
    /// Renames a file, over another where there is one.
    Rename {
        /// The file.
        from: String,
        /// Its new name.
        to: String,
    },
    /// Gives a file a second name that is free.
    Link {
        /// The file.
        existing: String,
        /// The second name.
        new: String,
    },
    /// Makes a symbolic link that is not there. It leads to nothing.
    Symlink(String),
    /// Removes a file's or a symbolic link's name.
    Unlink(String),
    /// Looks whether something is there.
    Stat(String),
    /// Makes everything on the file system durable (`syncfs`).
    SyncAll,
}

/// Longer writes are made in pieces of this, as programs that copy through a buffer make them;
/// dpkg's is of this size.
pub const WRITE_PIECE: Bytes = Bytes::kib(32);

/// The longest read in one call.
pub const READ_MAX: Bytes = Bytes::kib(256);

impl FileOp {
    /// Whether it waits until something is durable.
    #[must_use]
    pub const fn is_sync(&self) -> bool {
        matches!(self, Self::Sync(_) | Self::SyncData(_) | Self::SyncDir(_) | Self::SyncAll)
    }
}
