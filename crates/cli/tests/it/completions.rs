//! Completions and manual pages.

use std::fs;

use crate::home::Home;
use crate::process;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = process::run(Home::new().cardproof(&["completions", shell])).expect(0);
        assert!(done.stdout.contains("identify"), "{shell}");
        assert_eq!(done.stderr, "", "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_refused_with_the_known_ones() {
    let done = process::run(Home::new().cardproof(&["completions", "tcsh"])).expect(2);
    assert!(done.stderr.contains("tcsh") && done.stderr.contains("zsh"), "{}", done.stderr);
}

#[test]
fn each_command_has_a_manual_page() {
    let directory = tempfile::tempdir().unwrap();
    let into = directory.path().to_str().unwrap();
    process::run(Home::new().cardproof(&["manual-pages", into])).expect(0);
    for page in ["cardproof.1", "cardproof-run.1", "cardproof-sim-serve.1"] {
        let text = fs::read_to_string(directory.path().join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn a_missing_directory_for_manual_pages_is_named() {
    let done =
        process::run(Home::new().cardproof(&["manual-pages", "/nonexistent/pages"])).expect(1);
    assert!(done.stderr.contains("/nonexistent/pages"), "{}", done.stderr);
}
