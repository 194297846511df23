//! The test programs of a workspace: built by cargo, and asked for their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run_command;
use serde::Deserialize;

use super::Intake;
use crate::compiler;
use crate::workspace::{Metadata, cargo, root};

/// A workspace, or a part of it, that is built by one command: test programs, programs, examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suite {
    /// The workspace's directory, below the root of the source.
    pub(crate) directory: &'static str,
}

/// What a suite's build gives.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The test programs.
    pub(super) tests: Vec<Arc<Program>>,
    /// All other programs by their names.
    programs: BTreeMap<String, PathBuf>,
}

/// The variable that says where `cardproof` is built, for what would otherwise build it.
const PROGRAM: &str = "CARDPROOF_BUILT";

/// Cargo's variable for the debug information of what it builds. Without it a test that fails still says where; the
/// compilers take a seventh less time.
const DEBUG: &str = "CARGO_PROFILE_DEV_DEBUG";

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
pub(super) struct Test {
    pub(super) program: Arc<Program>,
    pub(super) name: String,
    /// Whether the source marks it `ignore`.
    pub(super) is_ignored: bool,
}

impl Test {
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
    /// Builds everything in it, and judges the source with it; `None` where something does not compile or is at
    /// fault, which cargo has shown. On the way it hands each test program to `intake`, where one is given;
    /// where it fails, tests that have not begun are not run.
    ///
    /// # Errors
    /// Cargo cannot be started or speaks a form that is not known here; a program does not list its tests.
    pub(crate) fn build(&self, intake: Option<&Intake<'_>>) -> Result<Option<Built>> {
        let mut command = Command::new(cargo());
        command
            .current_dir(self.directory)
            .args(["build", "--quiet", "--keep-going", "--locked"])
            .args(["--workspace", "--all-features", "--all-targets"])
            .arg("--message-format=json-render-diagnostics")
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        if std::env::var_os(DEBUG).is_none() {
            command.env(DEBUG, "false");
        }
        if self.directory != "." {
            forget_flags(&mut command);
        }
        compiler::put_in(&mut command, &Metadata::read()?.target_directory.join("queue"))?;
        let mut cargo = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
        let messages = BufReader::new(cargo.stdout.take().context("cargo has no output")?);
        let mut built = Built::default();
        let read = built.read(messages, intake);
        let is_built = cargo.wait()?.success();
        read?;
        if let (false, Some(intake)) = (is_built, intake) {
            intake.withdraw();
        }
        Ok(is_built.then_some(built))
    }
}

/// Cargo hands the variables of its configuration down to this program. Another workspace has its own, which
/// do not replace what is set already.
fn forget_flags(command: &mut Command) {
    command.env_remove("LIBSQLITE3_FLAGS");
}

impl Built {
    /// Adds what cargo's `messages` say that it has built, while they come.
    fn read(&mut self, messages: impl BufRead, intake: Option<&Intake<'_>>) -> Result<()> {
        let mut held = Vec::new();
        for line in messages.lines() {
            let line = line?;
            if !line.starts_with('{') {
                continue;
            }
            let message: Message = serde_json::from_str(&line)
                .with_context(|| format!("cargo says something that is not known here: {line}"))?;
            let Some(program) = self.add(message) else { continue };
            match intake {
                Some(_) if program.has_programs() => held.push(program),
                Some(intake) => intake.add(&program)?,
                None => {}
            }
        }
        let Some(intake) = intake else { return Ok(()) };
        intake.note(self.variable());
        held.iter().try_for_each(|program| intake.add(program))
    }

    /// Adds what `message` tells of; the test program that it is.
    fn add(&mut self, message: Message) -> Option<Arc<Program>> {
        let is_test = message.reason == "compiler-artifact" && message.profile?.test;
        let (target, executable) = (message.target?, message.executable?);
        let directory = message.manifest_path?.parent()?.to_owned();
        let folder = directory.file_name()?.to_str()?;
        if !is_test {
            self.programs.insert(target.name, executable);
            return None;
        }
        let is_library = target.kind.iter().any(|kind| kind == "lib" || kind == "proc-macro");
        let name =
            if is_library { folder.to_owned() } else { format!("{folder}::{}", target.name) };
        let program = Arc::new(Program { name, executable, directory });
        self.tests.push(Arc::clone(&program));
        Some(program)
    }

    /// Where the program `name` is.
    ///
    /// # Errors
    /// It is none of the suite's.
    pub(crate) fn program(&self, name: &str) -> Result<&Path> {
        let found = self.programs.get(name).map(PathBuf::as_path);
        found.with_context(|| format!("cargo has built no program {name}"))
    }

    /// What tells the tests, and the laboratory, where the program is that they start.
    pub(crate) fn variable(&self) -> Option<(&'static str, String)> {
        let program = self.programs.get("cardproof")?;
        Some((PROGRAM, program.to_str()?.to_owned()))
    }

    /// Leaves out the crates' test programs that are not in the files that they test.
    pub(crate) fn keep_unit_tests(&mut self) {
        self.tests.retain(|program| !program.name.contains("::it"));
    }
}

impl Program {
    /// Whether its crate has programs, which its tests start: cargo builds them in no order that can be relied on.
    fn has_programs(&self) -> bool {
        self.directory.join("src/main.rs").is_file()
    }

    /// All of its tests.
    ///
    /// # Errors
    /// It does not list them.
    pub(super) fn tests(self: &Arc<Self>) -> Result<Vec<Test>> {
        let ignored: BTreeSet<String> = self.listed(&["--ignored"])?.into_iter().collect();
        let all = self.listed(&["--include-ignored"])?;
        let test = |name: String| {
            let is_ignored = ignored.contains(&name);
            Test { program: Arc::clone(self), name, is_ignored }
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
impl Program {
    /// One that nothing has built.
    pub(super) fn at(name: &str, executable: &str, directory: &str) -> Self {
        Self { name: name.to_owned(), executable: executable.into(), directory: directory.into() }
    }
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
        let mut built = Built::default();
        built.read(BUILT.as_bytes(), None).unwrap();
        let names = |built: &Built| -> Vec<_> {
            built.tests.iter().map(|program| program.name.clone()).collect()
        };
        assert_eq!(names(&built), ["io", "io::it"]);
        assert_eq!(built.tests[0].directory, Path::new("/w/crates/io"));
        assert_eq!(built.program("cardproof").unwrap(), Path::new("/t/c"));
        assert!(built.program("it").is_err());
        built.keep_unit_tests();
        assert_eq!(names(&built), ["io"]);
    }

    #[test]
    fn what_is_listed_and_is_no_test_is_an_error() {
        assert_eq!(names_in("a::b: test\nc: test\n").unwrap(), ["a::b", "c"]);
        assert!(names_in("a::b: benchmark\n").is_err());
    }
}
