//! A page in a real browser: Debian's Chromium, driven by Playwright and judged by axe.
//!
//! The page is opened on a screen and on a phone, by day and by night, without JavaScript, and as it is
//! printed. It must not be wider than the screen, must ask for nothing from elsewhere, and axe must find
//! nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::LabError;
use crate::command::run_command;

/// Chromium without windows, which computes half as long for a page; and the whole browser.
const BROWSERS: [&str; 2] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/// Opens the page; a script for Node.js, since Playwright is one.
const SCRIPT: &str = include_str!("browser/check.js");

/// The faults of the page at `page`, one line each; empty where it has none. Screenshots go to `shots`,
/// a directory.
///
/// # Errors
/// [`LabError::Unavailable`] without Chromium or the packages that `cargo xtask test` installs;
/// [`LabError::Command`] where the page cannot be opened.
pub fn page_faults(page: &Path, shots: &Path) -> Result<String, LabError> {
    let packages = packages();
    let node = packages.join("driver/node");
    if !node.is_file() || !packages.join("axe").is_dir() {
        return Err(LabError::unavailable(
            "no Playwright and axe; `cargo xtask test` installs them where Python has venv"
                .to_owned(),
        ));
    }
    let Some(browser) = BROWSERS.into_iter().find(|path| Path::new(path).exists()) else {
        return Err(LabError::unavailable(
            "no Chromium (Debian: chromium-headless-shell); `cargo xtask test` as root installs it"
                .to_owned(),
        ));
    };
    let mut command = Command::new(node);
    command.args(["-e", SCRIPT, "--"]).arg(packages).arg(browser).arg(page).arg(shots);
    run_command(command)
}

/// Where `cargo xtask test` puts Playwright, with a Node.js of its own, and axe.
fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/browser")
}
