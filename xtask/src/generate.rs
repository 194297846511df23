//! The files that are made from the source, and the check that they are as the source has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{cli_reference, lab};

/// All of them: the text of each by its path below the workspace's root.
fn all() -> Result<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, String> = serde_json::from_str(&lab::schemas()?)
        .context("the laboratory does not print schemas by path")?;
    files.insert("docs/cli.md".to_owned(), cli_reference::page()?);
    Ok(files)
}

/// Writes every generated file.
pub(crate) fn write() -> Result<bool> {
    for (path, text) in all()? {
        fs::write(&path, text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(true)
}

/// Whether every generated file is as it would be generated; names those that are not.
pub(crate) fn are_fresh() -> Result<bool> {
    let mut all_are = true;
    for (path, text) in all()? {
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
