//! `cargo xtask bench engine`: agreement with fio, and what the tool itself costs.
//!
//! Noise policy. A machine that does other things as well is the rule, so nothing is compared
//! across time: fio and cardproof run in turn on the same target, in the order fio, ours, ours,
//! fio, and so on, at least three rounds; each round gives one ratio, and the median of the
//! ratios counts. The lowest and highest ratio are shown beside it: where they are far apart the
//! machine was too busy, and the row says little. A figure is never taken from a single run.

mod data;
mod footprint;
mod instructions;
mod memory;
mod monitor;
mod null;
mod ours;
pub(crate) mod peers;
mod rounds;
mod table;
mod throttled;

use std::path::Path;

use anyhow::{Result, ensure};
use cardproof_testkit::LabError;
use clap::ValueEnum;

use crate::needs::{self, FIO, Tool, VALGRIND};
use crate::program::{self, Build};
use crate::prove::Stamp;
pub(crate) use data::fill_blocks;
use table::Table;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Agreement with fio on devices of known rates
    Throttled,
    /// Agreement with fio on a file system in memory
    Memory,
    /// The cost of the monitor beside a run
    Monitor,
    /// The tool's own speed, on a target that does nothing
    Null,
    /// Times of small runs, memory, sizes
    Footprint,
    /// The data that are written: their speed and their instructions
    Data,
    /// The tool's own instructions for each operation, and fio's
    Instructions,
}

impl Section {
    /// What it starts beside cardproof.
    const fn tools(self) -> &'static [Tool] {
        match self {
            Self::Throttled | Self::Memory | Self::Null => &[FIO],
            Self::Instructions => &[FIO, VALGRIND],
            Self::Data => &[VALGRIND],
            Self::Monitor | Self::Footprint => &[],
        }
    }
}

/// The fewest rounds from which a median is taken.
pub(crate) const ROUNDS_MIN: usize = 3;

/// Agreement with fio, and the tool's own cost.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sections to run; all of them without a name
    #[arg(value_enum)]
    sections: Vec<Section>,
    /// Pairs of runs
    #[arg(long, default_value_t = ROUNDS_MIN, value_name = "N")]
    pairs: usize,
    /// Measure the time of the first build too
    #[arg(long)]
    with_build: bool,
}

/// Builds the program, runs the sections, prints their tables; whether every target was met.
pub(crate) fn engine(arguments: &Arguments) -> Result<bool> {
    let Arguments { ref sections, pairs, with_build } = *arguments;
    ensure!(pairs >= ROUNDS_MIN, "a median needs at least {ROUNDS_MIN} pairs");
    let sections = if sections.is_empty() { Section::value_variants() } else { sections };
    let tools: Vec<Tool> = sections.iter().flat_map(|section| section.tools()).copied().collect();
    needs::tools(&tools)?;
    let program = program::build(Build::Dist)?;
    let mut good = true;
    for &section in sections {
        good &= run(section, &program, pairs, with_build)?;
    }
    Ok(good)
}

/// The section of the monitor alone.
pub(crate) fn monitor(pairs: usize) -> Result<bool> {
    engine(&Arguments { sections: vec![Section::Monitor], pairs, with_build: false })
}

/// Runs one section; a section that the machine cannot give is skipped with its reason.
fn run(section: Section, program: &Path, rounds: usize, with_build: bool) -> Result<bool> {
    let stamp = Stamp::take()?;
    let table = match section {
        Section::Throttled => throttled::run(program, rounds),
        Section::Memory => memory::run(program, rounds),
        Section::Monitor => monitor::run(program, rounds),
        Section::Null => null::run(program, rounds),
        Section::Footprint => footprint::run(program, with_build),
        Section::Data => data::run(),
        Section::Instructions => instructions::run(program),
    };
    match table {
        Ok(table) => Ok(shown_table(&table, &stamp)),
        Err(error) => match error.downcast::<LabError>() {
            Ok(LabError::Unavailable(reason)) => {
                println!("skipped: {section:?}: {reason}");
                Ok(true)
            }
            Ok(other) => Err(other.into()),
            Err(other) => Err(other),
        },
    }
}

/// Prints `table` with when and where it was measured; whether all its targets were met.
fn shown_table(table: &Table, stamp: &Stamp) -> bool {
    println!("{table}\n{}", stamp.sentence());
    table.is_good()
}
