//! `cargo xtask test`: what every change must pass, for the build server.
//!
//! As root it first installs the tools that the laboratories drive; without root the tests that
//! need them are skipped with that reason. What explores or needs much time is in `nightly`.

use std::process::Command;

use anyhow::Result;

use crate::check::lint_steps;
use crate::packages::{self, Want};
use crate::queue::{self, Choice, Suite};
use crate::steps::{Account, Outcome, shown_command};
use crate::workspace::{self, cargo};
use crate::{deny, lab};

/// The hub, a workspace of its own.
const HUB: &str = "hub";

/// The tool's test programs. A fuzz target has no `main` of its own.
const TOOL_SUITE: Suite = Suite {
    directory: ".",
    arguments: &["--exclude", "cardproof-fuzz", "--lib", "--bins", "--tests"],
    is_linted: false,
};

/// The hub's test programs, linted as they are built: a build for clippy alone would take its libraries again.
const HUB_SUITE: Suite =
    Suite { directory: HUB, arguments: &["--lib", "--bins", "--tests"], is_linted: true };

/// Every test program that this Rust can build; that the hub's are left out is noted in `account`.
pub(crate) fn suites(account: &mut Account) -> Vec<Suite> {
    std::iter::once(TOOL_SUITE).chain(hub_suite(account)).collect()
}

/// The hub's test programs; none where this Rust is too old for them, which is noted in `account`.
fn hub_suite(account: &mut Account) -> Option<Suite> {
    let reason = too_old_for_hub();
    account.skipped.extend(reason.as_ref().map(|reason| format!("hub tests: {reason}")));
    if reason.is_none() && !queue::has_clippy_driver() {
        account.skipped.push("hub lints: this Rust has no clippy".to_owned());
    }
    reason.is_none().then_some(HUB_SUITE)
}

/// Why this Rust cannot build the hub, which promises less than the tool.
fn too_old_for_hub() -> Option<String> {
    let wanted = workspace::rust_version_in(HUB).ok()?;
    let found = workspace::rust_version().ok()?;
    (found < wanted).then(|| {
        let [[a, b], [c, d]] = [wanted, found];
        format!("the hub needs Rust {a}.{b}, and this is {c}.{d}")
    })
}

/// Which parts are run, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
    /// Run the tests in an order drawn from this seed, which tests that explore get too
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// A part of what every change must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Packages that the tests need
    Packages,
    /// Format, house rules, lints, documentation, generated files, licences
    Lints,
    /// A short form of every kind of attack
    Attacks,
    /// The tests of the tool
    Tool,
    /// The tests of the hub
    Hub,
}

/// Every step, every test, then the account, whose last line is `N passed, N failed, N skipped`.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let is_wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut account = Account::default();
    // Installing waits for the network and the disk, and reading the source needs none of it.
    std::thread::scope(|scope| {
        let installing = is_wanted(Part::Packages).then(|| scope.spawn(install));
        if is_wanted(Part::Lints) {
            lint_steps(&mut account);
            match too_old_for_hub() {
                Some(reason) => account.skipped.push(format!("hub format: {reason}")),
                None => account.step("hub format", hub_format),
            }
            account.step("licences and sources", || deny::run(deny::WhenAbsent::Skip));
        }
        if let Some(installing) = installing {
            account.add(installing.join().unwrap_or_else(|_| panicked("packages")));
        }
    });
    if is_wanted(Part::Attacks) {
        account.step("attacks", lab::attack_step);
    }
    let mut suites = Vec::new();
    suites.extend(is_wanted(Part::Tool).then_some(TOOL_SUITE));
    suites.extend(is_wanted(Part::Hub).then(|| hub_suite(&mut account)).flatten());
    if !suites.is_empty() {
        account.add(queue::run("tests", &suites, Choice::Gate, arguments.seed)?);
    }
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// Installs what the tests need.
fn install() -> Account {
    let mut account = Account::default();
    account.step("packages", || packages::install(Want::Gate));
    account.step("browser packages", packages::install_browser_packages);
    account
}

/// The account of a step that ended without one.
fn panicked(name: &str) -> Account {
    Account { failed: vec![format!("{name}: it panicked")], ..Account::default() }
}

/// The hub's format. Its lints are looked at when its tests are built.
fn hub_format() -> Result<Outcome> {
    let mut format = Command::new(cargo());
    format.current_dir(HUB).args(["fmt", "--", "--check"]);
    shown_command(&mut format)
}
