//! Tables in documents: each stands between two marks that name the command that writes it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Puts `text` between the marks of the command `cargo xtask COMMAND` in the document at `path`.
///
/// # Errors
/// The document cannot be read or written, or lacks the marks.
pub(crate) fn write(path: &str, command: &str, text: &str) -> Result<()> {
    let document = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let written = with_text(&document, command, text).with_context(|| path.to_owned())?;
    fs::write(Path::new(path), written).with_context(|| format!("cannot write {path}"))
}

/// `document` with `text` between the marks of `command`.
///
/// # Errors
/// A mark is missing.
pub(crate) fn with_text(document: &str, command: &str, text: &str) -> Result<String> {
    let [begin, end] = marks(command);
    let missing = |mark: &str| format!("the document has no line {}", mark.trim_end());
    let (before, rest) = document.split_once(&begin).with_context(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).with_context(|| missing(&end))?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end()))
}

/// The lines before and after the text that `command` writes.
fn marks(command: &str) -> [String; 2] {
    ["begin", "end"].map(|which| format!("<!-- written by `cargo xtask {command}`: {which} -->\n"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn only_what_is_between_the_own_marks_is_replaced() {
        let [begin, end] = marks("prove a");
        let [other, other_end] = marks("prove b");
        let document = format!("x\n{begin}old\n{end}y\n{other}z\n{other_end}");
        let fresh = with_text(&document, "prove a", "new\n").unwrap();
        assert_eq!(fresh, format!("x\n{begin}\nnew\n\n{end}y\n{other}z\n{other_end}"));
        assert_eq!(with_text(&fresh, "prove a", "new").unwrap(), fresh);
    }

    #[test]
    fn a_document_without_the_marks_is_left_alone() {
        let error = with_text("x\n", "prove a", "new").unwrap_err().to_string();
        assert!(error.contains("written by `cargo xtask prove a`: begin"), "{error}");
    }
}
