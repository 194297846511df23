//! Where sentences may be made: in `crates/rating/src/words`, and not in the files beside it, which decide.
//!
//! A deciding file returns a value with its figures; words make a sentence of it. So a change of wording touches
//! one place, and no rule can come to depend on a wording. What a person never reads is no sentence: the messages of
//! a panic and what attributes say.

use super::finding::Finding;
use super::source::{Source, Text};

/// The files that the rule is about.
const HOME: &str = "crates/rating/src/";

/// The place of words among them.
const WORDS: [&str; 2] = ["words.rs", "words/"];

/// Deciding files that have something that reads as a sentence, each with the reason. The list may only shrink.
const UNMOVED: &[(&str, &str)] = &[
    ("ceilings.rs", "names of standards, which a record keeps as the source of a ceiling"),
    ("reference/records.rs", "notes on published measurements, which their records hold"),
    ("reference/wide.rs", "notes on published measurements, which their records hold"),
    ("who.rs", "a name that stands among the names of services"),
];

/// Deciding files that hold a sentence made by words in a value, each with the reason. The list may only shrink.
const ASKING: &[(&str, &str)] =
    &[("doubts.rs", "a warning about what another tool found has no cause but its words")];

/// From so many small words on, one behind the other, a text is a sentence.
const WORDS_MIN: usize = 3;

/// How a command for a shell begins that needs to be root.
const COMMAND: &str = "sudo ";

/// What may be called with a sentence that only a programmer reads.
const FOR_PROGRAMMERS: [&str; 8] = [
    "expect",
    "panic!",
    "unreachable!",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "debug_assert_eq!",
];

/// What the rule finds in the files of the whole workspace.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings =
        within(sources, UNMOVED, "make this sentence in crates/rating/src/words", sentences);
    findings.extend(within(
        sources,
        ASKING,
        "hold a value here, and let words make the sentence where it is shown",
        askings,
    ));
    findings
}

/// What `of` finds in deciding files that are not `excepted`. An exception without need is a finding too, so that
/// their list shrinks.
fn within(
    sources: &[Source],
    excepted: &[(&str, &str)],
    message: &str,
    of: impl Fn(&Source) -> Vec<usize>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = Vec::new();
    for source in sources {
        let Some(name) = deciding(source) else { continue };
        let lines = of(source);
        match excepted.iter().find(|(listed, _)| *listed == name) {
            Some((listed, _)) if !lines.is_empty() => needed.push(*listed),
            Some(_) => {}
            None => {
                findings
                    .extend(lines.iter().map(|line| Finding::new(&source.path, *line, message)));
            }
        }
    }
    let without_need = excepted.iter().filter(|(listed, _)| !needed.contains(listed));
    findings.extend(without_need.map(|(listed, _)| {
        let message = "no exception is needed here: remove it from xtask/src/tidy/sentences.rs";
        Finding::new(format!("{HOME}{listed}").as_ref(), 0, message)
    }));
    findings
}

/// The name of a file that decides, below [`HOME`].
fn deciding(source: &Source) -> Option<&str> {
    let name = source.path.to_str()?.strip_prefix(HOME)?;
    let is_words = WORDS.iter().any(|words| name.starts_with(words));
    (!is_words && name != "lib.rs").then_some(name)
}

/// The lines on which a sentence begins.
fn sentences(source: &Source) -> Vec<usize> {
    let made = source.product_texts().filter(|text| reads_as_sentence(&text.written));
    made.filter(|text| !is_for_programmers(&source.code, text)).map(|text| text.line).collect()
}

/// The lines that name the place of words.
fn askings(source: &Source) -> Vec<usize> {
    let names = |line: &str| line.contains("words::") || line.contains("wording::");
    let lines =
        source.product_lines().filter(|(_, line)| names(line) || line.contains("::wording;"));
    lines.map(|(number, _)| number).collect()
}

