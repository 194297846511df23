//! `cargo xtask test`: what every change must pass, for the build server.
//!
//! As root it first installs the tools that the laboratories drive; without root the tests that
//! need them are skipped with that reason. What explores or needs much time is in `nightly`.

use std::process::Command;
use std::thread;

use anyhow::{Error, Result};

use crate::check::{TOOL, build_step, reading_steps};
use crate::packages::{self, Want};
use crate::queue::{self, Built, Choice, Intake, Suite};
use crate::steps::{Account, Outcome, shown_command};
use crate::workspace::{self, cargo};
use crate::{deny, generate, lab};

/// The hub, a workspace of its own.
const HUB: &str = "hub";

/// The hub, linted as the tool is.
const HUB_SUITE: Suite = Suite { directory: HUB };

/// Builds every test program that this Rust can build; that the hub's are left out is noted in `account`.
pub(crate) fn build_all(account: &mut Account) -> Vec<Built> {
    let mut built = Vec::from_iter(build_step(account, "tool", &TOOL, None));
    built.extend(build_hub(account, None));
    built
}

/// Builds the hub's for `intake`; not where this Rust is too old for them, which is noted in `account`.
fn build_hub(account: &mut Account, intake: Option<&Intake<'_>>) -> Option<Built> {
    if let Some(reason) = too_old_for_hub() {
        account.skipped.push(format!("hub tests: {reason}"));
        return None;
    }
    build_step(account, "hub", &HUB_SUITE, intake)
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
    /// Run the tests in an order drawn from this seed, which tests that draw at random get too; without
    /// it, these try the same every time
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// A part of what every change must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Packages that the tests need
    Packages,
    /// Format, house rules, lints, generated files, licences
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
    let account = thread::scope(|scope| {
        let (tests, fed) = queue::run("tests", Choice::Gate, arguments.seed, |intake| {
            let (mut account, tool) = build(&is_wanted, intake);
            if let (true, Some(tool)) = (is_wanted(Part::Lints), &tool) {
                account.step("generated files", || Ok(Outcome::new(generate::are_fresh(tool)?)));
            }
            // They wait for the kernel most of the time.
            let attacking = tool
                .filter(|_| is_wanted(Part::Attacks))
                .map(|tool| scope.spawn(move || attack(&tool)));
            if is_wanted(Part::Hub) {
                build_hub(&mut account, Some(intake));
            }
            (account, attacking)
        })?;
        let (mut account, attacking) = fed;
        if [Part::Tool, Part::Hub].into_iter().any(is_wanted) {
            account.add(tests);
        }
        if let Some(attacking) = attacking {
            account.add(attacking.join().unwrap_or_else(|_| panicked("attacks")));
        }
        Ok::<_, Error>(account)
    })?;
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// Takes the steps that need nothing built and builds the tool, whose tests go to `intake`; meanwhile installs what
/// they need, which waits for the network and the disk.
fn build(is_wanted: &dyn Fn(Part) -> bool, intake: &Intake<'_>) -> (Account, Option<Built>) {
    let (is_installed, is_read) = (is_wanted(Part::Packages), is_wanted(Part::Lints));
    let needs_tool = [Part::Lints, Part::Attacks, Part::Tool].into_iter().any(is_wanted);
    let tool_intake = is_wanted(Part::Tool).then_some(intake);
    let mut account = Account::default();
    let tool = thread::scope(|scope| {
        let installing = scope.spawn(move || {
            let account = is_installed.then(install);
            intake.begin();
            account
        });
        if is_read {
            read(&mut account);
        }
        let build = || build_step(&mut account, "tool", &TOOL, tool_intake);
        let tool = needs_tool.then(build).flatten();
        account.add(match installing.join() {
            Ok(installed) => installed.unwrap_or_default(),
            Err(_) => panicked("packages"),
        });
        tool
    });
    (account, tool)
}

fn attack(tool: &Built) -> Account {
    let mut account = Account::default();
    account.quiet_step("attacks", || lab::attack_step(tool));
    account
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
