//! `cargo xtask measure NAME`: what the program's embedded tables hold, measured again.

mod deb;
mod packages;
mod tree;

use anyhow::Result;

/// A table to measure again.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Measurement {
    /// The shapes of Debian packages, as the tables of the package jobs; needs root
    Packages,
}

/// Runs the measurement.
pub(crate) fn run(measurement: &Measurement) -> Result<bool> {
    match measurement {
        Measurement::Packages => packages::run(),
    }
}
