//! `cargo xtask lab NAME`: a virtual machine with hardware that this one has not, and the program
//! in it.
//!
//! The machine boots Debian's kernel under software emulation, so it needs no privilege and works
//! in a container.

mod image;
mod kernel;
mod machine;
mod mmc;
mod setups;

use std::path::PathBuf;

use anyhow::{Result, bail};
use cardproof_testkit::LabError;

use crate::steps::{Outcome, shown};
use crate::workspace::{Metadata, cargo};

/// Runs the laboratory called `name`.
pub(crate) fn run(names: &[&str]) -> Result<bool> {
    let laboratory = match names {
        ["mmc"] => mmc::run,
        ["setups"] => setups::run,
        _ => bail!("name a laboratory: mmc, setups"),
    };
    match step(laboratory)? {
        Outcome::Passed => Ok(true),
        Outcome::Failed => Ok(false),
        Outcome::Skipped(reason) => bail!(reason),
    }
}

/// The laboratory with the kernel's own stack for memory cards, as a step of the tests.
pub(crate) fn mmc_step() -> Result<Outcome> {
    step(mmc::run)
}

/// A laboratory's outcome; what the machine lacks is a reason to skip.
fn step(laboratory: fn() -> Result<bool>) -> Result<Outcome> {
    match laboratory() {
        Ok(good) => Ok(Outcome::of(good)),
        Err(error) => match error.downcast_ref::<LabError>() {
            Some(LabError::Unavailable(reason)) => Ok(Outcome::Skipped(reason.clone())),
            _ => Err(error),
        },
    }
}

/// Where downloads are kept between runs.
fn cache() -> Result<PathBuf> {
    let cache = Metadata::read()?.target_directory.join("lab");
    std::fs::create_dir_all(&cache)?;
    Ok(cache)
}

/// The program as it is released, built.
fn released_program() -> Result<PathBuf> {
    let arguments = ["build", "--quiet", "--release", "--package", "cardproof-cli"];
    if shown(&cargo(), &arguments)? != Outcome::Passed {
        bail!("the program does not build");
    }
    Ok(Metadata::read()?.target_directory.join("release/cardproof"))
}
