//! Where fio's JSON documents are among other things: behind each other, in one line or one list, with
//! their keys in fio's order or sorted.

use super::document::Document;
use super::{HEAD, TOOL};
use crate::ImportError;
use crate::lines::Line;
use crate::readers::fio::damaged;

/// A document in a text.
pub(super) struct Found {
    pub(super) document: Document,
    /// Whether it is only what is whole of a damaged one.
    pub(super) is_damaged: bool,
    /// The number of its first line.
    pub(super) line: usize,
}

/// All documents in `lines`, which are claimed.
///
/// # Errors
/// One of them is none of fio's, or nothing of it is whole.
pub(super) fn documents(lines: &[Line]) -> Result<Vec<Found>, ImportError> {
    let text = Text::of(lines);
    let mut starts: Vec<usize> = Vec::new();
    let mut from = 0;
    for (head, _) in text.joined.match_indices(HEAD) {
        // The document may begin behind other words of its line.
        let before = &text.joined[from..head];
        let start = object_start(before).or_else(|| before.rfind('{'));
        starts.push(start.map_or(head, |start| from + start));
        from = head + HEAD.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.joined.len()]);
    let mut found = Vec::new();
    let mut until = 0;
    for (&start, end) in starts.iter().zip(ends) {
        // A head may stand inside of a document, among what a user added to it.
        if start >= until {
            let (one, taken) = text.document(start, end)?;
            found.push(one);
            until = start + taken;
        }
    }
    Ok(found)
}

/// Where in `before` the object begins in which it ends: its other members stand before the head where
/// keys were sorted.
fn object_start(before: &str) -> Option<usize> {
    let bytes = before.as_bytes();
    let (mut depth, mut is_text) = (0_usize, false);
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'"' => {
                let slashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
                is_text ^= slashes.is_multiple_of(2);
            }
            _ if is_text => {}
            b'}' | b']' => depth += 1,
            b'{' if depth == 0 => return Some(at),
            b'{' | b'[' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Lines as one text.
struct Text<'l, 't> {
    lines: &'l [Line<'t>],
    joined: String,
    /// Where each line begins.
    begins: Vec<usize>,
}

impl<'l, 't> Text<'l, 't> {
    fn of(lines: &'l [Line<'t>]) -> Self {
        let (mut joined, mut begins) = (String::new(), Vec::with_capacity(lines.len()));
        for line in lines {
            begins.push(joined.len());
            joined.push_str(&line.text);
            joined.push('\n');
        }
        Self { lines, joined, begins }
    }

    /// The index of the line at `offset`.
    fn line_at(&self, offset: usize) -> usize {
        self.begins.partition_point(|begin| *begin <= offset).saturating_sub(1)
    }

    /// The number of the line that is `after` lines behind that at `offset`.
    fn number(&self, offset: usize, after: usize) -> usize {
        let index = (self.line_at(offset) + after).min(self.lines.len().saturating_sub(1));
        self.lines.get(index).map_or(1, |line| line.number)
    }

    /// The document that begins at `start` and ends before `end`, and how many bytes it has.
    fn document(&self, start: usize, end: usize) -> Result<(Found, usize), ImportError> {
        let text = &self.joined[start..end];
        let line = self.number(start, 0);
        let take = |document: Document, is_damaged: bool, length: usize| {
            let last = self.line_at(start + length.saturating_sub(1));
            self.lines[self.line_at(start)..=last].iter().for_each(Line::claim);
            Ok((Found { document, is_damaged, line }, length))
        };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Document>();
        let error = match values.next() {
            Some(Ok(found)) if !found.jobs.0.is_empty() => {
                return take(found, false, values.byte_offset());
            }
            Some(Err(error)) => error,
            _ => return Err(ImportError::unexpected(TOOL, line, "at least one job", "none")),
        };
        if let Some((found, length)) = damaged::whole_jobs(text, &error) {
            return take(found, true, length);
        }
        if error.is_eof() {
            let line = self.number(end.saturating_sub(1), 0);
            let expected = "the end of the JSON document".to_owned();
            return Err(ImportError::Ends { tool: TOOL, line, expected });
        }
        let line = self.number(start, error.line().saturating_sub(1));
        Err(ImportError::unexpected(TOOL, line, "fio's JSON with its jobs", &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_around_a_place_is_found_from_behind() {
        for (before, expected) in [
            ("x{ ", Some(1)),
            (r#"{"a": {"b": [1, {}]}, "#, Some(0)),
            (r#"[{"a": "}]{\"{"}, {"c": "\\", "#, Some(18)),
            ("{}, ", None),
            ("{[", None),
            ("", None),
        ] {
            assert_eq!(object_start(before), expected, "{before}");
        }
    }
}
