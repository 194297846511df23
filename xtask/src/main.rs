//! The one command for everything around the source: `cargo xtask NAME`.
//!
//! `check` is what to run before a commit, `test` is what the build server runs. Each is a list
//! of steps; a step that the machine cannot take is skipped with its reason, never in silence.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks by printing")]

mod bench;
mod bench_replay;
mod bench_sim;
mod check;
mod cli_reference;
mod deny;
mod experiment;
mod fit;
mod fuzz;
mod generate;
mod lab;
mod libtest;
mod measure;
mod packages;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check              format, lints, tidy, unit tests, documentation, licences, generated files
  test               installs what the tests need (as root), then everything; closes with
                     'N passed, N failed, N skipped'
  tidy               the house rules that no lint knows
  generate           writes the generated files
  bench engine [SECTION...] [--pairs N] [--with-build]
                     agreement with fio and the cost of the tool itself, paired with fio;
                     sections: throttled, memory, monitor, null, footprint (all of them without a
                     name)
  bench monitor [--pairs N]
                     what the monitor beside a run costs, paired with runs without it
  bench peers [PROFILE...] [loop] [card] [--pairs N]
                     the figures of our profiles beside those of the tools that they follow
  bench replay       requests a second that a replay can make, and its memory
  bench sim [speed] [serve]
                     requests a second of the simulated cards, and their memory; the same cards
                     served in real time under fio and iozone
  experiment job-and-replay
                     a job on files of a simulated card, and its trace replayed on the same card;
                     writes the table of docs/design/jobs.md
  experiment packages [--ours] [--cache DIRECTORY]
                     the package jobs beside apt and dpkg, on ext4 on a loop device; writes the
                     table of docs/design/jobs.md
  experiment prediction
                     how well jobs are predicted on cards that were left out; writes the tables
                     of docs/design/prediction.md
  experiment verdicts [--cards N] [--quick]
                     how often verdicts on A1 and A2 are wrong on made-up cards of known truth, and
                     those of other tools; writes the tables of docs/design/statistics.md
  experiment short-jobs
                     how well a whole package job is estimated from its short form; writes the
                     table of docs/design/jobs.md; needs root
  experiment sqlite  what a transaction costs the storage in each journal mode, beside published
                     figures; writes the table of docs/design/sqlite.md; needs root
  experiment replay [--pairs N]
                     whether a replay takes the time of the job, where that was recorded
  experiment replay-cards
                     the simulated cards doing the recorded jobs, beside the published times;
                     writes the tables of docs/design/traces.md
  fuzz [TARGET] [--seconds N]
                     runs the fuzz targets, each for 60 seconds; needs a nightly compiler
  lab mmc            boots a virtual machine with an SD card behind Linux's own MMC stack, and
                     compares what the program says of it and of other disks
  lab setups         boots a virtual machine with a slow and a fast simulated card and compares
                     file systems on each; writes the tables of docs/design/setups.md; 3 minutes
  measure packages [--cache DIRECTORY]
                     the shapes of Debian packages, as the tables of the package jobs
  fit                finds the simulated cards' parameters from the published figures
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the arguments ask for; `false` where it was done and found something wrong.
fn run(arguments: &[String]) -> Result<bool> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace::root()?;
    std::env::set_current_dir(&root)?;
    match words.as_slice() {
        ["check"] => check::run(),
        ["test"] => test::run(),
        ["tidy"] => tidy::run(),
        ["generate"] => generate::write(),
        ["bench", "engine", options @ ..] => bench::engine(options),
        ["bench", "monitor", options @ ..] => bench::engine(&[&["monitor"], options].concat()),
        ["bench", "peers", options @ ..] => bench::peers::run(options),
        ["bench", "replay"] => bench_replay::run(),
        ["bench", "sim", sections @ ..] => bench_sim::run(sections),
        ["experiment", words @ ..] => experiment::run(words),
        ["measure", words @ ..] => measure::run(words),
        ["lab", names @ ..] => lab::run(names),
        ["fit"] => fit::run(),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(true)
        }
        _ => bail!("unknown command\n\n{USAGE}"),
    }
}
