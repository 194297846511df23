//! Lines as people keep them: without colours, overwritten progress, marks of quoting and the other
//! system's line ends, but with their numbers.
//!
//! Most lines are as they were printed and are borrowed from the text; only one from which something was
//! taken is a copy.

use std::borrow::Cow;
use std::cell::Cell;

use super::entities;
use super::margins;
use super::typography;
use super::view::{Facts, View, trimmed, trimmed_start};

/// A line that shows something, and its number, from 1.
#[derive(Clone, Debug)]
pub(super) struct Line<'t> {
    /// Its number in the text as it came.
    pub(super) number: usize,
    /// What it shows, without marks of quoting.
    pub(super) text: Cow<'t, str>,
    /// Where the text begins and ends without the white space around it.
    shown: (usize, usize),
    facts: Facts,
    is_read: Cell<bool>,
}

impl Line<'_> {
    /// The line as its readers look at it.
    pub(super) fn view(&self) -> View<'_> {
        View::known(&self.text, self.shown(), self.facts)
    }

    /// The text without the white space around it.
    pub(super) fn shown(&self) -> &str {
        &self.text[self.shown.0..self.shown.1]
    }

    /// Notes that a reader has made use of it.
    pub(super) fn claim(&self) {
        self.is_read.set(true);
    }

    /// Whether a reader has made use of it.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_read.get()
    }
}

/// The lines of `text` that show something, as a terminal would show them.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let printed: Vec<&str> = text.lines().collect();
    let stretches = margins::stretches(&printed);
    let mut stretches = stretches.iter().peekable();
    let mut lines = Vec::new();
    let mut buffers = Buffers::default();
    for (at, line) in printed.into_iter().enumerate() {
        let _ = stretches.next_if(|stretch| stretch.end <= at);
        let stretch = stretches.peek().filter(|stretch| stretch.first <= at);
        let line = stretch.map_or(line, |stretch| margins::without(stretch.mark, line));
        let number = at + 1;
        if line.is_empty() {
            continue;
        }
        let facts = Facts::of(line);
        if facts.are_of_printed() {
            let kept = without_prefix(line);
            let facts = if kept.len() == line.len() { facts } else { Facts::of(kept) };
            add(&mut lines, number, Cow::Borrowed(kept), facts);
            continue;
        }
        for part in broken(line) {
            let kept = unquoted(part, &mut buffers);
            let facts = Facts::of(&kept);
            add(&mut lines, number, kept, facts);
        }
    }
    lines
}

/// Adds a line, or what it adds to the one before it.
fn add<'t>(lines: &mut Vec<Line<'t>>, number: usize, text: Cow<'t, str>, facts: Facts) {
    let shown = trimmed(&text);
    if shown.is_empty() {
        return;
    }
    match lines.last_mut().filter(|last| is_continued(last, shown)) {
        Some(last) => {
            let end = last.shown().trim_end_matches('\\').trim_end().len() + last.shown.0;
            let command = last.text.to_mut();
            command.truncate(end);
            let around = [command.as_bytes().last(), shown.as_bytes().first()];
            let [before, after] = around.map(|byte| byte.copied().unwrap_or(b' '));
            last.facts = last.facts.with(before, after, facts);
            command.push(' ');
            command.push_str(shown);
            last.shown.1 = command.len();
        }
        None => {
            let start = shown.as_ptr() as usize - text.as_ptr() as usize;
            let shown = (start, start + shown.len());
            lines.push(Line { number, text, shown, facts, is_read: Cell::new(false) });
        }
    }
}

/// The lines that `line` of a web page shows: `<br>` ends one.
fn broken(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let whole = rest?;
        if !whole.contains('<') {
            return rest.take();
        }
        let next = whole.match_indices("<br").find_map(|(at, mark)| {
            let after = whole[at + mark.len()..].trim_start_matches([' ', '/']);
            after.strip_prefix('>').map(|after| (at, after))
        });
        let (shown, after) = next.map_or((whole, None), |(at, after)| (&whole[..at], Some(after)));
        rest = after;
        Some(shown)
    })
}

/// The longest command that is joined of several lines, in bytes.
const COMMAND_MAX: usize = 4096;

/// Whether `line` is a command that goes on in `next`: it ends with ` \`, and options follow.
fn is_continued(line: &Line<'_>, next: &str) -> bool {
    line.shown().ends_with(" \\")
        && line.text.len() < COMMAND_MAX
        && (next.starts_with('-') || next.contains('='))
}

/// The number of the last line that says something; 1 where none does.
pub(super) fn last_number(lines: &[Line]) -> usize {
    lines.last().map_or(1, |line| line.number)
}

/// Where lines are put together from which something is taken.
#[derive(Default)]
struct Buffers {
    shown: String,
    decoded: String,
    restored: String,
}

