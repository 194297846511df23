//! One queue for the tests of all programs: each test in a process of its own, as many at once as there are
//! processors.
//!
//! A test passes where its process succeeds, so nothing that the harness prints is read, and no test sees what
//! another left in its process. A test that skips notes the reason in a file (`cardproof_testkit::skip`); it is
//! not counted as passed. Tests that the source marks `ignore` need real time or much of it;
//! `cargo xtask nightly` runs them.

mod order;
mod programs;
mod server;
mod worker;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use crate::steps::Account;
use crate::workspace::Metadata;
use order::Times;
use programs::{Program, Test};
use server::Server;
use worker::{Desk, Ended, Verdict};

pub(crate) use programs::{Built, Suite};

/// The variable with the seed of tests that explore at random.
const SEED: &str = "CARDPROOF_TEST_SEED";

/// Tests that measure what the whole machine does, by the beginning of their full names: one at a time, when
/// all others have ended.
const ALONE: &[&str] = &["cli::it watch_load::"];

/// After so many tests it is said how many are left.
const BETWEEN_NOTES: usize = 250;

/// A test that took longer is shown with its time.
const SLOW: Duration = Duration::from_secs(5);

/// Which tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// All but those that the source marks `ignore`.
    Gate,
    /// Those alone.
    Ignored,
}

/// Runs the tests of `built`; with a `seed` in an order of its own.
///
/// # Errors
/// A program does not list its tests, or the queue's files cannot be used.
pub(crate) fn run(
    name: &str,
    built: &[&Built],
    choice: Choice,
    seed: Option<u64>,
) -> Result<Account> {
    println!("== {name}");
    let start = Instant::now();
    let programs: Vec<&Program> = built.iter().flat_map(|built| &built.tests).collect();
    let mut variables: Vec<_> = built.iter().filter_map(|built| built.variable()).collect();
    variables.extend(seed.map(|seed| (SEED, seed.to_string())));
    let mut account = run_programs(&programs, choice, seed, variables)?;
    account.time(&format!("{name}: {} programs", programs.len()), start.elapsed());
    Ok(account)
}

fn run_programs(
    programs: &[&Program],
    choice: Choice,
    seed: Option<u64>,
    mut variables: Vec<(&'static str, String)>,
) -> Result<Account> {
    let place = Metadata::read()?.target_directory.join("queue");
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let mut times = Times::read(&place);
    let mut tests = Vec::new();
    for program in programs {
        tests.extend(program.tests()?);
    }
    check_names(&tests)?;
    let is_chosen = |test: &Test| test.is_ignored == (choice == Choice::Ignored);
    let (mut tests, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_chosen);
    order::sort(&mut tests, &times, seed);
    let servers: Vec<Server> =
        programs.iter().filter_map(|program| Server::start(program)).collect();
    variables.extend(servers.iter().map(Server::variable));
    let (alone, together): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_alone);
    let mut ended = run_all(&together, workers(), &place, &variables)?;
    ended.extend(run_all(&alone, 1, &place, &variables)?);
    drop(servers);
    times.note(&ended);
    times.write(&place)?;
    if choice == Choice::Gate && !others.is_empty() {
        println!("   {} tests are left to `cargo xtask nightly`", others.len());
    }
    Ok(account(ended))
}

/// One more than there are processors: some tests wait for a disk, a browser or a run in real time.
fn workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from) + 1
}

fn is_alone(test: &Test<'_>) -> bool {
    ALONE.iter().any(|begin| test.full_name().starts_with(begin))
}

/// Asserts that what is named here is there: a group whose name no test has would be empty without anybody seeing it.
fn check_names(tests: &[Test<'_>]) -> Result<()> {
    for name in ALONE.iter().chain(order::LONG) {
        let program = name.split(' ').next().unwrap_or_default();
        let has_program = tests.iter().any(|test| test.program.name == program);
        ensure!(
            !has_program || tests.iter().any(|test| test.full_name().starts_with(name)),
            "xtask/src/queue names '{name}', and no test begins so"
        );
    }
    Ok(())
}

/// Runs `tests` in their order, `count` at once.
fn run_all(
    tests: &[Test<'_>],
    count: usize,
    place: &Path,
    variables: &[(&'static str, String)],
) -> Result<Vec<Ended>> {
    let queue = Mutex::new(tests.iter());
    let taken = || -> Option<&Test<'_>> {
        let mut left = queue.lock().ok()?;
        if left.len() < tests.len() && left.len().is_multiple_of(BETWEEN_NOTES) {
            println!("   {} tests left", left.len());
        }
        left.next()
    };
    let work = |number: usize| -> Result<Vec<Ended>> {
        let desk = Desk::new(place, number, variables);
        let mut ended = Vec::new();
        while let Some(test) = taken() {
            ended.push(desk.run(test)?);
        }
        Ok(ended)
    };
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| anyhow!("a worker of the queue panicked"))??);
        }
        Ok(all)
    })
}

/// Counts what ended, and shows what took long.
fn account(mut ended: Vec<Ended>) -> Account {
    ended.sort_by_key(|ended| std::cmp::Reverse(ended.took));
    for slow in ended.iter().take_while(|ended| ended.took > SLOW) {
        let [took, computed] = [slow.took, slow.computed].map(|it| it.as_secs_f64());
        println!("   {took:6.1} s, computing {computed:6.1} s  {}", slow.name);
    }
    let computed: Duration = ended.iter().map(|ended| ended.computed).sum();
    println!("   all tests together computed {:.0} s", computed.as_secs_f64());
    ended.sort_by(|one, other| one.name.cmp(&other.name));
    let mut account = Account::default();
    for Ended { name, verdict, .. } in ended {
        match verdict {
            Verdict::Passed => account.passed += 1,
            Verdict::Skipped(reasons) => {
                account.skipped.push(format!("{name}: {}", reasons.join("; ")));
            }
            Verdict::Failed => account.failed.push(name),
        }
    }
    account
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &str, verdict: Verdict) -> Ended {
        Ended { name: name.to_owned(), took: Duration::ZERO, computed: Duration::ZERO, verdict }
    }

    #[test]
    fn a_skip_is_no_pass() {
        let reasons = vec!["needs root".to_owned(), "no xfs".to_owned()];
        let account = account(vec![
            ended("io::it b", Verdict::Skipped(reasons)),
            ended("io::it c", Verdict::Failed),
            ended("io::it a", Verdict::Passed),
        ]);
        assert_eq!(account.passed, 1);
        assert_eq!(account.failed, ["io::it c"]);
        assert_eq!(account.skipped, ["io::it b: needs root; no xfs"]);
    }
}
