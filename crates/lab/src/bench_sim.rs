//! `cargo xtask bench sim`: the simulator's own speed, and the same cards under other tools.

mod serve;
mod speed;

use anyhow::Result;
use clap::ValueEnum;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Requests a second, and memory
    Speed,
    /// Cards served in real time under fio and iozone
    Serve,
}

/// Runs the sections named, or all of them; `false` where one misses its limits.
pub(crate) fn run(sections: &[Section]) -> Result<bool> {
    let mut good = true;
    for section in if sections.is_empty() { Section::value_variants() } else { sections } {
        good &= match section {
            Section::Speed => speed::run()?,
            Section::Serve => serve::run()?,
        };
    }
    Ok(good)
}
