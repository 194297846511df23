//! Errors in words for people.
//!
//! The standard library puts the system's number for an error behind its words, which says nothing to most
//! readers. Here the words are asked for alone, so that nobody has to cut the number out of a sentence.

use std::error::Error;
use std::io;

/// What the system says of `error`, without the number that it has for it.
#[must_use]
pub fn in_words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => errno::Errno(number).to_string(),
        None => error.to_string(),
    }
}

/// What `error` says and, after colons, what caused it. An error whose own words hold those of its cause must not give
/// the cause as its source.
#[must_use]
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = alone(error);
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {}", alone(cause));
        source = cause.source();
    }
    text
}

/// What `error` says, without its causes.
fn alone(error: &(dyn Error + 'static)) -> String {
    error.downcast_ref().map_or_else(|| error.to_string(), in_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open a file")]
    struct Outer(#[source] io::Error);

    #[test]
    fn the_systems_number_is_not_said() {
        let missing = || io::Error::from_raw_os_error(2);
        assert!(missing().to_string().contains("os error"), "the library says the number");
        assert_eq!(in_words(&missing()), "No such file or directory");
        assert_eq!(with_causes(&missing()), "No such file or directory");
        assert_eq!(with_causes(&Outer(missing())), "cannot open a file: No such file or directory");
    }

    #[test]
    fn an_error_of_our_own_keeps_its_words() {
        assert_eq!(
            in_words(&io::Error::other("it is no text (os error 2)")),
            "it is no text (os error 2)"
        );
        assert_eq!(in_words(&io::Error::from(io::ErrorKind::NotFound)), "entity not found");
    }
}
