//! The command `cardproof`: the only part that prints, parses arguments and handles signals.

mod args;
mod capture;
mod chosen;
mod compare;
mod completions;
mod engine;
mod exit;
mod identify;
mod import;
mod input;
mod measuring;
mod output;
mod profiles;
mod progress;
mod replay;
mod result;
mod run;
mod saved;
mod setups;
mod signals;
mod simulated;
mod talk;
mod terminal;
mod traces;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, SimCommand};
use exit::{Exit, Failure};
use signals::Signals;

fn main() -> ExitCode {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            talk::error(&format!("cannot watch for Ctrl-C: {error}"));
            return Exit::Incomplete.into();
        }
    };
    match perform(Cli::parse(), &signals) {
        Ok(exit) => exit.into(),
        Err(Failure { exit, message }) => {
            talk::error(&message);
            signals.exit().unwrap_or(exit).into()
        }
    }
}

fn perform(cli: Cli, signals: &Signals) -> Result<Exit, Failure> {
    let command = cli.command.unwrap_or(Command::Run(cli.run));
    if !looks_for_signals(&command) {
        signals.end_at_once();
        if let Some(exit) = signals.exit() {
            return Ok(exit);
        }
    }
    match command {
        Command::Run(args) => run::run(&args, signals),
        Command::Profiles(args) => profiles::run(&args),
        Command::Identify(args) => identify::run(&args),
        Command::Rate(args) => saved::rate(&args),
        Command::Report(args) => saved::report(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Sim(command) => simulated::run(&command, signals),
        Command::Import(args) => import::run(&args),
        Command::Capture(args) => capture::run(&args, signals),
        Command::Replay(args) => replay::run(&args, signals),
        Command::CompareSetups(args) => setups::run(&args, signals),
        Command::Traces(args) => traces::run(&args),
        Command::Watch(args) => watch::run(&args, signals),
        Command::Completions(args) => completions::print(&args).map(|()| Exit::Done),
        Command::ManualPages(args) => completions::write_manual(&args).map(|()| Exit::Done),
        Command::Engine(args) => engine::run(&args, signals.stop()).map(|()| Exit::Done),
    }
}

/// Whether `command` ends by itself, in order, soon after a signal. The others have nothing to put in
/// order, and may be waiting for standard input.
const fn looks_for_signals(command: &Command) -> bool {
    match command {
        Command::Run(_)
        | Command::Sim(SimCommand::Serve(_))
        | Command::Capture(_)
        | Command::Replay(_)
        | Command::CompareSetups(_)
        | Command::Watch(_)
        | Command::Engine(_) => true,
        Command::Profiles(_)
        | Command::Identify(_)
        | Command::Rate(_)
        | Command::Report(_)
        | Command::Import(_)
        | Command::Compare(_)
        | Command::Sim(SimCommand::List)
        | Command::Traces(_)
        | Command::Completions(_)
        | Command::ManualPages(_) => false,
    }
}
