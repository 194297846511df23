//! `cargo xtask prove kill`: the program killed at seeded moments, and what it leaves.
//!
//! An attempt starts a command in a small world of its own, kills it with SIGKILL at a moment that the
//! seed decides, and looks: at somebody's files, at all records that were there before, at the record
//! that was being written. Then the next command runs to its end in the same place, and nothing of ours
//! may be left: no directory, no temporary file, no loop device, no mount, no tracing instance, no process.

mod commands;
mod process;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result};
use cardproof_testkit::{LoopDevice, Mount, Noise};
use cardproof_units::{Bytes, Seed};

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use commands::{COMMANDS, Form, Killed};
use world::World;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "kill",
    shows: "what a SIGKILL at any moment leaves of each command; --count is of moments",
    document: "docs/design/safety.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Seed, Takes::Count, Takes::Only],
    run,
};

/// How many moments, in full and in the short form.
const MOMENTS: (usize, usize) = (1_000, 40);

const SEED: u64 = 12;

/// Half of the moments lie in this part of the range, where directories and files come into being.
const BEGINNING: u32 = 40;

/// At least so many of a hundred kills must come before the command's own end, or little was tried.
const HITS_PERCENT: usize = 50;

/// What the attempts share.
struct Lab {
    program: std::path::PathBuf,
    /// Holds the worlds in memory. A command takes at most a tenth of it, and little is ever in it.
    memory: Mount,
    /// What is recorded by `replay record`.
    device: LoopDevice,
    /// Shows the tracing instances of whoever records.
    tracing: Mount,
}

impl Lab {
    fn new() -> Result<Self> {
        Ok(Self {
            program: program::build(Build::Quick)?,
            memory: Mount::tmpfs("size=8G")?,
            device: LoopDevice::new(Bytes::mib(16))?,
            tracing: Mount::tracefs()?,
        })
    }
}

/// What came of the kills of one command.
#[derive(Clone, Debug, Default)]
struct Tally {
    kills: usize,
    /// How many came before the command's own end.
    hits: usize,
    /// After how many something was left for the next command to take away.
    left: usize,
    /// How many records stood open, as runs that did not end.
    open: usize,
    broken: Vec<String>,
}

/// One command with its world and its forms.
struct Subject {
    world: World,
    /// How long a run of each form takes.
    ranges: BTreeMap<usize, Duration>,
    tally: Tally,
}

/// Runs the kills that are asked for.
fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(MOMENTS.0, MOMENTS.1);
    let seed = asked.seed.map_or(SEED, Seed::get);
    let lab = Lab::new()?;
    let mut subjects: Vec<Option<Subject>> = COMMANDS.iter().map(|_| None).collect();
    let mut noise = Noise::new(seed);
    let mut done = 0;
    while done < count {
        let index = drawn(noise.below(100));
        let own = noise.bits();
        if !asked.only.is_empty() && !asked.only.iter().any(|name| name == COMMANDS[index].name) {
            continue;
        }
        let subject = match &mut subjects[index] {
            Some(subject) => subject,
            none => none.insert(Subject::new(&lab, COMMANDS[index].name)?),
        };
        subject.attempt(&lab, COMMANDS[index].forms, own)?;
        done += 1;
    }
    let tallies: Vec<Tally> = subjects
        .into_iter()
        .map(|subject| subject.map_or_else(Tally::default, |subject| subject.tally))
        .collect();
    Ok(Proved { tables: table(seed, &tallies), holds: holds(&tallies) })
}

/// The command in whose share `point` of a hundred lies.
fn drawn(point: u64) -> usize {
    let mut end = 0;
    COMMANDS
        .iter()
        .position(|command| {
            end += command.share;
            point < end
        })
        .unwrap_or(0)
}

impl Subject {
    fn new(lab: &Lab, name: &str) -> Result<Self> {
        let world = World::new(&lab.memory.path().join(name), &lab.device, lab.tracing.path())?;
        Ok(Self { world, ranges: BTreeMap::new(), tally: Tally::default() })
    }

