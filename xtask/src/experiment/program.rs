//! The program itself, for experiments that run it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::steps::{Outcome, shown_command};
use crate::workspace::{Metadata, cargo};

/// Builds `cardproof` and says where it is.
pub(super) fn build() -> Result<PathBuf> {
    let mut command = Command::new(cargo());
    command.args(["build", "--package", "cardproof-cli"]);
    if shown_command(&mut command)? != Outcome::Passed {
        bail!("the program does not build");
    }
    Ok(Metadata::read()?.target_directory.join("debug/cardproof"))
}
