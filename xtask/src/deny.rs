//! Licences, sources and bans of all dependencies, by cargo-deny and `deny.toml`.
//!
//! Its check of advisories needs a database from the network; without one it is skipped.

use std::process::Command;

use anyhow::Result;

use crate::steps::{Outcome, shown};
use crate::workspace::cargo;

/// What to do where cargo-deny is not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// Skip, with the reason.
    Skip,
    /// Install it, without optimisation, which takes about a minute.
    Install,
}

/// Checks all dependencies.
pub(crate) fn run(when_absent: WhenAbsent) -> Result<Outcome> {
    if !is_installed() {
        if when_absent == WhenAbsent::Skip {
            return Ok(Outcome::Skipped(
                "cargo-deny is not installed (`cargo install --locked --debug cargo-deny`)"
                    .to_owned(),
            ));
        }
        let installed =
            shown(&cargo(), &["install", "--quiet", "--locked", "--debug", "cargo-deny"])?;
        if installed == Outcome::Failed {
            return Ok(Outcome::Skipped("cargo-deny cannot be installed here".to_owned()));
        }
    }
    shown(&cargo(), &["deny", "check", "bans", "licenses", "sources"])
}

/// Checks all dependencies for published faults, by the database that cargo-deny fetches or has kept.
pub(crate) fn advisories() -> Result<Outcome> {
    if !is_installed() {
        return Ok(Outcome::Skipped("cargo-deny is not installed".to_owned()));
    }
    let fetched = shown(&cargo(), &["deny", "fetch", "db"])?;
    let words: &[&str] = match fetched {
        Outcome::Passed => &["deny", "check", "advisories"],
        _ => &["deny", "check", "--disable-fetch", "advisories"],
    };
    match (shown(&cargo(), words)?, fetched) {
        (Outcome::Failed, Outcome::Failed) => {
            Ok(Outcome::Skipped("no database of advisories, fetched or kept".to_owned()))
        }
        (checked, _) => Ok(checked),
    }
}

/// Whether cargo knows the subcommand.
fn is_installed() -> bool {
    Command::new(cargo())
        .args(["deny", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}
