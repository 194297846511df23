//! Rows of a hex dump as xxd and `hexdump -C` print them: an offset, up to 16 bytes, the same as letters.
//!
//! The letters may look like hex, so no more is taken of a row than the bytes that a row has. Rows that
//! are all alike are left out by both programs, with a `*` in their place, or by xxd only with `-a`.

/// How many bytes a row has.
const ROW: usize = 16;

/// No register is longer.
const LENGTH_MAX: usize = 512;

/// A dump in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dump {
    bytes: Vec<u8>,
    last: Vec<u8>,
    has_gap: bool,
}

impl Dump {
    /// The dump that begins in `line`, at offset 0.
    pub(super) fn begun(line: &str) -> Option<Self> {
        let (offset, row) = row(line)?;
        let dump = Self { bytes: row.clone(), last: row, has_gap: false };
        (offset == 0).then_some(dump)
    }

    /// Takes `line`, where it is the next row, a `*`, or the offset at the end.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if line.trim() == "*" {
            self.has_gap = true;
            return true;
        }
        let Some((offset, row)) = row(line).or_else(|| Some((end(line)?, Vec::new()))) else {
            return false;
        };
        if self.has_gap && offset <= LENGTH_MAX && !self.last.is_empty() {
            while self.bytes.len() < offset {
                self.bytes.extend_from_slice(&self.last);
            }
        }
        if offset != self.bytes.len() || offset + row.len() > LENGTH_MAX {
            return false;
        }
        self.has_gap = false;
        self.bytes.extend_from_slice(&row);
        if !row.is_empty() {
            self.last = row;
        }
        true
    }

    /// The bytes as hex digits.
    pub(super) fn hex(&self) -> String {
        self.bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The offset and the bytes of a row.
fn row(line: &str) -> Option<(usize, Vec<u8>)> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let offset = first.strip_suffix(':').unwrap_or(first);
    let is_marked = first.ends_with(':') && (4..=8).contains(&offset.len());
    // hexdump's offset has no mark, but it has a length.
    let is_offset = is_marked || offset.len() == 8;
    let offset = usize::from_str_radix(offset, 16).ok().filter(|_| is_offset)?;
    let mut bytes = Vec::with_capacity(ROW);
    // The first word tells how many bytes stand together: two and four with xxd, one with hexdump.
    let mut width = None;
    for word in words {
        let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let fits = *width.get_or_insert(word.len()) >= word.len() && word.len().is_multiple_of(2);
        if bytes.len() >= ROW || !is_hex || !fits {
            break;
        }
        for pair in word.as_bytes().chunks_exact(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            bytes.push(u8::from_str_radix(pair, 16).ok()?);
        }
    }
    // Without a mark, words of eight digits may be a register's own.
    let is_width = |width| matches!(width, 4 | 8) && is_marked || width == 2;
    let is_row = bytes.len() == ROW && width.is_some_and(is_width);
    is_row.then_some((offset, bytes))
}

/// The offset alone with which hexdump ends.
fn end(line: &str) -> Option<usize> {
    let text = line.trim();
    (text.len() == 8).then(|| usize::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped(text: &str) -> Option<String> {
        let mut lines = text.lines();
        let mut dump = Dump::begun(lines.next()?)?;
        lines.all(|line| dump.take(line)).then(|| dump.hex())
    }

    #[test]
    fn letters_beside_the_bytes_are_no_bytes() {
        let xxd = "00000000: 6465 6164 6265 6566 6465 6164 6265 6566  deadbeefdeadbeef";
        let hexdump =
            "00000000  64 65 61 64 62 65 65 66  64 65 61 64 62 65 65 66  |deadbeefdeadbeef|";
        let bytes = "64656164626565666465616462656566";
        for text in [xxd, hexdump, &xxd.replace("  dead", " dead")] {
            assert_eq!(dumped(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn rows_that_were_left_out_are_those_above() {
        let text = "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n\
                    00000040  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 02  |................|\n\
                    00000050";
        let hex = dumped(text).unwrap();
        assert_eq!(hex.len(), 160);
        assert!(hex.ends_with("01000000000000000000000000000002"), "{hex}");
    }

    #[test]
    fn a_row_that_is_missing_ends_the_dump() {
        let row = |offset: usize| format!("{offset:08x}: {}", "0000 ".repeat(8));
        assert_eq!(dumped(&format!("{}\n{}", row(0), row(32))), None);
        assert_eq!(dumped(&row(16)), None);
    }
}
