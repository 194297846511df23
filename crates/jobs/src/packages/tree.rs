//! The text of a package's tree, read a token at a time.
//!
//! The form: directories by number, in the order in which
//! they are first named, a letter for each file's class of size, no names.

/// A part of a tree's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A directory that no text before has named. What follows lies in it.
    New {
        /// The number of the directory in which it lies; the root's is 0.
        above: usize,
        /// The system has it without any of the packages.
        is_of_system: bool,
    },
    /// A directory that has a number. What follows lies in it.
    Again(usize),
    /// A file of a class of sizes, from 0.
    File {
        /// The class.
        class: usize,
        /// It is a setting, which dpkg keeps apart (a conffile).
        is_setting: bool,
    },
    /// A link.
    Link,
    /// Nothing of this form.
    Unknown,
}

/// The tokens of `text` in order.
pub(super) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

/// Tokens, read from the front.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let mut characters = self.rest.chars();
        let first = characters.next()?;
        self.rest = characters.as_str();
        Some(match first {
            '+' => Token::New { above: self.number(), is_of_system: false },
            '^' => Token::New { above: self.number(), is_of_system: true },
            '=' => Token::Again(self.number()),
            '@' => Token::Link,
            '!' => {
                let letter = characters.next();
                self.rest = characters.as_str();
                file(letter, true)
            }
            letter => file(Some(letter), false),
        })
    }
}

impl Tokens<'_> {
    /// The number at the front, which is taken; 0 where there is none.
    fn number(&mut self) -> usize {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().unwrap_or(0)
    }
}

/// The classes' letters: capitals, then small ones.
fn file(letter: Option<char>, is_setting: bool) -> Token {
    match letter {
        Some(letter @ 'A'..='Z') => {
            Token::File { class: letter as usize - 'A' as usize, is_setting }
        }
        Some(letter @ 'a'..='z') => {
            Token::File { class: 26 + letter as usize - 'a' as usize, is_setting }
        }
        _ => Token::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_token_by_token() {
        let found: Vec<Token> = tokens("^0+12Ab!C=3@?").collect();
        let wanted = [
            Token::New { above: 0, is_of_system: true },
            Token::New { above: 12, is_of_system: false },
            Token::File { class: 0, is_setting: false },
            Token::File { class: 27, is_setting: false },
            Token::File { class: 2, is_setting: true },
            Token::Again(3),
            Token::Link,
            Token::Unknown,
        ];
        assert_eq!(found, wanted);
        assert_eq!(tokens("+!").collect::<Vec<_>>()[1], Token::Unknown);
    }
}
