//! The Debian package of one target, through cargo-deb.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Release;
use super::targets::Target;
use crate::workspace::cargo;

/// dpkg and apt refuse nothing by size; a Pi with a slow line does. A larger package is named and made.
const SIZE_AIM_BYTES: u64 = 3_000_000;

/// Makes the package of `architecture` from what was built, and returns its path.
///
/// # Errors
/// cargo-deb failed.
pub(crate) fn package(target: &Target, architecture: &str, release: &Release) -> Result<PathBuf> {
    let file = release.out.join(format!("cardproof_{}-1_{architecture}.deb", release.version));
    let status = Command::new(cargo())
        .args(["deb", "--quiet", "--no-build", "--no-strip", "--locked"])
        .args(["--package", "cardproof-cli", "--deb-revision", "1"])
        .args(["--target", target.triple])
        .arg("--output")
        .arg(&file)
        .current_dir(&release.root)
        .env("CARGO_TARGET_DIR", &release.target_directory)
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .status()
        .context("cannot start cargo deb")?;
    ensure!(status.success(), "cargo deb failed for {architecture}");
    let size = fs::metadata(&file)?.len();
    let verdict = if size < SIZE_AIM_BYTES { "below" } else { "ABOVE" };
    println!("{architecture}: package of {size} bytes, {verdict} the aim of {SIZE_AIM_BYTES}");
    Ok(file)
}

/// Writes Debian's form of the change log, which lists releases only by number and date.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_changelog(release: &Release, to: &Path) -> Result<()> {
    let Release { version, date_rfc2822, .. } = release;
    let text = format!(
        "cardproof ({version}-1) stable; urgency=medium\n\n  * Release {version}. The changes are in \
         /usr/share/doc/cardproof/CHANGELOG.md.\n\n -- {MAINTAINER}  {date_rfc2822}\n"
    );
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}

/// As `crates/cli/Cargo.toml` names him too.
const MAINTAINER: &str = "cardproof developers <packages@cardproof.invalid>";
