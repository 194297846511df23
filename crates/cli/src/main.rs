//! The command `cardproof`: the only part that prints, parses arguments and handles signals.
//!
//! This file lists the commands and hands each to its own file; no other file names them all.

#![cfg_attr(
    not(all(feature = "screen", feature = "serve", feature = "sqlite", feature = "submit")),
    allow(dead_code, reason = "what a part that is left out would use")
)]

mod args;
mod catalogue;
mod charts;
mod check;
mod compare;
mod completions;
mod diagnose;
mod endure;
mod engine;
mod exit;
mod geometry;
mod health;
mod help;
mod identify;
mod import;
mod input;
mod inventory;
mod journal;
mod ledger;
mod measuring;
mod others;
mod output;
mod pasted;
mod powercut;
mod profile_choice;
mod profiles;
mod progress;
mod replay;
mod result;
mod run;
mod saved;
mod setups;
mod show;
mod signals;
mod signs;
mod simulated;
mod submit;
mod suggestion;
mod talk;
mod target;
mod terminal;
mod tune;
mod verify;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use cardproof_units::in_words;
use clap::builder::Styles;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use args::{CompareArgs, IdentifyArgs, ProfilesArgs, RunArgs, SimCommand};
use check::CheckArgs;
use completions::{CompletionsArgs, ManualArgs};
use diagnose::DiagnoseArgs;
use endure::EndureArgs;
use engine::EngineArgs;
use exit::{Exit, Failure};
use geometry::GeometryArgs;
use health::HealthArgs;
use import::ImportArgs;
use inventory::ListArgs;
use ledger::LedgerArgs;
use powercut::PowercutArgs;
use replay::ReplayCommand;
use setups::SetupsArgs;
use show::ShowArgs;
use signals::Signals;
use submit::SubmitArgs;
use tune::TuneArgs;
use verify::VerifyArgs;
use watch::args::WatchArgs;

/// The two ways to call the program: the answer, whose options `check --help` has, or a command.
const USAGE: &str = "cardproof [TARGET] [OPTIONS OF check]
       cardproof COMMAND [OPTIONS]";

/// What stands under the help: how to begin, and what scripts go by.
const AFTER_HELP: &str = "Examples:
  cardproof                    answer for the storage of the current directory
  cardproof /media/pi/CARD     answer for a card that is mounted there
  cardproof check --help       the options of the answer

Records and reports are kept in ~/.local/share/cardproof/records.
Exit status: 0 done; 1 not completed; 2 wrong command line;
3 refused: not safe, or this storage cannot be tested;
4 a bad result, or undecided (verify);
130 and 143 stopped by Ctrl-C or SIGTERM.";

/// Find out the truth about an SD card, eMMC, USB stick or SSD.
#[derive(Debug, Parser)]
#[command(
    name = "cardproof",
    version,
    args_conflicts_with_subcommands = true,
    override_usage = USAGE,
    styles = Styles::styled(),
    after_help = AFTER_HELP
)]
struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Option<Command>,
    /// What to check, when there is no command.
    #[command(flatten)]
    check: CheckArgs,
}

/// What can be done.
#[derive(Debug, Subcommand)]
enum Command {
    /// The answer on one page (the default)
    Check(CheckArgs),
    /// Measure speed: a profile, a class, a job
    Run(RunArgs),
    /// The tests that `run` offers
    Profiles(ProfilesArgs),
    /// The card, its bus, its host, and what limits it
    Identify(IdentifyArgs),
    /// A saved result again: on the terminal, or as a report
    Show(Box<ShowArgs>),
    /// Read another tool's output, or a pasted text
    Import(ImportArgs),
    /// What the storage does at this moment
    Watch(WatchArgs),
    /// Does the card slow down this computer?
    Diagnose(DiagnoseArgs),
    /// What is written a day, errors, days left
    Log(LedgerArgs),
    /// Your records and published cards, side by side
    Compare(Box<CompareArgs>),
    /// The saved results, one line each
    List(ListArgs),
    /// The card's inner block sizes, to align partitions
    Geometry(Box<GeometryArgs>),
    /// A plan for partition, file system and settings
    Tune(Box<TuneArgs>),
    /// File systems and SQLite's journal modes compared
    CompareSetups(Box<SetupsArgs>),
    /// Simulated cards, for any tool
    #[command(subcommand)]
    Sim(SimCommand),
    /// Is the capacity real? Writes and reads back
    Verify(Box<VerifyArgs>),
    /// Write to cards until they fail
    Endure(Box<EndureArgs>),
    /// Is it dying? Errors, wear, and days left
    Health(HealthArgs),
    /// Does a power cut lose data that was saved?
    Powercut(Box<PowercutArgs>),
    /// Repeat a recorded job; record one
    #[command(subcommand)]
    Replay(ReplayCommand),
    /// Share a record with a hub; shows it first
    Submit(Box<SubmitArgs>),
    /// The completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages into a directory (for packages)
    #[command(hide = true)]
    ManualPages(ManualArgs),
    /// Run one phase with the given parameters and print its results (for developers)
    #[command(hide = true)]
    Engine(Box<EngineArgs>),
}

/// The stack that is enough for every command, and below which the limit of the shell (`ulimit -s`) is not.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    output::note_descriptors();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= STACK_BYTES as u64) {
        return run_command();
    }
    // A thread has the stack that it is given, whatever the limit.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run_command);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => Exit::Incomplete.into(),
        Err(error) => {
            talk::error(&format!(
                "cannot have a stack of 8 MiB: {error}; raise ulimit -v",
                error = in_words(&error)
            ));
            Exit::Incomplete.into()
        }
    }
}

