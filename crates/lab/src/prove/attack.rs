//! `cargo xtask prove attack`: every promise of safety, attacked at random, and what came of it.
//!
//! An attempt makes a small world with somebody's data in it, lets cardproof loose there while the
//! attack goes on, and then compares that data byte for byte. The seed decides every choice, so a broken
//! promise can be seen again, as far as threads and the kernel's timing allow. All in-process attempts
//! call the very functions that the program calls; those of names and views start the program itself.

mod devices;
mod free_space;
mod hostile;
mod journals;
mod memory;
mod names;
mod outputs;
mod reader;
mod scratch;
mod swapped;
mod swapped_directories;
mod test_files;
mod world;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cardproof_testkit::Noise;
use cardproof_units::Seed;

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use devices::Image;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "attack",
    shows: "what was tried against each promise of safety; --count is of attempts",
    document: "docs/design/safety.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Seed, Takes::Count, Takes::Only],
    run,
};

/// How many attempts, in full and in the short form.
const ATTEMPTS: (usize, usize) = (10_000, 160);

const SEED: u64 = 12;

/// How a kind of attack is tried once: `None` where the promise held, or how it was broken.
type Attempt = fn(&mut Lab, &mut Noise) -> Result<Option<String>>;

/// A kind of attack.
struct Kind {
    name: &'static str,
    /// What must hold.
    promise: &'static str,
    /// How many of a hundred attempts are of this kind.
    share: u64,
    attempt: Attempt,
}

const KINDS: [Kind; 16] = [
    Kind {
        name: "races",
        promise: "A run in a directory changes nothing there but its own files, whatever is renamed, \
                  linked or replaced meanwhile",
        share: 26,
        attempt: scratch::race,
    },
    Kind {
        name: "test-files",
        promise: "A test of a directory removes and writes no file but those it has made, whatever takes their \
                  names or the directory's meanwhile",
        share: 7,
        attempt: test_files::taken_names,
    },
    Kind {
        name: "markers",
        promise: "Nothing is swept but what carries the whole marker; links in it are not followed",
        share: 31,
        attempt: scratch::forged_marker,
    },
    Kind {
        name: "mounts",
        promise: "What is mounted in a directory of ours stays",
        share: 13,
        attempt: scratch::mounted,
    },
    Kind {
        name: "images",
        promise: "The image of a loop device is not opened for writing under any name",
        share: 6,
        attempt: devices::image_under_another_name,
    },
    Kind {
        name: "views",
        promise: "Nor by the program in another view of the mounts",
        share: 1,
        attempt: devices::image_in_another_view,
    },
    Kind {
        name: "devices",
        promise: "A block device is not opened for writing without its own identity",
        share: 4,
        attempt: devices::without_identity,
    },
    Kind {
        name: "names",
        promise: "A hostile name steers no terminal and leads to no other file",
        share: 1,
        attempt: names::hostile,
    },
    Kind {
        name: "lost images",
        promise: "A loop device whose file has gone blocks no other device",
        share: 1,
        attempt: devices::beside_a_lost_image,
    },
    Kind {
        name: "journals",
        promise: "What `verify --restore` has saved comes back, whatever card is tested, killed or fails \
                  meanwhile",
        share: 1,
        attempt: journals::lost,
    },
    Kind {
        name: "swapped cards",
        promise: "`endure` writes to no card that comes in the place of its own",
        share: 1,
        attempt: swapped::another_card,
    },
    Kind {
        name: "free space",
        promise: "`verify DIR` leaves no file of its own and all of others', whatever ends it",
        share: 1,
        attempt: free_space::filled,
    },
    Kind {
        name: "outputs",
        promise: "A result replaces no link, device, pipe or private file, and is the user's under sudo",
        share: 2,
        attempt: outputs::misdirected,
    },
    Kind {
        name: "hostile text",
        promise: "Text of others in a record, a log, a machine or a hub's answer steers, marks up, computes and forges \
                  nothing",
        share: 2,
        attempt: hostile::text,
    },
    Kind {
        name: "memory",
        promise: "What memory, a page cache or a FUSE daemon gives back is never called genuine",
        share: 1,
        attempt: memory::called_genuine,
    },
    Kind {
        name: "swapped directories",
        promise: "`verify`, `run` and `check` work in the directory that they were given, whatever takes its place",
        share: 2,
        attempt: swapped_directories::led_astray,
    },
];

/// What the attempts share.
struct Lab {
    program: PathBuf,
    image: Image,
}

