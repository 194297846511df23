//! What the witness keeps: a text file to which lines are added, and the state that follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use cardproof_evidence::powercut::{Application, CutReport, Finding, Kind, Promise, Tally};
use cardproof_units::{Bytes, Seed};
use rustix::fs::OFlags;

use crate::wire::WitnessError;

/// What a writer writes: all that the verifier needs to make its plan again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Of the plan.
    pub seed: Seed,
    /// Where the area begins on the target.
    pub start: Bytes,
    /// How large the area is.
    pub size: Bytes,
    /// The target's logical block.
    pub block: Bytes,
    /// How many writes lie between two promises.
    pub epoch_writes: u32,
    /// The most writes under way at a time.
    pub queue_depth: u16,
    /// How a write is made durable: `flush`, `fua`, `fsync`, or the name of an [`Application`].
    pub mode: String,
}

impl Setup {
    /// Whether a writer of this setup can have been promised that: it issues no write of an epoch before
    /// all of the one before are durable, and nothing is durable that was not issued.
    pub(crate) const fn can_have(&self, promise: Promise) -> bool {
        promise.durable <= promise.issued
            && promise.issued - promise.durable <= self.epoch_writes as u64
    }
}

impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, start, size, block, epoch_writes, queue_depth, mode } = self;
        let (start, size, block) = (start.get(), size.get(), block.get());
        write!(f, "{seed} {start} {size} {block} {epoch_writes} {queue_depth} {mode}")
    }
}

impl FromStr for Setup {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let [seed, start, size, block, epoch_writes, queue_depth, mode] = words[..] else {
            return Err(());
        };
        let bytes = |word: &str| word.parse().map(Bytes).map_err(|_| ());
        let known = ["flush", "fua", "fsync"].contains(&mode) || Application::find(mode).is_some();
        known.then_some(()).ok_or(())?;
        Ok(Self {
            seed: seed.parse().map_err(|_| ())?,
            start: bytes(start)?,
            size: bytes(size)?,
            block: bytes(block)?,
            epoch_writes: epoch_writes.parse().map_err(|_| ())?,
            queue_depth: queue_depth.parse().map_err(|_| ())?,
            mode: mode.to_owned(),
        })
    }
}

/// Opens or makes the regular file at `path`. A pipe would be waited for: nothing else is opened.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    let file = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    let other = || io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file");
    if file.metadata()?.is_file() { Ok(file) } else { Err(other()) }
}

/// What a line begins with.
const WORDS: [&str; 6] = ["write ", "issued ", "durable ", "result ", "later", "ended"];

/// The journal of a witness.
#[derive(Debug)]
pub struct Journal {
    file: File,
    state: State,
}

/// What follows from the lines of a journal.
#[derive(Clone, Debug, Default)]
struct State {
    /// What is being written, and what was promised of it; until it was judged.
    open: Option<(Setup, Promise)>,
    /// The area was laid down, so that a cut can be judged.
    is_laid: bool,
    tally: Tally,
    /// The last cut that was judged, until the next writer begins.
    last: Option<Judged>,
}

/// A cut that was judged.
#[derive(Clone, Debug)]
struct Judged {
    setup: Setup,
    promise: Promise,
    had_writes_in_flight: bool,
    kinds: BTreeSet<Kind>,
}

impl Journal {
    /// Opens or makes the journal at `path`, and reads what it holds.
    ///
    /// # Errors
    /// It cannot be read or written, or holds something else.
    pub fn open(path: &Path) -> Result<Self, WitnessError> {
        let mut file = open(path).map_err(WitnessError::Journal)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(WitnessError::Journal)?;
        let mut journal = Self::begin(file);
        // A last line without its end was being written when its witness was killed. It is cut off.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let line = line.trim_end();
            journal.state.apply(line).ok_or_else(|| WitnessError::Foreign(line.to_owned()))?;
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            let torn = &text[whole..];
            let is_ours = |word: &&str| word.starts_with(torn) || torn.starts_with(*word);
            if !WORDS.iter().any(is_ours) {
                return Err(WitnessError::Foreign(torn.to_owned()));
            }
            journal.file.set_len(whole as u64).map_err(WitnessError::Journal)?;
        }
        Ok(journal)
    }

    /// A journal that begins in `file`, which is open for writing.
    #[must_use]
    pub fn begin(file: File) -> Self {
        Self { file, state: State::default() }
    }

    /// Whether the area that is being written was laid down, so that a cut can be judged.
    #[must_use]
    pub const fn is_laid(&self) -> bool {
        self.state.open.is_some() && self.state.is_laid
    }

    /// What is being written and what was promised of it; `None` where all was judged.
    #[must_use]
    pub const fn open_setup(&self) -> Option<&(Setup, Promise)> {
        self.state.open.as_ref()
    }

    /// What the last cut that was judged had left to judge, while nothing was written since then.
    #[must_use]
    pub fn judged_setup(&self) -> Option<(Setup, Promise)> {
        self.state.last.as_ref().map(|last| (last.setup.clone(), last.promise))
    }

    /// All cuts that were judged.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.state.tally
    }

    /// Adds a line, and applies it once it is in the file. A line that cannot be is not added: with it
    /// the journal could not be read again.
    pub(crate) fn add(&mut self, line: &str) -> Result<(), WitnessError> {
        let mut state = self.state.clone();
        state.apply(line).ok_or(WitnessError::Protocol)?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(WitnessError::Journal)?;
        self.state = state;
        Ok(())
    }

    /// The sum of all cuts as words.
    pub(crate) fn sums(&self) -> String {
        let Tally { cuts, effective_cuts, harmful_cuts, findings } = &self.state.tally;
        let kinds = findings.iter().map(|(kind, count)| format!(" {}={count}", kind.name()));
        format!("{cuts} {effective_cuts} {harmful_cuts}{}", kinds.collect::<String>())
    }
}

