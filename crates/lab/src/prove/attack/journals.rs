//! Attacks on the only copy of a user's data: the journal of `verify --restore`.
//!
//! Tests of two cards in one reader are begun, killed and begun again in any order, while bits of the
//! journal turn over, requests fail once, and notes disappear. Then each card is plugged in and tested
//! to the end, and must hold what it held at first.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::Noise;
use tempfile::TempDir;

use super::Lab;
use super::reader::{Card, Reader, memory, noise as noise_of};

const SIZE: usize = 8 << 20;

/// How long a test of such a card may take on a busy computer.
const PATIENCE: Duration = Duration::from_secs(240);

/// How often a card is tested to the end before its data are looked at.
const HEALINGS: usize = 2;

/// What an attempt works with.
struct Scene<'lab> {
    program: &'lab Path,
    /// The user's data directory, where journals lie.
    home: TempDir,
    /// A directory for journals that the user names; a note beside the others then leads there.
    named: Option<TempDir>,
    _memory: TempDir,
    reader: Reader,
    cards: [Card; 2],
}

/// How a test is disturbed from outside.
#[derive(Clone, Copy, Debug)]
enum Disturbed {
    Not,
    /// Killed when so many sectors were written to the card.
    Killed(u64),
    /// One request in so many fails, of the card or of the journal.
    Fails {
        path: Failing,
        calls: &'static str,
        when: u64,
    },
}

#[derive(Clone, Copy, Debug)]
enum Failing {
    Card,
    Journal,
}

/// The second of two cards may be a clone of the first, blank, or another one.
pub(super) fn lost(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let scene = Scene::new(lab, noise)?;
    let mut story = String::new();
    let seed = noise.below(2) == 0;
    let seed = seed.then(|| noise.below(1 << 20));
    let mut is_bit_flipped = false;
    let mut card = 0;
    for _ in 0..2 + noise.below(3) {
        card = if noise.below(4) == 0 { card } else { 1 - card };
        let disturbed = scene.disturbance(noise);
        let ended = scene.test(card, seed, disturbed)?;
        story += &format!("card {card} {disturbed:?}: {ended}; ");
        match noise.below(6) {
            0 => is_bit_flipped |= scene.flip_bit(noise, &mut story)?,
            1 => scene.remove_note(noise, &mut story)?,
            2 => scene.test_both_at_once(noise, &mut story)?,
            _ => {}
        }
    }
    for card in 0..2 {
        for _ in 0..HEALINGS {
            let ended = scene.test(card, None, Disturbed::Not)?;
            story += &format!("card {card} to the end: {ended}; ");
        }
    }
    // A turned bit may cost the piece in which it lies, for there is no other copy of that.
    let lost_allowed = if is_bit_flipped { (1 << 20) / 512 } else { 0 };
    for (number, card) in scene.cards.iter().enumerate() {
        let changed = card.changed_sectors()?;
        if changed > lost_allowed {
            return Ok(Some(format!("card {number} has {changed} other sectors: {story}")));
        }
    }
    Ok(None)
}

impl<'lab> Scene<'lab> {
    fn new(lab: &'lab Lab, noise: &mut Noise) -> Result<Self> {
        let memory = memory()?;
        let first = noise_of(SIZE, noise);
        let second = match noise.below(3) {
            0 => first.clone(),
            1 => vec![0; SIZE],
            _ => noise_of(SIZE, noise),
        };
        let cards = [Card::new(memory.path(), first)?, Card::new(memory.path(), second)?];
        let home = tempfile::tempdir()?;
        let named = if noise.below(3) == 0 { Some(tempfile::tempdir()?) } else { None };
        let reader = Reader::new()?;
        Ok(Self { program: &lab.program, home, named, _memory: memory, reader, cards })
    }

    fn disturbance(&self, noise: &mut Noise) -> Disturbed {
        match noise.below(8) {
            0 => Disturbed::Not,
            // In a run the card is written twice: by the test, and when its data are put back.
            1..=5 => Disturbed::Killed(noise.below(2 * SIZE as u64 / 512)),
            6 => {
                let calls = ["pread64", "pwrite64"][noise.below(2) as usize];
                Disturbed::Fails { path: Failing::Card, calls, when: 1 + noise.below(400) }
            }
            _ => {
                let calls = ["read,pread64", "write,pwrite64,fsync,fdatasync"];
                let calls = calls[noise.below(2) as usize];
                Disturbed::Fails { path: Failing::Journal, calls, when: 1 + noise.below(60) }
            }
        }
    }

