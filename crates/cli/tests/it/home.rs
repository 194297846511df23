//! A user's surroundings for one test: a directory to measure in, files of the user's in it, and
//! a data directory for records.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use cardproof_testkit::{Noise, Throttle};
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use tempfile::TempDir;

/// Options of a run that is as small as a run can be.
pub(crate) const SMALL: &[&str] = &["--size", "16M", "--time-budget", "2s", "--seed", "1"];

/// A place to measure in and a place for records, both removed at the end.
pub(crate) struct Home {
    data: TempDir,
    place: TempDir,
}

impl Home {
    /// A fresh one. The place to measure is below the build directory, which is on a disk where
    /// the directory for temporary files may be in memory.
    pub(crate) fn new() -> Self {
        Self::with_place(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// One whose place other users can reach, which is not so for every build directory.
    pub(crate) fn for_others() -> Self {
        Self::with_place(tempfile::tempdir().unwrap())
    }

    /// One on the file system that is mounted at `root`, records included: the only one of a small board.
    pub(crate) fn on(root: &Path) -> Self {
        let data = tempfile::tempdir_in(root).unwrap();
        let home = Self { data, place: tempfile::tempdir_in(root).unwrap() };
        write_user_files(home.place());
        home
    }

    fn with_place(place: TempDir) -> Self {
        let home = Self { data: tempfile::tempdir().unwrap(), place };
        write_user_files(home.place());
        home
    }

    /// The directory to measure in.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Where the records go.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// The saved records, oldest first.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.data().join("cardproof/records")) else {
            return Vec::new();
        };
        let mut records: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        records.sort();
        records
    }

    /// A command of cardproof in these surroundings, with `words` as arguments.
    pub(crate) fn cardproof(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cardproof"));
        self.surround(&mut command);
        command.args(words);
        command
    }

    /// The same under a limit set by the kernel.
    pub(crate) fn cardproof_in(&self, throttle: &Throttle, words: &[&str]) -> Command {
        let mut command = throttle.command(env!("CARGO_BIN_EXE_cardproof"));
        self.surround(&mut command);
        command.args(words);
        command
    }

    /// Sets what a user's shell would, and nothing of ours.
    pub(crate) fn surround(&self, command: &mut Command) {
        command
            .env("XDG_DATA_HOME", self.data())
            .env("HOME", self.data())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("COLUMNS")
            .env("TERM", "xterm-256color");
    }
}

/// Files as a user has them, in `directory`: plain, hidden, in a subdirectory, empty, a link.
pub(crate) fn write_user_files(directory: &Path) {
    let mut bytes = vec![0; 100_000];
    Noise::new(11).fill(&mut bytes);
    fs::write(directory.join("photo.jpg"), &bytes).unwrap();
    fs::write(directory.join(".hidden"), "kept").unwrap();
    fs::create_dir(directory.join("letters")).unwrap();
    fs::write(directory.join("letters/one.txt"), "Dear").unwrap();
    fs::write(directory.join("empty"), "").unwrap();
    std::os::unix::fs::symlink("photo.jpg", directory.join("link")).unwrap();
}

/// The names of our own directories in `place`.
pub(crate) fn our_directories(place: &Path) -> Vec<String> {
    fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".cardproof-"))
        .collect()
}

/// A path as an argument.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().expect("the test's own paths are text")
}

/// Takes all that is free on the file system of `path`, at once.
pub(crate) fn fill_up(path: &Path) {
    let file = File::create(path).unwrap();
    let mut offset = 0;
    // What is free changes while this goes on; it is full when not even a MiB is to be had.
    for piece in [64 << 20, 8 << 20, 1 << 20, 64 << 10, 4 << 10] {
        while fallocate(&file, FallocateFlags::empty(), offset, piece).is_ok() {
            offset += piece;
        }
    }
    let free_bytes = free_bytes(path);
    assert!(free_bytes < 1 << 20, "{free_bytes} bytes are still free");
}

/// What is free on the file system of `path`.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    let left = statvfs(path).unwrap();
    left.f_bavail * left.f_frsize
}
