//! The Debian package of one target, through cargo-deb.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::targets::Target;
use super::{Release, repack};
use crate::workspace::cargo;

/// dpkg and apt refuse nothing by size; a Pi with a slow line does. A larger package is named and made.
const SIZE_AIM_BYTES: u64 = 3_000_000;

/// Makes the package of `architecture` from what was built.
///
/// # Errors
/// cargo-deb failed.
pub(crate) fn package(target: &Target, architecture: &str, release: &Release) -> Result<()> {
    let file = release.out.join(format!("cardproof_{}-1_{architecture}.deb", release.version));
    let status = Command::new(cargo())
        .args(["deb", "--quiet", "--no-build", "--no-strip", "--locked"])
        .args(["--profile", "dist", "--package", "cardproof-cli", "--deb-revision", "1"])
        .args(["--target", target.triple])
        .arg("--output")
        .arg(&file)
        .current_dir(&release.root)
        .env("CARGO_TARGET_DIR", &release.target_directory)
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .status()
        .context("cannot start cargo deb")?;
    ensure!(status.success(), "cargo deb failed for {architecture}");
    repack::repack(&file, target.xz)?;
    let size = fs::metadata(&file)?.len();
    let verdict = if size < SIZE_AIM_BYTES { "below" } else { "ABOVE" };
    println!("{architecture}: package of {size} bytes, {verdict} the aim of {SIZE_AIM_BYTES}");
    Ok(())
}

/// All packages in `out`, sorted by name.
///
/// # Errors
/// The directory cannot be read.
pub(crate) fn packages(out: &Path) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(out)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "deb");
    let mut packages: Vec<PathBuf> = files.into_iter().filter(is_package).collect();
    packages.sort();
    Ok(packages)
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
