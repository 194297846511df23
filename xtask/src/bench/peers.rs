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

use anyhow::{Context, Result, bail};
use cardproof_testkit::LabError;

use super::build;
use super::rounds::{median, range};
use super::table::{Row, Table, Target};
use commands::Tools;
use labs::Lab;

/// How far the median ratio may be from one.
const MARGIN: f64 = 0.03;

/// Rounds unless told otherwise.
const ROUNDS: usize = 3;

/// A figure: the tool's own name for it, and its value in the tool's unit.
type Figures = Vec<(String, f64)>;

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Options {
    profiles: Vec<&'static Tools>,
    labs: Vec<Lab>,
    rounds: usize,
}

impl Options {
    /// Reads the words after `bench peers`.
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self { profiles: Vec::new(), labs: Vec::new(), rounds: ROUNDS };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            if word == "--pairs" {
                let count = words.next().context("--pairs needs a number")?;
                options.rounds = count.parse().context("--pairs needs a number")?;
            } else if let Some(lab) = labs::ALL.iter().find(|lab| lab.name() == word) {
                options.labs.push(*lab);
            } else if let Some(tools) = commands::ALL.iter().find(|tools| tools.profile == word) {
                options.profiles.push(tools);
            } else {
                bail!("unknown profile, laboratory or option '{word}'");
            }
        }
        if options.rounds == 0 {
            bail!("no pair is no comparison");
        }
        if options.labs.is_empty() {
            options.labs = labs::ALL.to_vec();
        }
        if options.profiles.is_empty() {
            options.profiles = commands::ALL.iter().collect();
        }
        Ok(options)
    }
}

/// Builds the program and compares; whether every figure was the same.
pub(crate) fn run(words: &[&str]) -> Result<bool> {
    let options = Options::parse(words)?;
    let program = build()?;
    let mut good = true;
    for &lab in &options.labs {
        let mut table = Table::of_tools(lab.title());
        for &tools in &options.profiles {
            match compare(&mut table, &program, lab, tools, options.rounds) {
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
        good &= super::shown_table(&table);
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
    fn without_a_name_everything_is_compared() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.profiles.len(), commands::ALL.len());
        assert_eq!((options.labs.len(), options.rounds), (2, ROUNDS));
    }

    #[test]
    fn profiles_and_laboratories_can_be_chosen() {
        let options = Options::parse(&["loop", "agnostics", "--pairs", "5"]).unwrap();
        assert_eq!(options.labs, [Lab::Loop]);
        assert_eq!(options.profiles[0].profile, "agnostics");
        assert_eq!(options.rounds, 5);
        assert!(Options::parse(&["nonsense"]).is_err());
        assert!(Options::parse(&["--pairs", "0"]).is_err());
    }

    /// A tool's figure that no profile promises would never be compared.
    #[test]
    fn every_profile_with_tools_is_ours() {
        for tools in commands::ALL {
            assert!(cardproof_workload::find(tools.profile).is_some(), "{}", tools.profile);
        }
    }
}
