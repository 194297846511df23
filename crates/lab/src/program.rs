//! The program itself, for what runs it: built as users get it, or quickly.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The variable by which `cargo xtask test` says where it has built the program quickly.
const BUILT: &str = "CARDPROOF_BUILT";

/// How the program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// As users get it: with the profile of `cargo xtask dist`.
    Dist,
    /// In a fraction of the time, for what does not depend on its speed.
    Quick,
}

/// Builds `cardproof` and says where it is.
///
/// # Errors
/// It does not build.
pub(crate) fn build(how: Build) -> Result<PathBuf> {
    if let (Build::Quick, Some(built)) = (how, std::env::var_os(BUILT)) {
        return Ok(built.into());
    }
    let mut command = cargo();
    command.args(["build", "--quiet"]).stdin(Stdio::null());
    let folder = match how {
        Build::Dist => {
            command.args(["--profile", "dist", "--package", "cardproof-cli"]);
            "dist"
        }
        // The same build as that of the tests, so that nothing is compiled a second time for it.
        Build::Quick => {
            command.args(["--workspace", "--all-features", "--bin", "cardproof"]);
            "debug"
        }
    };
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "the program does not build");
    Ok(target_directory()?.join(folder).join("cardproof"))
}

/// The cargo that started this, or else the one in the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where downloads of that kind are kept between runs; made if it is not there.
///
/// # Errors
/// It cannot be made.
pub(crate) fn cache(kind: &str) -> Result<PathBuf> {
    let cache = target_directory()?.join(kind);
    std::fs::create_dir_all(&cache)?;
    Ok(cache)
}

/// Cargo's target directory, in which this program lies two levels down.
///
/// # Errors
/// The program was started from elsewhere.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("this program is not in a target directory")?;
    Ok(target.to_owned())
}
