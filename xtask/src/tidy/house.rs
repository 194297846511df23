//! Rules for Rust files: the opening, the length, where unsafe code and printing may be.

use super::finding::Finding;
use super::source::{Source, has_word};

/// The most lines of a file.
const LINES_MAX: usize = 500;

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// The one room in which unsafe code may be.
const UNSAFE_ROOM: &str = "io";

/// The rooms that may print: the program, the laboratory, this tool, and the tests' own voice.
const PRINTING_ROOMS: &[&str] = &["cli", "lab", "testkit", "xtask"];

/// What prints.
const PRINTING: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "stdout()", "stderr()"];

/// What every rule finds in `source`.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    [
        opening(source),
        length(source, LONG_FILES),
        unsafety(source),
        printing(source),
        untyped(source),
    ]
    .concat()
}

/// A file says first what it is.
fn opening(source: &Source) -> Vec<Finding> {
    if source.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![Finding::new(&source.path, 1, "open with `//!`: what it is, why so, what it refuses")]
}

/// A file has one job, and one job fits in 500 lines.
fn length(source: &Source, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let lines = source.text.lines().count();
    let excepted = exceptions.iter().any(|(path, _)| source.path.as_os_str() == *path);
    if lines <= LINES_MAX || excepted {
        return Vec::new();
    }
    let message = format!("{lines} lines, more than {LINES_MAX}: which two jobs does it do?");
    vec![Finding::new(&source.path, 0, message)]
}

/// Unsafe code is in one room only. That each block says why it is sound is clippy's rule.
fn unsafety(source: &Source) -> Vec<Finding> {
    if source.room() == Some(UNSAFE_ROOM) {
        return Vec::new();
    }
    lines_with(source.code_lines(), |line| has_word(line, "unsafe"))
        .map(|line| Finding::new(&source.path, line, "unsafe code belongs in crates/io"))
        .collect()
}

/// Only the program prints; libraries return what is to be said.
fn printing(source: &Source) -> Vec<Finding> {
    if source.room().is_none_or(|room| PRINTING_ROOMS.contains(&room)) {
        return Vec::new();
    }
    let prints = |line: &str| PRINTING.iter().any(|word| stands_in(line, word));
    lines_with(source.product_lines(), prints)
        .map(|line| Finding::new(&source.path, line, "only the program prints; return it instead"))
        .collect()
}

/// What is decided from a field must be in the schema. The fields that a record keeps for a later
/// version are handed on by `record` and read by nobody.
fn untyped(source: &Source) -> Vec<Finding> {
    if source.room() == Some("record") {
        return Vec::new();
    }
    let reads = |line: &str| {
        let mut after = line.split(".extra").skip(1);
        after.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let message = "the record's fields of a later version; give what you need a field of its own";
    lines_with(source.product_lines(), reads)
        .map(|line| Finding::new(&source.path, line, message))
        .collect()
}

/// Whether `call` is in `line`, not as the end of a longer name.
fn stands_in(line: &str, call: &str) -> bool {
    line.match_indices(call).any(|(start, _)| {
        !line[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The numbers of the lines for which `is` holds.
fn lines_with<'text>(
    lines: impl Iterator<Item = (usize, &'text str)>,
    is: impl Fn(&str) -> bool,
) -> impl Iterator<Item = usize> {
    lines.filter(move |(_, line)| is(line)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// No findings.
    const CLEAN: [usize; 0] = [];

    /// The lines that have findings.
    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(Path::new(path), text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_file_opens_with_what_it_is() {
        assert_eq!(found("crates/io/src/a.rs", "use std::fs;\n"), [1]);
        assert_eq!(found("crates/io/src/a.rs", "// no doc comment\n"), [1]);
        assert_eq!(found("crates/io/src/a.rs", "//! What it is.\n"), CLEAN);
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let text = format!("//! x\n{}", "fn a() {}\n".repeat(LINES_MAX));
        assert_eq!(found("crates/io/src/a.rs", &text), [0]);
        let source = Source::new(Path::new("a.rs"), &text);
        assert!(length(&source, &[("a.rs", "a table of data")]).is_empty());
    }

    #[test]
    fn unsafe_code_is_in_one_room() {
        let text = "//! x\n// unsafe is fine here\nlet a = unsafe { b() };\n";
        assert_eq!(found("crates/stats/src/a.rs", text), [3]);
        assert_eq!(found("crates/stats/tests/a.rs", text), [3]);
        assert_eq!(found("crates/io/src/a.rs", text), CLEAN);
    }

    #[test]
    fn nobody_decides_from_fields_outside_the_schema() {
        let text = "//! x\nlet a = device.extra.get(\"b\");\nlet c = S { extra: Map::new() };\n\
                    d.extra_written();\n";
        assert_eq!(found("crates/rating/src/a.rs", text), [2]);
        assert_eq!(found("crates/record/src/a.rs", text), CLEAN);
        assert_eq!(found("crates/rating/tests/a.rs", text), CLEAN);
    }

    #[test]
    fn only_the_program_prints() {
        let text = "//! x\nfn a() {\n    println!(\"b\");\n    c(std::io::stderr());\n}\n";
        assert_eq!(found("crates/runner/src/a.rs", text), [3, 4]);
        assert_eq!(found("crates/cli/src/a.rs", text), CLEAN);
        assert_eq!(found("crates/runner/tests/a.rs", text), CLEAN);
        assert_eq!(found("crates/runner/src/b.rs", "//! x\nmy_println!(1);\n"), CLEAN);
    }
}
