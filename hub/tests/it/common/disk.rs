//! A small disk in memory that a test can fill. A shell takes it away at the end of the process, also after a kill.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A file system of a few megabytes.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    place: PathBuf,
    orders: Option<ChildStdin>,
    shell: Child,
}

const SCRIPT: &str = r#"
    mount -t tmpfs -o "size=$2" tmpfs "$1" || { rmdir "$1"; exit 1; }
    echo made
    read -r _
    umount -l "$1"
    rmdir "$1"
"#;

impl SmallDisk {
    /// One of `size`, such as `8m`.
    pub(crate) fn new(size: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("a small disk is mounted, which takes root".to_owned());
        }
        let place = tempfile::Builder::new().prefix("cardproof-disk-").tempdir().unwrap().keep();
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(&place)
            .arg(size)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        let stdout = shell.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        if line.trim() != "made" {
            return Err("no tmpfs can be mounted here".to_owned());
        }
        Ok(Self { place, orders: shell.stdin.take(), shell })
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> &Path {
        &self.place
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.shell.wait();
    }
}

/// Takes all room that `directory`'s file system has, in one file, and returns its path.
pub(crate) fn fill(directory: &Path) -> PathBuf {
    use std::io::Write;
    let path = directory.join("ballast");
    let mut file = fs::File::create(&path).unwrap();
    // Large pieces first, then whatever is left.
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    path
}
