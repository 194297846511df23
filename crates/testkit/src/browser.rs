//! A page in a real browser: Debian's Chromium, driven by Playwright and judged by axe.
//!
//! The page is opened on a screen and on a phone, by day and by night, without JavaScript, and as it is
//! printed. It must not be wider than the screen, must ask for nothing from elsewhere, and axe must find
//! nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::LabError;
use crate::command::run_command;

/// Opens the page; a script for Node.js, since Playwright is one.
const SCRIPT: &str = include_str!("browser/check.js");

/// The faults of the page at `page`, one line each; empty where it has none. Screenshots go to `shots`,
/// a directory.
///
/// # Errors
/// [`LabError::Unavailable`] without Node.js, Chromium, or the packages that `cargo xtask test` installs;
/// [`LabError::Command`] where the page cannot be opened.
pub fn page_faults(page: &Path, shots: &Path) -> Result<String, LabError> {
    let missing = |what: &str| {
        LabError::unavailable(format!("no {what}; `cargo xtask test` as root installs it"))
    };
    let modules = modules();
    if !modules.join("playwright-core").is_dir() || !modules.join("axe-core").is_dir() {
        return Err(missing("playwright-core and axe-core"));
    }
    let browser = Path::new("/usr/bin/chromium");
    if !browser.exists() {
        return Err(missing("Chromium (Debian: chromium)"));
    }
    let mut version = Command::new("node");
    version.arg("--version");
    if run_command(version).is_err() {
        return Err(missing("Node.js (Debian: nodejs)"));
    }
    let mut command = Command::new("node");
    command.args(["-e", SCRIPT, "--"]).arg(modules).arg(browser).arg(page).arg(shots);
    run_command(command)
}

/// Where `cargo xtask test` puts the packages.
fn modules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/browser/node_modules")
}
