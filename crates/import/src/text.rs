//! Lines as people keep them: without colours, overwritten progress and the other system's line
//! ends, but with their numbers; and numbers as the world writes them.

use std::borrow::Cow;
use std::cell::Cell;

use super::entities;

/// A line that shows something, and its number, from 1.
#[derive(Clone, Debug)]
pub(super) struct Line<'t> {
    /// Its number in the text as it came.
    pub(super) number: usize,
    /// What it shows, without marks of quoting.
    pub(super) text: Cow<'t, str>,
    is_read: Cell<bool>,
}

impl Line<'_> {
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
    let shown_lines = (1..)
        .zip(text.lines())
        .flat_map(|(number, line)| broken(line).map(move |line| (number, line)))
        .map(|(number, line)| Line {
            number,
            text: unquoted(shown(line)),
            is_read: Cell::new(false),
        })
        .filter(|line| !line.text.trim().is_empty());
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in shown_lines {
        match lines.last_mut().filter(|last| is_continued(last, &line.text)) {
            Some(last) => {
                let start = last.text.trim_end().trim_end_matches('\\').trim_end();
                last.text = Cow::Owned(format!("{start} {}", line.text.trim()));
            }
            None => lines.push(line),
        }
    }
    lines
}

/// The lines that `line` of a web page shows: `<br>` ends one.
fn broken(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let whole = rest?;
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
    let next = next.trim_start();
    line.text.len() < COMMAND_MAX
        && line.text.trim_end().ends_with(" \\")
        && (next.starts_with('-') || next.contains('='))
}

/// The number of the last line that says something; 1 where none does.
pub(super) fn last_number(lines: &[Line]) -> usize {
    lines.last().map_or(1, |line| line.number)
}

/// `line` without the marks with which mail, forums and web pages quote: `> `, tags of code, and the
/// time that build services and logs print before each line.
fn unquoted(line: Cow<'_, str>) -> Cow<'_, str> {
    let line = match entities::decoded(&line) {
        Some(decoded) => Cow::Owned(decoded),
        None => line,
    };
    let kept = content(&line);
    if kept.len() == line.len() {
        return line;
    }
    match line {
        Cow::Borrowed(whole) => Cow::Borrowed(content(whole)),
        Cow::Owned(ref whole) => Cow::Owned(content(whole).to_owned()),
    }
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
        let text = kept.trim_start();
        // A quotation's mark alone is followed by a space, or by nothing.
        let mark = ["> ", ">"].into_iter().find_map(|mark| text.strip_prefix(mark));
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
    without_syslog(without_build_time(line))
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

/// What remains of `line` on a terminal: no escape sequences, and after a carriage return only
/// what overwrote the rest.
fn shown(line: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == '\t' || !(c.is_control() || is_invisible(c));
    if line.bytes().all(|byte| (b' '..0x7f).contains(&byte)) || line.chars().all(is_plain) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                // After a digit and before one it is damage, and the digit is no part of it.
                if !is_between_numbers(&out, chars.as_str()) {
                    skip_escape(&mut chars);
                }
                keep_numbers_apart(&mut out, chars.as_str());
            }
            '\u{8}' => {
                out.pop();
                keep_numbers_apart(&mut out, chars.as_str());
            }
            '\r' if !chars.as_str().is_empty() => out.clear(),
            '\u{7}' | '\r' => keep_numbers_apart(&mut out, chars.as_str()),
            c if is_invisible(c) => keep_numbers_apart(&mut out, chars.as_str()),
            '\t' => out.push(c),
            // No tool writes it.
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
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

/// A number with what follows it up to the next space or punctuation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity<'t> {
    /// The number.
    pub(super) value: f64,
    /// The unit, if one follows, with or without a space between.
    pub(super) unit: &'t str,
}

/// All numbers of `text` with their units, in order.
pub(super) fn quantities(text: &str) -> Vec<Quantity<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let after = &rest[start..];
        let end = end_of_number(after);
        let tail = &after[end..];
        if let Some(value) = number(&after[..end]) {
            found.push(Quantity { value, unit: unit_of(tail) });
        }
        rest = tail;
    }
    found
}

/// Where the number at the start of `text` ends: digits, and a decimal sign between digits.
fn end_of_number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1)) {
        end += 1;
    }
    end
}

/// The unit at the start of `text`, after spaces: letters, per cent and slashes.
fn unit_of(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let end = text.find(|c: char| !(c.is_alphabetic() || c == '/' || c == '%'));
    &text[..end.unwrap_or(text.len())]
}

/// The number that `text` is, with a decimal point or a decimal comma; nothing for one that no
/// measurement gives.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    if text.is_empty() || !text.chars().all(is_plain) {
        return None;
    }
    let value: f64 = text.replace(',', ".").parse().ok()?;
    (value.is_finite() && value < 1e18).then_some(value)
}

/// The whole number that `text` is.
pub(super) fn whole(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > 18 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// What stands between `before` and `after` in `text`.
pub(super) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found.trim())
}

/// The word that follows `before` in `text`.
pub(super) fn word_after<'t>(text: &'t str, before: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_whitespace().next()
}

/// Whether `a` and `b` are the same up to `share` of the larger, or up to `least`.
pub(super) fn is_near(a: f64, b: f64, share: f64, least: f64) -> bool {
    (a - b).abs() <= (a.abs().max(b.abs()) * share).max(least)
}

/// The kernel's name of the device in `path`, such as `mmcblk0p2` of `/dev/mmcblk0p2`; nothing
/// for the long names that hold serial numbers.
pub(super) fn kernel_name(path: &str) -> Option<String> {
    let name = path.strip_prefix("/dev/")?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (!name.is_empty() && name.len() <= 16 && name.chars().all(is_plain)).then(|| name.to_owned())
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

    #[test]
    fn numbers_are_read_in_any_country() {
        let values = |text| -> Vec<(f64, &str)> {
            quantities(text).into_iter().map(|found| (found.value, found.unit)).collect()
        };
        assert_eq!(values("17,3846 s, 19,3 MB/s"), [(17.3846, "s"), (19.3, "MB/s")]);
        assert_eq!(values("20971520 字节，386 MB/s"), [(20_971_520.0, "字节"), (386.0, "MB/s")]);
        assert_eq!(values("20.0MB"), [(20.0, "MB")]);
        assert_eq!(values("1.2.3 x"), []);
    }

    #[test]
    fn names_with_serial_numbers_are_no_names() {
        assert_eq!(kernel_name("/dev/mmcblk0p2").as_deref(), Some("mmcblk0p2"));
        assert_eq!(kernel_name("/dev/disk/by-id/mmc-SC32G_0x12345678"), None);
    }
}
