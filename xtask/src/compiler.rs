//! The compiler of the tests' build: clippy's own, and rustdoc on the same source.
//!
//! Cargo starts this program in place of rustc for every crate of the workspace (`RUSTC_WORKSPACE_WRAPPER`). So one
//! build gives programs, lints and documentation; `cargo clippy` and `cargo doc` would each read every crate
//! again, the foreign ones too. Cargo keeps nothing of a crate that failed: what is at fault is faulted again.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

/// The variable that makes this program a compiler: with a directory for pages, or with nothing where the source is
/// not documented.
const PAGES: &str = "CARDPROOF_COMPILER_PAGES";

/// The compiler with clippy's lints in it.
const CLIPPY_DRIVER: &str = "clippy-driver";

/// This program, also where cargo has built it anew meanwhile.
const OWN: &str = "/proc/self/exe";

const RUSTDOC: &str = "rustdoc";

/// What `cargo clippy -- -D warnings …` hands on. Clippy's rule on `SAFETY:` comments is asked for here, so that
/// tidy need not know it.
const LINTS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__\
                     -D__CLIPPY_HACKERY__clippy::undocumented_unsafe_blocks__CLIPPY_HACKERY__";

/// Fuzz targets have no `main` of their own, so they cannot be linked.
const WITHOUT_MAIN: &str = "cardproof-fuzz";

/// Makes `cargo` compile the workspace by this program, and document it in `pages`.
///
/// # Errors
/// This program cannot be copied to where cargo finds it while it builds this program anew.
pub(crate) fn put_in(cargo: &mut Command, place: &Path, pages: Option<&Path>) -> Result<()> {
    let compiler = place.join("compiler");
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    let new = place.join(format!("compiler.{}", std::process::id()));
    fs::copy(OWN, &new)
        .and_then(|_| fs::rename(&new, &compiler))
        .with_context(|| format!("cannot write {}", compiler.display()))?;
    cargo.env("RUSTC_WORKSPACE_WRAPPER", compiler);
    cargo.env("CLIPPY_ARGS", LINTS);
    cargo.env(PAGES, pages.unwrap_or(Path::new("")));
    Ok(())
}

/// What this Rust lacks of what judges the source.
pub(crate) fn missing() -> Vec<&'static str> {
    [CLIPPY_DRIVER, RUSTDOC].into_iter().filter(|program| !is_there(program)).collect()
}

fn is_there(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    asked.is_ok_and(|output| output.status.success())
}

/// How this program ends as a compiler; `None` where it was started as what it is.
pub(crate) fn run() -> Option<ExitCode> {
    let pages = std::env::var_os(PAGES)?;
    Some(compile(&pages).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    }))
}

fn compile(pages: &OsStr) -> Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let rustc = words.next().context("cargo names no compiler")?;
    let words: Vec<OsString> = words.collect();
    // What cargo or a build script asks of the compiler itself.
    if std::env::var_os("CARGO_PRIMARY_PACKAGE").is_none() {
        bail!(Command::new(&rustc).args(&words).exec());
    }
    let mut command = Command::new(&rustc);
    if is_there(CLIPPY_DRIVER) {
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
    if !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    match pages_of(&words, pages) {
        Some(mut rustdoc) if is_there(RUSTDOC) => {
            let status = rustdoc.status().context("cannot start rustdoc")?;
            Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        _ => Ok(ExitCode::SUCCESS),
    }
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

/// The command that documents what the compiler was told to compile by `words`; `None` where `cargo doc` would not
/// document it.
fn pages_of(words: &[OsString], pages: &OsStr) -> Option<Command> {
    let has = |end: &str| words.iter().any(|word| Path::new(word).ends_with(end));
    let is_program = has("src/main.rs");
    if pages.is_empty()
        || words.iter().any(|word| word == "--test")
        || !(is_program || has("src/lib.rs"))
    {
        return None;
    }
    let mut command = Command::new(RUSTDOC);
    command.args(for_rustdoc(words)).args(["-D", "warnings", "--error-format=json"]);
    command.arg("--json=diagnostic-rendered-ansi").arg("--out-dir").arg(PathBuf::from(pages));
    if is_program {
        command.arg("--document-private-items");
    }
    Some(command)
}

/// Those of the compiler's arguments that say what is compiled, not how or where to.
fn for_rustdoc(words: &[OsString]) -> Vec<&OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        match &*text {
            "--cfg" | "--check-cfg" | "-L" | "--extern" | "--crate-name" | "--crate-type" => {
                kept.push(word);
                kept.extend(words.next());
            }
            "-C" | "--out-dir" => drop(words.next()),
            _ if text.starts_with("--edition=") || !text.starts_with('-') => kept.push(word),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn rustdoc_gets_what_says_what_is_compiled() {
        let words = words(
            "--crate-name a --edition=2024 crates/a/src/lib.rs --error-format=json --crate-type lib \
             --emit=dep-info,metadata,link -C opt-level=2 --warn=missing_docs --cfg feature=\"b\" --out-dir d \
             --extern c=d/libc.rmeta",
        );
        let kept: Vec<_> = for_rustdoc(&words).into_iter().map(|it| it.to_str().unwrap()).collect();
        let right = "--crate-name a --edition=2024 crates/a/src/lib.rs --crate-type lib --cfg feature=\"b\" \
                     --extern c=d/libc.rmeta";
        assert_eq!(kept.join(" "), right);
    }

    #[test]
    fn tests_and_examples_have_no_pages() {
        let pages = OsStr::new("pages");
        assert!(pages_of(&words("--crate-name a src/lib.rs"), pages).is_some());
        assert!(pages_of(&words("--crate-name a src/lib.rs"), OsStr::new("")).is_none());
        assert!(pages_of(&words("--crate-name a src/lib.rs --test"), pages).is_none());
        assert!(pages_of(&words("--crate-name it tests/it/main.rs"), pages).is_none());
    }

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
