//! What a test program keeps running for all of its tests, since each has a process of its own.
//!
//! A program offers it as a test of this name. Started with the variable set to `serve`, that test prints
//! `ready: VALUE`, and goes on until its input ends. All other tests find the value in the variable.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::programs::{Program, Test};

/// The test that serves.
const TEST: &str = "common::postgres::serves_the_queue";

/// What tells the tests where the server is.
const VARIABLE: &str = "CARDPROOF_TEST_SERVER";

/// A running server; dropped, it ends.
pub(super) struct Server {
    child: Child,
    /// Kept open: after a minute the harness says there that its test still runs, and ends where it cannot.
    _printed: BufReader<ChildStdout>,
    value: String,
}

impl Server {
    /// The server of `program` with its `tests`; `None` where it offers none or this machine cannot have it. Then
    /// the tests that need it say why.
    pub(super) fn start(program: &Program, tests: &[Test]) -> Option<Self> {
        tests.iter().find(|test| test.name == TEST)?;
        let mut command = Command::new(&program.executable);
        command.args(["--exact", TEST, "--nocapture"]).env(VARIABLE, "serve");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        program.surround(&mut command);
        let mut child = command.spawn().ok()?;
        let mut printed = BufReader::new(child.stdout.take()?);
        let value = printed
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("ready: ").map(str::to_owned));
        if value.is_none() {
            // It has ended by itself, which is how it says that there is none.
            let _ = child.wait();
        }
        Some(Self { child, _printed: printed, value: value? })
    }

    /// What its tests get to know.
    pub(super) fn variable(&self) -> (&'static str, String) {
        (VARIABLE, self.value.clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // Whatever it says at its end, no test depends on it any more.
        let _ = self.child.wait();
    }
}
