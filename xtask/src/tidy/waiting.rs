//! No test waits for a clock: it stops at an operation, a message or a state of another process.
//!
//! A test that sleeps or looks at a clock fails on a busy machine, and is slow on an idle one. What happens
//! elsewhere is waited for by `cardproof_testkit::wait_until`.

use super::finding::Finding;
use super::source::{Source, has_word};

/// What reads a clock or waits for it.
const CLOCKS: &[&str] =
    &["sleep", "Instant::now", "SystemTime::now", "elapsed", "recv_timeout", "wait_timeout"];

/// Files of tests that may, each with the reason.
const MAY_WAIT: &[(&str, &str)] = &[
    ("crates/cli/tests/it/interruption.rs", "kills at moments of the clock; nightly"),
    (
        "crates/cli/tests/it/process.rs",
        "looks at a process every millisecond, and ends one that hangs",
    ),
    ("hub/tests/it/common/postgres.rs", "looks whether a server is there yet"),
    ("hub/tests/it/crashes.rs", "kills at moments of the clock; nightly"),
    ("hub/tests/it/hardship.rs", "waits for a database in real time; nightly"),
    ("hub/tests/it/hostile.rs", "says how long the answers took; nightly"),
    ("hub/tests/it/moving.rs", "statements that outlast a limit of the database; nightly"),
    ("hub/tests/it/speed.rs", "times pages at a steady rate; run by hand on an idle machine"),
];

/// The lines of tests in `source` that wait for a clock.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if MAY_WAIT.iter().any(|(path, _)| source.path.as_os_str() == *path) {
        return Vec::new();
    }
    let finding = |(number, line): (usize, &str)| {
        let clock = CLOCKS.iter().find(|clock| has_word(line, clock))?;
        let message = format!("`{clock}` in a test; wait for an operation, not for a clock");
        Some(Finding::new(&source.path, number, message))
    };
    source.test_lines().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The lines that have findings.
    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(Path::new(path), text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_test_that_sleeps_or_times_itself_is_found() {
        let text = "//! x\nuse std::thread;\nthread::sleep(time);\nlet start = Instant::now();\n";
        assert_eq!(found("crates/io/tests/it/a.rs", text), [3, 4]);
        assert_eq!(found("hub/tests/it/a.rs", text), [3, 4]);
        assert_eq!(found("crates/cli/tests/it/interruption.rs", text), [0; 0]);
        assert_eq!(found("crates/io/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn unit_tests_are_looked_at_too() {
        let text = "//! x\nfn a() { sleep(b) }\n#[cfg(test)]\nmod tests {\n    sleep(b);\n}\n";
        assert_eq!(found("crates/io/src/a.rs", text), [5]);
    }
}
