//! The commands that are killed, and what runs after each.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Lab;
use super::process::{Running, Tag, wait_for};
use super::world::World;

/// A command that is killed.
pub(super) struct Command {
    /// Its name for `--only`.
    pub(super) name: &'static str,
    /// What it is, for the table.
    pub(super) shows: &'static str,
    /// How many of a hundred kills are of it.
    pub(super) share: u64,
    pub(super) forms: &'static [Form],
}

/// One way in which it is started.
pub(super) struct Form {
    /// Its arguments, in which PLACE, OUT and DEVICE stand for the world's.
    pub(super) words: &'static [&'static str],
    /// Those of the next command in the same place; the same where empty.
    next: &'static [&'static str],
    /// Whether it goes on until it is asked to end.
    serves: bool,
}

const fn form(words: &'static [&'static str], next: &'static [&'static str]) -> Form {
    Form { words, next, serves: false }
}

/// The shortest command that works in a directory and keeps a record, with the outputs of the others.
const NEXT: &[&str] = &[
    "run",
    "PLACE",
    "--profile",
    "fsync-4k",
    "-q",
    "--json",
    "OUT/r.json",
    "--html",
    "OUT/r.html",
];

/// Simulated runs of one seed are one record.
const NEXT_SIMULATED: &[&str] =
    &["run", "sim:sandisk-ultra", "--size", "16M", "--time-budget", "1s", "--seed", "2", "-q"];

pub(super) const COMMANDS: [Command; 8] = [
    Command {
        name: "run",
        shows: "`run` in a directory",
        share: 26,
        forms: &[
            form(
                &[
                    "run",
                    "PLACE",
                    "--size",
                    "16M",
                    "--time-budget",
                    "1s",
                    "-q",
                    "--json",
                    "OUT/r.json",
                    "--html",
                    "OUT/r.html",
                ],
                NEXT,
            ),
            form(
                &["run", "PLACE", "--profile", "a1", "--size", "16M", "--time-budget", "1s", "-q"],
                NEXT,
            ),
        ],
    },
    Command {
        name: "run-simulated",
        shows: "`run` of a simulated card, again and again with one seed",
        share: 12,
        forms: &[form(
            &[
                "run",
                "sim:sandisk-ultra",
                "--size",
                "16M",
                "--time-budget",
                "2s",
                "--seed",
                "1",
                "-q",
            ],
            NEXT_SIMULATED,
        )],
    },
    Command {
        name: "replay",
        shows: "`replay run` in a directory",
        share: 14,
        forms: &[form(
            &[
                "replay",
                "run",
                "sqlite-wal",
                "PLACE",
                "--pauses",
                "none",
                "--size",
                "16M",
                "-q",
                "--json",
                "OUT/r.json",
            ],
            NEXT,
        )],
    },
    Command {
        name: "jobs",
        shows: "`run --profile` of a job on files",
        share: 12,
        forms: &[
            form(&["run", "PLACE", "--profile", "fsync-4k", "-q"], &[]),
            form(&["run", "PLACE", "--profile", "small-files", "-q"], NEXT),
            form(&["run", "PLACE", "--profile", "browser", "-q"], NEXT),
        ],
    },
    Command {
        name: "sqlite",
        shows: "`run --profile sqlite`",
        share: 8,
        forms: &[form(&["run", "PLACE", "--profile", "sqlite", "-q"], NEXT)],
    },
    Command {
        name: "compare-setups",
        shows: "`compare-setups` in a directory",
        share: 12,
        forms: &[
            form(
                &[
                    "compare-setups",
                    "PLACE",
                    "--only",
                    "ext4-noatime",
                    "--rounds",
                    "2",
                    "--jobs",
                    "fsync-4k",
                    "--size",
                    "32M",
                    "-q",
                ],
                NEXT,
            ),
            form(
                &["compare-setups", "PLACE", "--only", "sqlite-wal-normal", "--rounds", "2", "-q"],
                NEXT,
            ),
        ],
    },
    Command {
        name: "record",
        shows: "`replay record` of a device",
        share: 8,
        forms: &[form(
            &[
                "replay",
                "record",
                "--device",
                "DEVICE",
                "--output",
                "OUT/job.trace",
                "--",
                "dd",
                "if=/dev/zero",
                "of=DEVICE",
                "bs=4k",
                "count=64",
                "oflag=direct",
                "status=none",
            ],
            &[],
        )],
    },
    Command {
        name: "sim-serve",
        shows: "`sim serve` as a file and a block device",
        share: 8,
        forms: &[Form {
            words: &["sim", "serve", "sandisk-ultra-a1", "--speed", "1000"],
            next: &[],
            serves: true,
        }],
    },
];

