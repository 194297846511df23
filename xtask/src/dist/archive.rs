//! Archives whose bytes depend on their contents alone, and the list of their sums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Release;

/// Packs `directory` (its last name becomes the archive's only folder) as `NAME.tar.gz`.
///
/// # Errors
/// tar or gzip failed.
pub(crate) fn pack(directory: &Path, release: &Release) -> Result<PathBuf> {
    let name = directory.file_name().context("a folder without a name")?;
    let parent = directory.parent().context("a folder without a parent")?;
    let tar = release.out.join(name).with_added_extension_text("tar");
    run(Command::new("tar")
        .args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=gnu", "--mode=u+rw,go+r-w,a+X"])
        .arg(format!("--mtime=@{}", release.epoch))
        .arg("--file")
        .arg(&tar)
        .arg("--directory")
        .arg(parent)
        .arg(name))?;
    // Without a name and a time in the header.
    run(Command::new("gzip").args(["--no-name", "--force", "--best"]).arg(&tar))?;
    Ok(tar.with_added_extension_text("gz"))
}

/// Writes `SHA256SUMS` over all files of `out`, sorted by name.
///
/// # Errors
/// sha256sum failed, or the list cannot be written.
pub(crate) fn write_sums(out: &Path) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(out)?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != SUMS)
        .collect();
    names.sort();
    let output = Command::new("sha256sum")
        .args(&names)
        .current_dir(out)
        .output()
        .context("cannot start sha256sum; install coreutils")?;
    ensure!(output.status.success(), "sha256sum failed");
    fs::write(out.join(SUMS), output.stdout).context("cannot write the sums")
}

/// The list of sums, as `sha256sum --check` reads it.
pub(crate) const SUMS: &str = "SHA256SUMS";

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} failed");
    Ok(())
}

/// A further ending of a file name that has dots of its own.
trait AddedExtension {
    fn with_added_extension_text(&self, extension: &str) -> PathBuf;
}

impl AddedExtension for PathBuf {
    fn with_added_extension_text(&self, extension: &str) -> PathBuf {
        let mut name = self.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        name.into()
    }
}
