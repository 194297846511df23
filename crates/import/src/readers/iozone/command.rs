//! What a command line of iozone asks for, behind a prompt or in a sentence.

use super::{Column, Unit};
use crate::view::{Needle, View};

/// What the options of a command say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) is_direct: bool,
    pub(super) is_flushed: bool,
    pub(super) is_synced: bool,
    pub(super) tests: Vec<u8>,
    pub(super) unit: Unit,
}

/// A test's columns, in the order of the table.
const TESTS: [(u8, &[Column]); 8] = [
    (0, &[Column::Write, Column::Rewrite]),
    (1, &[Column::Read, Column::Reread]),
    (2, &[Column::RandomRead, Column::RandomWrite]),
    (3, &[Column::Other("backward read")]),
    (4, &[Column::Other("record rewrite")]),
    (5, &[Column::Other("stride read")]),
    (6, &[Column::Other("fwrite"), Column::Other("frewrite")]),
    (7, &[Column::Other("fread"), Column::Other("freread")]),
];

/// Options that can stand behind one dash with others.
const FLAGS: &str = "aAbBcCeEGhHIJKMNoOpQRSTVwWxXzZ";

/// What ends a command beside the end of the line or of a quotation.
const ENDS: [&str; 8] = ["|", "||", "&&", ";", ">", ">>", "2>&1", "&"];

/// What may stand around a command or one of its words in a sentence.
const AROUND: [char; 10] = ['`', '(', ')', ':', ',', '.', ';', '"', '\'', '*'];

/// The command in a line, if there is one.
pub(super) fn command_in(view: &View) -> Option<Command> {
    const NAME: Needle = Needle::new("iozone");
    if !view.holds(&NAME) {
        return None;
    }
    let mut words = view.text.split_inclusive(char::is_whitespace);
    let mut end = 0;
    let options = words.find_map(|word| {
        end += word.len();
        // `iozone3`, `iozone.exe`.
        has_name(word).then(|| options_of(&view.text[end..])).flatten()
    })?;
    Some(of_options(&words_of(options)))
}

/// Whether the program is named in `word`: by a word of its own, as in `./iozone3`.
fn has_name(word: &str) -> bool {
    let is_in_word = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    word.match_indices("iozone").any(|(at, _)| !is_in_word(&word[..at]))
}

/// What follows a program's name, where that is an option.
fn options_of(rest: &str) -> Option<&str> {
    let options = rest.trim_start();
    let is_option = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '+');
    options.strip_prefix('-').is_some_and(is_option).then_some(options)
}

/// What the options of a whole command line say, such as the one that a banner repeats.
pub(super) fn of_line(command: &str) -> Command {
    of_options(&words_of(command.trim_start().trim_start_matches(|c: char| !c.is_whitespace())))
}

/// The words of a command: its options, each with no more than one value.
fn words_of(options: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut is_value = false;
    for word in options.split_whitespace().take_while(|word| !ENDS.contains(word)) {
        let bare = word.trim_matches(AROUND);
        if !bare.starts_with('-') && !is_value {
            break;
        }
        is_value = bare.starts_with('-');
        words.push(bare);
        if word.ends_with(['`', ')', ':', ';', '"', '\'']) {
            break;
        }
    }
    words
}

fn of_options(words: &[&str]) -> Command {
    let has = |letter: char| {
        words
            .iter()
            .filter_map(|word| word.strip_prefix('-'))
            .any(|flags| flags.contains(letter) && flags.chars().all(|flag| FLAGS.contains(flag)))
    };
    let has_value = |letter: char| {
        let is_it = |word: &&&str| {
            word.strip_prefix('-')
                .and_then(|rest| rest.strip_prefix(letter))
                .is_some_and(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        };
        words.iter().any(|word| is_it(&word))
    };
    let unit = match () {
        () if has_value('t') || has('N') => Unit::Other,
        () if has('O') => Unit::Operations,
        () => Unit::Kibibytes,
    };
    Command {
        is_direct: has('I'),
        is_flushed: has('e'),
        is_synced: has('o'),
        tests: tests_of(words),
        unit,
    }
}

/// The numbers after `-i`; all where none is named.
fn tests_of(words: &[&str]) -> Vec<u8> {
    let mut tests = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if let Some(glued) = word.strip_prefix("-i") {
            let number = if glued.is_empty() { words.next().copied().unwrap_or("") } else { glued };
            tests.extend(number.parse::<u8>().ok().filter(|test| *test < 8));
        }
    }
    if tests.is_empty() { all_tests() } else { tests }
}

pub(super) fn all_tests() -> Vec<u8> {
    TESTS.map(|(test, _)| test).to_vec()
}

/// The columns that `tests` fill, in the order of the table.
pub(super) fn columns_of(tests: &[u8]) -> Vec<Column> {
    let asked = TESTS.iter().filter(|(test, _)| tests.contains(test));
    asked.flat_map(|(_, columns)| columns.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_behind_any_prompt_and_in_sentences() {
        let found = |line: &str| command_in(&View::of(line));
        let direct = [
            "$ ./iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2",
            "taskset -c 5 iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2 | tee log",
            "\u{279c}  mnt iozone -eIa -s 100M -r 4k -i0 -i1 -i2",
            "PS C:\\> iozone.exe -e -I -a -i 0 -i 1 -i 2",
            "Tested with `iozone -e -I -a -s 100M -i 0 -i 1 -i 2`:",
            "Results (iozone -e -I -a -i 0 -i 1 -i 2)",
            "cd /mnt/iozone && sudo iozone3 -e -I -a -i 0 -i 1 -i 2",
        ];
        for line in direct {
            let command = found(line).unwrap_or_else(|| panic!("{line}"));
            assert!(command.is_direct && command.is_flushed, "{line}: {command:?}");
            assert_eq!(command.tests, [0, 1, 2], "{line}");
        }
        let cached = found("I ran iozone -a -s 1G without -I on it").unwrap();
        assert!(!cached.is_direct);
        for line in ["apt install iozone3", "iozone is fine", "myiozone -a", "iozone: -1"] {
            assert_eq!(found(line), None, "{line}");
        }
        assert_eq!(found("iozone -a -O").unwrap().unit, Unit::Operations);
        assert_eq!(found("iozone -t 4 -s 100M").unwrap().unit, Unit::Other);
    }
}
