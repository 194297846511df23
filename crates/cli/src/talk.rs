//! What is said to the person at the terminal: on standard error, or not at all with `--quiet`.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Talk on standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    is_quiet: bool,
}

impl Talk {
    /// Talk, or silence.
    pub(crate) const fn new(is_quiet: bool) -> Self {
        Self { is_quiet }
    }

    /// Whether nothing is to be said.
    pub(crate) const fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// Says a line.
    pub(crate) fn note(self, line: &str) {
        if !self.is_quiet {
            say(&plain(line));
        }
    }

    /// Says a command, on a line of its own that is never broken: it is copied.
    pub(crate) fn command(self, command: &str) {
        if !self.is_quiet {
            let _ = writeln!(anstream::stderr().lock(), "  {}", plain(command));
        }
    }

    /// Whether a person sits at both ends and may be asked.
    pub(crate) fn can_ask(self) -> bool {
        !self.is_quiet && io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

/// Says what went wrong; errors are said even when quiet.
pub(crate) fn error(message: &str) {
    say(&format!("{ERROR}error:{ERROR:#} {}", plain(message)));
}

/// Says what the parser of the command line found wrong, with the colours in `message`.
pub(crate) fn wrong_words(message: &str) {
    say(message.trim_end());
}

/// A listener that has gone away is no reason to fail. On a terminal, or where `COLUMNS` is set, lines
/// break between words; elsewhere they are whole, so that they can be searched.
fn say(line: &str) {
    let stderr = io::stderr();
    let text = broken(line, stderr.is_terminal(), &stderr);
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// `line` without what steers a terminal, which the name of a file may hold.
pub(crate) fn plain(line: &str) -> String {
    let is_shown = |c: &char| !cardproof_report::steers(*c) || matches!(c, '\n' | '\t');
    line.chars().filter(is_shown).collect()
}

/// How wide the terminal on standard output is, or what `COLUMNS` says; 80 where neither tells.
pub(crate) fn width() -> u16 {
    width_of(io::stdout())
}

/// As [`width`], of another stream.
pub(crate) fn width_of(stream: impl AsFd) -> u16 {
    let of_terminal = rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col);
    of_terminal.filter(|&columns| columns > 0).or_else(columns_wanted).unwrap_or(80)
}

/// The width that the environment asks for.
fn columns_wanted() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0)
}

/// The width to which lines on standard output are fitted: that of a terminal, or what `COLUMNS` says; elsewhere none.
pub(crate) fn width_wanted() -> Option<u16> {
    let is_wanted = io::stdout().is_terminal() || columns_wanted().is_some();
    is_wanted.then(width)
}

/// `text` for standard output: on a terminal, or where `COLUMNS` is set, lines break between words;
/// elsewhere they are whole.
pub(crate) fn paged(text: &str) -> Cow<'_, str> {
    let stdout = io::stdout();
    broken(text, stdout.is_terminal(), &stdout)
}

fn broken(text: &str, is_terminal: bool, stream: impl AsFd) -> Cow<'_, str> {
    if is_terminal || columns_wanted().is_some() {
        Cow::Owned(cardproof_report::wrapped(text, width_of(stream)))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether text on standard output may carry colour: a terminal, `NO_COLOR` and its like decide.
pub(crate) fn is_styled() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_is_said_holds_words_alone() {
        let said = plain("cannot open a\u{1b}[31m\u{202e}b; name another\n");
        assert_eq!(said, "cannot open a[31mb; name another\n");
    }
}
