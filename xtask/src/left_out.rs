//! The program without its default features: it builds, and each part that is left out says so.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run_command;

use crate::steps::Outcome;
use crate::workspace::{Metadata, cargo};

/// The features that may be left out, and what the program is asked for to say so.
const PARTS: [(&str, &[&str]); 3] = [
    ("serve", &["sim", "serve", "sandisk-ultra"]),
    ("sqlite", &["run", "--profile", "sqlite", "."]),
    ("submit", &["submit", "latest", "--to", "http://localhost:1"]),
];

/// The status of a wrong command line.
const USAGE: i32 = 2;

/// Builds the program without its default features, and asks for each part.
pub(crate) fn step() -> Result<Outcome> {
    let place = Metadata::read()?.target_directory.join("left-out");
    let mut build = Command::new(cargo());
    build.args(["build", "--quiet", "--locked", "--package", "cardproof-cli"]);
    build.args(["--no-default-features", "--target-dir"]).arg(&place);
    run_command(build).context("the program does not build without its default features")?;
    for (name, words) in PARTS {
        let mut command = Command::new(place.join("debug/cardproof"));
        let output = command.args(words).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(USAGE)
                && said.contains(&format!("built without `{name}`")),
            "without {name}: {}: {said}",
            output.status
        );
    }
    Ok(Outcome::Passed)
}
