//! How a test says that it was skipped, and why.
//!
//! The test harness hides what a passing test prints and knows no skip at run time, so the
//! line `skipped: NAME: REASON` also goes to the file that `CARDPROOF_SKIP_LOG` names, from
//! which `cargo xtask test` counts and reprints it. A skip without a reason cannot be written.

use std::fs::OpenOptions;
use std::io::Write;

use cardproof_units::in_words;

/// The environment variable that names the file for skips.
pub const SKIP_LOG: &str = "CARDPROOF_SKIP_LOG";

/// Reports that the test `name` is skipped for `reason`. The caller then returns.
///
/// Newlines in the reason become spaces: one skip is one line. A log that cannot be written
/// fails the test, because a skip that nobody sees is a pass that never happened.
///
/// # Panics
/// The file named by `CARDPROOF_SKIP_LOG` cannot be appended to.
#[allow(clippy::panic, clippy::print_stderr, reason = "this is the voice of the tests")]
pub fn skip(name: &str, reason: &str) {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("skipped: {name}: {reason}\n");
    eprint!("{line}");
    let Some(path) = std::env::var_os(SKIP_LOG) else { return };
    let written = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut log| log.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!("cannot note a skip in {}: {why}", path.display(), why = in_words(&error));
    }
}

/// The full name of the test that holds the call, such as `refusals::a_symlink`.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        let name = ::std::any::type_name_of_val(&here);
        name.strip_suffix("::here").unwrap_or(name)
    }};
}

/// The laboratory, or the end of the test: skipped where the machine cannot give it, failed
/// where it should have.
///
/// Works in test functions that return nothing.
#[macro_export]
macro_rules! lab_or_skip {
    ($lab:expr) => {
        match $lab {
            Ok(lab) => lab,
            Err($crate::LabError::Unavailable(reason)) => {
                $crate::skip($crate::test_name!(), &reason);
                return;
            }
            Err(error) => panic!("the laboratory failed: {error}"),
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_test_knows_its_name() {
        assert_eq!(crate::test_name!(), "cardproof_testkit::skip::tests::a_test_knows_its_name");
    }
}
