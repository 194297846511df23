//! The manual pages and completions of a release, made by the program itself.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run_command;

use super::targets::Target;
use super::{Release, build, deb};
use crate::workspace::cargo;

/// Writes them, and Debian's change log, into a directory, and returns its path.
///
/// # Errors
/// The program does not build, or cannot print them.
pub(crate) fn write(chosen: &[&Target], release: &Release) -> Result<PathBuf> {
    // Here also where cargo builds elsewhere: the manifest of the program names this place to cargo-deb.
    let pages = release.root.join("target/dist-pages");
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    let manual = pages.join("man");
    fs::create_dir_all(&manual)?;
    let program = program_for_this_machine(chosen, release)?;
    let completions =
        [("bash", "cardproof.bash"), ("zsh", "_cardproof"), ("fish", "cardproof.fish")];
    for (shell, file) in completions {
        fs::write(pages.join(file), printed(&program, &["completions", shell])?)?;
    }
    printed(&program, &["manual-pages", &manual.to_string_lossy()])?;
    deb::write_changelog(release, &pages.join("changelog"))?;
    Ok(pages)
}

/// The release's own binary where this machine can run one of the chosen targets, else a quick build.
fn program_for_this_machine(chosen: &[&Target], release: &Release) -> Result<PathBuf> {
    if let Some(target) = chosen.iter().find(|target| target.name == ARCH) {
        return build::build(target, &release.root, &release.target_directory);
    }
    let status = Command::new(cargo())
        .args(["build", "--quiet", "--locked", "--package", "cardproof-cli"])
        .current_dir(&release.root)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the program does not build for this machine");
    Ok(release.target_directory.join("debug/cardproof"))
}

fn printed(program: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(run_command(command)?)
}
