//! Rules for documents: links lead somewhere, and every dependency is explained.

use std::collections::BTreeSet;
use std::path::Path;

use super::finding::Finding;
use crate::workspace::Metadata;

/// Links in the Markdown file at `path` that lead to no file; `exists` tells of a path below the
/// root. Links to other sites are not followed.
pub(super) fn links(path: &Path, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for (index, line) in outside_fences(text) {
        for target in targets(line) {
            let file = target.split('#').next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !elsewhere && !file.is_empty() && !exists(&directory.join(file)) {
                let message = format!("the link to {target} leads nowhere");
                findings.push(Finding::new(path, index + 1, message));
            }
        }
    }
    findings
}

/// The lines of `text` that are not in a fenced block, with their indices.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// The targets of the links `[…](target)` in `line`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|after| after.split(')').next())
}

/// External dependencies of the workspace without a row in `listed`, the text of the document at
/// `path`, and rows of it that the workspace does not use.
pub(super) fn dependencies(path: &Path, listed: &str, metadata: &Metadata) -> Vec<Finding> {
    let used: BTreeSet<&str> = metadata
        .members()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| &*dependency.name)
        .filter(|name| !name.starts_with("cardproof-"))
        .collect();
    let rows: BTreeSet<&str> = listed.lines().flat_map(explained).collect();
    let missing = used.difference(&rows).map(|name| (name, "is used and not explained here"));
    let stale = rows.difference(&used).map(|name| (name, "is explained here and not used"));
    missing
        .chain(stale)
        .map(|(name, what)| Finding::new(path, 0, format!("`{name}` {what}")))
        .collect()
}

/// The crates named in the first cell of a table's row, as code.
fn explained(line: &str) -> Vec<&str> {
    let Some(cell) = line.strip_prefix('|').and_then(|row| row.split('|').next()) else {
        return Vec::new();
    };
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nothing_is_found() {
        let text = "see [a](A.md#part) and [b](../B.md)\n[c](https://example.org/C.md) [d](#here)\n\
                    ```\n[e](E.md)\n```\n";
        let only_a = |path: &Path| path == Path::new("docs/A.md");
        let findings = links(Path::new("docs/x.md"), text, only_a);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].message.contains("../B.md"));
    }

    #[test]
    fn a_dependency_is_explained_or_found_and_a_stale_row_too() {
        let metadata: Metadata = serde_json::from_str(
            r#"{"target_directory": "t", "workspace_members": ["a"], "resolve": null,
            "packages": [{"id": "a", "name": "cardproof-a", "dependencies": [
                {"name": "serde", "kind": null}, {"name": "rand", "kind": "dev"},
                {"name": "cardproof-b", "kind": null}]}]}"#,
        )
        .unwrap();
        let listed = "| crate | for |\n| --- | --- |\n| `serde`, `old` | records, as `json` |\n";
        let findings = dependencies(Path::new("d.md"), listed, &metadata);
        let messages: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
        assert_eq!(
            messages,
            ["`rand` is used and not explained here", "`old` is explained here and not used"]
        );
    }
}
