//! Rows on standard output, each in a line of its own that `cargo xtask prove` puts into a table.

use std::io::Write;

use anyhow::Result;

/// Says `row` of the table `table`.
///
/// # Errors
/// Standard output is closed.
pub fn row(table: &str, row: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "shown {table}: {row}")?;
    Ok(out.flush()?)
}
