//! Where the programs are that make file systems and attach loop devices, and which file systems the
//! kernel has.

use std::fs;
use std::path::PathBuf;

use rustix::mount::{FsOpenFlags, fsopen};

/// Where `program` is: in the path, or in the system's own directories, which users seldom have in
/// theirs.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(program))
        .find(|file| fs::metadata(file).is_ok_and(|metadata| metadata.is_file()))
}

/// Whether the kernel has `filesystem`, or a module of it that loads. Nothing is mounted. Where the question
/// is not allowed, making it will tell.
pub(super) fn is_in_kernel(filesystem: &str) -> bool {
    !matches!(fsopen(filesystem, FsOpenFlags::FSOPEN_CLOEXEC), Err(rustix::io::Errno::NODEV))
}
