//! A Rust file with its comments, its texts and its unit tests blanked out, line by line.
//!
//! The rules look for words in code; a word in a comment or a text is none. This knows just
//! enough of Rust's grammar for that, and needs no parser.

use std::path::{Path, PathBuf};

/// One Rust file.
pub(super) struct Source {
    /// Where it lies.
    pub(super) path: PathBuf,
    /// Its text as it stands.
    pub(super) text: String,
    /// Its text with blanks for comments, string and character literals, the same in lines.
    pub(super) code: String,
    /// Its string literals, from the first to the last.
    texts: Vec<Text>,
}

/// A string literal.
pub(super) struct Text {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Where it begins in [`Source::code`].
    pub(super) at: usize,
    /// What stands between its quotes, as it is written.
    pub(super) written: String,
}

impl Source {
    /// The file at `path` that holds `text`.
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let (code, texts) = blank(text);
        Self { path: path.to_owned(), text: text.to_owned(), code, texts }
    }

    /// The folder below `crates` in which it lies, `xtask`, or nothing.
    pub(super) fn room(&self) -> Option<&str> {
        let mut parts = self.path.iter().filter_map(|part| part.to_str());
        match parts.next()? {
            "crates" => parts.next(),
            "xtask" => Some("xtask"),
            _ => None,
        }
    }

    /// Whether all of it is tests, benchmarks or examples.
    pub(super) fn is_test(&self) -> bool {
        self.path.iter().any(|part| part == "tests" || part == "benches" || part == "examples")
            || self.path.file_name().is_some_and(|name| name == "tests.rs")
    }

    /// The lines of its code outside unit tests, each with its number from 1.
    pub(super) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = if self.is_test() { 0 } else { self.tests_begin() };
        self.code.lines().enumerate().take(end).map(|(index, line)| (index + 1, line))
    }

    /// The string literals of its code outside unit tests.
    pub(super) fn product_texts(&self) -> impl Iterator<Item = &Text> {
        let end = if self.is_test() { 0 } else { self.tests_begin() };
        self.texts.iter().take_while(move |text| text.line <= end)
    }

    /// The lines of its tests, each with its number from 1.
    pub(super) fn test_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let begin = if self.is_test() { 0 } else { self.tests_begin() };
        self.code.lines().enumerate().skip(begin).map(|(index, line)| (index + 1, line))
    }

    /// All lines of its code, each with its number from 1.
    pub(super) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// How many lines stand before the module of unit tests, which by custom is the file's last
    /// item.
    fn tests_begin(&self) -> usize {
        let lines: Vec<&str> = self.code.lines().map(str::trim).collect();
        lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod tests {"))
            .unwrap_or(lines.len())
    }
}

/// Whether `word` stands in `line` as a word of its own.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// `text` with blanks for comments and literals, and its string literals.
fn blank(text: &str) -> (String, Vec<Text>) {
    let mut code = String::with_capacity(text.len());
    let mut texts = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while !rest.is_empty() {
        let length = literal_or_comment(rest, code.chars().next_back());
        if length == 0 {
            let mut characters = rest.chars();
            let next = characters.next();
            line += usize::from(next == Some('\n'));
            code.extend(next);
            rest = characters.as_str();
        } else {
            let (blanked, after) = rest.split_at(length);
            if let Some(written) = between_quotes(blanked) {
                texts.push(Text { line, at: code.len(), written: written.to_owned() });
            }
            line += blanked.matches('\n').count();
            code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = after;
        }
    }
    (code, texts)
}

/// What stands between the quotes of `literal`; `None` for a comment or a character.
fn between_quotes(literal: &str) -> Option<&str> {
    let (before, rest) = literal.split_once('"')?;
    let is_text = before.chars().all(|letter| matches!(letter, 'b' | 'r' | '#'));
    is_text.then(|| rest.rsplit_once('"').map_or(rest, |(written, _)| written))
}

/// The length of the comment or literal at the start of `rest`, or 0.
fn literal_or_comment(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !in_word && let Some(length) = raw_text(rest) {
        return length;
    }
    match rest.as_bytes()[0] {
        b'"' => quoted(rest, '"'),
        b'\'' if is_character(rest) => quoted(rest, '\''),
        _ => 0,
    }
}

/// The length of a block comment, those inside it included.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw text such as `r#"…"#`, if `rest` begins with one.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - body.len();
    Some(body.find(&end).map_or(rest.len(), |found| start + found + end.len()))
}

/// The length of a literal between two `quote`s, with escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return index + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Whether the apostrophe at the start of `rest` opens a character rather than a lifetime.
fn is_character(rest: &str) -> bool {
    let mut characters = rest.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => true,
        (Some(_), Some(close)) => close == '\'',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_code_is_not() {
        let cases = [
            ("a // unsafe\nb", "a          \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"f("un\"safe") + 1"#, "f(          ) + 1"),
            ("let x = r#\"a\"b\"# ;", "let x =          ;"),
            ("br\"x\" y", "      y"),
            ("for 'a in '\\'' 'b'", "for 'a in         "),
            ("number\"x\"", "number   "),
        ];
        for (text, code) in cases {
            assert_eq!(blank(text).0, code, "{text}");
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "a\n/* b\nc */\n\"d\ne\"\nf";
        assert_eq!(blank(text).0.lines().count(), text.lines().count());
    }

    #[test]
    fn string_literals_are_known_with_their_lines() {
        let text = "// \"a\"\nf(\"b\",\n  r#\"c\"#, '\"')\n#[cfg(test)]\nmod tests {\n\"d\"\n}\n";
        let source = Source::new(Path::new("crates/io/src/x.rs"), text);
        let found: Vec<_> =
            source.product_texts().map(|text| (text.line, text.written.as_str())).collect();
        assert_eq!(found, [(2, "b"), (3, "c")]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("x = Instant::now()", "Instant"));
        assert!(!has_word("InstantCoffee", "Instant"));
        assert!(!has_word("unsafe_code", "unsafe"));
    }

    #[test]
    fn unit_tests_are_no_product() {
        let text = "//! x\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        let source = Source::new(Path::new("crates/io/src/x.rs"), text);
        assert_eq!(source.product_lines().count(), 2);
        assert_eq!(source.room(), Some("io"));
        let test = Source::new(Path::new("crates/io/tests/x.rs"), text);
        assert_eq!(test.product_lines().count(), 0);
    }
}