    /// Kills one of `forms` at the moment that `own` decides, and enters what came of it.
    fn attempt(&mut self, lab: &Lab, forms: &[Form], own: u64) -> Result<()> {
        let mut noise = Noise::new(own);
        let chosen = noise.below(forms.len() as u64) as usize;
        let form = &forms[chosen];
        let range = match self.ranges.get(&chosen) {
            Some(range) => *range,
            None => {
                let range = form.run(lab, &self.world)?;
                self.world.learn_records()?;
                *self.ranges.entry(chosen).or_insert(range)
            }
        };
        let delay = moment(range, &mut noise);
        let killed = form.kill(lab, &self.world, delay)?;
        self.tally.kills += 1;
        self.tally.hits += usize::from(killed.is_before_end);
        if let Some(fault) = self.look(lab, form, &killed)? {
            let name = form.words.join(" ");
            eprintln!("BROKEN {name}, killed after {delay:?} (attempt {own}): {fault}");
            self.tally.broken.push(fault);
            self.world.forgive()?;
        }
        Ok(())
    }

    /// What is wrong after the kill, or after the next run.
    fn look(&mut self, lab: &Lab, form: &Form, killed: &Killed) -> Result<Option<String>> {
        if let Some(process) = &killed.stays {
            return Ok(Some(format!("a process stays: {process}")));
        }
        if let Some(fault) = self.world.fault()? {
            return Ok(Some(format!("after the kill {fault}")));
        }
        let fresh = self.world.learn_records()?;
        for path in fresh {
            match form.opened(lab, &self.world, &path)? {
                Ok(is_open) => self.tally.open += usize::from(is_open),
                Err(fault) => return Ok(Some(fault)),
            }
        }
        self.tally.left += usize::from(self.world.left(&[killed.process])?.is_some());
        let next = form.run_next(lab, &self.world).context("the next run")?;
        if let Some(fault) = self.world.fault()? {
            return Ok(Some(format!("after the next run {fault}")));
        }
        self.world.learn_records()?;
        let left = self.world.left(&[killed.process, next])?;
        Ok(left.map(|left| format!("after the next run there is {left}")))
    }
}

/// A moment in `range`, half of the time in its beginning.
fn moment(range: Duration, noise: &mut Noise) -> Duration {
    let range = if noise.bits() & 1 == 0 { range / BEGINNING } else { range };
    let range_ns = u64::try_from(range.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(noise.below(range_ns))
}

fn holds(tallies: &[Tally]) -> bool {
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let is_tried = 100 * sum(|tally| tally.hits) >= HITS_PERCENT * sum(|tally| tally.kills);
    is_tried && tallies.iter().all(|tally| tally.broken.is_empty())
}

fn table(seed: u64, tallies: &[Tally]) -> String {
    let mut text = format!(
        "Seed {seed}.\n\n| command | kills | before its end | records left open | something left | \
         broken |\n| --- | ---: | ---: | ---: | ---: | ---: |\n"
    );
    let mut row = |name: &str, sum: &dyn Fn(fn(&Tally) -> usize) -> usize| {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            sum(|tally| tally.kills),
            sum(|tally| tally.hits),
            sum(|tally| tally.open),
            sum(|tally| tally.left),
            sum(|tally| tally.broken.len()),
        );
    };
    for (command, tally) in COMMANDS.iter().zip(tallies) {
        row(command.shows, &|of| of(tally));
    }
    row("all", &|of| tallies.iter().map(of).sum());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_of_a_hundred() {
        assert_eq!(COMMANDS.iter().map(|command| command.share).sum::<u64>(), 100);
        assert_eq!(drawn(0), 0);
        assert_eq!(drawn(99), COMMANDS.len() - 1);
    }

    #[test]
    fn kills_that_came_too_late_prove_nothing() {
        let tally = |hits| Tally { kills: 10, hits, ..Tally::default() };
        assert!(holds(&[tally(5)]));
        assert!(!holds(&[tally(4)]));
        assert!(!holds(&[Tally { broken: vec!["x".to_owned()], ..tally(9) }]));
    }
}
