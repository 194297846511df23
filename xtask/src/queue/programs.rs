//! The test programs of a workspace: built by cargo, and asked for their tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run_command;
use serde::Deserialize;

use crate::workspace::{cargo, root};

/// Test programs that are built by one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suite {
    /// The workspace's directory, below the root of the source.
    pub(crate) directory: &'static str,
    /// What `cargo test` is told beside what it always is: which programs.
    pub(crate) arguments: &'static [&'static str],
    /// Whether clippy judges the source while it is built, in place of a build of its own.
    pub(crate) is_linted: bool,
}

/// One test program.
#[derive(Debug)]
pub(super) struct Program {
    /// Its crate's folder, and what it is where it is not the library: `io`, `io::it`, `cli::cardproof`.
    pub(super) name: String,
    pub(super) executable: PathBuf,
    /// Its crate's directory, where cargo would start it.
    directory: PathBuf,
}

/// One test of a program.
#[derive(Debug)]
pub(super) struct Test<'a> {
    pub(super) program: &'a Program,
    pub(super) name: String,
    /// Whether the source marks it `ignore`.
    pub(super) is_ignored: bool,
}

impl Test<'_> {
    /// The program's name and its own.
    pub(super) fn full_name(&self) -> String {
        format!("{} {}", self.program.name, self.name)
    }
}

/// What cargo says of something that it has built.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

impl Suite {
    /// Builds the programs; `None` where one does not compile, which cargo has shown.
    ///
    /// # Errors
    /// Cargo cannot be started or speaks a form that is not known here.
    pub(super) fn build(&self) -> Result<Option<Vec<Program>>> {
        let mut command = Command::new(cargo());
        command
            .current_dir(self.directory)
            .args(["test", "--no-run", "--quiet", "--locked", "--workspace", "--all-features"])
            .arg("--message-format=json-render-diagnostics")
            .args(self.arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        if self.directory != "." {
            forget_flags(&mut command);
        }
        if self.is_linted && has_clippy_driver() {
            // What `cargo clippy -- -D warnings` sets, but for a build whose programs can be started.
            command.env("RUSTC_WORKSPACE_WRAPPER", CLIPPY_DRIVER);
            command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
        }
        let output = command.output().context("cannot start cargo")?;
        if !output.status.success() {
            return Ok(None);
        }
        programs_in(&String::from_utf8_lossy(&output.stdout)).map(Some)
    }
}

/// The compiler with clippy's lints in it.
const CLIPPY_DRIVER: &str = "clippy-driver";

/// Whether this Rust has clippy.
pub(crate) fn has_clippy_driver() -> bool {
    let asked = Command::new(CLIPPY_DRIVER).arg("--version").stderr(Stdio::null()).output();
    asked.is_ok_and(|output| output.status.success())
}

/// Cargo hands the variables of its configuration down to this program. Another workspace has its own, which
/// do not replace what is set already.
pub(crate) fn forget_flags(command: &mut Command) {
    command.env_remove("LIBSQLITE3_FLAGS");
}

/// The test programs among what cargo has built.
fn programs_in(messages: &str) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message = serde_json::from_str(line)
            .with_context(|| format!("cargo says something that is not known here: {line}"))?;
        programs.extend(message.into_program());
    }
    Ok(programs)
}

impl Message {
    fn into_program(self) -> Option<Program> {
        let is_test = self.reason == "compiler-artifact" && self.profile?.test;
        let (target, executable) = (self.target?, self.executable?);
        let directory = self.manifest_path?.parent()?.to_owned();
        let folder = directory.file_name()?.to_str()?;
        let is_library = target.kind.iter().any(|kind| kind == "lib" || kind == "proc-macro");
        let name =
            if is_library { folder.to_owned() } else { format!("{folder}::{}", target.name) };
        is_test.then_some(Program { name, executable, directory })
    }
}

impl Program {
    /// All of its tests.
    ///
    /// # Errors
    /// It does not list them.
    pub(super) fn tests(&self) -> Result<Vec<Test<'_>>> {
        let ignored: BTreeSet<String> = self.listed(&["--ignored"])?.into_iter().collect();
        let all = self.listed(&["--include-ignored"])?;
        let test = |name: String| {
            let is_ignored = ignored.contains(&name);
            Test { program: self, name, is_ignored }
        };
        Ok(all.into_iter().map(test).collect())
    }

    fn listed(&self, which: &[&str]) -> Result<Vec<String>> {
        let mut command = Command::new(&self.executable);
        command.args(["--list", "--format", "terse"]).args(which);
        self.surround(&mut command);
        let list = run_command(command)
            .with_context(|| format!("{} does not list its tests", self.name))?;
        names_in(&list)
    }

    /// Gives `command` the directory and the variables that cargo would give it.
    pub(super) fn surround(&self, command: &mut Command) {
        command.current_dir(&self.directory).env("CARGO_MANIFEST_DIR", &self.directory);
        // insta would ask cargo for it, once in each process.
        command.env("INSTA_WORKSPACE_ROOT", self.workspace());
    }

    /// The root of the workspace: the hub's is its own directory.
    fn workspace(&self) -> PathBuf {
        let root = root().unwrap_or_else(|_| Path::new(".").to_owned());
        if self.directory.starts_with(root.join("hub")) { root.join("hub") } else { root }
    }
}

/// The names in a list of the harness: a line each, `NAME: test`.
fn names_in(list: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for line in list.lines() {
        let (name, kind) = line.rsplit_once(": ").with_context(|| format!("no test: {line}"))?;
        ensure!(kind == "test", "a {kind} is not known here: {name}");
        names.push(name.to_owned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: &str = r#"
{"reason":"compiler-artifact","manifest_path":"/w/crates/io/Cargo.toml","target":{"name":"cardproof_io","kind":["lib"]},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/crates/io/Cargo.toml","target":{"name":"cardproof_io","kind":["lib"]},"profile":{"test":true},"executable":"/t/a"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/io/Cargo.toml","target":{"name":"it","kind":["test"]},"profile":{"test":true},"executable":"/t/b"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/cli/Cargo.toml","target":{"name":"cardproof","kind":["bin"]},"profile":{"test":false},"executable":"/t/c"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn only_test_programs_are_run() {
        let programs = programs_in(BUILT).unwrap();
        let names: Vec<_> = programs.iter().map(|program| &*program.name).collect();
        assert_eq!(names, ["io", "io::it"]);
        assert_eq!(programs[0].directory, Path::new("/w/crates/io"));
    }

    #[test]
    fn what_is_listed_and_is_no_test_is_an_error() {
        assert_eq!(names_in("a::b: test\nc: test\n").unwrap(), ["a::b", "c"]);
        assert!(names_in("a::b: benchmark\n").is_err());
    }
}
