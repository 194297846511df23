//! `cargo xtask check`: what to run before a commit. Needs no root and changes nothing.

use std::process::Command;

use anyhow::{Context, Result};

use crate::queue::{self, Built, Choice, Intake, Suite};
use crate::steps::{Account, Outcome, shown, shown_command};
use crate::workspace::{Metadata, cargo};
use crate::{compiler, deny, generate, tidy};

/// The tool's workspace.
pub(crate) const TOOL: Suite = Suite { directory: "." };

/// Every quick step, then the account.
pub(crate) fn run() -> Result<bool> {
    let mut account = Account::default();
    reading_steps(&mut account);
    account.step("licences and sources", || deny::run(deny::WhenAbsent::Skip));
    account.step("oldest Rust", oldest_rust);
    account.step("documentation", documentation);
    if let Some(mut built) = build_step(&mut account, "tool", &TOOL, None) {
        account.step("generated files", || Ok(Outcome::new(generate::are_fresh(&built)?)));
        built.keep_unit_tests();
        let (tests, fed) = queue::run("unit tests", Choice::Gate, None, |to| to.add_all(&built))?;
        fed?;
        account.add(tests);
    }
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// The steps that only read the source: format and tidy.
pub(crate) fn reading_steps(account: &mut Account) {
    account.step("format", || with_component("fmt", "rustfmt", &["fmt", "--all", "--", "--check"]));
    account.step("tidy", tidy_step);
}

/// Builds `suite`, called `name`, with its lints; `None` where that fails. Its test programs are
/// handed to `intake`, where one is given, as they are built.
pub(crate) fn build_step(
    account: &mut Account,
    name: &str,
    suite: &Suite,
    intake: Option<&Intake<'_>>,
) -> Option<Built> {
    if !compiler::has_lints() {
        account.skipped.push(format!("lints of the {name}: this Rust has no clippy-driver"));
    }
    let mut built = None;
    account.step(&format!("{name}: build, lints"), || {
        built = suite.build(intake)?;
        Ok(Outcome::new(built.is_some()))
    });
    built
}

/// Writes the documentation of all crates; a warning is an error.
pub(crate) fn documentation() -> Result<Outcome> {
    let mut doc = Command::new(cargo());
    doc.args(["doc", "--quiet", "--locked", "--workspace", "--all-features", "--no-deps"]);
    shown_command(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Whether the workspace compiles with the oldest Rust that its manifest promises.
fn oldest_rust() -> Result<Outcome> {
    let metadata = Metadata::read()?;
    let package = metadata.packages.iter().find(|package| package.name == "cardproof-cli");
    let version = package.and_then(|package| package.rust_version.as_deref());
    let version = version.context("Cargo.toml has no rust-version")?;
    let with_it = |words: &[&str]| {
        let mut rustup = Command::new("rustup");
        // The cargo that runs this has set its own.
        rustup.args(["run", version, "cargo"]).args(words).env_remove("RUSTC").env_remove("CARGO");
        rustup
    };
    if !with_it(&["--version"]).output().is_ok_and(|output| output.status.success()) {
        return Ok(Outcome::Skipped(format!(
            "Rust {version} is not installed; add it with `rustup toolchain install {version} \
             --profile minimal`"
        )));
    }
    let target = metadata.target_directory.join("oldest");
    let mut check = with_it(&["check", "--quiet", "--locked", "--workspace", "--all-targets"]);
    shown_command(check.arg("--target-dir").arg(target))
}

/// Runs cargo with `words`, whose first is the command `name` of the component `component`. A system's own
/// Rust may come without it, and another has nothing that could be added to.
fn with_component(name: &str, component: &str, words: &[&str]) -> Result<Outcome> {
    let cargo = cargo();
    let is_there = Command::new(&cargo)
        .args([name, "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if is_there {
        return shown(&cargo, words);
    }
    Ok(Outcome::Skipped(format!(
        "this Rust has no cargo {name}; add it with `rustup component add {component}`, or install \
         the system's package of that name"
    )))
}

/// Tidy as a step.
fn tidy_step() -> Result<Outcome> {
    Ok(Outcome::new(tidy::run()?))
}
