//! `cargo xtask nightly`: what explores, needs real time or much of it. What every change must pass is in
//! `test`; docs/HACKING.md has the table of both.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::fuzz::{self, Arguments as Fuzzing};
use crate::packages::{self, Want};
use crate::queue::{self, Choice};
use crate::steps::{Account, Outcome};
use crate::{check, deny, lab, left_out, test};

/// How long the attacks go on, in hours.
const ATTACK_HOURS: &str = "0.1";

/// How long each fuzz target runs, in seconds.
const FUZZ_SECONDS: u32 = 60;

/// Which parts are run.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
}

/// A part of the night.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Licences, sources and advisories of all dependencies
    Dependencies,
    /// The documentation of all crates
    Documentation,
    /// The program without its default features
    LeftOut,
    /// Virtual machines with hardware that this machine lacks
    Machines,
    /// Attacks on every promise of safety
    Attacks,
    /// Tests that the source marks `ignore`, and those of the gate with all their cases and a new seed
    Tests,
    /// Random bytes into every reader
    Fuzz,
    /// Every proof in its short form, the kills among them
    Proofs,
}

/// Runs the parts, then prints the account.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let is_wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut account = Account::default();
    account.step("packages", || packages::install(Want::All));
    if is_wanted(Part::Dependencies) {
        account.step("licences and sources", || deny::run(deny::WhenAbsent::Install));
        account.step("advisories", deny::advisories);
    }
    if is_wanted(Part::Documentation) {
        account.step("documentation", check::documentation);
    }
    if is_wanted(Part::LeftOut) {
        account.step("parts left out", left_out::step);
    }
    if is_wanted(Part::Machines) {
        account.at_once(&[
            ("laboratory of identities", lab::mmc_step),
            ("laboratory of reconnecting", lab::reconnect_step),
        ]);
    }
    if is_wanted(Part::Attacks) {
        account.step("long attacks", || lab::long_attack_step(ATTACK_HOURS));
    }
    if is_wanted(Part::Tests) {
        account.step("browser packages", packages::install_browser_packages);
        account.step("engines for the hub's dump", packages::install_engines);
        let built = test::build_all(&mut account);
        let seed = new_seed()?;
        let again = format!("tests of the gate with all cases and the seed {seed}");
        let runs =
            [("long tests", Choice::Ignored, None), (again.as_str(), Choice::Thorough, Some(seed))];
        for (name, choice, seed) in runs {
            let (tests, fed) = queue::run(name, choice, seed, |intake| {
                built.iter().try_for_each(|built| intake.add_all(built))
            })?;
            fed?;
            account.add(tests);
        }
    }
    if is_wanted(Part::Fuzz) {
        account.step("fuzzing", fuzz_all);
    }
    if is_wanted(Part::Proofs) {
        proofs(&mut account)?;
    }
    print!("\n{}\n{}", account.parts(), account.closing());
    Ok(account.is_good())
}

/// A seed that no night before had. `cargo xtask test --seed N` repeats it.
fn new_seed() -> Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(now.context("the clock stands before 1970")?.as_secs())
}

fn fuzz_all() -> Result<Outcome> {
    Ok(Outcome::new(fuzz::run(&Fuzzing::all(FUZZ_SECONDS))?))
}

/// Every proof that has a short form.
fn proofs(account: &mut Account) -> Result<()> {
    for name in lab::short_proofs()? {
        account.step(&format!("proof {name}"), || lab::short_proof_step(&name));
    }
    Ok(())
}