impl Lab {
    fn new() -> Result<Self> {
        Ok(Self { program: program::build(Build::Quick)?, image: Image::new()? })
    }
}

/// What came of the attempts of one kind.
#[derive(Clone, Debug, Default)]
struct Tally {
    held: usize,
    broken: Vec<String>,
}

/// Runs the attempts that are asked for.
fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(ATTEMPTS.0, ATTEMPTS.1);
    let seed = asked.seed.map_or(SEED, Seed::get);
    let tallies = attack(seed, &asked.only, Order::Drawn, |done| done >= count)?;
    Ok(Proved { tables: table(seed, &tallies), holds: holds(&tallies) })
}

/// `cargo xtask attack`: as long as there is time, from a seed that is printed. The gate runs the short form, which
/// tries the same on every machine; exploring is the long form's.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How long; without it, the short form of some seconds
    #[arg(long, value_name = "N")]
    hours: Option<f64>,
    /// Seed for all choices; by default random with `--hours`, and always the same for the short form
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    only: Vec<String>,
}

/// Attacks as `arguments` ask; whether every promise held.
pub(crate) fn for_a_time(arguments: &Arguments) -> Result<bool> {
    cardproof_testkit::require_root()?;
    let unasked =
        || if arguments.hours.is_some() { cardproof_testkit::exploring_seed() } else { SEED };
    let seed = arguments.seed.unwrap_or_else(unasked);
    println!("seed {seed}");
    let time = arguments.hours.map(|hours| Duration::from_secs_f64(hours * 3600.0));
    let start = Instant::now();
    let is_over = |done: usize| match time {
        Some(time) => start.elapsed() >= time,
        None => done >= ATTEMPTS.1,
    };
    let tallies = attack(seed, &arguments.only, Order::EachFirst, is_over)?;
    println!("{}", table(seed, &tallies));
    Ok(holds(&tallies))
}

/// In which order kinds are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Drawn by their shares.
    Drawn,
    /// Each once, then drawn: no short form leaves a rare kind out.
    EachFirst,
}

/// Tries kind after kind until `is_over` says so of the attempts done.
fn attack(
    seed: u64,
    only: &[String],
    order: Order,
    is_over: impl Fn(usize) -> bool,
) -> Result<Vec<Tally>> {
    let mut lab = Lab::new()?;
    let mut noise = Noise::new(seed);
    let mut tallies = vec![Tally::default(); KINDS.len()];
    let mut done = 0;
    let mut first = (0..KINDS.len()).filter(|_| order == Order::EachFirst);
    while !is_over(done) {
        let index = first.next().unwrap_or_else(|| drawn(noise.below(100)));
        let kind = &KINDS[index];
        // Every attempt has a seed of its own, by which it alone can be seen again.
        let own = noise.bits();
        if !only.is_empty() && !only.iter().any(|name| name == kind.name) {
            continue;
        }
        let attempt = (kind.attempt)(&mut lab, &mut Noise::new(own));
        match attempt.with_context(|| format!("{} (attempt {own})", kind.name))? {
            None => tallies[index].held += 1,
            Some(how) => {
                eprintln!("BROKEN {} (attempt {own}): {how}", kind.name);
                tallies[index].broken.push(how);
            }
        }
        done += 1;
    }
    Ok(tallies)
}

/// The kind in whose share `point` of a hundred lies.
fn drawn(point: u64) -> usize {
    let mut end = 0;
    KINDS
        .iter()
        .position(|kind| {
            end += kind.share;
            point < end
        })
        .unwrap_or(0)
}

fn holds(tallies: &[Tally]) -> bool {
    tallies.iter().all(|tally| tally.broken.is_empty())
}

fn table(seed: u64, tallies: &[Tally]) -> String {
    let mut text = format!(
        "Seed {seed}.\n\n| promise | attack | attempts | held | broken |\n| --- | --- | ---: | ---: | ---: |\n"
    );
    let mut sums = (0, 0);
    for (kind, Tally { held, broken }) in KINDS.iter().zip(tallies) {
        let (name, promise, broken) = (kind.name, kind.promise, broken.len());
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {promise} | {name} | {} | {held} | {broken} |", held + broken);
        sums = (sums.0 + held, sums.1 + broken);
    }
    let (held, broken) = sums;
    let _ = writeln!(text, "| all | | {} | {held} | {broken} |", held + broken);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_of_a_hundred() {
        assert_eq!(KINDS.iter().map(|kind| kind.share).sum::<u64>(), 100);
        assert_eq!(drawn(0), 0);
        assert_eq!(drawn(99), KINDS.len() - 1);
    }
}
