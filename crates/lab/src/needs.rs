//! The tools that a command needs, looked for before it starts: an hour of measuring should not end
//! with a tool that is not there.

use std::ffi::OsStr;
use std::path::Path;

use cardproof_testkit::LabError;

/// A tool and how to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Its file in the path.
    pub(crate) program: &'static str,
    /// What to do where it is not there.
    remedy: &'static str,
}

/// The measure for measuring.
pub(crate) const FIO: Tool = Tool { program: "fio", remedy: "apt-get install fio" };

/// The maker of test files that card scripts use.
pub(crate) const IOZONE: Tool = Tool {
    program: "iozone",
    remedy: "apt-get install iozone3, with Debian's component non-free among the sources",
};

/// The counter of instructions.
pub(crate) const VALGRIND: Tool = Tool { program: "valgrind", remedy: "apt-get install valgrind" };

/// The reader of drives that a script uses.
pub(crate) const HDPARM: Tool = Tool { program: "hdparm", remedy: "apt-get install hdparm" };

/// Succeeds where every one of `tools` is in the path.
///
/// # Errors
/// [`LabError::Unavailable`] with all that are missing, and how to get them.
pub(crate) fn tools(tools: &[Tool]) -> Result<(), LabError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing: Vec<String> = tools
        .iter()
        .filter(|tool| !is_in(&path, tool.program))
        .map(|Tool { program, remedy }| format!("{program} is missing ({remedy})"))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(LabError::Unavailable(missing.join("; "))) }
}

fn is_in(path: &OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|folder| Path::new(&folder).join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_tool_is_named_with_its_remedy() {
        let absent = Tool { program: "cardproof-no-such-tool", remedy: "build it" };
        let other = Tool { program: "cardproof-nor-this", remedy: "buy it" };
        let error = tools(&[absent, other]).unwrap_err().to_string();
        for wanted in ["cardproof-no-such-tool is missing (build it)", "(buy it)"] {
            assert!(error.contains(wanted), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_in(folder.path().as_os_str(), "fio"));
        std::fs::write(folder.path().join("fio"), "").unwrap();
        assert!(is_in(folder.path().as_os_str(), "fio"));
    }
}