/// Runs the command that the user has typed.
fn run_command() -> ExitCode {
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            talk::error(&format!("cannot watch for Ctrl-C: {error}", error = in_words(&error)));
            return Exit::Incomplete.into();
        }
    };
    match perform(parsed(), &signals) {
        Ok(exit) => exit.into(),
        Err(Failure { exit, message }) => {
            talk::error(&message);
            signals.exit().unwrap_or(exit).into()
        }
    }
}

/// The arguments; where they are wrong, this says so and ends the process.
fn parsed() -> Cli {
    let program = help::grouped(Cli::command());
    let matches = program.try_get_matches_from(words());
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).unwrap_or_else(|mut error| {
        let names_command = suggestion::names_command(&error, &Cli::command());
        if let (true, Err(failure)) = (error.use_stderr() && !names_command, check_first_word()) {
            talk::error(&failure.message);
            std::process::exit(failure.exit as i32);
        }
        let steers = |word: OsString| word.to_string_lossy().contains(cardproof_report::steers);
        if !error.use_stderr() {
            error.exit();
        }
        let typed: Vec<String> =
            words().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(said) = suggestion::of_parser(&error, &Cli::command(), &typed) {
            talk::error(&said);
            std::process::exit(Exit::Usage as i32);
        }
        // No option is meant as a value here.
        error.remove(ContextKind::Suggested);
        // The parser repeats a word as it is.
        if std::env::args_os().any(steers) {
            talk::wrong_words(&talk::plain(&error.render().to_string()));
        } else {
            talk::wrong_words(&error.render().ansi().to_string());
        }
        if wants_report(&error) {
            talk::wrong_words(
                "Every saved record can become a report: cardproof show latest --html FILE, or \
                 --markdown FILE",
            );
        }
        std::process::exit(Exit::Usage as i32)
    })
}

/// Whether a report was wanted of a command that has no option for it.
fn wants_report(error: &clap::Error) -> bool {
    let wrong = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    is_unknown && ["--markdown", "--html", "--charts", "--picture"].contains(&wrong.as_str())
}

/// The command line. The parser's `help` knows no options, so `help --help` becomes `help`.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "help") {
        words.retain(|word| word != "--help" && word != "-h");
    }
    words
}

/// Checks the first word, which the parser takes for a target where it is no command.
fn check_first_word() -> Result<(), Failure> {
    match std::env::args_os().nth(1) {
        Some(word) => suggestion::check(Path::new(&word), &Cli::command()),
        None => Ok(()),
    }
}

fn perform(cli: Cli, signals: &Signals) -> Result<Exit, Failure> {
    if cli.command.is_none() {
        suggestion::check(&cli.check.target, &Cli::command())?;
    }
    let command = cli.command.unwrap_or(Command::Check(cli.check));
    if !looks_for_signals(&command) {
        signals.end_at_once();
        if let Some(exit) = signals.exit() {
            return Ok(exit);
        }
    }
    match command {
        Command::Check(args) => check::run(&args, signals),
        Command::Run(args) => run::run(&args, signals),
        Command::Profiles(args) => profiles::run(&args),
        Command::Identify(args) => identify::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Diagnose(args) => diagnose::run(&args, signals),
        Command::Log(args) => ledger::run(&args),
        Command::List(args) => inventory::list(&args),
        Command::Submit(args) => submit::run(&args),
        Command::Sim(command) => simulated::run(&command, signals),
        Command::Import(args) => import::run(&args),
        Command::Powercut(args) => powercut::run(&args, signals),
        Command::Replay(command) => replay::perform(&command, signals),
        Command::Tune(args) => tune::run(&args, signals),
        Command::Geometry(args) => geometry::run(&args, signals),
        Command::Verify(args) => verify::run(&args, signals),
        Command::Endure(args) => endure::run(&args, signals),
        Command::Health(args) => health::run(&args),
        Command::CompareSetups(args) => setups::run(&args, signals),
        Command::Watch(args) => watch::run(&args, signals),
        Command::Completions(args) => {
            completions::print(&args, Cli::command()).map(|()| Exit::Done)
        }
        Command::ManualPages(args) => {
            completions::write_manual(&args, Cli::command()).map(|()| Exit::Done)
        }
        Command::Engine(args) => engine::run(&args, signals.stop()).map(|()| Exit::Done),
    }
}

/// Whether `command` ends by itself, in order, soon after a signal. The others have nothing to put in
/// order, and may be waiting for standard input.
const fn looks_for_signals(command: &Command) -> bool {
    match command {
        Command::Replay(command) => command.looks_for_signals(),
        Command::Check(_)
        | Command::Run(_)
        | Command::Sim(SimCommand::Serve(_))
        | Command::Powercut(_)
        | Command::Verify(_)
        | Command::Endure(_)
        | Command::CompareSetups(_)
        | Command::Geometry(_)
        | Command::Tune(_)
        | Command::Watch(_)
        | Command::Diagnose(_)
        | Command::Engine(_) => true,
        Command::Profiles(_)
        | Command::Identify(_)
        | Command::Show(_)
        | Command::Import(_)
        | Command::Compare(_)
        | Command::Health(_)
        | Command::Log(_)
        | Command::List(_)
        | Command::Sim(SimCommand::List(_))
        | Command::Submit(_)
        | Command::Completions(_)
        | Command::ManualPages(_) => false,
    }
}