/// What `line` shows, without the marks with which mail, forums and web pages quote: `> `, tags of code,
/// and the time that build services and logs print before each line.
fn unquoted<'t>(line: &'t str, buffers: &mut Buffers) -> Cow<'t, str> {
    let is_altered = show(line, &mut buffers.shown);
    let shown = if is_altered { &buffers.shown } else { line };
    let is_decoded = entities::decode(shown, &mut buffers.decoded);
    let decoded = if is_decoded { &buffers.decoded } else { shown };
    let is_restored = typography::restore(decoded, &mut buffers.restored);
    if !is_altered && !is_decoded && !is_restored {
        return Cow::Borrowed(content(line));
    }
    let kept = content(if is_restored { &buffers.restored } else { decoded });
    Cow::Owned(kept.to_owned())
}

/// Marks and tags that stand around quoted text; a tag may have attributes.
const TAGS: [&str; 22] = [
    "pre",
    "code",
    "samp",
    "tt",
    "p",
    "div",
    "span",
    "font",
    "li",
    "ul",
    "td",
    "tr",
    "blockquote",
    "details",
    "quote",
    "size",
    "color",
    "br",
    "syntaxhighlight",
    "nowiki",
    "center",
    "hr",
];

fn content(line: &str) -> &str {
    let mut kept = without_prefix(line);
    loop {
        let text = trimmed_start(kept);
        // A quotation's mark alone is followed by a space, or by nothing.
        let mark = text.strip_prefix('>').map(|rest| rest.strip_prefix(' ').unwrap_or(rest));
        match mark.or_else(|| without_tag(text)) {
            Some(inner) => kept = inner,
            None => break,
        }
    }
    while let Some(inner) = without_last_tag(kept.trim_end()) {
        kept = inner;
    }
    let is_marked = |mark: char| kept.len() > 2 && kept.starts_with(mark) && kept.ends_with(mark);
    if is_marked('`') { kept.trim_matches('`') } else { kept }
}

/// `text` without the tag at its beginning.
fn without_tag(text: &str) -> Option<&str> {
    let (inner, close) = match text.as_bytes().first()? {
        b'<' => (&text[1..], '>'),
        b'[' => (&text[1..], ']'),
        _ => return None,
    };
    let (tag, rest) = inner.split_once(close)?;
    is_tag(tag).then_some(rest)
}

/// `text` without the tag at its end.
fn without_last_tag(text: &str) -> Option<&str> {
    let open = match text.as_bytes().last()? {
        b'>' => '<',
        b']' => '[',
        _ => return None,
    };
    let (before, tag) = text[..text.len() - 1].rsplit_once(open)?;
    is_tag(tag).then_some(before)
}

/// Whether the inside of brackets is one of [`TAGS`], with attributes or without.
fn is_tag(inside: &str) -> bool {
    let name = inside.trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let (name, attributes) = name.split_at(end);
    let is_end = attributes.is_empty() || attributes.starts_with([' ', '=', '/']);
    is_end && TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name))
}

/// `line` without what a log puts before each line.
fn without_prefix(line: &str) -> &str {
    without_comment(without_syslog(without_clock(without_build_time(line))))
}

/// `line` without `//` before it: no tool begins a line so.
fn without_comment(line: &str) -> &str {
    let rest = trimmed_start(line).strip_prefix("//").filter(|rest| !rest.starts_with('/'));
    rest.map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `line` without `[12:34:56] ` or `[12:34] ` before it, as chats print it.
fn without_clock(line: &str) -> &str {
    let Some(inner) = line.strip_prefix('[') else { return line };
    let is_pair = |at: usize| {
        inner.as_bytes().get(at..at + 2).is_some_and(|pair| pair.iter().all(u8::is_ascii_digit))
    };
    let end = |at: usize| inner.get(at..).and_then(|rest| rest.strip_prefix("] "));
    let colon = |at: usize| inner.as_bytes().get(at) == Some(&b':');
    let is_clock = is_pair(0) && colon(2) && is_pair(3);
    let rest = match is_clock && colon(5) && is_pair(6) {
        true => end(8),
        false => end(5).filter(|_| is_clock),
    };
    rest.unwrap_or(line)
}

/// `line` without `Jan 06 12:00:00 host program[123]: ` before it.
fn without_syslog(line: &str) -> &str {
    let bytes = line.as_bytes();
    let is_time = bytes.len() > 20
        && (bytes[3], bytes[6], bytes[9], bytes[12], bytes[15]) == (b' ', b' ', b':', b':', b' ')
        && bytes[7].is_ascii_digit();
    if !is_time || !line.is_char_boundary(16) {
        return line;
    }
    let program = |(_, rest): (&'_ str, &'_ str)| {
        let (program, rest) = rest.split_once(": ").or_else(|| rest.split_once(':'))?;
        (!program.contains(' ')).then_some(line.len() - rest.len())
    };
    line[16..].split_once(' ').and_then(program).map_or(line, |start| &line[start..])
}

/// `line` without a time such as `2024-05-01T10:11:12.1234567Z ` before it.
fn without_build_time(line: &str) -> &str {
    let bytes = line.as_bytes();
    let is_time = bytes.len() > 20
        && bytes[0].is_ascii_digit()
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && (bytes[4], bytes[10], bytes[13]) == (b'-', b'T', b':');
    if !is_time {
        return line;
    }
    match line.split_once("Z ") {
        Some((time, rest)) if time.len() <= 30 => rest,
        _ => line,
    }
}

/// Writes what remains of `line` on a terminal into `out`: no escape sequences, and after a carriage
/// return only what overwrote the rest. Does nothing, and says so, where that is all of the line.
fn show(line: &str, out: &mut String) -> bool {
    let is_plain = |c: char| c == '\t' || !(c.is_control() || is_invisible(c));
    if line.bytes().all(|byte| (b' '..0x7f).contains(&byte)) || line.chars().all(is_plain) {
        return false;
    }
    out.clear();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                // After a digit and before one it is damage, and the digit is no part of it.
                if !is_between_numbers(out, chars.as_str()) {
                    skip_escape(&mut chars);
                }
                keep_numbers_apart(out, chars.as_str());
            }
            '\u{8}' => {
                out.pop();
                keep_numbers_apart(out, chars.as_str());
            }
            '\r' if !chars.as_str().is_empty() => out.clear(),
            '\u{7}' | '\r' => keep_numbers_apart(out, chars.as_str()),
            c if is_invisible(c) => keep_numbers_apart(out, chars.as_str()),
            '\t' => out.push(c),
            // No tool writes it.
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    true
}

