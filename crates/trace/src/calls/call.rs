//! One system call that touches a file.

use cardproof_units::{Bytes, Nanos};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallKind {
    /// Opens a file, and makes it where [`OpenHow::CREATES`] says so.
    Open,
    /// Closes one.
    Close,
    /// Reads from one.
    Read,
    /// Writes to one.
    Write,
    /// `fsync`: makes data and attributes durable.
    Sync,
    /// `fdatasync`: makes data durable.
    DataSync,
    /// `sync_file_range`: starts or awaits write-back, and makes nothing durable.
    RangeSync,
    /// `sync` or `syncfs`: makes a whole file system durable.
    SyncAll,
    /// Gives a file another name.
    Rename,
    /// Gives it one name more.
    Link,
    /// Makes a symbolic link.
    Symlink,
    /// Takes a name away.
    Unlink,
    /// Makes a directory.
    MakeDirectory,
    /// Removes one.
    RemoveDirectory,
    /// Cuts a file, or lengthens it.
    Truncate,
    /// Reserves room, or punches holes.
    Allocate,
    /// Copies from one file to another inside the kernel.
    Copy,
    /// Maps a file into memory.
    Map,
    /// Starts a program.
    Execute,
    /// Asks for attributes, or whether there is such a file.
    Stat,
    /// Lists a directory.
    List,
    /// Changes owner, mode, times or extended attributes.
    Attributes,
    /// Advises the page cache.
    Advise,
}

impl CallKind {
    /// Every kind, in the order of their numbers in a file.
    pub const ALL: [Self; 23] = [
        Self::Open,
        Self::Close,
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::DataSync,
        Self::RangeSync,
        Self::SyncAll,
        Self::Rename,
        Self::Link,
        Self::Symlink,
        Self::Unlink,
        Self::MakeDirectory,
        Self::RemoveDirectory,
        Self::Truncate,
        Self::Allocate,
        Self::Copy,
        Self::Map,
        Self::Execute,
        Self::Stat,
        Self::List,
        Self::Attributes,
        Self::Advise,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "fsync",
            Self::DataSync => "fdatasync",
            Self::RangeSync => "sync_file_range",
            Self::SyncAll => "sync, syncfs",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::Unlink => "unlink",
            Self::MakeDirectory => "mkdir",
            Self::RemoveDirectory => "rmdir",
            Self::Truncate => "truncate",
            Self::Allocate => "fallocate",
            Self::Copy => "copy in the kernel",
            Self::Map => "mmap",
            Self::Execute => "execve",
            Self::Stat => "stat, access",
            Self::List => "list a directory",
            Self::Attributes => "chmod, chown, times",
            Self::Advise => "fadvise",
        }
    }
}

/// How a file was opened: a set of the constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenHow(pub u8);

impl OpenHow {
    /// For writing.
    pub const WRITES: Self = Self(1);
    /// It is made where it is not there (`O_CREAT`).
    pub const CREATES: Self = Self(1 << 1);
    /// It must not be there (`O_EXCL`).
    pub const EXCLUSIVE: Self = Self(1 << 2);
    /// It is emptied (`O_TRUNC`).
    pub const TRUNCATES: Self = Self(1 << 3);
    /// Writes go to its end (`O_APPEND`).
    pub const APPENDS: Self = Self(1 << 4);
    /// Every write is durable (`O_SYNC`, `O_DSYNC`).
    pub const SYNCS: Self = Self(1 << 5);
    /// Past the page cache (`O_DIRECT`).
    pub const DIRECT: Self = Self(1 << 6);

    /// Whether all of `other` is in it.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began, from the trace's start. Calls are in this order.
    pub at: Nanos,
    /// How long it took, where known.
    pub took: Option<Nanos>,
    /// Which process or thread called, from 0 in the order of their first calls.
    pub process: u32,
    /// What it does.
    pub kind: CallKind,
    /// Whether it failed.
    pub failed: bool,
    /// The file's name as a number, from 1; `None` where it has none or it is not known.
    pub file: Option<u32>,
    /// The second file's: the new name of a rename or link, the source of a copy.
    pub other: Option<u32>,
    /// Where it reads or writes; `None` at the end of a file, or where it is not known.
    pub offset: Option<Bytes>,
    /// How much it has read, written, reserved, mapped or copied; the length after a truncation.
    pub length: Bytes,
    /// How it was opened.
    pub how: OpenHow,
}

impl Call {
    /// A call of `kind` that says nothing of its circumstances.
    #[must_use]
    pub const fn new(at: Nanos, kind: CallKind) -> Self {
        Self {
            at,
            took: None,
            process: 0,
            kind,
            failed: false,
            file: None,
            other: None,
            offset: None,
            length: Bytes::ZERO,
            how: OpenHow(0),
        }
    }
}
