//! Characters as web pages write them: `&nbsp;`, `&lt;`, `&micro;`, `&#160;`.

/// The names that occur in outputs, and what they stand for.
const NAMES: [(&str, char); 8] = [
    ("nbsp", ' '),
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("micro", '\u{b5}'),
    ("hellip", '\u{2026}'),
];

/// The longest name or number between `&` and `;`.
const LENGTH_MAX: usize = 8;

/// Writes `line` with its characters into `out`; says whether it holds any by name, without which `out`
/// is of no use.
pub(super) fn decode(line: &str, out: &mut String) -> bool {
    if !(line.contains('&') && line.contains(';')) {
        return false;
    }
    out.clear();
    let mut rest = line;
    let mut has_any = false;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        match character(after) {
            Some((c, length)) => {
                out.push(c);
                rest = &after[length..];
                has_any = true;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    has_any
}

/// The character that `text` begins with the name of, and how long the name is with its semicolon. A
/// digit by its number is none, so that no number is put together here.
fn character(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(LENGTH_MAX + 1).position(|byte| byte == b';')?;
    let name = &text[..end];
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            let is_of_number = |c: &char| c.is_ascii_digit() || ['.', ','].contains(c);
            let c =
                char::from_u32(code).filter(|c| !crate::lines::steers(*c) && !is_of_number(c))?;
            if c == '\u{a0}' { ' ' } else { c }
        }
        None => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_of_characters_are_read() {
        let cases = [
            ("&lt; 12&nbsp;us&gt;", Some("< 12 us>")),
            ("3&#160;MB &micro;s &#xb5;s", Some("3 MB \u{b5}s \u{b5}s")),
            ("a & b; c", None),
            ("&#49;2 1&#46;2 &unknown; &", None),
        ];
        for (text, expected) in cases {
            let mut out = String::new();
            let is_decoded = decode(text, &mut out);
            assert_eq!(is_decoded.then_some(&*out), expected, "{text}");
        }
    }
}
