//! Breaking lines between words, but never between a number and its unit.

pub(crate) use cardproof_rating::wording::sentence;

use crate::clean::{harmless, steers};
use crate::columns::columns_of;

const UNITS: [&str; 22] = [
    "%", "ns", "us", "ms", "s", "min", "byte", "bytes", "KiB", "MiB", "GiB", "TiB", "MB/s", "GB",
    "IOPS", "CPUs", "bit", "MHz", "GHz", "Gbit/s", "V", "°C",
];

/// A space at which no line is broken.
const BOUND: char = '\u{a0}';

/// `command` with spaces at which no line is broken, for it is copied.
pub(crate) fn unbroken(command: &str) -> String {
    command.chars().map(|c| if c == ' ' { BOUND } else { c }).collect()
}

/// `text` with every number bound to its unit, and every quoted name and command held together, by a space at
/// which no line is broken: half a command is another one.
pub(crate) fn bound(text: &str) -> String {
    let mut bound = String::with_capacity(text.len() + 16);
    // The words that are left of a quoted name or a command.
    let mut held = 0usize;
    let words: Vec<&str> = text.split(' ').collect();
    for (index, &word) in words.iter().enumerate() {
        if index > 0 {
            let is_bound = held > 0 || is_unit_of(&bound, word);
            bound.push(if is_bound { BOUND } else { ' ' });
        }
        let more = words_quoted(&words[index..]).max(words_of_command(&words[index..]));
        held = held.saturating_sub(1).max(more);
        bound.push_str(word);
    }
    bound
}

/// How many more of `words` belong to the first: those up to the end of a quotation that begins with it, or in it
/// after `=`, as `shell_word` quotes.
fn words_quoted(words: &[&str]) -> usize {
    let first = words.first().copied().unwrap_or_default();
    let begun = [first.strip_prefix('\''), first.strip_prefix("$'")];
    let Some(begun) =
        begun.into_iter().flatten().next().or_else(|| Some(first.split_once("='")?.1))
    else {
        return 0;
    };
    let ends = |word: &str| word.trim_end_matches([',', ';', '.', ':', ')', '`']).ends_with('\'');
    if ends(begun) {
        return 0;
    }
    // One that does not end is an apostrophe.
    words.iter().skip(1).position(|word| ends(word)).map_or(0, |more| more + 1)
}

/// How many more of `words` belong to a command of cardproof that begins with the first: the name of the command,
/// and what looks like a path, an option or a quoted name.
fn words_of_command(words: &[&str]) -> usize {
    if words.first().map(|word| word.trim_start_matches(['`', '('])) != Some("cardproof") {
        return 0;
    }
    let is_argument = |word: &str| word.starts_with(['-', '\'', '$']) || word.contains(['/', ':']);
    // What stands before the first argument is the command's name; without arguments it may be a verb.
    let named = usize::from(words.get(1).is_some_and(|word| !is_argument(word)));
    let mut end = 1 + named;
    while let Some(word) = words.get(end).filter(|word| is_argument(word)) {
        end += 1 + words_quoted(&words[end..]);
        if word.ends_with([',', ';', '.', ':', ')', '`']) {
            break;
        }
    }
    if end > 1 + named { end - 1 } else { 0 }
}

/// Whether `word`, punctuation aside, is the unit of the number that `before` ends in.
fn is_unit_of(before: &str, word: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit())
        && UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']))
}

/// Appends `text` to `out`, broken between words to lines of at most `width` columns, each after
/// the first beginning with `indent`, ended by a newline. `first` begins the first line. A word
/// that fits no line has one of its own. Characters that steer a terminal become blanks.
pub fn wrap_into(out: &mut String, first: &str, text: &str, indent: &str, width: usize) {
    let text: String = text.chars().map(harmless).collect();
    wrap_as_is(out, first, &text, indent, width);
}

/// As [`wrap_into`], with the escape sequences that `text` holds.
fn wrap_as_is(out: &mut String, first: &str, text: &str, indent: &str, width: usize) {
    out.push_str(first);
    let mut column = shown_length(first);
    let mut is_line_start = true;
    for word in bound(text).split(' ').filter(|word| !word.is_empty()) {
        let length = shown_length(word);
        if !is_line_start && column + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            column = columns_of(indent);
            is_line_start = true;
        }
        if !is_line_start {
            out.push(' ');
            column += 1;
        }
        out.extend(word.chars().map(|c| if c == BOUND { ' ' } else { c }));
        column += length;
        is_line_start = false;
    }
    out.push('\n');
}

