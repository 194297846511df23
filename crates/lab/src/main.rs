//! Everything that cardproof's documents rest on: proofs of published claims, benchmarks, laboratories.
//!
//! Started by `cargo xtask`, which builds it with optimisation. It is no part of the program, and
//! `xtask` does not link it, so that checking a rule of the house compiles no database.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks by printing")]

mod bench;
mod bench_import;
mod bench_replay;
mod bench_sim;
mod blind;
mod debian;
mod document;
mod needs;
mod program;
mod prove;
mod schemas;
mod virtual_machine;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cardproof_testkit::{LabError, skip};
use clap::{Parser, Subcommand};

/// The exit status of a command that this machine cannot do; the reason is printed. Test runners
/// use the same number.
const SKIPPED: u8 = 77;

/// Proofs, benchmarks and laboratories.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce a published claim in full and rewrite its table in the documents; without a name,
    /// list the claims
    Prove(prove::Arguments),
    /// Attack every promise of safety at random, for some seconds or for hours
    Attack(prove::attack::Arguments),
    /// Measure the cost of the tool itself, and its agreement with others
    #[command(subcommand)]
    Bench(Bench),
    /// Boot a virtual machine with hardware that this machine lacks
    #[command(subcommand)]
    Lab(virtual_machine::Laboratory),
    /// Print the schemas of the program's documents, as a JSON object of texts by path
    Schemas,
    /// Fill so many blocks of 4 KiB, for a counter of instructions
    #[command(hide = true)]
    FillBlocks { blocks: u64 },
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Agreement with fio and the cost of the tool itself, paired with fio
    Engine(bench::Arguments),
    /// The cost of the monitor beside a run, paired with runs without it
    Monitor {
        /// Pairs of runs
        #[arg(long, default_value_t = bench::ROUNDS_MIN, value_name = "N")]
        pairs: usize,
    },
    /// Megabytes a second at which other tools' texts and traces are read
    Import,
    /// The figures of our profiles beside those of the tools that they follow
    Peers(bench::peers::Arguments),
    /// Requests a second that a replay can make, and its memory
    Replay,
    /// Requests a second of the simulated cards, and their memory; the same cards served in real
    /// time under fio and iozone
    Sim {
        /// The sections to run; all of them without a name
        #[arg(value_enum)]
        sections: Vec<bench_sim::Section>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match enter_workspace().and_then(|()| run(arguments.command)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => match error.downcast_ref::<LabError>() {
            Some(LabError::Unavailable(reason)) => {
                skip("laboratory", reason);
                SKIPPED.into()
            }
            _ => {
                eprintln!("lab: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Does what the arguments ask for; `false` where it was done and found something wrong.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::Prove(arguments) => prove::run(&arguments),
        Command::Attack(arguments) => prove::attack::for_a_time(&arguments),
        // Figures of a build for debugging would be those of the checks in it.
        Command::Bench(_) if cfg!(debug_assertions) => {
            bail!("a benchmark needs a build with optimisation: start it by `cargo xtask bench`")
        }
        Command::Bench(Bench::Engine(arguments)) => bench::engine(&arguments),
        Command::Bench(Bench::Import) => bench_import::run(),
        Command::Bench(Bench::Monitor { pairs }) => bench::monitor(pairs),
        Command::Bench(Bench::Peers(arguments)) => bench::peers::run(arguments),
        Command::Bench(Bench::Replay) => bench_replay::run(),
        Command::Bench(Bench::Sim { sections }) => bench_sim::run(&sections),
        Command::Lab(laboratory) => virtual_machine::run(&laboratory),
        Command::Schemas => {
            println!("{}", serde_json::to_string(&schemas::all()?)?);
            Ok(true)
        }
        Command::FillBlocks { blocks } => {
            bench::fill_blocks(blocks);
            Ok(true)
        }
    }
}

/// Documents and tables are written below the workspace's root.
fn enter_workspace() -> Result<()> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").context("start this by `cargo xtask`")?;
    let root = Path::new(&own).ancestors().nth(2).context("the package has no workspace")?;
    std::env::set_current_dir(root)?;
    Ok(())
}
