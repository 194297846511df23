//! `cargo xtask test`: what every change must pass, for the build server.
//!
//! As root it first installs the tools that the laboratories drive; without root the tests that
//! need them are skipped with that reason. What explores or needs much time is in `nightly`.

use std::process::Command;

use anyhow::Result;

use crate::check::{TOOL, build_step, reading_steps};
use crate::packages::{self, Want};
use crate::queue::{self, Built, Choice, Suite};
use crate::steps::{Account, Outcome, shown_command};
use crate::workspace::{self, cargo};
use crate::{deny, generate, lab};

/// The hub, a workspace of its own.
const HUB: &str = "hub";

/// The hub, linted as the tool is.
const HUB_SUITE: Suite = Suite { directory: HUB, is_documented: false };

/// Builds every test program that this Rust can build; that the hub's are left out is noted in `account`.
pub(crate) fn build_all(account: &mut Account) -> Vec<Built> {
    let mut built = Vec::from_iter(build_step(account, "tool", &TOOL));
    built.extend(build_hub(account));
    built
}

/// Builds the hub's; not where this Rust is too old for them, which is noted in `account`.
fn build_hub(account: &mut Account) -> Option<Built> {
    if let Some(reason) = too_old_for_hub() {
        account.skipped.push(format!("hub tests: {reason}"));
        return None;
    }
    build_step(account, "hub", &HUB_SUITE)
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
    // Installing waits for the network and the disk, and building needs none of it.
    let (tool, hub) = std::thread::scope(|scope| {
        let installing = is_wanted(Part::Packages).then(|| scope.spawn(install));
        if is_wanted(Part::Lints) {
            read(&mut account);
        }
        let needs_tool = [Part::Lints, Part::Attacks, Part::Tool].into_iter().any(is_wanted);
        let tool = needs_tool.then(|| build_step(&mut account, "tool", &TOOL)).flatten();
        let hub = is_wanted(Part::Hub).then(|| build_hub(&mut account)).flatten();
        if let Some(installing) = installing {
            account.add(installing.join().unwrap_or_else(|_| panicked("packages")));
        }
        (tool, hub)
    });
    if let (true, Some(tool)) = (is_wanted(Part::Lints), &tool) {
        account.step("generated files", || Ok(Outcome::new(generate::are_fresh(tool)?)));
    }
    let attacks = tool.as_ref().filter(|_| is_wanted(Part::Attacks));
    let suites: Vec<&Built> = tool.iter().filter(|_| is_wanted(Part::Tool)).chain(&hub).collect();
    account.add(attack_and_test(attacks, &suites, arguments.seed)?);
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// What needs nothing built.
fn read(account: &mut Account) {
    reading_steps(account);
    match too_old_for_hub() {
        Some(reason) => account.skipped.push(format!("hub format: {reason}")),
        None => account.step("hub format", hub_format),
    }
    account.step("licences and sources", || deny::run(deny::WhenAbsent::Skip));
}

/// Attacks by the programs of `tool`, which wait for the kernel most of the time, beside the tests of `suites`.
fn attack_and_test(tool: Option<&Built>, suites: &[&Built], seed: Option<u64>) -> Result<Account> {
    std::thread::scope(|scope| {
        let attacking = tool.map(|tool| {
            scope.spawn(|| {
                let mut account = Account::default();
                account.quiet_step("attacks", || lab::attack_step(tool));
                account
            })
        });
        let mut account = match suites {
            [] => Account::default(),
            suites => queue::run("tests", suites, Choice::Gate, seed)?,
        };
        if let Some(attacking) = attacking {
            account.add(attacking.join().unwrap_or_else(|_| panicked("attacks")));
        }
        Ok(account)
    })
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
