//! `cargo xtask prove same-bytes`: the release built a second time in another directory gives the same bytes.
//!
//! The first build is the one below `target/packages`. The second is that of a fresh clone of the same commit,
//! below a directory with another name and with a target directory of its own, so that nothing of the first
//! is reused and every path is another one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::{LabError, run as run_tool};

use super::{Asked, DependsOn, Proof, Proved, Rows, Takes};
use crate::program;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "same-bytes",
    shows: "a second build of the release in another directory has the same bytes; --only PROCESSOR",
    document: "docs/packages.md",
    depends_on: DependsOn::Machine,
    needs_root: false,
    takes: &[Takes::Only],
    run,
};

/// The list of sums that a release has.
const SUMS: &str = "SHA256SUMS";

/// Builds once more, and compares.
fn run(asked: &Asked) -> Result<Proved> {
    let target = program::target_directory()?;
    let first = target.join("packages");
    let commit = commit_of(&first)?;
    let directory = target.join("dist-elsewhere");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let clone = directory.join("a-fresh-clone");
    let root = run_tool("git", ["rev-parse", "--show-toplevel"])?;
    let words = ["clone", "--quiet", "--no-checkout", root.trim()].map(AsRef::as_ref);
    run_tool("git", words.into_iter().chain([clone.as_os_str()]))?;
    let words = ["checkout", "--quiet", "--detach", &commit].map(AsRef::as_ref);
    run_tool("git", ["-C".as_ref(), clone.as_os_str()].into_iter().chain(words))?;
    let built = directory.join("built");
    build(&clone, &built, &asked.only)?;
    let (first, second) = (sums(&first)?, sums(&built.join("packages"))?);
    let mut table =
        Rows::below("| file | bytes | SHA-256 | second build |\n| --- | ---: | --- | --- |")?;
    let mut holds = !second.is_empty();
    for (name, again) in &second {
        let Some(sum) = first.get(name) else {
            let reason = format!("target/packages has no {name}; make it with `cargo xtask dist`");
            return Err(LabError::Unavailable(reason).into());
        };
        let bytes = fs::metadata(built.join("packages").join(name))?.len();
        let verdict = if sum == again { "the same" } else { "**different**" };
        holds &= sum == again;
        table.add(&format!("| `{name}` | {bytes} | `{sum}` | {verdict} |"))?;
    }
    fs::remove_dir_all(&directory)?;
    Ok(Proved { tables: format!("Commit `{commit}`:\n\n{}", table.into_text()), holds })
}

/// The commit of which the release in `dist` was made.
///
/// # Errors
/// [`LabError::Unavailable`] where there is no release.
fn commit_of(dist: &Path) -> Result<String> {
    let text = fs::read_to_string(dist.join("build-info.txt")).map_err(|_| {
        LabError::Unavailable("no release; make it with `cargo xtask dist`".to_owned())
    })?;
    let commit = text.lines().find_map(|line| line.strip_prefix("commit "));
    Ok(commit.context("build-info.txt names no commit")?.to_owned())
}

/// Makes the release in `clone`, with all that cargo makes below `built`.
fn build(clone: &Path, built: &Path, processors: &[String]) -> Result<()> {
    let mut command: Command = program::cargo();
    command.args(["xtask", "dist"]).current_dir(clone).env("CARGO_TARGET_DIR", built);
    for processor in processors {
        command.args(["--target", processor]);
    }
    let status = command.stdin(Stdio::null()).status().context("cannot start cargo")?;
    ensure!(status.success(), "the second build failed");
    Ok(())
}

/// The sums of the release in `dist`, by name.
fn sums(dist: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(dist.join(SUMS))?;
    let split = |line: &str| {
        let (sum, name) = line.split_once("  ").with_context(|| format!("no sum: '{line}'"))?;
        Ok((name.to_owned(), sum.to_owned()))
    };
    text.lines().map(split).collect()
}
