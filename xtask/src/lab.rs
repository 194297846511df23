//! Starts the laboratory, the crate of proofs and benchmarks, built with optimisation.
//!
//! It is a program of its own, so that this one links no database and no simulator.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use cardproof_testkit::run_command;

use crate::queue::Built;
use crate::steps::Outcome;
use crate::workspace::{built, cargo, root};

/// The exit status of a command that the machine cannot do.
const SKIPPED: i32 = 77;

/// Runs the laboratory's `command`; whether everything was as it should be. A machine that cannot do
/// it is a failure here: it was asked for by name.
pub(crate) fn run(command: &str, arguments: &[OsString]) -> Result<bool> {
    let is_measured =
        command == "bench" && arguments.first().is_some_and(|it| it == MEASURES_ITSELF);
    let profile = if is_measured { "dist" } else { "release" };
    let mut cargo = started(profile, command, arguments);
    Ok(cargo.status().context("cannot start cargo")?.success())
}

/// The benchmark that measures what is linked into the laboratory, and so needs the build that people install.
const MEASURES_ITSELF: &str = "import";

/// The laboratory's program.
pub(crate) const PROGRAM: &str = "cardproof-lab";

/// The schemas that the laboratory `program` derives, as a JSON object of texts by path.
pub(crate) fn schemas(program: &Path) -> Result<String> {
    let asked = of_program(program, "schemas", &[])?;
    run_command(asked).context("the laboratory cannot derive the schemas")
}

/// The laboratory of identities as a step of the tests, with what it printed.
pub(crate) fn mmc_step() -> Result<(Outcome, String)> {
    quiet_step("lab", &["mmc"])
}

/// The laboratory of reconnecting as a step of the tests, with what it printed.
pub(crate) fn reconnect_step() -> Result<(Outcome, String)> {
    quiet_step("lab", &["reconnect"])
}

/// The short form of the attacks as a step of the tests, by the programs of `built`, with what it printed.
pub(crate) fn attack_step(built: &Built) -> Result<(Outcome, String)> {
    let mut command = of_program(built.program(PROGRAM)?, "attack", &[])?;
    command.envs(built.variable());
    quiet(&mut command)
}

/// The attacks for `hours` as a step, with another seed each time.
pub(crate) fn long_attack_step(hours: &str) -> Result<Outcome> {
    step("attack", &["--hours", hours])
}

/// The names of the proofs that have a short form.
pub(crate) fn short_proofs() -> Result<Vec<String>> {
    let names = run_command(quick("prove", &["--list-short"])?)?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// The short form of the proof `name`, as fast as a release, since figures depend on it.
pub(crate) fn short_proof_step(name: &str) -> Result<Outcome> {
    let mut command = started("release", "prove", &[name, "--short"]);
    Ok(outcome(command.stdin(Stdio::null()).status().context("cannot start cargo")?))
}

fn step(command: &str, arguments: &[&str]) -> Result<Outcome> {
    let mut command = quick(command, arguments)?;
    let status = command.status().context("cannot start the laboratory")?;
    Ok(outcome(status))
}

/// As [`step`], with what the step printed instead of showing it.
fn quiet_step(command: &str, arguments: &[&str]) -> Result<(Outcome, String)> {
    quiet(&mut quick(command, arguments)?)
}

fn quiet(command: &mut Command) -> Result<(Outcome, String)> {
    let output = command.stdin(Stdio::null()).output().context("cannot start the laboratory")?;
    let printed =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    Ok((outcome(output.status), printed.concat()))
}

/// The laboratory's `command`. A short form does not need the optimised build: a quick one does.
fn quick(command: &str, arguments: &[&str]) -> Result<Command> {
    of_program(&built(PROGRAM)?, command, arguments)
}

/// The `command` of the laboratory `program`.
fn of_program(program: &Path, command: &str, arguments: &[&str]) -> Result<Command> {
    let mut asked = Command::new(program);
    asked.arg(command).args(arguments).env("CARGO_MANIFEST_DIR", root()?.join("crates/lab"));
    Ok(asked)
}

fn outcome(status: ExitStatus) -> Outcome {
    match status.code() {
        Some(SKIPPED) => Outcome::Skipped("this machine cannot do it, see above".to_owned()),
        _ => Outcome::new(status.success()),
    }
}

fn started(profile: &str, command: &str, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut cargo = Command::new(cargo());
    cargo.args(["run", "--quiet", "--profile", profile, "--package", "cardproof-lab", "--"]);
    cargo.arg(command).args(arguments);
    cargo
}
