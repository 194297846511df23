//! Rules of purity by source: rooms without a clock of their own, and rooms that touch nothing.
//!
//! Time above `io` is the target's clock, which may be a virtual one; a room that reads the
//! wall clock cannot be run in virtual time. What a room must not import is in `arrows`.

use super::finding::Finding;
use super::source::{Source, has_word};

/// The rooms that may read a clock: the engines, who stands between a target and the user, and
/// what is no part of the program. A crate that is not named here may not.
const WITH_CLOCK: &[&str] = &["cli", "io", "lab", "session", "sim-serve", "testkit", "xtask"];

/// The names of the clocks of Rust's library and of those of our dependencies that have one.
const CLOCKS: &[&str] = &["Instant", "SystemTime", "clock_gettime"];

/// The rooms that may do input and output by themselves. A crate that is not named here reaches the
/// storage through a target, or not at all.
const WITH_IO: &[&str] = &[
    "cli",
    "device",
    "io",
    "lab",
    "session",
    "sim-serve",
    "sqlite",
    "testkit",
    "witness",
    "xtask",
];

/// The modules of Rust's library that reach out of the program.
const REACHING_OUT: &[&str] = &["fs", "net", "process", "env"];

/// What both rules find in `source`.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let Some(room) = source.room() else { return Vec::new() };
    let mut findings = Vec::new();
    for (number, line) in source.product_lines() {
        if !WITH_CLOCK.contains(&room)
            && let Some(clock) = CLOCKS.iter().find(|clock| has_word(line, clock))
        {
            let message = format!("`{clock}` in {room}: time is the target's clock");
            findings.push(Finding::new(&source.path, number, message));
        }
        if !WITH_IO.contains(&room)
            && let Some(module) = REACHING_OUT.iter().find(|module| uses_std(line, module))
        {
            let message = format!("`std::{module}` in {room}, which does no input or output");
            findings.push(Finding::new(&source.path, number, message));
        }
    }
    findings
}

/// Whether `line` names the module `std::module`, alone or in a group.
fn uses_std(line: &str, module: &str) -> bool {
    let Some((_, after)) = line.split_once("std::") else { return false };
    match after.strip_prefix('{') {
        Some(group) => has_word(group, module),
        None => after
            .strip_prefix(module)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')),
    }
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
    fn no_wall_clock_above_io() {
        let text = "//! x\nuse std::time::{Duration, Instant};\nlet a = SystemTime::now();\n";
        assert_eq!(found("crates/runner/src/a.rs", text), [2, 3]);
        assert_eq!(found("crates/new/src/a.rs", text), [2, 3]);
        assert_eq!(found("crates/io/src/a.rs", text), CLEAN);
        assert_eq!(found("crates/cli/src/a.rs", text), CLEAN);
        assert_eq!(
            found("crates/runner/src/b.rs", "//! an Instant\nuse std::time::Duration;\n"),
            CLEAN
        );
    }

    #[test]
    fn pure_rooms_touch_nothing() {
        let text = "//! x\nuse std::fs::File;\nuse std::{fmt, net};\nuse std::fmt;\n";
        assert_eq!(found("crates/stats/src/a.rs", text), [2, 3]);
        assert_eq!(found("crates/new/src/a.rs", text), [2, 3]);
        assert_eq!(found("crates/device/src/a.rs", text), CLEAN);
        assert_eq!(found("crates/stats/tests/a.rs", text), CLEAN);
    }
}
