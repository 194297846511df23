//! The files that are made from the source, and the check that they are as the source has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::queue::Built;
use crate::workspace::built;
use crate::{cli_reference, lab};

/// All of them, from these two programs: the text of each by its path below the workspace's root.
fn all(lab: &Path, program: &Path) -> Result<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, String> = serde_json::from_str(&lab::schemas(lab)?)
        .context("the laboratory does not print schemas by path")?;
    files.insert("docs/cli.md".to_owned(), cli_reference::page(program)?);
    Ok(files)
}

/// Writes every generated file.
pub(crate) fn write() -> Result<bool> {
    for (path, text) in all(&built(lab::PROGRAM)?, &built(cli_reference::PROGRAM)?)? {
        fs::write(&path, text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(true)
}

/// Whether every generated file is as the programs of `built` generate it; names those that are not.
pub(crate) fn are_fresh(built: &Built) -> Result<bool> {
    let mut all_are = true;
    for (path, text) in all(built.program(lab::PROGRAM)?, built.program(cli_reference::PROGRAM)?)? {
        if !is_fresh(Path::new(&path), &text) {
            println!("{path} is stale: run `cargo xtask generate` and commit it");
            all_are = false;
        }
    }
    Ok(all_are)
}

/// Whether the file at `path` holds `text`; one that is not there does not.
fn is_fresh(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|found| found == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_not_fresh() {
        assert!(!is_fresh(Path::new("docs/no-such-file.json"), ""));
    }
}
