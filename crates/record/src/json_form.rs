//! How a record lies in its file: what a reader looks for, a line each, and what is counted in thousands, such as the
//! places of a capacity test or the buckets of a latency, on one line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// What lies in so many arrays and objects, or fewer, has a line of its own.
const OPEN: usize = 3;

/// `value` as JSON, ending in a newline.
///
/// # Errors
/// A figure is not finite.
pub(crate) fn to_text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Lines::default()))?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

#[derive(Default)]
struct Lines {
    /// Arrays and objects that are open.
    depth: usize,
    /// Whether the innermost one holds something.
    is_filled: bool,
}

impl Lines {
    fn begin(&mut self, writer: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.is_filled = false;
        writer.write_all(bracket)
    }

    fn item(&self, writer: &mut (impl ?Sized + Write), is_first: bool) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        self.line(writer, self.depth, self.depth)
    }

    fn end(&mut self, writer: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        if self.is_filled {
            self.line(writer, self.depth, self.depth - 1)?;
        }
        self.depth -= 1;
        writer.write_all(bracket)
    }

    /// A new line, indented, for what lies at `depth`.
    fn line(
        &self,
        writer: &mut (impl ?Sized + Write),
        depth: usize,
        indent: usize,
    ) -> io::Result<()> {
        if depth > OPEN {
            return Ok(());
        }
        write!(writer, "\n{:width$}", "", width = 2 * indent)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.depth > OPEN { b":" } else { b": " })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_filled = true;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }
}
