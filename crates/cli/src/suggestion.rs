//! "Did you mean": a first word that is neither a target nor a command.
//!
//! Without a command the first word is a target, so a mistyped command would be reported as a missing
//! file.

use std::path::Path;

use cardproof_session::simulated_card;
use clap::error::{ContextKind, ErrorKind};
use clap::{Command, Error};

use crate::completions;
use crate::exit::Failure;

/// Whether `target` may be meant as a target and not as a command of `program`.
///
/// # Errors
/// It is a plain word, and there is neither a file nor a device of this name.
pub(crate) fn check(target: &Path, program: &Command) -> Result<(), Failure> {
    let is_plain = |word: &&str| !word.contains(['/', ':', '.']) && !word.starts_with('-');
    let Some(word) = target.to_str().filter(is_plain) else { return Ok(()) };
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let is_known = word == "help" || program.find_subcommand(word).is_some();
    if is_known || is_there(target) || is_there(&Path::new("/dev").join(word)) {
        return Ok(());
    }
    let meant = match nearest_command(word, program) {
        Some(command) => format!("did you mean `cardproof {command}`?"),
        None if simulated_card(word).is_ok() => {
            format!("did you mean the simulated card sim:{word}?")
        }
        None => "`cardproof --help` lists the commands".to_owned(),
    };
    Err(Failure::usage(format!("there is no command and no file '{word}'; {meant}")))
}

/// Whether the word that the parser of `program` did not expect is a command.
pub(crate) fn names_command(error: &Error, program: &Command) -> bool {
    let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    word.is_some_and(|word| program.find_subcommand(&word).is_some())
}

/// What was meant, where the parser of `program` took one of `words` for a command; `None` where its own words say
/// it. The command may have commands of its own.
pub(crate) fn of_parser(error: &Error, program: &Command, words: &[String]) -> Option<String> {
    let first = command_of(program, words);
    if error.kind() == ErrorKind::MissingRequiredArgument && first == Some("completions") {
        return Some(completions::without_shell());
    }
    let word = error.get(ContextKind::InvalidSubcommand)?.to_string();
    let is_command = program.find_subcommand(&word).is_some();
    match error.kind() {
        // Before a command, options are of the answer, so the parser takes what follows for targets.
        ErrorKind::ArgumentConflict if first.is_some_and(|first| is_group(program, first)) => {
            let first = first.unwrap_or_default();
            let group = program.find_subcommand(first);
            match group.and_then(|group| group.find_subcommand(&word)) {
                Some(_) => {
                    Some(format!("options come after the command: cardproof {first} {word}"))
                }
                None => Some(of_group(&word, program, Some(first))),
            }
        }
        ErrorKind::ArgumentConflict if is_command => Some(format!(
            "the command comes first, then the target and the options: cardproof {word} TARGET"
        )),
        ErrorKind::ArgumentConflict => {
            Some(format!("name only one target; '{word}' is one too many"))
        }
        ErrorKind::InvalidSubcommand => Some(of_group(&word, program, first)),
        _ => None,
    }
}

/// The command among `words`, which options may precede.
fn command_of<'w>(program: &Command, words: &'w [String]) -> Option<&'w str> {
    words.iter().map(String::as_str).find(|word| program.find_subcommand(word).is_some())
}

fn is_group(program: &Command, name: &str) -> bool {
    program.find_subcommand(name).is_some_and(Command::has_subcommands)
}

/// That there is no command `word`, and what was meant: of the group of commands `first`, or of the program.
fn of_group(word: &str, program: &Command, first: Option<&str>) -> String {
    let first = first.filter(|first| is_group(program, first));
    let group = first.and_then(|first| program.find_subcommand(first));
    let whole = first.map_or_else(|| "cardproof".to_owned(), |first| format!("cardproof {first}"));
    match nearest_command(word, group.unwrap_or(program)) {
        Some(command) => {
            format!("there is no command '{word}'; did you mean `{whole} {command}`?")
        }
        None => format!("there is no command '{word}'; `{whole} --help` lists the commands"),
    }
}

/// The command that `word` is nearly.
fn nearest_command(word: &str, program: &Command) -> Option<String> {
    let names = program.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
    cardproof_units::nearest(word, names).map(str::to_owned)
}

/// ` Did you mean NAME?`, where `word` is nearly one of `names`; empty where it is not.
pub(crate) fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let found = cardproof_units::nearest(word, names);
    found.map_or_else(String::new, |name| format!("did you mean {name}? "))
}
