//! One way from a pasted text to the lines that the tool printed, for all commands that take one.
//!
//! Marks of quoting, tags and entities of web pages, comments' marks, line numbers, colours, overwritten
//! progress, curly quotes and the times of logs are taken off. Prompts and commands stay, for they tell
//! what an output does not. Blank lines stay too.

use super::lines::{Line, lines};

/// A text as the tool printed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanText {
    /// The lines, each ended by a line feed.
    pub text: String,
    numbers: Vec<usize>,
}

impl CleanText {
    /// The number in the text as it came of the line that is here `line`; both from 1.
    #[must_use]
    pub fn number_of(&self, line: usize) -> usize {
        let at = line.checked_sub(1).and_then(|index| self.numbers.get(index));
        at.or(self.numbers.last()).copied().unwrap_or(1)
    }
}

/// `text` without what mail, forums, web pages, terminals and logs have put into it. Give bytes of a
/// file to [`decode`](crate::decode) first.
#[must_use]
pub fn clean(text: &str) -> CleanText {
    let mut found = CleanText::default();
    for Line { number, text, .. } in lines(text) {
        // A blank line ends a table.
        let last = found.numbers.last().copied().unwrap_or(0);
        if number > last + 1 {
            found.add(number - 1, "");
        }
        found.add(number, &text);
    }
    found
}

impl CleanText {
    fn add(&mut self, number: usize, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.numbers.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_what_it_was_and_knows_its_lines() {
        let quoted =
            "Hi,\n\n> ```\n> avg-cpu:  %user\n>\n> sda 1.00&nbsp;2.00<br>sdb 3.00\n> ```\n";
        let found = clean(quoted);
        let wanted = "Hi,\n\navg-cpu:  %user\n\nsda 1.00 2.00\nsdb 3.00\n";
        assert_eq!(found.text, wanted);
        let number = |text: &str| {
            let at = found.text.lines().position(|line| line.starts_with(text));
            found.number_of(at.unwrap() + 1)
        };
        assert_eq!([number("Hi"), number("avg"), number("sda"), number("sdb")], [1, 4, 6, 6]);
    }
}
