//! Running `cargo test` and counting what its harness and the tests' own skips say.
//!
//! The harness knows no skip at run time: a test that skips counts as passed there. The tests
//! note their skips in a file (see `cardproof_testkit::skip`), and those are taken off the
//! passed ones here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cardproof_testkit::SKIP_LOG;

use crate::steps::Account;
use crate::workspace::cargo;

/// What the harness printed, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: Vec<String>,
    ignored: Vec<String>,
}

impl Count {
    /// Takes one line of the harness.
    fn line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += passed_in(result);
        } else if let Some((name, outcome)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            if outcome == "FAILED" {
                self.failed.push(name.to_owned());
            } else if let Some(reason) = outcome.strip_prefix("ignored") {
                let reason = reason.trim_start_matches([',', ' ']);
                let reason = if reason.is_empty() { "ignored in the source" } else { reason };
                self.ignored.push(format!("{name}: {reason}"));
            }
        }
    }
}

/// The number before `passed` in `ok. 3 passed; 0 failed; …`.
fn passed_in(result: &str) -> usize {
    result
        .split(|c: char| !c.is_ascii_alphanumeric())
        .collect::<Vec<_>>()
        .windows(2)
        .find(|pair| pair[1] == "passed")
        .and_then(|pair| pair[0].parse().ok())
        .unwrap_or(0)
}

/// The skips in the log, by test; a test may give several reasons.
fn skips_in(log: &str) -> BTreeMap<String, Vec<String>> {
    let mut skips: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in log.lines() {
        if let Some((name, reason)) =
            line.strip_prefix("skipped: ").and_then(|rest| rest.split_once(": "))
        {
            skips.entry(name.to_owned()).or_default().push(reason.to_owned());
        }
    }
    skips
}

/// Runs the workspace's tests with `arguments` added, shows what they print, and counts.
///
/// # Errors
/// Cargo cannot be started or the log of skips not be used.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<Account> {
    run_in(".", name, arguments)
}

/// As [`run`], of the workspace in `directory`, with the settings of cargo that lie there.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_in(directory: &str, name: &str, arguments: &[&str]) -> Result<Account> {
    println!("== {name}");
    let log = std::env::temp_dir().join(format!("cardproof-skips-{}.log", std::process::id()));
    fs::write(&log, "").with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(cargo());
    command
        .current_dir(directory)
        .args(["test", "--workspace", "--all-features", "--no-fail-fast"])
        .args(arguments)
        .env(SKIP_LOG, &log);
    forget_flags(&mut command);
    let (count, good) = count_shown(&mut command)?;
    let skips = skips_in(&fs::read_to_string(&log)?);
    fs::remove_file(&log)?;
    Ok(account(name, count, &skips, good))
}

/// Cargo hands the variables of its configuration down to this program. Another workspace has its own, which
/// do not replace what is set already.
pub(crate) fn forget_flags(command: &mut Command) {
    command.env_remove("LIBSQLITE3_FLAGS");
}

/// Runs `command`, shows its output line by line, and counts; also whether it succeeded.
fn count_shown(command: &mut Command) -> Result<(Count, bool)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo test")?;
    let mut count = Count::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            println!("{line}");
            count.line(&line);
        }
    }
    Ok((count, child.wait()?.success()))
}

/// The account of a run of tests.
fn account(name: &str, count: Count, skips: &BTreeMap<String, Vec<String>>, good: bool) -> Account {
    let mut failed = count.failed;
    if !good && failed.is_empty() {
        // A test program that was killed, or source that does not compile, has no line of its own.
        failed.push(format!("{name}: cargo test failed outside of a test, see above"));
    }
    let mut skipped = count.ignored;
    skipped.extend(skips.iter().map(|(test, reasons)| format!("{test}: {}", reasons.join("; "))));
    Account { passed: count.passed.saturating_sub(skips.len()), failed, skipped }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 4 tests
test a::passes ... ok
test a::fails ... FAILED
test a::sleeps ... ignored, takes an hour
test b::skips ... ok

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn counted() -> Count {
        let mut count = Count::default();
        OUTPUT.lines().for_each(|line| count.line(line));
        count
    }

    #[test]
    fn results_of_all_test_programs_add_up() {
        let count = counted();
        assert_eq!(count.passed, 14);
        assert_eq!(count.failed, ["a::fails"]);
        assert_eq!(count.ignored, ["a::sleeps: takes an hour"]);
    }

    #[test]
    fn a_skip_is_not_a_pass_and_a_test_skips_once() {
        let skips = skips_in("skipped: b::skips: needs root\nskipped: b::skips: no xfs\n");
        let account = account("tests", counted(), &skips, false);
        assert_eq!(account.passed, 13);
        assert_eq!(account.skipped, ["a::sleeps: takes an hour", "b::skips: needs root; no xfs"]);
    }

    #[test]
    fn a_failure_without_a_test_is_still_one() {
        let account = account("tests", Count::default(), &BTreeMap::new(), false);
        assert_eq!(account.failed.len(), 1);
    }
}