/// Whether `c` would steer a terminal, turn the direction of text or begin a line, and so is never shown.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Whether `c` has no width: web pages hold such characters to allow a line to break.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Marks where something between two numbers was taken off, which would make one number of them.
fn keep_numbers_apart(out: &mut String, rest: &str) {
    if is_between_numbers(out, rest) {
        out.push(char::REPLACEMENT_CHARACTER);
    }
}

/// Whether a number could reach from the end of `before` into `after`.
fn is_between_numbers(before: &str, after: &str) -> bool {
    before.ends_with(is_part_of_number) && after.starts_with(is_part_of_number)
}

const fn is_part_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c == ','
}

/// Takes the rest of an escape sequence (ECMA-48): a control sequence up to its final byte, a
/// character set's two characters, or a single one.
fn skip_escape(chars: &mut std::str::Chars<'_>) {
    let whole = chars.as_str();
    match chars.next() {
        Some('[') => {
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        Some('(' | ')' | '#') => {
            let _ = chars.next();
        }
        // No sequence holds the first digit of a number.
        Some(c) if c.is_ascii_digit() && chars.as_str().starts_with(is_part_of_number) => {
            *chars = whole.chars();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_progress_are_taken_off() {
        let cases = [
            ("\u{1b}[33mScore\u{1b}(B\u{1b}[m", "Score"),
            ("10 %\r20 %\rdone", "done"),
            ("a line\r", "a line"),
            ("12\u{8}\u{8}34", "34"),
            ("GB 12\u{8}34 MB", "GB 1\u{fffd}34 MB"),
            ("\u{1b}[", ""),
            ("3\u{17}09", "3\u{fffd}09"),
            ("244537\u{1b}61134", "244537\u{fffd}61134"),
            ("1\u{1b}[0m2", "1\u{fffd}2"),
            ("1\u{7},2", "1\u{fffd},2"),
            ("1\u{200b}2 \u{200b}MB", "1\u{fffd}2 MB"),
            ("\u{1b}7\u{1b}[33m1,151\u{1b}[m", "1,151"),
        ];
        for (text, expected) in cases {
            let lines = lines(text);
            assert_eq!(lines.first().map_or("", |line| &*line.text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_a_web_page_breaks_are_lines() {
        let found: Vec<(usize, String)> = lines("<pre>a b<br>c <brr><BR d<br />e</pre>\nf\n")
            .iter()
            .map(|line| (line.number, line.text.to_string()))
            .collect();
        let expected = [(1, "a b"), (1, "c <brr><BR d"), (1, "e"), (2, "f")];
        assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
    }

    #[test]
    fn a_command_on_several_lines_is_one() {
        let text = "$ fio --rw=read \\\n  --direct=1 \\\n  --bs=4k\nC:\\here\\\n-1 2\n";
        let found: Vec<(usize, String)> =
            lines(text).iter().map(|line| (line.number, line.text.to_string())).collect();
        let command = "$ fio --rw=read --direct=1 --bs=4k".to_owned();
        assert_eq!(found, [(1, command), (4, "C:\\here\\".to_owned()), (5, "-1 2".to_owned())]);
    }
}
