//! `cargo xtask bench sim`: the simulator's own speed, and the same cards under other tools.

mod half_busy;
mod serve;
mod speed;

use anyhow::Result;
use clap::ValueEnum;

use half_busy::HalfBusy;

use crate::needs::{self, FIO, IOZONE};
use crate::prove::Stamp;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Requests a second, and memory
    Speed,
    /// Cards served in real time under fio and iozone
    Serve,
    /// The same while every processor is busy half of the time
    ServeBusy,
}

/// Runs the sections named, or all of them; `false` where one misses its limits.
pub(crate) fn run(sections: &[Section]) -> Result<bool> {
    let sections = if sections.is_empty() { Section::value_variants() } else { sections };
    if sections.iter().any(|section| *section != Section::Speed) {
        needs::tools(&[FIO, IOZONE])?;
    }
    let mut good = true;
    for section in sections {
        let stamp = Stamp::take()?;
        good &= match section {
            Section::Speed => speed::run()?,
            Section::Serve => serve::run()?,
            Section::ServeBusy => {
                let _busy = HalfBusy::begin();
                serve::run()?
            }
        };
        println!("\n{}", stamp.sentence());
    }
    Ok(good)
}
