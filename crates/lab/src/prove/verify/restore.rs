//! `cargo xtask prove verify-restore`: `cardproof verify --restore` killed at any moment, with two cards of
//! one size, two processes, bad bits in journals and requests that fail.
//!
//! The cards are served by [`Server`]: one request in a thousand fails once. They are equal in size and have no
//! serial number, so that only the marks of a test tell one from the other. Every test has the same seed. After
//! some kills, in which journals lie here and elsewhere and one bit of a journal turns over, both cards are
//! tested to the end. They must hold every byte as before, and no journal may be left that is needed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use cardproof_sim::fault::Damage;
use cardproof_sim::{Card, Model, find};
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::identity;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::program::{Build, build};
use crate::prove::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "verify-restore",
    shows: "verify --restore killed at any moment, two cards, errors and bad bits: every byte is as before",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count, Takes::Seed],
    run,
};

const KILLS: usize = 2000;
const KILLS_SHORT: usize = 9;

/// The size of a card: all of it is overwritten by a test.
const SIZE: Bytes = Bytes::mib(8);

/// So many kills, on either card, before both are tested to the end.
const KILLS_A_ROUND: usize = 3;

/// So many requests in a million fail.
const FAILING_PPM: u32 = 1000;

/// A test to the end is tried so often, since a device that fails may keep one from its end.
const TRIES: u32 = 5;

/// What two cards hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Blank,
    Cloned,
    Different,
}

/// What the kills have met.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    kills: u32,
    /// Kills at which a card held something else than before.
    while_overwritten: u32,
    second_processes: u32,
    /// Second processes that were refused, since a test of a device of this kind was at work.
    refused: u32,
    bad_bits: u32,
    bytes_lost: u64,
    journals_left: u32,
}

impl std::ops::AddAssign for Met {
    fn add_assign(&mut self, more: Self) {
        self.kills += more.kills;
        self.while_overwritten += more.while_overwritten;
        self.second_processes += more.second_processes;
        self.refused += more.refused;
        self.bad_bits += more.bad_bits;
        self.bytes_lost += more.bytes_lost;
        self.journals_left += more.journals_left;
    }
}

fn run(asked: &Asked) -> Result<Proved> {
    let program = build(Build::Quick)?;
    let seed = asked.seed.unwrap_or(Seed::from_bits(17)).derive("kills");
    let kills = asked.count_or(KILLS, KILLS_SHORT);
    let mut tables = String::from(
        "| what two cards hold | kill -9 | a card held test data then | second processes | refused | bad bits in \
         journals | bytes that differ | journals left open |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut all = Met::default();
    let kinds = [
        (Contents::Blank, "nothing"),
        (Contents::Cloned, "the same"),
        (Contents::Different, "different data"),
    ];
    for (number, (contents, words)) in kinds.into_iter().enumerate() {
        let mut bench = Bench::new(&program, contents, seed ^ number as u64)?;
        let met = bench.rounds(kills.div_ceil(kinds.len()))?;
        tables.push_str(&row(words, &met));
        all += met;
    }
    tables.push_str(&row("all", &all));
    let holds = all.bytes_lost == 0 && all.journals_left == 0 && all.while_overwritten > 0;
    Ok(Proved { tables, holds })
}

fn row(words: &str, met: &Met) -> String {
    let Met { kills, while_overwritten, second_processes, refused, .. } = met;
    format!(
        "| {words} | {kills} | {while_overwritten} | {second_processes} | {refused} | {} | {} | {} |\n",
        met.bad_bits, met.bytes_lost, met.journals_left
    )
}

/// A card that is served, and what it held before.
struct Served {
    server: Server,
    before: Vec<u8>,
    _directory: tempfile::TempDir,
}

impl Served {
    fn new(content_seed: Option<u64>, error_seed: u64) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let base = find("sandisk-extreme-a1").map_err(|error| anyhow!("{error}"))?;
        let card = Card {
            model: Model { capacity: SIZE, ..base.model },
            damage: Damage { transient_ppm: FAILING_PPM, ..Damage::NONE },
            ..*base
        };
        let options = ServeOptions {
            is_temporary: false,
            directory: directory.path().to_owned(),
            speed: 1e6,
            block_device: true,
            backing: None,
            log: None,
        };
        let server = Server::start(&card, Seed::from_bits(error_seed), &options)?;
        let mut before = vec![0; SIZE.as_len()];
        if let Some(seed) = content_seed {
            Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut before);
        }
        let served = Self { server, before, _directory: directory };
        served.write()?;
        Ok(served)
    }

    fn device(&self) -> Result<&Path> {
        self.server.device().context("the card has no block device")
    }

    /// Puts the first content there, piece by piece, for some requests fail.
    fn write(&self) -> Result<()> {
        let file = File::options().write(true).open(self.server.file())?;
        for (number, piece) in self.before.chunks(PIECE).enumerate() {
            let at = (number * PIECE) as u64;
            ensure!((0..20).any(|_| file.write_all_at(piece, at).is_ok()), "the card fails");
        }
        (0..20).any(|_| file.sync_all().is_ok());
        Ok(())
    }

    /// What the card holds.
    fn read(&self) -> Result<Vec<u8>> {
        let file = File::open(self.server.file())?;
        let mut found = vec![0; self.before.len()];
        for (number, piece) in found.chunks_mut(PIECE).enumerate() {
            let at = (number * PIECE) as u64;
            ensure!((0..20).any(|_| file.read_exact_at(piece, at).is_ok()), "the card fails");
        }
        Ok(found)
    }

    /// How many bytes are not as before.
    fn differing(&self) -> Result<u64> {
        let now = self.read()?;
        Ok(now.iter().zip(&self.before).filter(|(now, before)| now != before).count() as u64)
    }
}

