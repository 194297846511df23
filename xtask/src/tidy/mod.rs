//! `cargo xtask tidy`: the house rules that no lint knows, checked as a test.
//!
//! Every rule is a function from text to findings, so that each has tests with bad examples; only
//! this file reads the disk. A rule that has an exception names it with its reason, in the rule.

mod arrows;
mod clock;
mod cycles;
mod documents;
mod finding;
mod house;
mod phrases;
mod sentences;
mod source;
mod text;
mod waiting;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::{Metadata, files};
use finding::Finding;
use source::Source;

/// Where every dependency is explained.
const DEPENDENCIES: &str = "docs/DEPENDENCIES.md";

/// Applies every rule to the whole workspace and prints the findings; whether there are none.
pub(crate) fn run() -> Result<bool> {
    let findings = findings()?;
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        println!("tidy: {} findings", findings.len());
    }
    Ok(findings.is_empty())
}

/// What every rule finds.
fn findings() -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut sources = Vec::new();
    for path in files()? {
        // What is not text, such as an image, has no rules.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        findings.extend(text::check(&path, &text));
        findings.extend(phrases::check(&path, &text));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                let source = Source::new(&path, &text);
                findings.extend(house::check(&source));
                findings.extend(clock::check(&source));
                findings.extend(waiting::check(&source));
                sources.push(source);
            }
            Some("md") => findings.extend(documents::links(&path, &text, Path::exists)),
            _ => {}
        }
    }
    findings.extend(cycles::check(&sources));
    findings.extend(sentences::check(&sources));
    let metadata = Metadata::read()?;
    let architecture = fs::read_to_string(arrows::TABLE)
        .with_context(|| format!("cannot read {}", arrows::TABLE))?;
    findings.extend(arrows::check(&architecture, &metadata));
    let listed =
        fs::read_to_string(DEPENDENCIES).with_context(|| format!("cannot read {DEPENDENCIES}"))?;
    findings.extend(documents::dependencies(Path::new(DEPENDENCIES), &listed, &metadata));
    Ok(findings)
}
