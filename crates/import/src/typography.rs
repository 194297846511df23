//! Characters that forums and word processors put in the place of those that a program printed: curly
//! quotes, dashes, blanks that do not break, escapes of Markdown.

/// Writes `line` as it was printed into `out`; says whether anything differs, else `out` is of no use.
pub(super) fn restore(line: &str, out: &mut String) -> bool {
    if line.is_ascii() {
        if !may_be_escaped(line) {
            return false;
        }
    } else if !line.chars().any(is_replaced) {
        return false;
    }
    out.clear();
    let mut has_any = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let printed = match c {
            '\u{201c}' | '\u{201d}' | '\u{201e}' => "\"",
            '\u{2018}' | '\u{2019}' => "'",
            '\u{2212}' => "-",
            // One alone may part the thousands of a number.
            '\u{a0}' if is_after_blank(line, at) => " ",
            '\u{a0}' if chars.peek().is_some_and(|(_, next)| next.is_whitespace()) => " ",
            // Before an option's name a dash was two; before a digit it is a range or a minus.
            '\u{2013}' | '\u{2014}' => match chars.peek() {
                Some((_, next)) if next.is_ascii_alphabetic() && is_after_blank(line, at) => "--",
                _ => "",
            },
            '\\' => match chars.peek() {
                // Markdown's escapes; JSON has none of these.
                Some((_, '_' | '*' | '~' | '#' | '<' | '>' | '[' | ']')) => {
                    has_any = true;
                    continue;
                }
                // Markdown's line break; a path may end so, too.
                None if !is_after_blank(line, at) && !line[..at].contains('\\') => {
                    has_any = true;
                    continue;
                }
                _ => "",
            },
            _ => "",
        };
        has_any |= !printed.is_empty();
        if printed.is_empty() { out.push(c) } else { out.push_str(printed) }
    }
    has_any
}

/// Whether a backslash of `line` may be one of Markdown's: before one of its marks, or at the end behind a word.
fn may_be_escaped(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'\\', bytes).any(|at| match bytes.get(at + 1) {
        Some(next) => b"_*~#<>[]".contains(next),
        None => !is_after_blank(line, at),
    })
}

const fn is_replaced(c: char) -> bool {
    matches!(c, '\\' | '\u{a0}' | '\u{2013}' | '\u{2014}' | '\u{2018}'..='\u{201e}' | '\u{2212}')
}

/// Whether the place at `at` is the line's first or follows a blank.
fn is_after_blank(line: &str, at: usize) -> bool {
    line[..at].chars().next_back().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_forum_replaced_is_restored() {
        let cases = [
            ("{\u{201c}fio version\u{201d} : 1}", Some("{\"fio version\" : 1}")),
            ("fio \u{2013}rw=read \u{2014}direct=1", Some("fio --rw=read --direct=1")),
            ("mmc0 \u{2013} 3", None),
            ("kB\\_read/s", Some("kB_read/s")),
            ("22.3 MB/s\\", Some("22.3 MB/s")),
            ("fio --rw=read \\", None),
            ("\"a\\\"b\"", None),
            ("plain", None),
            ("\u{a0}\u{a0}\"a\" : 1\u{a0}234", Some("  \"a\" : 1\u{a0}234")),
            ("1\u{a0}234", None),
        ];
        for (text, expected) in cases {
            let mut out = String::new();
            let is_restored = restore(text, &mut out);
            assert_eq!(is_restored.then_some(&*out), expected, "{text}");
        }
    }
}