/// What is read and written at once here.
const PIECE: usize = 16 << 10;

struct Bench<'a> {
    program: &'a Path,
    place: tempfile::TempDir,
    cards: [Served; 2],
    random: Xoshiro256PlusPlus,
    /// Journals in which a bit has turned over; two in one sector are beyond mending.
    with_bad_bit: HashSet<PathBuf>,
    usual: Duration,
}

impl<'a> Bench<'a> {
    fn new(program: &'a Path, contents: Contents, seed: u64) -> Result<Self> {
        let of_card = |card: u64| match contents {
            Contents::Blank => None,
            Contents::Cloned => Some(seed),
            Contents::Different => Some(seed ^ card << 32),
        };
        let served = |card: u64| Served::new(of_card(card), seed.wrapping_add(card));
        let mut bench = Self {
            program,
            place: tempfile::tempdir()?,
            cards: [served(1)?, served(2)?],
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            with_bad_bit: HashSet::new(),
            usual: Duration::ZERO,
        };
        let begun = Instant::now();
        bench.to_its_end(0)?;
        bench.usual = begun.elapsed();
        Ok(bench)
    }

    fn rounds(&mut self, kills: usize) -> Result<Met> {
        let mut met = Met::default();
        while (met.kills as usize) < kills {
            for _ in 0..KILLS_A_ROUND {
                self.kill(&mut met)?;
                met.bad_bits += self.turn_a_bit()?;
            }
            for card in [0, 1] {
                self.to_its_end(card)?;
            }
            for card in &self.cards {
                met.bytes_lost += card.differing()?;
            }
            met.journals_left += self.journals_left()?;
            self.tidy_up()?;
        }
        Ok(met)
    }

    fn any(&mut self, count: u64) -> u64 {
        self.random.next_u64() % count
    }

    /// Starts a test on one of the cards, perhaps another beside it, and kills the first.
    fn kill(&mut self, met: &mut Met) -> Result<()> {
        let card = self.any(2) as usize;
        let has_second = self.any(3) == 0;
        let elsewhere = self.any(3) == 0;
        let wait = self.usual.mul_f64(self.any(1000) as f64 / 900.0);
        let mut first = self.start(card, elsewhere)?;
        std::thread::sleep(wait);
        if has_second {
            let second_card = self.any(2) as usize;
            let second = self.start(second_card, false)?.wait_with_output()?;
            met.second_processes += 1;
            let said = String::from_utf8_lossy(&second.stderr);
            met.refused += u32::from(second.status.code() == Some(3));
            ensure!(second.status.code().is_some(), "a second verify has crashed: {said}");
        }
        met.kills += u32::from(first.try_wait()?.is_none());
        first.kill()?;
        first.wait()?;
        met.while_overwritten += u32::from(self.cards[card].differing()? > 0);
        Ok(())
    }

    fn start(&self, card: usize, elsewhere: bool) -> Result<Child> {
        let device = self.cards[card].device()?;
        let mut command = Command::new(self.program);
        command.args(["verify", "--quiet", "--seed", "1"]).arg(device);
        command.arg(format!("--restore={}", identity(device)?));
        if elsewhere {
            command.arg("--journal").arg(self.place.path().join("elsewhere"));
        }
        command.env("XDG_DATA_HOME", self.place.path().join("data"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().context("cannot start verify")
    }

    /// Tests a card to the end.
    fn to_its_end(&self, card: usize) -> Result<()> {
        let mut said = String::new();
        for _ in 0..TRIES {
            let ended = self.start(card, false)?.wait_with_output()?;
            if matches!(ended.status.code(), Some(0 | 4)) {
                return Ok(());
            }
            said = String::from_utf8_lossy(&ended.stderr).into_owned();
        }
        Err(anyhow!("verify --restore did not end {TRIES} times: {said}"))
    }

    fn journals(&self) -> Vec<PathBuf> {
        let directories = ["data/cardproof/journals", "elsewhere"];
        let entries = directories.map(|name| fs::read_dir(self.place.path().join(name)));
        let paths = entries.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "undo")).collect()
    }

    /// Turns one bit of a journal over, now and then; how many.
    fn turn_a_bit(&mut self) -> Result<u32> {
        if self.any(2) == 0 {
            return Ok(0);
        }
        for path in self.journals() {
            let length = fs::metadata(&path)?.len();
            if length == 0 || !self.with_bad_bit.insert(path.clone()) {
                continue;
            }
            let file = File::options().read(true).write(true).open(&path)?;
            let (at, bit) = (self.any(length), self.any(8));
            let mut byte = [0];
            file.read_exact_at(&mut byte, at)?;
            file.write_all_at(&[byte[0] ^ 1 << bit], at)?;
            return Ok(1);
        }
        Ok(0)
    }

    /// Journals of which more than the marks may be needed, see the form of a journal in the session.
    fn journals_left(&self) -> Result<u32> {
        let mut left = 0;
        for path in self.journals() {
            let file = File::open(&path)?;
            let has = |at: u64| {
                let mut salt = [0; 8];
                file.read_exact_at(&mut salt, at).is_ok() && salt != [0; 8]
            };
            left += u32::from(has(8192) && !has(9216));
        }
        Ok(left)
    }

    /// Journals that have ended are kept for a week, which a proof cannot wait for.
    fn tidy_up(&self) -> Result<()> {
        for name in ["data/cardproof/journals", "elsewhere", "data/cardproof/records"] {
            let Ok(entries) = fs::read_dir(self.place.path().join(name)) else { continue };
            for entry in entries {
                let path = entry?.path();
                if path.extension().is_none_or(|ending| ending != "undo" && ending != "elsewhere") {
                    fs::remove_file(path)?;
                }
            }
        }
        Ok(())
    }
}
