//! The system calls of Linux that touch files, and where their arguments are.

use crate::calls::call::CallKind;

/// How the arguments of a call are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Opens `path` with flags; the number is the path's place.
    Open(usize),
    /// `creat`: opens a path for writing, made and emptied.
    Create,
    /// Acts on a descriptor.
    Descriptor(CallKind),
    /// Closes a descriptor.
    Close,
    /// Reads or writes where the descriptor stands.
    Moving(CallKind),
    /// Reads or writes at the offset that is the fourth argument.
    MovingAt(CallKind),
    /// Acts on a descriptor and a length, which is the argument of this number.
    Sized(CallKind, usize),
    /// Acts on a path; its number is its place, and the directory, if any, is before it.
    Path(CallKind, usize),
    /// Two paths, without or with their directories.
    TwoPaths(CallKind, bool),
    /// Copies to the first descriptor from the second, or the other way round.
    Copy {
        /// Which argument is the destination.
        to: usize,
        /// Which one is the source.
        from: usize,
    },
    /// Maps a descriptor.
    Map,
    /// Moves where the descriptor stands.
    Seek,
    /// Makes another descriptor for the same file.
    Duplicate,
    /// `fcntl`, which does so with some commands.
    Control,
    /// Changes the working directory to a path or to a descriptor's.
    WorkingDirectory,
    /// Makes another process or thread.
    Fork,
    /// `sync`.
    SyncAll,
}

/// The way of the call `name`; `None` where it touches no file.
pub(super) fn way_of(name: &str) -> Option<Way> {
    use CallKind as Kind;
    Some(match name {
        "open" => Way::Open(0),
        "openat" | "openat2" => Way::Open(1),
        "creat" => Way::Create,
        "close" => Way::Close,
        "read" | "readv" => Way::Moving(Kind::Read),
        "write" | "writev" => Way::Moving(Kind::Write),
        "pread64" | "preadv" | "preadv2" => Way::MovingAt(Kind::Read),
        "pwrite64" | "pwritev" | "pwritev2" => Way::MovingAt(Kind::Write),
        "fsync" => Way::Descriptor(Kind::Sync),
        "fdatasync" => Way::Descriptor(Kind::DataSync),
        "sync_file_range" | "sync_file_range2" => Way::Descriptor(Kind::RangeSync),
        "syncfs" => Way::Descriptor(Kind::SyncAll),
        "sync" => Way::SyncAll,
        "rename" => Way::TwoPaths(Kind::Rename, false),
        "renameat" | "renameat2" => Way::TwoPaths(Kind::Rename, true),
        "link" => Way::TwoPaths(Kind::Link, false),
        "linkat" => Way::TwoPaths(Kind::Link, true),
        "symlink" => Way::Path(Kind::Symlink, 1),
        "symlinkat" => Way::Path(Kind::Symlink, 2),
        "unlink" => Way::Path(Kind::Unlink, 0),
        "unlinkat" => Way::Path(Kind::Unlink, 1),
        "mkdir" => Way::Path(Kind::MakeDirectory, 0),
        "mkdirat" => Way::Path(Kind::MakeDirectory, 1),
        "rmdir" => Way::Path(Kind::RemoveDirectory, 0),
        "truncate" | "truncate64" => Way::Path(Kind::Truncate, 0),
        "ftruncate" | "ftruncate64" => Way::Sized(Kind::Truncate, 1),
        "fallocate" => Way::Sized(Kind::Allocate, 3),
        "sendfile" | "sendfile64" => Way::Copy { to: 0, from: 1 },
        "copy_file_range" | "splice" => Way::Copy { to: 2, from: 0 },
        "mmap" | "mmap2" => Way::Map,
        "lseek" | "_llseek" => Way::Seek,
        "dup" | "dup2" | "dup3" => Way::Duplicate,
        "fcntl" | "fcntl64" => Way::Control,
        "chdir" | "fchdir" => Way::WorkingDirectory,
        "clone" | "clone3" | "fork" | "vfork" => Way::Fork,
        "execve" => Way::Path(Kind::Execute, 0),
        "execveat" => Way::Path(Kind::Execute, 1),
        "stat" | "stat64" | "lstat" | "lstat64" | "access" | "statfs" | "statfs64" | "readlink" => {
            Way::Path(Kind::Stat, 0)
        }
        "newfstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => {
            Way::Path(Kind::Stat, 1)
        }
        "fstat" | "fstat64" | "fstatfs" | "fstatfs64" => Way::Descriptor(Kind::Stat),
        "getdents" | "getdents64" => Way::Descriptor(Kind::List),
        "fadvise64" | "fadvise64_64" | "readahead" => Way::Descriptor(Kind::Advise),
        "fchmod" | "fchown" | "fchown32" | "fsetxattr" | "fremovexattr" => {
            Way::Descriptor(Kind::Attributes)
        }
        "chmod" | "chown" | "lchown" | "chown32" | "lchown32" | "utime" | "utimes" | "setxattr"
        | "lsetxattr" | "removexattr" | "lremovexattr" => Way::Path(Kind::Attributes, 0),
        "fchmodat" | "fchmodat2" | "fchownat" | "utimensat" | "utimensat_time64" | "futimesat" => {
            Way::Path(Kind::Attributes, 1)
        }
        _ => return None,
    })
}
