//! Which crate may import which: the table of docs/ARCHITECTURE.md, and what none may reach.

use std::path::Path;

use super::finding::Finding;
use crate::workspace::{Metadata, Package};

/// A crate and what it may import of ours. The words `cardproof-` are left out.
const ARROWS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("io", &["units"]),
    ("evidence", &["units"]),
    ("sim", &["units", "io"]),
    ("sim-serve", &["units", "io", "sim"]),
    ("record", &["units"]),
    ("import", &["units", "record"]),
    ("device", &["units", "io", "record"]),
    ("workload", &["units", "io"]),
    ("stats", &["units"]),
    ("sqlite", &["units", "stats"]),
    ("runner", &["units", "io", "workload", "record", "stats", "device"]),
    ("rating", &["units", "record", "import", "stats"]),
    (
        "session",
        &[
            "units", "io", "workload", "record", "stats", "device", "runner", "rating", "sim",
            "sqlite",
        ],
    ),
    ("report", &["units", "record", "stats", "rating"]),
];

/// Crates that may import any other: the program, and what is not part of it.
const CONDUCTORS: &[&str] = &["cli", "lab", "testkit", "xtask"];

/// The rooms that compute and nothing else.
const PURE: &[&str] = &["evidence", "import", "rating", "sim", "stats", "workload"];

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

/// What both tables find in the workspace.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let imports = metadata.members().flat_map(breaches);
    let reaches = PURE.iter().flat_map(|room| heavy_below(metadata, room));
    imports.chain(reaches).collect()
}

/// The name of one of our crates without the part that all share.
fn short(name: &str) -> &str {
    name.strip_prefix("cardproof-").unwrap_or(name)
}

/// The manifest of the crate `room`, for findings.
fn manifest(room: &str) -> String {
    if room == "xtask" { "xtask/Cargo.toml".into() } else { format!("crates/{room}/Cargo.toml") }
}

/// The imports of `package` that the table does not allow. What only its tests import is free.
fn breaches(package: &Package) -> Vec<Finding> {
    let room = short(&package.name);
    let path = manifest(room);
    let path = Path::new(&path);
    if CONDUCTORS.contains(&room) {
        return Vec::new();
    }
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        let message = "a crate that the table of arrows does not know; add it there and to \
                       docs/ARCHITECTURE.md";
        return vec![Finding::new(path, 0, message)];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .filter_map(|dependency| dependency.name.strip_prefix("cardproof-"))
        .filter(|import| !allowed.contains(import))
        .map(|import| {
            let message = format!(
                "{room} imports {import}: no such arrow in docs/ARCHITECTURE.md; a new one is a \
                 decision of its own"
            );
            Finding::new(path, 0, message)
        })
        .collect()
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

    #[test]
    fn arrows_not_in_the_table_are_found() {
        let cases = [
            ("cardproof-stats", "cardproof-io", "null", 1),
            ("cardproof-stats", "cardproof-io", "\"build\"", 1),
            ("cardproof-stats", "cardproof-io", "\"dev\"", 0),
            ("cardproof-stats", "cardproof-units", "null", 0),
            ("cardproof-cli", "cardproof-io", "null", 0),
            ("cardproof-attic", "serde", "null", 1),
        ];
        for (name, import, kind, count) in cases {
            let findings = check(&workspace(name, import, kind));
            assert_eq!(findings.len(), count, "{name} -> {import} ({kind}): {findings:?}");
        }
    }

    #[test]
    fn a_pure_room_reaches_no_runtime() {
        assert_eq!(check(&workspace("cardproof-stats", "tokio", "null")).len(), 1);
        assert_eq!(check(&workspace("cardproof-stats", "tokio", "\"dev\"")).len(), 0);
        assert_eq!(check(&workspace("cardproof-runner", "tokio", "null")).len(), 0);
    }
}
