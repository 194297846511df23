//! What differs between two figures, and what a figure was measured by, in words.

use std::fmt;

use cardproof_units::Bytes;

use crate::compare::{Bases, Basis, Difference, DiffersIn, Host, InDoubt};

use super::told::told_in_words;

told_in_words!(Difference, DiffersIn, InDoubt, Bases);

impl Difference {
    /// What differs, without its values, such as `the host`.
    fn subject(&self) -> String {
        match self {
            Self::Method(_) => "the method".to_owned(),
            Self::Profile(_) => "the profile".to_owned(),
            Self::Host(_) => "the host".to_owned(),
            Self::Range(_) => "the test range".to_owned(),
            Self::PageCache => "the use of the page cache".to_owned(),
            Self::Doubt(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = || self.subject();
        match self {
            Self::Method([a, b]) => write!(f, "{} differs: {a} and {b}", subject()),
            Self::Profile([a, b]) => {
                write!(f, "{} differs: version {a} and version {b}", subject())
            }
            Self::Host(Some([a, b])) => write!(f, "{} differs: {a} and {b}", subject()),
            Self::Host(None) => f.write_str("the host is unknown for one of them"),
            Self::Range([a, b]) => {
                let told = |span: Bytes| {
                    if span == Bytes::ZERO { "unknown".to_owned() } else { span.to_string() }
                };
                write!(f, "{} differs: {} and {}", subject(), told(*a), told(*b))
            }
            Self::PageCache => f.write_str("only one used the page cache"),
            Self::Doubt(doubt) => write!(f, "a figure is in doubt: {doubt}"),
        }
    }
}

impl fmt::Display for DiffersIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.subject())
    }
}

impl fmt::Display for InDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warned(warning) => warning.fmt(f),
            Self::PerhapsMemory(tool) => {
                write!(f, "perhaps of the page cache (memory), as {tool} does not tell")
            }
        }
    }
}

// A hub keeps these words and puts figures of the same words on one board: other words would split its boards.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulated => f.write_str("a simulated host"),
            Self::Board(board) => f.write_str(board),
            Self::Computer { architecture, cpus, memory } => {
                write!(f, "{architecture}, {cpus} CPUs, {memory}")
            }
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cache = if self.is_buffered { ", through the page cache" } else { "" };
        match &self.host {
            Some(host) => write!(f, "{} on {host}{cache}", self.method),
            None => write!(f, "{} on unknown host{cache}", self.method),
        }
    }
}

impl fmt::Display for Bases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing measured");
        }
        let bases: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&bases.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;

    #[test]
    fn the_words_that_hubs_have_kept_stay() {
        let basis =
            |host, is_buffered| Basis { method: "the profile x".to_owned(), host, is_buffered };
        let board = Host::Board("Raspberry Pi 4 Model B".to_owned());
        let computer =
            Host::Computer { architecture: "x86_64".to_owned(), cpus: 2, memory: Bytes::gib(8) };
        let kept = [
            (basis(Some(Host::Simulated), false), "the profile x on a simulated host"),
            (
                basis(Some(board), true),
                "the profile x on Raspberry Pi 4 Model B, through the page cache",
            ),
            (basis(Some(computer), false), "the profile x on x86_64, 2 CPUs, 8 GiB"),
            (basis(None, false), "the profile x on unknown host"),
        ];
        for (basis, words) in &kept {
            assert_eq!(basis.to_string(), *words);
        }
        let both = Bases(kept.map(|(basis, _)| basis).into_iter().take(2).collect());
        assert_eq!(both.to_string(), format!("{} and {}", both.0[0], both.0[1]));
        assert_eq!(Bases::default().to_string(), "nothing measured");
    }
}