impl State {
    /// Applies a line; `None` for one that no writer and no verifier sends.
    fn apply(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" => Some(()),
            "write" => {
                self.open = Some((rest.parse().ok()?, Promise::default()));
                self.is_laid = false;
                self.last = None;
                Some(())
            }
            "issued" => {
                let (setup, promise) = self.open.as_mut()?;
                promise.issued = promise.issued.max(rest.parse().ok()?);
                setup.can_have(*promise).then_some(())
            }
            "durable" => {
                let (setup, promise) = self.open.as_mut()?;
                promise.durable = promise.durable.max(rest.parse().ok()?);
                self.is_laid = true;
                setup.can_have(*promise).then_some(())
            }
            "ended" => {
                self.open = None;
                Some(())
            }
            "result" => self.judged(rest),
            "later" => self.judged_again(rest),
            _ => None,
        }
    }

    /// A cut was judged: whether writes were in flight, and the kinds of harm.
    fn judged(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split(' ').filter(|word| !word.is_empty());
        let had_writes_in_flight = match words.next()? {
            "effective" => true,
            "idle" => false,
            _ => return None,
        };
        let kinds = words.map(kind_called).collect::<Option<BTreeSet<Kind>>>()?;
        self.tally.add(&report(had_writes_in_flight, &kinds));
        self.last = self.open.take().map(|(setup, promise)| Judged {
            setup,
            promise,
            had_writes_in_flight,
            kinds,
        });
        Some(())
    }

    /// The last cut was judged once more: the kinds of harm that were seen then. What an earlier look
    /// had not seen counts for the same cut.
    fn judged_again(&mut self, rest: &str) -> Option<()> {
        let last = self.last.as_mut()?;
        let words = rest.split(' ').filter(|word| !word.is_empty());
        let seen = words.map(kind_called).collect::<Option<BTreeSet<Kind>>>()?;
        let before = report(last.had_writes_in_flight, &last.kinds);
        last.kinds.extend(seen);
        self.tally.replace(&before, &report(last.had_writes_in_flight, &last.kinds));
        Some(())
    }
}

fn kind_called(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

/// A report that holds what the journal keeps of one.
fn report(had_writes_in_flight: bool, kinds: &BTreeSet<Kind>) -> CutReport {
    let finding = |&kind| Finding { kind, number: None, sector: 0, sectors: 0, distance: None };
    let findings = kinds.iter().map(finding).collect();
    CutReport { had_writes_in_flight, findings, unstable_sectors: 0 }
}

/// The sum of cuts that [`Journal::sums`] says.
pub(crate) fn tally_of(text: &str) -> Option<Tally> {
    let mut words = text.split(' ');
    let mut number = || words.next()?.parse().ok();
    let (cuts, effective_cuts, harmful_cuts) = (number()?, number()?, number()?);
    let mut findings = BTreeMap::new();
    for word in words {
        let (name, count) = word.split_once('=')?;
        let kind = kind_called(name)?;
        findings.insert(kind, count.parse().ok()?);
    }
    Some(Tally { cuts, effective_cuts, harmful_cuts, findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETUP: &str = "write 7 0 1048576 512 8 4 flush";

    #[test]
    fn a_journal_is_read_again_where_it_stopped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        for line in [
            SETUP,
            "issued 8",
            "durable 8",
            "issued 9",
            "result effective lost torn",
            SETUP,
            "issued 3",
        ] {
            journal.add(line).unwrap();
        }
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"durab").unwrap();
        for _ in 0..2 {
            Journal::open(&path).unwrap().add("issued 4").unwrap();
        }
        let again = Journal::open(&path).unwrap();
        assert_eq!(again.open_setup().unwrap().1, Promise { issued: 4, durable: 0, unheard: 0 });
        assert_eq!(again.sums(), "1 1 1 lost=1 torn=1");
        assert_eq!(tally_of(&again.sums()).as_ref(), Some(again.tally()));
    }

    #[test]
    fn numbers_that_no_writer_reaches_are_refused_and_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let impossible =
            ["durable 18446744073709551615", "issued 18446744073709551615", "durable 1"];
        for line in impossible {
            std::fs::write(&path, format!("{SETUP}\n{line}\n")).unwrap();
            assert!(matches!(Journal::open(&path), Err(WitnessError::Foreign(_))), "{line}");
        }
        std::fs::remove_file(&path).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        journal.add(SETUP).unwrap();
        for line in impossible {
            assert!(matches!(journal.add(line), Err(WitnessError::Protocol)), "{line}");
        }
        journal.add("issued 8").unwrap();
        journal.add("durable 8").unwrap();
        let again = Journal::open(&path).unwrap();
        assert_eq!(again.open_setup().unwrap().1, Promise { issued: 8, durable: 8, unheard: 0 });
    }

    #[test]
    fn somebodys_file_is_not_taken_for_a_journal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("letter");
        for letter in ["Dear Ann\n", "Dear Ann"] {
            std::fs::write(&path, letter).unwrap();
            assert!(matches!(Journal::open(&path), Err(WitnessError::Foreign(_))));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
        }
    }
}
