//! The one command for everything around the source: `cargo xtask NAME`.
//!
//! `check` is what to run before a commit, `test` is what the build server runs. Each is a list
//! of steps; a step that the machine cannot take is skipped with its reason, never in silence.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks by printing")]

mod check;
mod cli_reference;
mod compiler;
mod deny;
mod dist;
mod fuzz;
mod generate;
mod lab;
mod left_out;
mod nightly;
mod packages;
mod queue;
mod same_figures;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The one command for everything around cardproof's source.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Format, lints, tidy, unit tests, documentation, licences, generated files
    Check,
    /// What every change must pass: installs what the tests need (as root), then runs them; closes with
    /// 'N passed, N failed, N skipped'
    Test(test::Arguments),
    /// What explores or needs much time: virtual machines, long attacks and kills, query engines,
    /// fuzzing, every proof in its short form
    Nightly(nightly::Arguments),
    /// The house rules that no lint knows
    Tidy,
    /// Write the generated files
    Generate,
    /// Make a release below target/packages: binaries, packages, archives, an apt repository, sums
    Dist(dist::Arguments),
    /// Run the fuzz targets with the address sanitizer
    Fuzz(fuzz::Arguments),
    /// Compare all figures of all profiles on all simulated cards with those of an earlier state
    SameFigures(same_figures::Arguments),
    /// Reproduce a published claim in full and rewrite its table in the documents; without a name,
    /// list the claims
    #[command(disable_help_flag = true)]
    Prove(ForLab),
    /// Attack every promise of safety at random, for some seconds or with --hours N
    #[command(disable_help_flag = true)]
    Attack(ForLab),
    /// Measure the cost of the tool itself, and its agreement with others
    #[command(disable_help_flag = true)]
    Bench(ForLab),
    /// Boot a virtual machine with hardware that this machine lacks
    #[command(disable_help_flag = true)]
    Lab(ForLab),
}

/// The arguments of a command of the laboratory, which reads them itself.
#[derive(Debug, clap::Args)]
struct ForLab {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    if let Some(ended) = compiler::run() {
        return ended;
    }
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the arguments ask for; `false` where it was done and found something wrong.
fn run(command: Command) -> Result<bool> {
    std::env::set_current_dir(workspace::root()?)?;
    match command {
        Command::Check => check::run(),
        Command::Test(arguments) => test::run(&arguments),
        Command::Nightly(arguments) => nightly::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Generate => generate::write(),
        Command::Dist(arguments) => dist::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::SameFigures(arguments) => same_figures::run(&arguments),
        Command::Prove(asked) => lab::run("prove", &asked.arguments),
        Command::Attack(asked) => lab::run("attack", &asked.arguments),
        Command::Bench(asked) => lab::run("bench", &asked.arguments),
        Command::Lab(asked) => lab::run("lab", &asked.arguments),
    }
}
