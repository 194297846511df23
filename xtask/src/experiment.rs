//! `cargo xtask experiment NAME`: what the design documents claim, computed again and written into
//! their tables.

mod prediction;

use anyhow::{Result, bail};

/// Runs the experiment `words` name.
pub(crate) fn run(words: &[&str]) -> Result<bool> {
    match words {
        ["prediction"] => prediction::run(),
        _ => bail!("there is the experiment: prediction"),
    }
}
