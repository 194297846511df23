//! What cargo and git know of this workspace: its crates, their imports, its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cardproof_testkit::run_command;
use serde::Deserialize;

/// The workspace as `cargo metadata` tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// Every package, the workspace's own and the others.
    pub(crate) packages: Vec<Package>,
    /// The ids of the workspace's own packages.
    pub(crate) workspace_members: BTreeSet<String>,
    /// Which package reaches which.
    pub(crate) resolve: Option<Resolve>,
    /// Where cargo puts what it builds.
    pub(crate) target_directory: PathBuf,
}

/// One package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    /// Its unique name.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    #[serde(default)]
    pub(crate) version: String,
    /// Its manifest.
    #[serde(default)]
    pub(crate) manifest_path: PathBuf,
    /// The oldest Rust that it promises to compile with, such as `1.89`.
    #[serde(default)]
    pub(crate) rust_version: Option<String>,
    /// What its manifest asks for.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a manifest's dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// The package's name.
    pub(crate) name: String,
    /// `None` for an ordinary one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

/// The graph of packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    /// One for each package.
    pub(crate) nodes: Vec<Node>,
}

/// A package in the graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    /// The package.
    pub(crate) id: String,
    /// What it imports.
    pub(crate) deps: Vec<Edge>,
}

/// An import in the graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    /// The imported package.
    pub(crate) pkg: String,
    /// The ways in which it is imported.
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

/// One way of importing.
#[derive(Debug, Deserialize)]
pub(crate) struct EdgeKind {
    /// `None` for an ordinary dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let mut command = Command::new(cargo());
        command.args(["metadata", "--format-version=1"]);
        let text = run_command(command)?;
        serde_json::from_str(&text).context("cargo metadata speaks a form that is not known here")
    }

    /// The workspace's own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The names of all packages that the package `name` reaches in a program, itself included.
    /// Tests and build scripts do not count.
    pub(crate) fn reached_from(&self, name: &str) -> BTreeSet<&str> {
        let names: BTreeMap<&str, &str> =
            self.packages.iter().map(|package| (&*package.id, &*package.name)).collect();
        let edges: BTreeMap<&str, &[Edge]> = self
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (&*node.id, &*node.deps))
            .collect();
        let mut open: Vec<&str> = self
            .packages
            .iter()
            .filter(|package| package.name == name)
            .map(|package| &*package.id)
            .collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let ordinary = |edge: &&Edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
                let below = edges.get(id).copied().unwrap_or_default().iter();
                open.extend(below.filter(ordinary).map(|edge| &*edge.pkg));
            }
        }
        seen.iter().filter_map(|id| names.get(id).copied()).collect()
    }
}

/// The cargo that runs this program, or else the one in the path.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// The version of this Rust: its first two numbers.
pub(crate) fn rust_version() -> Result<[u32; 2]> {
    let mut rustc = Command::new("rustc");
    rustc.arg("--version");
    let text = run_command(rustc)?;
    numbers(text.split_whitespace().nth(1).unwrap_or_default())
}

/// The oldest Rust that the workspace in `directory` promises to compile with.
pub(crate) fn rust_version_in(directory: &str) -> Result<[u32; 2]> {
    let mut command = Command::new(cargo());
    command.args(["metadata", "--format-version=1", "--no-deps"]).current_dir(directory);
    let metadata: Metadata = serde_json::from_str(&run_command(command)?)?;
    let version = metadata.packages.iter().find_map(|package| package.rust_version.as_deref());
    numbers(version.context("its manifest has no rust-version")?)
}

/// The first two numbers of a version such as `1.94.0`.
fn numbers(version: &str) -> Result<[u32; 2]> {
    let mut numbers = version.split('.').map_while(|part| part.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => bail!("'{version}' is no version"),
    }
}

/// Builds the workspace's program `name` as the tests build it, and says where it is.
///
/// # Errors
/// It does not build.
pub(crate) fn built(name: &str) -> Result<PathBuf> {
    let status = Command::new(cargo())
        .args(["build", "--quiet", "--workspace", "--all-features", "--bin", name])
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the program {name} does not build");
    Ok(Metadata::read()?.target_directory.join("debug").join(name))
}

/// The workspace's root directory.
pub(crate) fn root() -> Result<PathBuf> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("start this as `cargo xtask`, which says where the workspace is")?;
    let own = PathBuf::from(own);
    Ok(own.parent().context("xtask has no directory above it")?.to_owned())
}

/// The workspace's files, those not yet committed included, ignored ones not, relative to the
/// root.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let text = run_command(command)?;
    let mut files: Vec<PathBuf> =
        text.split_terminator('\0').map(PathBuf::from).filter(|file| file.is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a -> b -> c, and b uses d only for its tests.
    const GRAPH: &str = r#"{
        "target_directory": "t", "workspace_members": ["a"],
        "packages": [
            {"id": "a", "name": "a", "version": "1.0.0", "manifest_path": "a/Cargo.toml",
             "dependencies": []}, {"id": "b", "name": "b", "version": "1.0.0", "manifest_path": "b/Cargo.toml",
             "dependencies": []},
            {"id": "c", "name": "c", "version": "1.0.0", "manifest_path": "c/Cargo.toml",
             "dependencies": []}, {"id": "d", "name": "d", "version": "1.0.0", "manifest_path": "d/Cargo.toml",
             "dependencies": []}],
        "resolve": {"nodes": [
            {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": null}]}]},
            {"id": "b", "deps": [{"pkg": "c", "dep_kinds": [{"kind": null}, {"kind": "dev"}]},
                                 {"pkg": "d", "dep_kinds": [{"kind": "dev"}]}]}]}}"#;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.100.0").unwrap() > numbers("1.94").unwrap());
        assert!(numbers("nightly").is_err());
    }

    #[test]
    fn what_only_tests_import_is_not_reached() {
        let metadata: Metadata = serde_json::from_str(GRAPH).unwrap();
        assert_eq!(metadata.reached_from("a"), BTreeSet::from(["a", "b", "c"]));
        assert_eq!(metadata.members().count(), 1);
    }
}
