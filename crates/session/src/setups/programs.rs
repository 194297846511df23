//! Where the programs are that make file systems and attach loop devices.

use std::fs;
use std::path::PathBuf;

/// Where `program` is: in the path, or in the system's own directories, which users seldom have in
/// theirs.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(program))
        .find(|file| fs::metadata(file).is_ok_and(|metadata| metadata.is_file()))
}
