//! Text from a record, made harmless for where it is to stand.
//!
//! A device's name is whatever its maker, or its forger, wrote into it. On a terminal it must not
//! move the cursor, in Markdown it must not make a link, and in HTML it must not make a tag.

use std::fmt::{self, Write};

/// `text` on one line, without control and direction characters.
#[must_use]
pub fn one_line(text: &str) -> String {
    let cleaned: String = text.chars().map(harmless).collect();
    cleaned.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `c`, or a blank where it would steer a terminal. Every way out of this crate goes through here.
pub(crate) fn harmless(c: char) -> char {
    if steers(c) { ' ' } else { c }
}

/// Whether a terminal obeys `c` rather than showing it, or shows what follows in another order.
#[must_use]
pub fn steers(c: char) -> bool {
    let turns_direction = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    // The separators of lines and paragraphs begin a line as a line feed does.
    c.is_control() || turns_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Text in quotes where it needs them; what a spreadsheet would take for a formula is told apart by
/// an apostrophe.
pub(crate) fn csv_quoted(text: &str) -> String {
    let text = one_line(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula { format!("'{text}") } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Text to be shown as it is in HTML, in content and in quoted attributes.
pub(crate) struct Html<'t>(pub(crate) &'t str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => f.write_char(harmless(c))?,
            }
        }
        Ok(())
    }
}

/// What stands before the first pair of backticks, in it, and after it.
pub(crate) fn next_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

/// Text to be shown as it is in Markdown, in tables as well.
pub(crate) struct Markdown<'t>(pub(crate) &'t str);

impl fmt::Display for Markdown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => write!(f, "\\{c}")?,
                _ => f.write_char(harmless(c))?,
            }
        }
        Ok(())
    }
}

/// Appends formatted text to a page. Writing to a string cannot fail.
macro_rules! put {
    ($page:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($page, $($text)*);
    }};
}
pub(crate) use put;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(one_line("SC32G\u{1b}[2J\r\n \t\u{202e}x"), "SC32G [2J x");
    }

    #[test]
    fn a_name_cannot_make_a_tag_or_leave_an_attribute() {
        let name = "<script>alert('1')</script>\" onload=\"&";
        assert_eq!(
            Html(name).to_string(),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot; onload=&quot;&amp;"
        );
    }

    #[test]
    fn a_name_cannot_make_markup() {
        assert_eq!(Markdown("a|b [x](y) <i>").to_string(), "a\\|b \\[x\\](y) &lt;i&gt;");
    }
}
