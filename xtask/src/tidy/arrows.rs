//! Which crate may import which, by the table of docs/ARCHITECTURE.md, and what none may reach.

use std::path::Path;

use super::finding::Finding;
use crate::workspace::{Metadata, Package};

/// Where the table of arrows is: a row for each crate, whose last cell names what it may import.
pub(super) const TABLE: &str = "docs/ARCHITECTURE.md";

/// The cell of a crate that may import any other.
const ANY: &str = "all of them";

/// The rooms that reach no runtime and no database.
const PURE: &[&str] = &[
    "evidence",
    "facts",
    "import",
    "jobs",
    "kernel-log",
    "rating",
    "registers",
    "sim",
    "stats",
    "trace",
    "workload",
];

/// Async runtimes, web and database crates, none of which a pure room may reach in any way.
const HEAVY: &[&str] = &[
    "actix-web",
    "async-std",
    "axum",
    "diesel",
    "futures-executor",
    "hyper",
    "libsqlite3-sys",
    "mio",
    "reqwest",
    "rusqlite",
    "sea-orm",
    "smol",
    "sqlx",
    "tokio",
    "tower",
    "ureq",
];

/// What the table in `architecture`, the text of [`TABLE`], finds in the workspace, and what the pure
/// rooms reach.
pub(super) fn check(architecture: &str, metadata: &Metadata) -> Vec<Finding> {
    let rows: Vec<Row> = architecture.lines().filter_map(Row::read).collect();
    let imports = metadata.members().flat_map(|package| breaches(&rows, package));
    let reaches = PURE.iter().flat_map(|room| heavy_below(metadata, room));
    imports.chain(reaches).collect()
}

/// A crate and what it may import of ours. The words `cardproof-` are left out.
#[derive(Debug)]
struct Row<'a> {
    room: &'a str,
    /// Absent where it may import any other.
    imports: Option<Vec<&'a str>>,
}

impl<'a> Row<'a> {
    /// The row of the table that `line` is.
    fn read(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| `")?.trim_end_matches('|').split('|').collect();
        let [first, _, last] = cells.as_slice() else { return None };
        let room = first.trim().trim_end_matches('`');
        let imports = match last.trim() {
            ANY => None,
            "nothing" => Some(Vec::new()),
            names => Some(names.split(", ").collect()),
        };
        Some(Self { room, imports })
    }
}

/// The name of one of our crates without the part that all share.
fn short(name: &str) -> &str {
    name.strip_prefix("cardproof-").unwrap_or(name)
}

/// The manifest of the crate `room`, for findings.
fn manifest(room: &str) -> String {
    match room {
        "fuzz" | "xtask" => format!("{room}/Cargo.toml"),
        _ => format!("crates/{room}/Cargo.toml"),
    }
}

/// Where the manifest of `package` and `rows` differ: imports without an arrow, and arrows without
/// an import. What only its tests import is free.
fn breaches(rows: &[Row<'_>], package: &Package) -> Vec<Finding> {
    let room = short(&package.name);
    let path = manifest(room);
    let path = Path::new(&path);
    let Some(row) = rows.iter().find(|row| row.room == room) else {
        let message = format!("a crate that the table in {TABLE} does not know; add a row");
        return vec![Finding::new(path, 0, message)];
    };
    let Some(allowed) = &row.imports else { return Vec::new() };
    let imports: Vec<&str> = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter_map(|dependency| dependency.name.strip_prefix("cardproof-"))
        .collect();
    let new = imports.iter().filter(|import| !allowed.contains(import)).map(|import| {
        let message =
            format!("{room} imports {import}: no such arrow in {TABLE}; a new one is a decision");
        Finding::new(path, 0, message)
    });
    let unused = allowed.iter().filter(|arrow| !imports.contains(arrow)).map(|arrow| {
        let message = format!("{room} may import {arrow} and does not; take out the arrow");
        Finding::new(Path::new(TABLE), 0, message)
    });
    new.chain(unused).collect()
}

/// The heavy crates that the pure room `room` reaches.
fn heavy_below(metadata: &Metadata, room: &str) -> Vec<Finding> {
    let reached = metadata.reached_from(&format!("cardproof-{room}"));
    let path = manifest(room);
    HEAVY
        .iter()
        .filter(|heavy| reached.contains(*heavy))
        .map(|heavy| {
            Finding::new(Path::new(&path), 0, format!("{room}, a pure room, reaches {heavy}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace of one package `name` that imports `import` in the way `kind`.
    fn workspace(name: &str, import: &str, kind: &str) -> Metadata {
        let text = format!(
            r#"{{"target_directory": "t", "workspace_members": ["a"],
            "packages": [
                {{"id": "a", "name": "{name}", "dependencies": [{{"name": "{import}", "kind": {kind}}}]}},
                {{"id": "b", "name": "{import}", "dependencies": []}}],
            "resolve": {{"nodes": [
                {{"id": "a", "deps": [{{"pkg": "b", "dep_kinds": [{{"kind": {kind}}}]}}]}},
                {{"id": "b", "deps": []}}]}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    const TABLE: &str = "\
| crate | holds | may import |
| --- | --- | --- |
| `units` | a | nothing |
| `stats` | b | units |
| `runner` | c | units, io |
| `cli` | d | all of them |
";

    #[test]
    fn arrows_not_in_the_table_are_found() {
        let cases = [
            ("cardproof-stats", "cardproof-units", "null", 0),
            ("cardproof-units", "cardproof-io", "null", 1),
            ("cardproof-units", "cardproof-io", "\"build\"", 1),
            ("cardproof-units", "cardproof-io", "\"dev\"", 0),
            ("cardproof-cli", "cardproof-io", "null", 0),
            ("cardproof-attic", "serde", "null", 1),
            // An arrow to io that is not used.
            ("cardproof-runner", "cardproof-units", "null", 1),
        ];
        for (name, import, kind, count) in cases {
            let findings = check(TABLE, &workspace(name, import, kind));
            assert_eq!(findings.len(), count, "{name} -> {import} ({kind}): {findings:?}");
        }
    }

    #[test]
    fn a_pure_room_reaches_no_runtime() {
        let heavy = |name, kind| {
            let found = check("", &workspace(name, "tokio", kind));
            found.iter().filter(|finding| finding.message.contains("reaches")).count()
        };
        assert_eq!(heavy("cardproof-stats", "null"), 1);
        assert_eq!(heavy("cardproof-stats", "\"dev\""), 0);
        assert_eq!(heavy("cardproof-runner", "null"), 0);
    }
}
