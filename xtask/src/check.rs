//! `cargo xtask check`: what to run before a commit. Needs no root and changes nothing.

use std::process::Command;

use anyhow::{Context, Result};

use crate::queue::{self, Choice, Suite};
use crate::steps::{Account, Outcome, shown, shown_command};
use crate::workspace::{Metadata, cargo};
use crate::{deny, generate, tidy};

/// Every quick step, then the account.
pub(crate) fn run() -> Result<bool> {
    let mut account = Account::default();
    lint_steps(&mut account);
    account.step("licences and sources", || deny::run(deny::WhenAbsent::Skip));
    account.step("oldest Rust", oldest_rust);
    account.add(queue::run("unit tests", &[UNIT_TESTS], Choice::Gate, None)?);
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// What needs no other program.
const UNIT_TESTS: Suite = Suite {
    directory: ".",
    arguments: &["--exclude", "cardproof-fuzz", "--lib", "--bins"],
    is_linted: false,
};

/// The steps that only read the source: format, lints, tidy, documentation, generated files.
pub(crate) fn lint_steps(account: &mut Account) {
    let cargo = cargo();
    account.step("format", || with_component("fmt", "rustfmt", &["fmt", "--all", "--", "--check"]));
    account.step("tidy", tidy_step);
    account.step("lints", || with_component("clippy", "clippy", LINTS));
    account.step("documentation", || {
        shown_command(
            Command::new(&cargo)
                .args(["doc", "--quiet", "--workspace", "--no-deps", "--all-features"])
                .env("RUSTDOCFLAGS", "-D warnings"),
        )
    });
    account.step("generated files", || Ok(Outcome::of(generate::are_fresh()?)));
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

/// Clippy's own rule on `SAFETY:` comments is asked for here, so that tidy need not know it.
const LINTS: &[&str] = &[
    "clippy",
    "--quiet",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--",
    "-D",
    "warnings",
    "-D",
    "clippy::undocumented_unsafe_blocks",
];

/// Tidy as a step.
fn tidy_step() -> Result<Outcome> {
    Ok(Outcome::of(tidy::run()?))
}
