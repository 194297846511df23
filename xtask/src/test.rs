//! `cargo xtask test`: everything that can be shown on this machine, for the build server.
//!
//! As root it first installs the tools that the laboratories drive; without root the tests that
//! need them are skipped with that reason.

use std::process::Command;

use anyhow::Result;

use crate::check::lint_steps;
use crate::steps::{Account, Outcome, shown_command};
use crate::workspace::cargo;
use crate::{deny, lab, libtest, packages};

/// The hub, a workspace of its own.
const HUB: &str = "hub";

/// Every step, every test, then the account, whose last line is `N passed, N failed, N skipped`.
pub(crate) fn run() -> Result<bool> {
    let mut account = Account::default();
    // Installing waits for the network and the disk, and reading the source needs none of it.
    std::thread::scope(|scope| {
        let installed = scope.spawn(install);
        lint_steps(&mut account);
        account.add(installed.join().unwrap_or_else(|_| panicked("packages")));
    });
    account.step("licences and sources", || deny::run(deny::WhenAbsent::Install));
    account.at_once(&[
        ("laboratory of identities", lab::mmc_step),
        ("laboratory of reconnecting", lab::reconnect_step),
    ]);
    account.step("attacks", lab::attack_step);
    account.step("kills", lab::kill_step);
    account.add(libtest::run("tests", &["--all-targets"])?);
    account.add(libtest::run("documentation tests", &["--doc"])?);
    account.step("hub lints", hub_lints);
    account.add(libtest::run_in(HUB, "hub tests", &["--locked"])?);
    print!("\n{}", account.closing());
    Ok(account.is_good())
}

/// Installs what the tests need.
fn install() -> Account {
    let mut account = Account::default();
    account.step("packages", packages::install);
    account.step("browser packages", packages::install_browser_packages);
    account.step("engines for the hub's dump", packages::install_engines);
    account
}

/// The account of a step that ended without one.
fn panicked(name: &str) -> Account {
    Account { failed: vec![format!("{name}: it panicked")], ..Account::default() }
}

/// The hub's format and lints.
fn hub_lints() -> Result<Outcome> {
    let mut format = Command::new(cargo());
    format.current_dir(HUB).args(["fmt", "--", "--check"]);
    let mut lints = Command::new(cargo());
    lints.current_dir(HUB).args([
        "clippy",
        "--quiet",
        "--locked",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    libtest::forget_flags(&mut lints);
    let is_good = [format, lints].iter_mut().map(shown_command).collect::<Result<Vec<_>>>()?;
    Ok(Outcome::of(is_good.iter().all(|outcome| *outcome == Outcome::Passed)))
}
