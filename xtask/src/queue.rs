//! One queue for the tests of all programs: each test in a process of its own, as many at once as there are
//! processors. One runs already while cargo builds the programs of the others.
//!
//! A test passes where its process succeeds, so nothing that the harness prints is read, and no test sees what
//! another left in its process. A test that skips notes the reason in a file (`cardproof_testkit::skip`); it is
//! not counted as passed. Tests that the source marks `ignore` need real time or much of it;
//! `cargo xtask nightly` runs them.

mod order;
mod pool;
mod programs;
mod server;
mod worker;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, ensure};
use cardproof_testkit::THOROUGH;

use crate::steps::Account;
use crate::workspace::Metadata;
use order::{Order, Times};
use pool::Pool;
use programs::{Program, Test};
use server::Server;
use worker::{Desk, Ended, Variable, Verdict};

pub(crate) use programs::{Built, Suite};

/// The variables with the seed of tests that draw at random: our own and proptest's.
const SEEDS: [&str; 2] = ["CARDPROOF_TEST_SEED", "PROPTEST_RNG_SEED"];

/// The seed of the gate, which tries the same on every machine.
const GATE_SEED: u64 = 1;

/// Tests that measure what the whole machine does, by the beginning of their full names: one at a time, when
/// all others have ended.
const ALONE: &[&str] = &["cli::it watch_load::"];

/// A test that took longer is shown with its time.
const SLOW: Duration = Duration::from_secs(5);

/// Which tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// All but those that the source marks `ignore`, each with a part of its cases.
    Gate,
    /// The same tests, with all their cases.
    Thorough,
    /// Those alone that the source marks `ignore`, with all their cases.
    Ignored,
}

/// Runs the tests of the programs that `feed` hands to its intake, from [`Intake::begin`] on or when all have come;
/// with a `seed` when all have come, in an order of its own. Also what `feed` gives.
///
/// # Errors
/// A program does not list its tests, or the queue's files cannot be used.
pub(crate) fn run<T>(
    name: &str,
    choice: Choice,
    seed: Option<u64>,
    feed: impl FnOnce(&Intake<'_>) -> T,
) -> Result<(Account, T)> {
    let place = Metadata::read()?.target_directory.join("queue");
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let mut times = Times::read(&place);
    let pool = Pool::new(Order::new(times.clone(), seed));
    let came = Mutex::new(Came::default());
    let intake = Intake { choice, pool: &pool, came: &came };
    let drawn = seed.or((choice == Choice::Gate).then_some(GATE_SEED));
    if choice != Choice::Gate {
        intake.note([(THOROUGH, "1".to_owned())]);
    }
    intake.note(drawn.into_iter().flat_map(|seed| SEEDS.map(|name| (name, seed.to_string()))));
    let (mut ended, fed, start) = thread::scope(|scope| {
        let work = |number| work(number, &pool, &intake, &place);
        let workers: Vec<_> =
            (0..workers()).map(|number| scope.spawn(move || work(number))).collect();
        let feeding = pool.feeding();
        let fed = feed(&intake);
        println!("== {name}");
        let start = Instant::now();
        drop(feeding);
        let mut ended = Vec::new();
        for worker in workers {
            ended.extend(worker.join().map_err(|_| anyhow!("a worker of the queue panicked"))??);
        }
        Ok::<_, Error>((ended, fed, start))
    })?;
    let alone = std::mem::take(&mut intake.came().alone);
    let desk = Desk::new(&place, 0);
    for test in &alone {
        ended.push(desk.run(test, intake.variables())?);
    }
    let came = std::mem::take(&mut *intake.came());
    check_names(&came.names)?;
    drop(came.servers);
    times.note(&ended);
    times.write(&place)?;
    if choice == Choice::Gate && came.others > 0 {
        println!("   {} tests are left to `cargo xtask nightly`", came.others);
    }
    let mut account = account(ended);
    account.time(&format!("{name}: the rest of {} programs", came.programs), start.elapsed());
    Ok((account, fed))
}

/// Where test programs are handed in.
pub(crate) struct Intake<'q> {
    choice: Choice,
    pool: &'q Pool,
    came: &'q Mutex<Came>,
}

/// What has come so far, beside the tests that wait for a worker.
#[derive(Default)]
struct Came {
    programs: usize,
    /// The full names of all tests.
    names: Vec<String>,
    /// Tests that run when all others have ended.
    alone: Vec<Test>,
    /// How many tests another run is for.
    others: usize,
    variables: Vec<Variable>,
    servers: Vec<Server>,
}

impl Intake<'_> {
    /// Hands in all test programs of `built`.
    ///
    /// # Errors
    /// One does not list its tests.
    pub(crate) fn add_all(&self, built: &Built) -> Result<()> {
        self.note(built.variable());
        built.tests.iter().try_for_each(|program| self.add(program))
    }

    /// Lets tests begin before all programs have come: what they need is there.
    pub(crate) fn begin(&self) {
        self.pool.begin();
    }

    /// Takes all tests back that have not begun.
    fn withdraw(&self) {
        self.came().alone.clear();
        self.pool.withdraw();
    }

    /// Hands in `program`.
    ///
    /// # Errors
    /// It does not list its tests.
    fn add(&self, program: &Arc<Program>) -> Result<()> {
        let tests = program.tests()?;
        let server = Server::start(program, &tests);
        let is_chosen = |test: &Test| test.is_ignored == (self.choice == Choice::Ignored);
        let names: Vec<String> = tests.iter().map(Test::full_name).collect();
        let (tests, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_chosen);
        let (alone, together): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_alone);
        let mut came = self.came();
        came.programs += 1;
        came.names.extend(names);
        came.others += others.len();
        came.alone.extend(alone);
        came.variables.extend(server.as_ref().map(Server::variable));
        came.servers.extend(server);
        drop(came);
        self.pool.add(together);
        Ok(())
    }

    /// Gives tests that begin from now on `variables`.
    fn note(&self, variables: impl IntoIterator<Item = Variable>) {
        self.came().variables.extend(variables);
    }

    fn variables(&self) -> Vec<Variable> {
        self.came().variables.clone()
    }

    fn came(&self) -> MutexGuard<'_, Came> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Twice as many as there are processors: many tests wait for a disk, a browser or a run in real time.
fn workers() -> usize {
    2 * thread::available_parallelism().map_or(1, usize::from)
}

/// Runs tests of `pool` as the worker `number` until none is left.
fn work(number: usize, pool: &Pool, intake: &Intake<'_>, place: &Path) -> Result<Vec<Ended>> {
    let desk = Desk::new(place, number);
    let mut ended = Vec::new();
    while let Some(test) = pool.take(number) {
        ended.push(desk.run(&test, intake.variables())?);
    }
    Ok(ended)
}

fn is_alone(test: &Test) -> bool {
    ALONE.iter().any(|begin| test.full_name().starts_with(begin))
}

/// Asserts that what is named here is among the `tests`: a group whose name no test has would be empty without
/// anybody seeing it.
fn check_names(tests: &[String]) -> Result<()> {
    for name in ALONE.iter().chain(order::LONG) {
        let program = name.split(' ').next().unwrap_or_default();
        let has_program = tests.iter().any(|test| test.split(' ').next() == Some(program));
        ensure!(
            !has_program || tests.iter().any(|test| test.starts_with(name)),
            "xtask/src/queue names '{name}', and no test begins so"
        );
    }
    Ok(())
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
