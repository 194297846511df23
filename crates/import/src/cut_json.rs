//! JSON whose end is missing: closed after its last whole value.

/// The beginning of a document, closed.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The document.
    pub(crate) closed: String,
    /// How many bytes of the text are in it.
    pub(crate) until: usize,
    /// How many lists and objects the text left open.
    pub(crate) open_count: usize,
}

/// The document of which `text` is the beginning, cut after its last whole value and closed; `None` where
/// `text` begins with none.
#[must_use]
pub fn closed_json(text: &str) -> Option<String> {
    closed(text).map(|cut| cut.closed)
}

/// Where in `text` the fault is.
pub(crate) fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut offset = (before + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Deeper documents are not read, here or by `serde_json`.
const DEPTH_MAX: usize = 128;

/// The document of which `text` is the beginning, cut after its last whole value and closed.
pub(crate) fn closed(text: &str) -> Option<Cut> {
    let mut open: Vec<char> = Vec::new();
    let mut safe: Option<usize> = None;
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if is_text {
            is_text = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => is_text = true,
            b'{' | b'[' => {
                open.push(if byte == b'{' { '}' } else { ']' });
                safe = Some(at + 1);
                if open.len() > DEPTH_MAX {
                    return None;
                }
            }
            b'}' | b']' => {
                open.pop();
                safe = Some(at + 1);
            }
            b',' => safe = Some(at),
            _ => {}
        }
    }
    let end = safe?;
    let open_count = open.len();
    let mut closed = String::with_capacity(end + open_count);
    closed.push_str(&text[..end]);
    closed.extend(open.into_iter().rev());
    Some(Cut { closed, until: end, open_count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_number_and_half_a_name_are_dropped() {
        let cases = [
            ("{\"a\": 1, \"b\": 23", "{\"a\": 1}"),
            ("{\"a\": {\"b\": [1, 2", "{\"a\": {\"b\": [1]}}"),
            ("{\"a\": {\"b\": 1}, \"c", "{\"a\": {\"b\": 1}}"),
            ("{\"a\": \"x,\\\"y\", \"b\": \"z", "{\"a\": \"x,\\\"y\"}"),
            ("{\"a\": {\"b\"", "{\"a\": {}}"),
        ];
        for (text, expected) in cases {
            assert_eq!(closed(text).map(|cut| cut.closed).as_deref(), Some(expected), "{text}");
        }
        assert!(closed("12").is_none());
    }
}
