//! Phrases that readers had to read twice, with what to write instead.
//!
//! The list is short: a phrase is here if it was never the plain way to say something. `docs/WORDS.md`
//! shows such phrases as bad examples, and is the only exception besides this file.

use std::path::Path;

use super::finding::Finding;

/// A phrase, in small letters, and what to write instead.
const PHRASES: [(&str, &str); 13] = [
    ("came between", "say that the run was disturbed, or name the disturbance"),
    ("flatter", "say that it gives higher rates"),
    ("nobody's business", "say what is never recorded or shown"),
    ("an orientation", "say that it is a rough comparison"),
    ("is the measure", "say that it is the baseline or the reference"),
    ("no certificate", "say that it is not a certificate"),
    ("from which all", "name the seed, or the source"),
    ("known only to", "give the interval"),
    ("that lasts: of several", "write `lowest sustained`"),
    ("but up to", "give one limit, such as `10 %, or 256 MiB if that is more`"),
    ("never an earlier", "say which writes are there and which are missing"),
    ("which decides where", "name the subject in a sentence of its own"),
    ("budget was passed", "say that the amount was written without an error"),
];

/// Where the phrases may stand: as bad examples.
const EXCEPTIONS: [&str; 2] = ["docs/WORDS.md", "xtask/src/tidy/phrases.rs"];

/// The findings in the file at `path` that holds `text`; only documents, sources and pages are read.
pub(super) fn check(path: &Path, text: &str) -> Vec<Finding> {
    let is_read = path
        .extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| ["md", "rs", "html"].contains(&extension));
    if !is_read || EXCEPTIONS.iter().any(|exception| path.ends_with(exception)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        for (phrase, remedy) in PHRASES.iter().filter(|(phrase, _)| line.contains(phrase)) {
            findings.push(Finding::new(path, index + 1, format!("`{phrase}`: {remedy}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_found_with_its_line() {
        for (phrase, _) in PHRASES {
            let findings = check(Path::new("docs/a.md"), &format!("fine\nSo {phrase} here\n"));
            assert_eq!(findings.len(), 1, "{phrase}");
            assert_eq!(findings[0].line, 2);
        }
    }

    #[test]
    fn bad_examples_and_other_files_may_have_them() {
        for path in ["docs/WORDS.md", "a.snap", "Cargo.lock"] {
            assert!(check(Path::new(path), PHRASES[0].0).is_empty(), "{path}");
        }
    }
}
