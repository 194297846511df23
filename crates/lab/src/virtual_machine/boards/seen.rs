//! What was said on a board, step by step, and what of it is not as it must be.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::board::Board;

/// All steps of a visit.
#[derive(Debug)]
pub(crate) struct Seen(Vec<Step>);

/// One step.
#[derive(Debug)]
pub(crate) struct Step {
    name: String,
    text: String,
    status: u8,
}

/// The exit status that each step must have.
const STATUS: &[(&str, u8)] = &[
    ("install", 0),
    ("version", 0),
    ("version-time", 0),
    ("identify", 0),
    ("identity", 0),
    ("run", 0),
    ("watch", 0),
    ("report", 0),
    ("ctrl-c", 130),
    ("left", 0),
    ("remove", 0),
    ("gone", 0),
    ("records", 0),
];

impl Seen {
    /// Finds the steps in what the console showed.
    ///
    /// # Errors
    /// The console holds no step, or one without its end.
    pub(super) fn parse(console: &str) -> Result<Self> {
        let console = console.replace('\r', "");
        let mut steps = Vec::new();
        let mut open: Option<(String, String)> = None;
        for line in console.lines() {
            match (line.strip_prefix("== "), &mut open) {
                (Some(end), Some(_)) if end.starts_with("status ") => {
                    let status = end.trim_start_matches("status ").trim().parse()?;
                    let (name, text) = open.take().context("a status without its step")?;
                    steps.push(Step { name, text, status });
                }
                // The end of a step whose first line was lost.
                (Some(end), None) if end.starts_with("status ") => {}
                (Some(name), None) => open = Some((name.to_owned(), String::new())),
                (_, Some((_, text))) if !is_kernel_line(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
                _ => {}
            }
        }
        ensure!(!steps.is_empty(), "the console shows no step");
        Ok(Self(steps))
    }

    /// Everything, as it is printed.
    pub(crate) fn transcript(&self) -> String {
        let one = |step: &Step| format!("== {} ({})\n{}", step.name, step.status, step.text);
        self.0.iter().map(one).collect()
    }

    /// The text of a step; empty where it was not done.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|step| step.name == name).map_or("", |step| step.text.trim_end())
    }

    /// The exit status of a step that was done.
    pub(crate) fn status(&self, name: &str) -> Option<u8> {
        self.0.iter().find(|step| step.name == name).map(|step| step.status)
    }

    /// What is not as it must be.
    pub(crate) fn faults(&self, board: &Board) -> Vec<String> {
        let mut faults: Vec<String> = STATUS
            .iter()
            .filter_map(|(name, wanted)| match self.status(name) {
                Some(status) if status == *wanted => None,
                Some(status) => Some(format!("{name} ended with {status}, not {wanted}")),
                None => Some(format!("{name} was not done")),
            })
            .collect();
        let identity = serde_json::from_str(self.text("identity")).unwrap_or(Value::Null);
        for (place, wanted) in board.identity {
            let wanted: Value = serde_json::from_str(wanted).unwrap_or(Value::Null);
            let found = identity.pointer(place).unwrap_or(&Value::Null);
            if *found != wanted {
                faults.push(format!("identity{place} is {found}, not {wanted}"));
            }
        }
        // The run and the one that was broken off.
        let records = self.text("records");
        if records.parse::<u32>().is_ok_and(|count| count >= 2) {
            return faults;
        }
        faults.push(format!("after the removal there are '{records}' records"));
        faults
    }
}

/// A line of the kernel's log, which shares the console.
fn is_kernel_line(line: &str) -> bool {
    line.starts_with('[')
        && line.split(']').next().is_some_and(|time| time[1..].trim().parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::virtual_machine::boards::board::BOARDS;

    #[test]
    fn steps_are_found_among_lines_of_the_kernel() {
        let seen = Seen::parse(
            "[    1.2] boot== machine\nLinux\n== status 0\n== version\r\ncardproof 0.1.0\r\n[   20.5] mmc0: x\n== status 0\n\
             == run\nerror: no room\n== status 1\n",
        )
        .unwrap();
        assert_eq!(seen.text("version"), "cardproof 0.1.0");
        assert_eq!(seen.text("identify"), "");
        let faults = seen.faults(&BOARDS[0]);
        assert!(faults.contains(&"run ended with 1, not 0".to_owned()), "{faults:?}");
        assert!(faults.contains(&"install was not done".to_owned()), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.starts_with("identity/device/card")), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("records")), "{faults:?}");
    }

    #[test]
    fn a_console_without_steps_is_an_error() {
        assert!(Seen::parse("[    1.2] Kernel panic\n").is_err());
    }
}