    /// Where the saved data lie.
    fn journals(&self) -> PathBuf {
        match &self.named {
            Some(named) => named.path().to_owned(),
            None => self.notes(),
        }
    }

    /// Where the program looks for them of itself.
    fn notes(&self) -> PathBuf {
        self.home.path().join("cardproof/journals")
    }

    /// Plugs `card` in and tests it; how that ended.
    fn test(&self, card: usize, seed: Option<u64>, disturbed: Disturbed) -> Result<ExitStatus> {
        let _plugged = self.reader.plug(&self.cards[card])?;
        let mut child = self.command(seed, disturbed).spawn().context("cannot start")?;
        if let Disturbed::Killed(sectors) = disturbed {
            let before = self.reader.written_sectors()?;
            let start = Instant::now();
            while self.reader.written_sectors()? - before < sectors
                && start.elapsed() < PATIENCE
                && child.try_wait()?.is_none()
            {
                std::thread::sleep(Duration::from_micros(500));
            }
            child.kill()?;
        }
        wait(&mut child)
    }

    /// A second test of the card in the reader begins while the first runs.
    fn test_both_at_once(&self, noise: &mut Noise, story: &mut String) -> Result<()> {
        let card = noise.below(2) as usize;
        let _plugged = self.reader.plug(&self.cards[card])?;
        let mut first = self.command(None, Disturbed::Not).spawn()?;
        std::thread::sleep(Duration::from_millis(noise.below(400)));
        let mut second = self.command(None, Disturbed::Not).spawn()?;
        if noise.below(3) == 0 {
            std::thread::sleep(Duration::from_millis(noise.below(300)));
            first.kill()?;
        }
        let (first, second) = (wait(&mut first)?, wait(&mut second)?);
        *story += &format!("two tests of card {card} at once: {first}, {second}; ");
        Ok(())
    }

    fn command(&self, seed: Option<u64>, disturbed: Disturbed) -> Command {
        let mut command = match disturbed {
            Disturbed::Fails { path, calls, when } => {
                let path = match path {
                    Failing::Card => self.reader.node().to_owned(),
                    // strace knows a file by its path when it is opened; of the directory's files each.
                    Failing::Journal => newest(&self.journals()).unwrap_or_else(|| self.journals()),
                };
                let mut command = Command::new("strace");
                command.args(["--follow-forks", "--quiet=all", "--output=/dev/null"]);
                command.arg(format!("--inject={calls}:error=EIO:when={when}+1000"));
                command.arg("--trace-path").arg(path).arg(self.program);
                command
            }
            _ => Command::new(self.program),
        };
        command.arg("verify").arg(self.reader.node()).args(["--quiet", "--engine", "psync"]);
        command.arg(format!("--restore={}", self.reader.identity(SIZE)));
        if let Some(named) = &self.named {
            command.arg("--journal").arg(named.path());
        }
        if let Some(seed) = seed {
            command.arg(format!("--seed={seed}"));
        }
        command.env("XDG_DATA_HOME", self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Turns over one bit of a journal; whether there was one.
    fn flip_bit(&self, noise: &mut Noise, story: &mut String) -> Result<bool> {
        let Some(journal) = newest(&self.journals()) else { return Ok(false) };
        let length = fs::metadata(&journal)?.len();
        if length == 0 {
            return Ok(false);
        }
        let at = noise.below(length);
        let file = OpenOptions::new().read(true).write(true).open(&journal)?;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at)?;
        byte[0] ^= 1 << noise.below(8);
        file.write_all_at(&byte, at)?;
        *story += &format!("a bit of {} turned at {at}; ", journal.display());
        Ok(true)
    }

    /// Removes the note that leads to a journal elsewhere.
    fn remove_note(&self, noise: &mut Noise, story: &mut String) -> Result<()> {
        let notes = files(&self.notes());
        if self.named.is_none() || notes.is_empty() {
            return Ok(());
        }
        let note = &notes[noise.below(notes.len() as u64) as usize];
        fs::remove_file(note)?;
        *story += &format!("{} removed; ", note.display());
        Ok(())
    }
}

/// Waits for the end of a test.
fn wait(child: &mut Child) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(ended) = child.try_wait()? {
            return Ok(ended);
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            ensure!(false, "a test of {SIZE} bytes did not end in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The files of a directory and below, in order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The largest file of a directory.
fn newest(directory: &Path) -> Option<PathBuf> {
    files(directory).into_iter().max_by_key(|path| fs::metadata(path).map_or(0, |it| it.len()))
}
