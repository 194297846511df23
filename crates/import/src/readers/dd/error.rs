//! dd's message of an operation that failed: `dd: error reading '/dev/mmcblk0': Input/output error`.
//!
//! The message is translated, but its order is not: dd's name, what it did to which file, and the C
//! library's words for the error behind the last colon. Those for EIO name input and output with a slash
//! between in the languages that dd speaks, and those for other errors do not.

use cardproof_record::{ErrorCause, OpName};

use crate::text::kernel_name;
use crate::view::{Needle, View};

/// An operation that failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DdError {
    /// What failed; unknown where the language is.
    pub(super) op: OpName,
    /// Why.
    pub(super) cause: ErrorCause,
    /// The kernel's name of the device, where the file is one.
    pub(super) device: Option<String>,
}

/// Words for reading and for writing in the languages of the messages, in small letters.
const WORDS: [(&str, OpName); 24] = [
    ("reading", OpName::Read),
    ("read error", OpName::Read),
    ("lesen", OpName::Read),
    ("lecture", OpName::Read),
    ("leer", OpName::Read),
    ("lectura", OpName::Read),
    ("leggere", OpName::Read),
    ("lettura", OpName::Read),
    ("ler", OpName::Read),
    ("чтени", OpName::Read),
    ("読み", OpName::Read),
    ("读", OpName::Read),
    ("writing", OpName::Write),
    ("write failed", OpName::Write),
    ("schreiben", OpName::Write),
    ("écriture", OpName::Write),
    ("escribir", OpName::Write),
    ("escritura", OpName::Write),
    ("scrivere", OpName::Write),
    ("scrittura", OpName::Write),
    ("escrever", OpName::Write),
    ("запис", OpName::Write),
    ("書き", OpName::Write),
    ("写", OpName::Write),
];

/// The failed operation that a line tells of. A full device is no failure.
pub(super) fn error_in(view: &View) -> Option<DdError> {
    let (what, why) = message_in(view)?;
    let cause = cause_of(why)?;
    Some(DdError { op: op_of(what), cause, device: device_of(what) })
}

/// What failed by the words of a message; unknown where its language is.
pub(in crate::readers) fn op_of(message: &str) -> OpName {
    let lower = message.to_lowercase();
    let known = WORDS.iter().find(|(word, _)| begins_in(&lower, word)).map(|(_, op)| *op);
    known.unwrap_or(OpName::Unknown)
}

/// Whether a word of `text` begins with `word`: "ler" is no part of "Fehler". Chinese and Japanese have no spaces.
fn begins_in(text: &str, word: &str) -> bool {
    let is_spaced = word.chars().all(|c| c < '\u{2e80}');
    text.match_indices(word).any(|(at, _)| {
        !is_spaced || !text[..at].chars().next_back().is_some_and(char::is_alphabetic)
    })
}

/// Whether a line is a message of dd about a file, such as that the device is full. A run's last line may
/// follow it.
pub(super) fn is_message(view: &View) -> bool {
    let is_of_file =
        |what: &str| what.ends_with(['\'', '"', '\u{2019}', '\u{bb}', '\u{201c}', '\u{300d}']);
    error_in(view).is_some() || message_in(view).is_some_and(|(what, _)| is_of_file(what))
}

/// What a message of dd is about, and what it says of it.
fn message_in<'l>(view: &View<'l>) -> Option<(&'l str, &'l str)> {
    const NAME: Needle = Needle::new("dd: ");
    if !view.holds(&NAME) {
        return None;
    }
    let (before, message) = view.text.split_once("dd: ")?;
    let is_begin = before.is_empty() || before.ends_with([' ', '/', ':']);
    message.rsplit_once(": ").filter(|_| is_begin)
}

/// The cause by the words of the C library, in any language for EIO.
pub(in crate::readers) fn cause_of(why: &str) -> Option<ErrorCause> {
    let why = why.trim().trim_end_matches('.');
    let has_letters_around = |(before, after): (&str, &str)| {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() || c == '-');
        is_word(before.chars().next_back()) && is_word(after.chars().next())
    };
    if why.split_once('/').is_some_and(has_letters_around) && !why.contains("/dev/") {
        return Some(ErrorCause::Io);
    }
    match why {
        "Read-only file system" => Some(ErrorCause::ReadOnly),
        "No such device" | "No such device or address" | "No medium found" => {
            Some(ErrorCause::Gone)
        }
        "Connection timed out" | "Operation timed out" => Some(ErrorCause::Timeout),
        _ => None,
    }
}

/// The device in a file's name, in quotes of any kind or none.
pub(in crate::readers) fn device_of(what: &str) -> Option<String> {
    let path = &what[what.find("/dev/")?..];
    let end = path["/dev/".len()..].find(|c: char| !c.is_ascii_alphanumeric());
    kernel_name(&path[..end.map_or(path.len(), |end| end + "/dev/".len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_in_any_language_and_a_full_disk_is_none() {
        let told = |text: &str| {
            let error = error_in(&View::of(text))?;
            Some((error.op, error.cause, error.device.unwrap_or_default()))
        };
        let cases = [
            ("dd: error reading '/dev/mmcblk0': Input/output error", OpName::Read, "mmcblk0"),
            ("dd: reading `/dev/sda': Input/output error", OpName::Read, "sda"),
            ("dd: Fehler beim Lesen von '/dev/sdb': Eingabe-/Ausgabefehler", OpName::Read, "sdb"),
            ("dd: Fehler beim Schreiben von 'x': Eingabe-/Ausgabefehler", OpName::Write, ""),
            ("dd: erreur d'écriture de '/dev/sdb': Erreur d'entrée/sortie", OpName::Write, "sdb"),
            ("dd: error writing '/mnt/x/test': Input/output error", OpName::Write, ""),
            ("$ dd: /dev/da0: Input/output error", OpName::Unknown, "da0"),
        ];
        for (text, op, device) in cases {
            assert_eq!(told(text), Some((op, ErrorCause::Io, device.to_owned())), "{text}");
        }
        for text in [
            "dd: error writing '/dev/sdb': No space left on device",
            "dd: failed to open '/dev/sdb': Permission denied",
            "add: something/else: in/out",
            "the command dd: see the manual",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
