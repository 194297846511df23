//! `cargo xtask measure NAME`: what the program's embedded tables hold, measured again.

mod deb;
mod packages;
mod tree;

use anyhow::{Result, bail};

/// Runs the measurement that `words` name.
pub(crate) fn run(words: &[&str]) -> Result<bool> {
    match words {
        ["packages", options @ ..] => packages::run(options),
        _ => bail!("there is the measurement: packages"),
    }
}
