//! A list of steps, each of which passes, fails or is skipped with a reason, and its account.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// With something wrong, which it has printed.
    Failed,
    /// Not taken, for this reason.
    Skipped(String),
}

impl Outcome {
    /// Passed if `good`.
    pub(crate) const fn new(good: bool) -> Self {
        if good { Self::Passed } else { Self::Failed }
    }
}

/// A step that hands over what it printed.
pub(crate) type QuietStep = fn() -> Result<(Outcome, String)>;

/// The account of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// How many steps or tests passed.
    pub(crate) passed: usize,
    /// The names of those that failed.
    pub(crate) failed: Vec<String>,
    /// Those that were skipped, as `NAME: REASON`.
    pub(crate) skipped: Vec<String>,
    /// How long each part took, in the order of the parts.
    pub(crate) times: Vec<(String, Duration)>,
}

impl Account {
    /// Takes one step and enters its outcome. An error is a failure; the steps after it are
    /// taken all the same, so that one run tells everything.
    pub(crate) fn step(&mut self, name: &str, step: impl FnOnce() -> Result<Outcome>) {
        println!("== {name}");
        let start = Instant::now();
        let outcome = step().unwrap_or_else(|error| {
            println!("{error:#}");
            Outcome::Failed
        });
        self.enter(name, outcome, start.elapsed());
    }

    /// Takes `steps` at the same time. What each printed is shown when all have ended.
    pub(crate) fn at_once(&mut self, steps: &[(&str, QuietStep)]) {
        let timed = |step: QuietStep| {
            let start = Instant::now();
            (step(), start.elapsed())
        };
        let ended: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> =
                steps.iter().map(|&(_, step)| scope.spawn(move || timed(step))).collect();
            running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for (&(name, _), ended) in steps.iter().zip(ended) {
            let (ended, took) =
                ended.unwrap_or_else(|_| (Err(anyhow!("it panicked")), Duration::ZERO));
            self.step_ended(name, ended, took);
        }
    }

    /// Takes a step beside others: what it printed is shown at its end, in one piece.
    pub(crate) fn quiet_step(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<(Outcome, String)>,
    ) {
        let start = Instant::now();
        self.step_ended(name, step(), start.elapsed());
    }

    fn step_ended(&mut self, name: &str, ended: Result<(Outcome, String)>, took: Duration) {
        let (outcome, printed) =
            ended.unwrap_or_else(|error| (Outcome::Failed, format!("{error:#}\n")));
        print!("== {name}\n{printed}");
        self.enter(name, outcome, took);
    }

    /// Enters how long a part took.
    pub(crate) fn time(&mut self, name: &str, took: Duration) {
        println!("   {name}: {:.1} s", took.as_secs_f64());
        self.times.push((name.to_owned(), took));
    }

    fn enter(&mut self, name: &str, outcome: Outcome, took: Duration) {
        let seconds = took.as_secs_f64();
        self.times.push((name.to_owned(), took));
        match outcome {
            Outcome::Passed => {
                println!("   {name}: passed in {seconds:.1} s");
                self.passed += 1;
            }
            Outcome::Failed => {
                println!("   {name}: FAILED after {seconds:.1} s");
                self.failed.push(name.to_owned());
            }
            Outcome::Skipped(reason) => {
                println!("   {name}: skipped: {reason}");
                self.skipped.push(format!("{name}: {reason}"));
            }
        }
    }

    /// Adds the figures of another account.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.times.extend(other.times);
    }

    /// Whether nothing failed and something passed: a run that tried nothing is no success.
    pub(crate) const fn is_good(&self) -> bool {
        self.failed.is_empty() && self.passed > 0
    }

    /// How long each part took.
    pub(crate) fn parts(&self) -> String {
        let line =
            |(name, took): &(String, Duration)| format!("{:7.1} s  {name}\n", took.as_secs_f64());
        self.times.iter().map(line).collect()
    }

    /// Every skip, every failure, and the closing line, alone on the last line.
    pub(crate) fn closing(&self) -> String {
        let mut text = String::new();
        for skip in &self.skipped {
            text += &format!("skipped: {skip}\n");
        }
        for failure in &self.failed {
            text += &format!("failed: {failure}\n");
        }
        text + &format!(
            "{} passed, {} failed, {} skipped\n",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        )
    }
}

/// Runs a program with its output shown; passes where it succeeds.
pub(crate) fn shown(program: &str, arguments: &[&str]) -> Result<Outcome> {
    shown_command(Command::new(program).args(arguments))
}

/// Runs a command with its output shown; passes where it succeeds.
pub(crate) fn shown_command(command: &mut Command) -> Result<Outcome> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {program}; is it installed?"))?;
    Ok(Outcome::new(status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn the_closing_line_stands_alone_at_the_end() {
        let mut account = Account::default();
        account.step("good", || Ok(Outcome::Passed));
        account.step("bad", || bail!("broken"));
        account.step("absent", || Ok(Outcome::Skipped("no tool".to_owned())));
        assert_eq!(
            account.closing(),
            "skipped: absent: no tool\nfailed: bad\n1 passed, 1 failed, 1 skipped\n"
        );
        assert!(!account.is_good());
    }

    #[test]
    fn of_steps_taken_at_once_each_is_counted() {
        let mut account = Account::default();
        account.at_once(&[
            ("good", || Ok((Outcome::Passed, "all is well\n".to_owned()))),
            ("bad", || bail!("broken")),
            ("absent", || Ok((Outcome::Skipped("no tool".to_owned()), String::new()))),
        ]);
        assert_eq!(
            account.closing(),
            "skipped: absent: no tool\nfailed: bad\n1 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn a_run_that_tried_nothing_is_no_success() {
        assert!(!Account::default().is_good());
    }

    #[test]
    fn accounts_add_up() {
        let mut account = Account { passed: 1, ..Account::default() };
        let failed = vec!["x".to_owned()];
        account.add(Account { passed: 2, failed, ..Account::default() });
        assert_eq!(account.closing(), "failed: x\n3 passed, 1 failed, 0 skipped\n");
    }
}
