//! `cargo xtask bench peers`: the figures of our profiles beside those of the tools they follow.
//!
//! Tool and profile run in turn, each on a fresh ext4: on a loop device whose rates the kernel
//! limits, and on a simulated card served as a block device. The tools run with exactly the
//! commands that their scripts have. A figure counts as the same where the median of the rounds'
//! ratios is within 3 % of one; it is shown in the tool's own unit.

mod commands;
mod labs;
mod ours;
mod outputs;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cardproof_testkit::LabError;
use clap::ValueEnum;

use super::rounds::{median, range};
use super::table::{Row, Table, Target};
use crate::needs::{self, Tool};
use crate::program::{self, Build};
use crate::prove::Stamp;
use commands::Tools;
use labs::Lab;

/// How far the median ratio may be from one.
const MARGIN: f64 = 0.03;

/// Rounds unless told otherwise.
const ROUNDS: usize = 3;

/// A figure: the tool's own name for it, and its value in the tool's unit.
type Figures = Vec<(String, f64)>;

/// The profiles beside the tools that they follow.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The profiles to compare; all that follow a tool without a name
    #[arg(value_parser = profile, value_name = "PROFILE")]
    profiles: Vec<&'static Tools>,
    /// Where to compare; in each laboratory without a name
    #[arg(long = "lab", value_enum, value_name = "LAB")]
    labs: Vec<Lab>,
    /// Pairs of runs
    #[arg(long, default_value_t = ROUNDS, value_name = "N")]
    pairs: usize,
}

/// The tools that the profile `name` follows.
fn profile(name: &str) -> Result<&'static Tools> {
    let found = commands::ALL.iter().find(|tools| tools.profile == name);
    found.with_context(|| {
        let known: Vec<&str> = commands::ALL.iter().map(|tools| tools.profile).collect();
        format!("there are {}", known.join(", "))
    })
}

/// Builds the program and compares; whether every figure was the same.
pub(crate) fn run(arguments: Arguments) -> Result<bool> {
    let Arguments { mut profiles, mut labs, pairs: rounds } = arguments;
    ensure!(rounds > 0, "no pair is no comparison");
    if profiles.is_empty() {
        profiles.extend(commands::ALL);
    }
    if labs.is_empty() {
        labs.extend(Lab::value_variants());
    }
    let tools: Vec<Tool> = profiles.iter().flat_map(|tools| tools.needs()).copied().collect();
    needs::tools(&tools)?;
    let program = program::build(Build::Dist)?;
    let mut good = true;
    for &lab in &labs {
        let stamp = Stamp::take()?;
        let mut table = Table::of_tools(lab.title());
        for &tools in &profiles {
            match compare(&mut table, &program, lab, tools, rounds) {
                Ok(()) => {}
                Err(error) => match error.downcast::<LabError>() {
                    Ok(LabError::Unavailable(reason)) => {
                        println!("skipped: {} on {}: {reason}", tools.profile, lab.name());
                    }
                    Ok(other) => return Err(other.into()),
                    Err(other) => return Err(other),
                },
            }
        }
        good &= super::shown_table(&table, &stamp);
    }
    Ok(good)
}

/// Adds the rows of one profile.
fn compare(
    table: &mut Table,
    program: &Path,
    lab: Lab,
    tools: &Tools,
    rounds: usize,
) -> Result<()> {
    let mut theirs: Vec<Figures> = Vec::new();
    let mut ours: Vec<Figures> = Vec::new();
    for round in 0..rounds {
        let tool_run = || lab.with(tools, |place| commands::run(tools, place));
        let our_run = || lab.with(tools, |place| ours::run(program, tools, place));
        // A machine that grows slower or faster favours nobody.
        if round % 2 == 0 {
            theirs.push(tool_run()?);
            ours.push(our_run()?);
        } else {
            ours.push(our_run()?);
            theirs.push(tool_run()?);
        }
    }
    let Some(first) = theirs.first() else { return Ok(()) };
    for (name, _) in first {
        let their = values(&theirs, name)?;
        let our = values(&ours, name)?;
        let ratios: Vec<f64> = our.iter().zip(&their).map(|(our, their)| our / their).collect();
        table.add(Row {
            name: format!("{}: {name}", tools.profile),
            other: format!("{:.1}", median(&their)),
            ours: format!("{:.1}", median(&our)),
            value: median(&ratios),
            range: Some(range(&ratios)),
            target: Target::OneWithin(MARGIN),
        });
    }
    Ok(())
}

/// The values of the figure `name`, one a run.
fn values(runs: &[Figures], name: &str) -> Result<Vec<f64>> {
    let one = |run: &Figures| {
        let found = run.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).with_context(|| format!("a run has no figure '{name}'"))
    };
    runs.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_that_follows_no_tool_is_refused() {
        assert_eq!(profile("agnostics").unwrap().profile, "agnostics");
        assert!(profile("standard").is_err());
    }

    /// A tool's figure that no profile promises would never be compared.
    #[test]
    fn every_profile_with_tools_is_ours() {
        for tools in commands::ALL {
            assert!(cardproof_workload::find(tools.profile).is_some(), "{}", tools.profile);
        }
    }
}
