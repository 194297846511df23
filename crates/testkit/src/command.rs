//! Running the system's own tools, with errors that say what was run.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use cardproof_units::in_words;

use crate::LabError;

/// Runs `program` with `arguments` to its end and returns its standard output.
///
/// # Errors
/// [`LabError::Unavailable`] where the program is not installed, [`LabError::Command`] where it
/// ends with anything but success.
pub fn run<A: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, LabError> {
    let mut command = Command::new(program);
    command.args(arguments);
    run_command(command)
}

/// Runs `command` to its end, without standard input, and returns its standard output.
///
/// # Errors
/// As [`run`].
pub fn run_command(mut command: Command) -> Result<String, LabError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        LabError::unavailable(format!(
            "{program} cannot be started ({why}); is it installed?",
            why = in_words(&error)
        ))
    })?;
    if !output.status.success() {
        return Err(LabError::Command {
            command: words(&command),
            status: output.status.to_string(),
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as one would type it, without quoting.
fn words(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    words.join(" ")
}

/// Succeeds only as root.
///
/// # Errors
/// [`LabError::Unavailable`] for everybody else.
pub fn require_root() -> Result<(), LabError> {
    if rustix::process::geteuid().is_root() {
        Ok(())
    } else {
        Err(LabError::unavailable("needs root"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_a_reason_to_skip() {
        let error = run("cardproof-no-such-program", ["x"]).unwrap_err();
        assert!(
            matches!(error, LabError::Unavailable(reason) if reason.contains("no-such-program"))
        );
    }

    #[test]
    fn a_failing_program_is_a_failure_with_its_words() {
        let error = run("sh", ["-c", "echo broken >&2; exit 3"]).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LabError::Command { .. }));
        assert!(text.contains("broken") && text.contains('3'), "{text}");
    }
}
