//! The compiler of the tests' build: clippy's own.
//!
//! Cargo starts this program in place of rustc for every crate of the workspace (`RUSTC_WORKSPACE_WRAPPER`). So one
//! build gives programs and lints; `cargo clippy` would read every crate again, the foreign ones too. Cargo keeps
//! nothing of a crate that failed: what is at fault is faulted again.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

/// The variable that makes this program a compiler.
const COMPILES: &str = "CARDPROOF_COMPILES";

/// The compiler with clippy's lints in it.
const CLIPPY_DRIVER: &str = "clippy-driver";

/// This program, also where cargo has built it anew meanwhile.
const OWN: &str = "/proc/self/exe";

/// What `cargo clippy -- -D warnings …` hands on. Clippy's rule on `SAFETY:` comments is asked for here, so that
/// tidy need not know it.
const LINTS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__\
                     -D__CLIPPY_HACKERY__clippy::undocumented_unsafe_blocks__CLIPPY_HACKERY__";

/// Fuzz targets have no `main` of their own, so they cannot be linked.
const WITHOUT_MAIN: &str = "cardproof-fuzz";

/// Makes `cargo` compile the workspace by this program.
///
/// # Errors
/// This program cannot be copied to where cargo finds it while it builds this program anew.
pub(crate) fn put_in(cargo: &mut Command, place: &Path) -> Result<()> {
    let compiler = place.join("compiler");
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    let new = place.join(format!("compiler.{}", std::process::id()));
    fs::copy(OWN, &new)
        .and_then(|_| fs::rename(&new, &compiler))
        .with_context(|| format!("cannot write {}", compiler.display()))?;
    cargo.env("RUSTC_WORKSPACE_WRAPPER", compiler);
    cargo.env("CLIPPY_ARGS", LINTS);
    cargo.env(COMPILES, "1");
    Ok(())
}

/// Whether this Rust has what judges the source.
pub(crate) fn has_lints() -> bool {
    let asked = Command::new(CLIPPY_DRIVER).arg("--version").stderr(Stdio::null()).output();
    asked.is_ok_and(|output| output.status.success())
}

/// How this program ends as a compiler; `None` where it was started as what it is.
pub(crate) fn run() -> Option<ExitCode> {
    std::env::var_os(COMPILES)?;
    Some(compile().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    }))
}

fn compile() -> Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let rustc = words.next().context("cargo names no compiler")?;
    let words: Vec<OsString> = words.collect();
    // What cargo or a build script asks of the compiler itself.
    if std::env::var_os("CARGO_PRIMARY_PACKAGE").is_none() {
        bail!(Command::new(&rustc).args(&words).exec());
    }
    let mut command = Command::new(&rustc);
    if has_lints() {
        command = Command::new(CLIPPY_DRIVER);
        command.arg(&rustc);
    }
    let is_linked = !words.iter().any(|word| word == "bin")
        || std::env::var_os("CARGO_PKG_NAME").is_none_or(|name| name != WITHOUT_MAIN);
    let is_test = words.iter().any(|word| word == "--test");
    command.args(words.iter().map(|word| match is_linked {
        true if is_test => unoptimised(word),
        true => word.clone(),
        false => unlinked(word),
    }));
    let status = command.status().context("cannot start the compiler")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The compiler's argument `word`, without the request to link.
fn unlinked(word: &OsStr) -> OsString {
    match word.to_str().and_then(|word| word.strip_prefix("--emit=")) {
        Some(kinds) => format!("--emit={}", kinds.replace("link", "metadata")).into(),
        None => word.to_owned(),
    }
}

/// The compiler's argument `word`, without optimisation where it asks for that. A profile has one level for a crate
/// and its tests; what is hot is in the crate, and its tests take three times as long to build at its level.
fn unoptimised(word: &OsStr) -> OsString {
    match word.to_str().and_then(|word| word.strip_prefix("opt-level=")) {
        Some(_) => "opt-level=0".into(),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_level_of_a_test_is_lowered() {
        assert_eq!(unoptimised(OsStr::new("opt-level=2")), "opt-level=0");
        assert_eq!(
            unoptimised(OsStr::new("debuginfo=line-tables-only")),
            "debuginfo=line-tables-only"
        );
    }

    #[test]
    fn a_program_without_main_is_only_looked_at() {
        assert_eq!(unlinked(OsStr::new("--emit=dep-info,link")), "--emit=dep-info,metadata");
        assert_eq!(unlinked(OsStr::new("link")), "link");
    }
}