/// `text` with its lines broken between words to at most `width` columns, without a newline at the
/// end. A line that fits stays as it is, spaces included; a word that fits no line has one of its
/// own. Further lines hang under the text of a list's item or of its second column. An escape
/// sequence takes no room. What would turn the direction of the text, such as a mark in the name of a
/// program, is left blank.
#[must_use]
pub fn wrapped(text: &str, width: u16) -> String {
    let width = usize::from(width);
    let turns = |c: char| steers(c) && !c.is_control();
    let text = text.replace(turns, " ");
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split('\n') {
        if shown_length(line) <= width {
            out.push_str(line);
            out.push('\n');
        } else {
            let (first, text) = line.split_at(hang(line, width));
            wrap_as_is(&mut out, first, text, &" ".repeat(columns_of(first)), width);
        }
    }
    out.pop();
    out
}

/// The columns that `text` takes on a terminal, without the escape sequences that set colours.
fn shown_length(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = columns_of(parts.next().unwrap_or_default());
    let shown = parts.map(|part| part.split_once('m').map_or(0, |(_, rest)| columns_of(rest)));
    first + shown.sum::<usize>()
}

/// Where in `line` the text begins under which its further lines hang, in bytes: after what indents
/// it, a dash, and the first column of a list, if that leaves half the width.
fn hang(line: &str, width: usize) -> usize {
    let text = line.trim_start_matches(' ');
    let mut start = line.len() - text.len();
    if text.starts_with("- ") {
        start += 2;
    }
    let column = line[start..].find("  ").map(|gap| {
        let rest = &line[start + gap..];
        line.len() - rest.trim_start_matches(' ').len()
    });
    column.filter(|&column| columns_of(&line[..column]) <= width / 2).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_hang() {
        let mut out = String::new();
        wrap_into(&mut out, "- ", "one two three fourfivesix 7", "  ", 9);
        assert_eq!(out, "- one two\n  three\n  fourfivesix\n  7\n");
    }

    #[test]
    fn nothing_turns_the_direction_of_a_line() {
        let text = "\u{1b}[1md\u{202e}d\u{1b}[0m\u{2028}waits\u{61c} 20 %\nof the time";
        assert_eq!(wrapped(text, 80), "\u{1b}[1md d\u{1b}[0m waits  20 %\nof the time");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        let mut out = String::new();
        wrap_into(&mut out, "", "takes (23.7 ms), or 4 KiB", "", 12);
        assert_eq!(out, "takes\n(23.7 ms),\nor 4 KiB\n");
    }

    #[test]
    fn a_quoted_name_is_not_broken() {
        let mut out = String::new();
        wrap_into(
            &mut out,
            "",
            "test it: cardproof verify --restore='my card:4' '/m/my old card'.",
            "",
            30,
        );
        assert_eq!(out, "test it:\ncardproof verify --restore='my card:4' '/m/my old card'.\n");
        let mut out = String::new();
        wrap_into(&mut out, "", "it's the 'card of one", "", 9);
        assert_eq!(out, "it's the\n'card of\none\n");
    }

    #[test]
    fn a_command_is_not_broken() {
        let mut out = String::new();
        let text =
            "To be sure: cardproof verify '/m/my card' --full (keeps it), or use cardproof on it";
        wrap_into(&mut out, "", text, "", 24);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(
            lines,
            [
                "To be sure:",
                "cardproof verify '/m/my card' --full",
                "(keeps it), or use",
                "cardproof on it"
            ]
        );
    }

    #[test]
    fn only_lines_that_do_not_fit_are_broken() {
        assert_eq!(wrapped("a  b\n- one two three\n\nend", 9), "a  b\n- one two\n  three\n\nend");
        assert_eq!(wrapped("  in out far", 9), "  in out\n  far");
        assert_eq!(wrapped("ab   one two three", 12), "ab   one two\n     three");
        assert_eq!(wrapped("abcdefgh   one two three", 12), "abcdefgh one\ntwo three");
    }

    #[test]
    fn colour_takes_no_room() {
        let red = "\u{1b}[1m\u{1b}[31mone:\u{1b}[0m two three";
        assert_eq!(wrapped(red, 9), "\u{1b}[1m\u{1b}[31mone:\u{1b}[0m two\nthree");
    }
}
