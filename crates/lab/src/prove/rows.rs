//! A table that is shown row by row: an experiment takes minutes, and one that is stopped has then
//! shown what it had found.

use std::io::{self, Stdout, Write};

/// The rows of a table, each of which has been shown.
#[derive(Debug)]
pub(super) struct Rows<Out = Stdout> {
    out: Out,
    text: String,
}

impl Rows {
    /// The table below the lines of `head`, on standard output.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) fn below(head: &str) -> io::Result<Self> {
        Self::on(io::stdout(), head)
    }
}

impl<Out: Write> Rows<Out> {
    fn on(out: Out, head: &str) -> io::Result<Self> {
        let mut rows = Self { out, text: String::new() };
        rows.add(head)?;
        Ok(rows)
    }

    /// Shows `row`, without its line end, and adds it.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) fn add(&mut self, row: &str) -> io::Result<()> {
        writeln!(self.out, "{row}")?;
        self.out.flush()?;
        self.text.push_str(row);
        self.text.push('\n');
        Ok(())
    }

    /// All of them, as shown.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    /// Whoever stops the experiment behind the first row has seen that row.
    #[test]
    fn a_row_is_shown_before_the_next_is_there() {
        let mut shown = io::BufWriter::new(Vec::new());
        let mut rows = Rows::on(&mut shown, "| card |\n| --- |").unwrap();
        assert_eq!(rows.out.get_ref(), b"| card |\n| --- |\n");
        rows.add("| one |").unwrap();
        assert_eq!(rows.out.get_ref(), b"| card |\n| --- |\n| one |\n");
        assert_eq!(rows.into_text(), "| card |\n| --- |\n| one |\n");
    }
}
