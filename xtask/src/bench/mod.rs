//! `cargo xtask bench engine`: agreement with fio, and what the tool itself costs.
//!
//! Noise policy. A machine that does other things as well is the rule, so nothing is compared
//! across time: fio and cardproof run in turn on the same target, in the order fio, ours, ours,
//! fio, and so on, at least three rounds; each round gives one ratio, and the median of the
//! ratios counts. The lowest and highest ratio are shown beside it: where they are far apart the
//! machine was too busy, and the row says little. A figure is never taken from a single run.

mod footprint;
mod memory;
mod monitor;
mod null;
mod ours;
pub(crate) mod peers;
mod rounds;
mod table;
mod throttled;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cardproof_testkit::LabError;

use crate::steps::{Outcome, shown_command};
use crate::workspace::{Metadata, cargo};
use table::Table;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Throttled,
    Memory,
    Monitor,
    Null,
    Footprint,
}

/// All of them, with their names.
const SECTIONS: &[(&str, Section)] = &[
    ("throttled", Section::Throttled),
    ("memory", Section::Memory),
    ("monitor", Section::Monitor),
    ("null", Section::Null),
    ("footprint", Section::Footprint),
];

/// The fewest rounds from which a median is taken.
const ROUNDS_MIN: usize = 3;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Options {
    sections: Vec<Section>,
    rounds: usize,
    with_build: bool,
}

impl Options {
    /// Reads the words after `bench engine`.
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self { sections: Vec::new(), rounds: ROUNDS_MIN, with_build: false };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            if word == "--with-build" {
                options.with_build = true;
            } else if word == "--pairs" {
                let count = words.next().context("--pairs needs a number")?;
                options.rounds = count.parse().context("--pairs needs a number")?;
            } else if let Some((_, section)) = SECTIONS.iter().find(|(name, _)| *name == word) {
                options.sections.push(*section);
            } else {
                bail!("unknown section or option '{word}'");
            }
        }
        if options.rounds < ROUNDS_MIN {
            bail!("a median needs at least {ROUNDS_MIN} pairs");
        }
        if options.sections.is_empty() {
            options.sections = SECTIONS.iter().map(|&(_, section)| section).collect();
        }
        Ok(options)
    }
}

/// Builds the program, runs the sections, prints their tables; whether every target was met.
pub(crate) fn engine(words: &[&str]) -> Result<bool> {
    let options = Options::parse(words)?;
    let program = build()?;
    let mut good = true;
    for &section in &options.sections {
        good &= run(section, &program, &options)?;
    }
    Ok(good)
}

/// Runs one section; a section that the machine cannot give is skipped with its reason.
fn run(section: Section, program: &Path, options: &Options) -> Result<bool> {
    let rounds = options.rounds;
    let table = match section {
        Section::Throttled => throttled::run(program, rounds),
        Section::Memory => memory::run(program, rounds),
        Section::Monitor => monitor::run(program, rounds),
        Section::Null => null::run(program, rounds),
        Section::Footprint => footprint::run(program, options.with_build),
    };
    match table {
        Ok(table) => Ok(shown_table(&table)),
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

/// Prints `table`; whether all its targets were met.
fn shown_table(table: &Table) -> bool {
    println!("{table}");
    table.is_good()
}

/// Builds the program as users get it, and says where it is.
fn build() -> Result<PathBuf> {
    let mut command = Command::new(cargo());
    command.args(["build", "--release", "--package", "cardproof-cli"]);
    if shown_command(&mut command)? != Outcome::Passed {
        bail!("the program does not build");
    }
    Ok(Metadata::read()?.target_directory.join("release/cardproof"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_all_sections_run() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.sections.len(), SECTIONS.len());
        assert_eq!(options.rounds, ROUNDS_MIN);
    }

    #[test]
    fn a_single_pair_is_no_measurement() {
        assert!(Options::parse(&["--pairs", "2"]).is_err());
        assert_eq!(Options::parse(&["null", "--pairs", "5"]).unwrap().rounds, 5);
        assert!(Options::parse(&["nonsense"]).is_err());
    }
}
