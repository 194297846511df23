//! "Did you mean": a first word that is neither a target nor a command, and nearly a command.
//!
//! Without a command the first word is a target, so a mistyped command would be reported as a missing
//! file.

use std::path::Path;

use clap::Command;

use crate::exit::Failure;

/// More changes than this make another word.
const CHANGES_MAX: usize = 2;

/// Whether `target` may be meant as a target and not as a command of `program`.
///
/// # Errors
/// It does not exist and is nearly the name of a command.
pub(crate) fn check(target: &Path, program: &Command) -> Result<(), Failure> {
    let Some(word) = target.to_str().filter(|word| !word.contains(['/', ':', '.'])) else {
        return Ok(());
    };
    if program.find_subcommand(word).is_some() || target.symlink_metadata().is_ok() {
        return Ok(());
    }
    match nearest(word, program) {
        Some(command) => Err(Failure::usage(format!(
            "there is no command '{word}', and nothing of that name to measure; did you mean \
             `cardproof {command}`?"
        ))),
        None => Ok(()),
    }
}

/// The command that `word` is nearly.
fn nearest(word: &str, program: &Command) -> Option<String> {
    let names = program.get_subcommands().filter(|it| !it.is_hide_set());
    let near = names.map(|it| (changes(word, it.get_name()), it.get_name().to_owned()));
    let near = near.filter(|(changes, name)| *changes <= CHANGES_MAX && *changes * 3 <= name.len());
    near.min_by_key(|(changes, _)| *changes).map(|(_, name)| name)
}

/// The fewest letters that must be added, removed, replaced, or swapped with the next to make `a` into
/// `b` (Damerau's distance in its restricted form).
fn changes(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(letter != other);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_recognised_and_another_word_is_not() {
        let commands = ["run", "list", "compare", "identify", "rate", "watch"];
        let program = Command::new("test").subcommands(commands.map(Command::new));
        for (word, command) in [
            ("lsit", Some("list")),
            ("compair", Some("compare")),
            ("identfy", Some("identify")),
            ("raet", Some("rate")),
            ("rn", Some("run")),
            ("card", None),
            ("mnt", None),
            ("usbstick", None),
        ] {
            assert_eq!(nearest(word, &program).as_deref(), command, "{word}");
        }
    }

    #[test]
    fn changes_are_counted() {
        for (a, b, count) in [("list", "list", 0), ("lsit", "list", 1), ("", "abc", 3)] {
            assert_eq!(changes(a, b), count, "{a} {b}");
        }
    }
}