/// A command that was killed.
pub(super) struct Killed {
    pub(super) process: u32,
    /// Whether it had not ended by itself.
    pub(super) is_before_end: bool,
    /// A process of its own that did not end after it.
    pub(super) stays: Option<String>,
}

/// How long a card that was just put up is looked at before it is killed.
const SERVED: Duration = Duration::from_millis(100);

/// How long a card may take to be up.
const UP_MAX: Duration = Duration::from_secs(20);

impl Form {
    /// Runs it to its end, and says how long that took, or how long until a card was up.
    pub(super) fn run(&self, lab: &Lab, world: &World) -> Result<Duration> {
        let start = Instant::now();
        self.run_words(self.words, lab, world)?;
        Ok(if self.serves { start.elapsed() / 2 + SERVED } else { start.elapsed() })
    }

    /// Starts it, kills it after `delay`, and waits until nothing that it started runs any more.
    pub(super) fn kill(&self, lab: &Lab, world: &World, delay: Duration) -> Result<Killed> {
        let tag = Tag::fresh();
        let mut running = Running::start(world.command(&lab.program, self.words), &tag)?;
        let is_before_end = !running.ends_within(delay)?;
        running.kill()?;
        let process = running.process();
        Ok(Killed { process, is_before_end, stays: tag.wait_for_all()? })
    }

    /// Runs the next command to its end; the number of its process.
    pub(super) fn run_next(&self, lab: &Lab, world: &World) -> Result<u32> {
        let words = if self.next.is_empty() { self.words } else { self.next };
        self.run_words(words, lab, world)
    }

    fn run_words(&self, words: &[&str], lab: &Lab, world: &World) -> Result<u32> {
        let tag = Tag::fresh();
        let mut running = Running::start(world.command(&lab.program, words), &tag)?;
        if self.serves {
            let is_up = wait_for(UP_MAX, || Ok(world.has_card()? || running.has_ended()?))?;
            ensure!(is_up, "the card is not up after {UP_MAX:?}");
            running.interrupt()?;
        }
        running.end(words)?;
        let stays = tag.wait_for_all()?;
        ensure!(stays.is_none(), "{words:?} leaves a process: {stays:?}");
        Ok(running.process())
    }

    /// Whether the record at `path` is one that did not end, or why it cannot be opened.
    pub(super) fn opened(
        &self,
        lab: &Lab,
        world: &World,
        path: &Path,
    ) -> Result<std::result::Result<bool, String>> {
        let text = std::fs::read_to_string(path)?;
        let state = match cardproof_record::Record::from_json(&text) {
            Ok(record) => record.state,
            Err(error) => return Ok(Err(format!("{} cannot be read: {error}", path.display()))),
        };
        let tag = Tag::fresh();
        let words = ["show", &path.to_string_lossy(), "-q"];
        let mut judging = Running::start(world.command(&lab.program, &words), &tag)?;
        if let Err(error) = judging.end(&words) {
            return Ok(Err(format!("{} cannot be judged: {error:#}", path.display())));
        }
        use cardproof_record::State;
        Ok(match state {
            State::Complete => Ok(false),
            State::Running => Ok(true),
            State::Partial | State::Failed | State::Unknown => {
                Err(format!("{} says {state:?} after a kill", path.display()))
            }
        })
    }
}
