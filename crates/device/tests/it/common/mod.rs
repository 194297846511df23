//! A system laid out in a directory: the files of sysfs and procfs that a machine would have.
//!
//! The shapes follow Linux 6.12: block devices are directories below `sys/devices`, reached by
//! links in `sys/dev/block` and `sys/class/block`. Names and numbers are invented, and each
//! machine has the serial numbers, host names and paths that must never get into a record.

pub(crate) mod machines;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use tempfile::TempDir;

/// A machine's files, removed with the value.
pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    /// A machine without any file.
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn root(&self) -> Sysroot {
        Sysroot::new(self.directory.path())
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    /// Writes `content` to `path`, which may not be there yet.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Writes `NAME CONTENT` lines as files below `directory`.
    pub(crate) fn files(&self, directory: &str, lines: &str) -> &Self {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (name, content) = line.split_once(' ').unwrap();
            self.file(&format!("{directory}/{name}"), format!("{}\n", content.trim()));
        }
        self
    }

    /// Adds to a file that may be there.
    pub(crate) fn append(&self, path: &str, line: &str) -> &Self {
        let mut content = fs::read(self.at(path)).unwrap_or_default();
        content.extend_from_slice(line.as_bytes());
        self.file(path, content)
    }

    /// A link at `path` to `target`, both below the root; relative, as the kernel's are.
    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        let depth = Path::new(path).components().count() - 1;
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(Path::new(&"../".repeat(depth)).join(target), at).unwrap();
        self
    }

    /// A block device in `directory`, whose last part is its name.
    pub(crate) fn block(&self, directory: &str, number: &str, sectors: u64) -> &Self {
        let name = directory.rsplit('/').next().unwrap();
        self.file(&format!("{directory}/dev"), format!("{number}\n"))
            .file(&format!("{directory}/size"), format!("{sectors}\n"))
            .file(&format!("{directory}/ro"), "0\n")
            .link(&format!("sys/dev/block/{number}"), directory)
            .link(&format!("sys/class/block/{name}"), directory)
    }

    /// A partition of the device in `directory`.
    pub(crate) fn partition(
        &self,
        directory: &str,
        name: &str,
        number: &str,
        sectors: u64,
    ) -> &Self {
        let below = format!("{directory}/{name}");
        self.block(&below, number, sectors).file(&format!("{below}/partition"), "1\n")
    }

    /// The device `upper` is made of the device `lower`; both are directories.
    pub(crate) fn stack(&self, upper: &str, lower: &str) -> &Self {
        let name = |directory: &str| directory.rsplit('/').next().unwrap().to_owned();
        self.link(&format!("{upper}/slaves/{}", name(lower)), lower)
            .link(&format!("{lower}/holders/{}", name(upper)), upper)
    }

    /// Adds a line to the mount table.
    pub(crate) fn mount(&self, line: &str) -> &Self {
        self.append("proc/self/mountinfo", &format!("{line}\n"))
    }

    /// A table of swap areas with `lines` below its heading.
    pub(crate) fn swaps(&self, lines: &str) -> &Self {
        let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        self.file("proc/swaps", format!("{heading}{lines}"))
    }
}