/// Whether enough small words follow each other in `written`. A line that is continued is one line. A command for a
/// shell is no sentence.
fn reads_as_sentence(written: &str) -> bool {
    if written.starts_with(COMMAND) {
        return false;
    }
    let mut count = 0;
    for part in written.replace("\\\n", " ").split_whitespace() {
        let word = part.trim_matches(|letter: char| ",.;:()`".contains(letter));
        let is_small = |letter: char| letter.is_ascii_lowercase() || "'-".contains(letter);
        let is_word = word.starts_with(|letter: char| letter.is_ascii_lowercase());
        count = if is_word && word.chars().all(is_small) { count + 1 } else { 0 };
        if count == WORDS_MIN {
            return true;
        }
    }
    false
}

/// Whether `text` is in an attribute, or is told by a panic.
fn is_for_programmers(code: &str, text: &Text) -> bool {
    let mut depth = 0_usize;
    for (at, letter) in code[..text.at].char_indices().rev() {
        match letter {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '[' if code[..at].ends_with('#') => return true,
            '(' if FOR_PROGRAMMERS.iter().any(|call| is_call(&code[..at], call)) => return true,
            '{' => return false,
            _ => {}
        }
    }
    false
}

/// Whether `before` ends with `call`, and not with a longer name.
fn is_call(before: &str, call: &str) -> bool {
    before.strip_suffix(call).is_some_and(|rest| {
        !rest.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn source(name: &str, text: &str) -> Source {
        Source::new(Path::new(&format!("{HOME}{name}")), text)
    }

    /// The lines of `text` in a deciding file that make a sentence.
    fn found(text: &str) -> Vec<usize> {
        sentences(&source("a.rs", text))
    }

    /// No lines.
    const CLEAN: [usize; 0] = [];

    #[test]
    fn three_small_words_in_a_row_are_a_sentence() {
        assert_eq!(found("let a = \"the card is slow\";\n"), [1]);
        assert_eq!(found("\nlet a = format!(\"{card} is too, slow\");\n"), [2]);
        assert_eq!(found("f(\"one \\\n  small step\");\n"), [1]);
        for text in [
            "\"4 KiB random read\"",
            "\"large_files\"",
            "\"sudo apt remove tools\"",
            "\"{a} of {b}\"",
            "\"speed class\"",
        ] {
            assert_eq!(found(text), CLEAN, "{text}");
        }
    }

    #[test]
    fn comments_attributes_tests_and_panics_are_none() {
        let words = "\"this is no sentence\"";
        for text in [
            format!("// {words}\n"),
            format!("#[serde(rename = {words})]\nstruct A;\n"),
            format!("a.expect({words});\n"),
            format!("assert!(a(b), {words});\n"),
            format!("#[cfg(test)]\nmod tests {{\n    const A: &str = {words};\n}}\n"),
        ] {
            assert_eq!(found(&text), CLEAN, "{text}");
        }
        assert_eq!(found(&format!("a.unexpected({words});\n")), [1]);
    }

    #[test]
    fn words_may_make_sentences_and_deciding_files_may_not_ask_for_them() {
        let text =
            "let a = \"the card is slow\";\nuse crate::words::findings;\nuse crate::wording;\n";
        assert!(deciding(&source("words/findings.rs", text)).is_none());
        assert!(deciding(&source("words.rs", text)).is_none());
        let decides = source("pick.rs", text);
        assert_eq!(deciding(&decides), Some("pick.rs"));
        assert_eq!(askings(&decides), [2, 3]);
    }

    #[test]
    fn an_exception_without_need_is_found() {
        let sources =
            [source("a.rs", "let a = \"the card is slow\";\n"), source("b.rs", "let a = 1;\n")];
        let of =
            |excepted: &[(&str, &str)]| within(&sources, excepted, "make it in words", sentences);
        assert_eq!(of(&[("a.rs", "a reason")]), []);
        assert_eq!(of(&[])[0].line, 1);
        let found = of(&[("a.rs", "a reason"), ("b.rs", "none"), ("gone.rs", "none")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|finding| finding.line == 0), "{found:?}");
    }
}
