//! What may change between two phases: the way to the storage, and the state of the file.
//!
//! Tools that measure through the page cache, or that write a file for the first time, measure
//! something else than one that overwrites a file past the cache. To do what they do, a target
//! must be able to do both in one run.

use cardproof_units::Bytes;

/// Whether operations pass the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Caching {
    /// Past it, where the file system can.
    #[default]
    Bypassed,
    /// Through it, one plain system call after the other. The cache is empty at first.
    Through {
        /// The system is told that addresses come in random order, so that it reads nothing ahead
        /// (`POSIX_FADV_RANDOM`).
        random: bool,
    },
}

/// The state of the file that operations work on. On a device, and on a file that is not our own,
/// nothing is ever fresh: it is used as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum FileState {
    /// As the operations before have left it.
    #[default]
    AsIs,
    /// Empty, and growing with what is written, as most tools begin.
    Growing,
    /// Empty, with space for so many bytes reserved where the file system can do that without
    /// writing it, as fio begins.
    Reserved(Bytes),
}

/// How operations are handed to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Calls {
    /// As the engine does it best, several at a time where there are several.
    #[default]
    Queued,
    /// One plain system call after the other on the caller's thread, as iozone, dd and hdparm do.
    /// A queue may hand an operation to a worker where the file system has to wait for something,
    /// as in a file that grows, and on a busy machine that costs more than the operation.
    Plain,
}

/// All of it together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Arrangement {
    /// The way to the storage.
    pub caching: Caching,
    /// The file.
    pub file: FileState,
    /// The system calls; through the page cache they are always plain.
    pub calls: Calls,
}
