//! The state of a run on its disk: a file of lines, each on the disk before the run goes on.
//!
//! The first line says what the run is; then comes a line for each cycle, and lines with the position
//! in the current one. A cut tears the last line at most, which is then left out: what it stood for is
//! done again. Cycles have numbers, and a gap or a repetition is an error, so that none is lost or
//! counted twice.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use cardproof_probe::endure::{Cycle, End, Pass, Pattern, Plan, Position, State, Tally, Wish};
use cardproof_record::EnduranceCycle;
use cardproof_units::{Seed, in_words};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::device::Device;
use crate::failure::Failure;
use crate::file::open_regular;
use crate::owner::make_directories;
use crate::session::digest;

/// The form's name and version.
const SCHEMA: &str = "cardproof.endure-state/1";

/// How the names of states end.
const ENDING: &str = "endure";

/// The least room for a state: many thousand cycles.
const ROOM_BYTES: u64 = 16 << 20;

/// What a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    schema: String,
    card: String,
    pub(super) seed: Seed,
    /// The number by which the run's sectors are known, where that is not the seed's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) salt: Option<u64>,
    pub(super) span_bytes: u64,
    pub(super) pattern: String,
    /// All of the pattern, as a number.
    pub(super) wish: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PositionLine {
    cycle: u64,
    is_reading: bool,
    done: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    later: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    new_bad: Vec<u64>,
    /// What was counted in the cycle so far.
    so_far: EnduranceCycle,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Run(Header),
    Cycle(EnduranceCycle),
    Position(PositionLine),
    End(String),
}

/// The file of a run that is under way.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    pub(super) seed: Seed,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) header: Header,
    cycles: Vec<EnduranceCycle>,
    position: Option<PositionLine>,
    end: Option<String>,
}

/// What a run was begun with, as a number: the same pattern has the same.
pub(super) fn wish_text(wish: &Wish) -> String {
    let requests: Vec<u8> = match &wish.pattern {
        Pattern::Trace(requests) => {
            let numbers = requests.iter().flat_map(|(offset, length)| [offset, length]);
            numbers.flat_map(|number| number.to_le_bytes()).collect()
        }
        _ => Vec::new(),
    };
    format!("{}-{:016x}", wish.pattern.name(), digest(&requests))
}

impl Header {
    pub(super) fn new(device: &Device, plan: &Plan, wish: &Wish, seed: Seed) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            card: device.key.clone(),
            seed,
            salt: Some(plan.salt()),
            span_bytes: plan.span_bytes(),
            pattern: wish.pattern.name().to_owned(),
            wish: wish_text(wish),
        }
    }
}

/// Makes the directory for states, removes what killed runs began there, and checks that it has room.
pub(super) fn make_room(directory: &Path) -> Result<(), Failure> {
    make_directories(directory).map_err(|error| {
        Failure::incomplete(format!(
            "cannot make {}, where the state of the run is kept: {error}; make room there, or set \
             XDG_DATA_HOME to another place",
            directory.display(),
            error = in_words(&error)
        ))
    })?;
    // A killed run may have left the beginning of a state, under a seed that no other run has.
    crate::file::sweep(directory);
    let Ok(found) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= ROOM_BYTES {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "{} has {} of free space, and the state of the run needs {}; make room, or set XDG_DATA_HOME \
         to another place",
        directory.display(),
        cardproof_units::Bytes(free),
        cardproof_units::Bytes(ROOM_BYTES)
    )))
}

/// The states of runs on the card known as `key`, in order.
pub(super) fn of_device(directory: &Path, key: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(directory).map_err(|error| {
        Failure::incomplete(format!(
            "cannot list {}: {error}",
            directory.display(),
            error = in_words(&error)
        ))
    })?;
    let prefix = format!("{key}-");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|ending| ending == ENDING)
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
        .collect();
    paths.sort();
    Ok(paths)
}

pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| {
        Failure::incomplete(format!(
            "cannot remove {}: {error}",
            path.display(),
            error = in_words(&error)
        ))
    })
}

/// What the file at `path` holds.
pub(super) fn read(path: &Path) -> Result<Saved, Failure> {
    let damaged = |what: &str| {
        Failure::incomplete(format!(
            "the state of a run in {} {what}; --restart begins another run",
            path.display()
        ))
    };
    let text = open_regular(path).and_then(std::io::read_to_string).map_err(|error| {
        Failure::incomplete(format!(
            "cannot read {}: {error}",
            path.display(),
            error = in_words(&error)
        ))
    })?;
    // A line without its end was torn.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    let header = lines.next().and_then(|line| serde_json::from_str(line).ok());
    let Some(Line::Run(header)) = header else { return Err(damaged("has no beginning")) };
    if header.schema != SCHEMA {
        return Err(damaged("is of another version"));
    }
    let mut saved = Saved { header, cycles: Vec::new(), position: None, end: None };
    let count = lines.clone().count();
    for (number, line) in lines.enumerate() {
        match serde_json::from_str(line) {
            Ok(Line::Cycle(cycle)) => {
                saved.cycles.push(cycle);
                saved.position = None;
            }
            Ok(Line::Position(position)) => saved.position = Some(position),
            Ok(Line::End(end)) => saved.end = Some(end),
            Ok(Line::Run(_)) => return Err(damaged("begins twice")),
            Err(_) if number + 1 == count => {}
            Err(_) => return Err(damaged("is damaged")),
        }
    }
    Ok(saved)
}

impl Saved {
    /// The state that the lines make for `plan`.
    pub(super) fn state(&self, plan: &Plan, path: &Path) -> Result<State, Failure> {
        let mut state = State::new(plan);
        let is_whole = self.cycles.iter().all(|line| state.take_cycle(cycle(line)));
        let fits = self.position.as_ref().is_none_or(|line| state.take_position(position(line)));
        if !is_whole || !fits {
            return Err(Failure::incomplete(format!(
                "the state of a run in {} lacks a cycle; --restart begins another run",
                path.display()
            )));
        }
        let end =
            self.end.as_deref().and_then(|name| End::ALL.into_iter().find(|e| e.name() == name));
        if let Some(end) = end {
            state.finish(end);
        }
        Ok(state)
    }

    /// The journal at `path`, rewritten without what is out of date, to go on from `state`.
    pub(super) fn continued(self, path: &Path, state: &State) -> Result<Journal, Failure> {
        let mut lines = vec![Line::Run(self.header.clone())];
        lines.extend(self.cycles.into_iter().map(Line::Cycle));
        lines.push(Line::Position(position_line(&state.position)));
        let text: String = lines.iter().map(in_line).collect::<Result<_, _>>()?;
        crate::file::replace(path, &text).map_err(|error| unwritable(path, &error))?;
        Ok(Journal { path: path.to_owned(), file: locked(path)?, seed: self.header.seed })
    }
}

impl Journal {
    /// A new journal in `directory`.
    pub(super) fn create(directory: &Path, header: &Header) -> Result<Self, Failure> {
        // Two cards of one kind may be worn out with one seed.
        let number = header.salt.unwrap_or(header.seed.get());
        let path = directory.join(format!("{}-{number:016x}.{ENDING}", header.card));
        let text = in_line(&Line::Run(header.clone()))?;
        crate::file::replace(&path, &text).map_err(|error| unwritable(&path, &error))?;
        let file = locked(&path)?;
        Ok(Self { path, file, seed: header.seed })
    }

    pub(super) fn add_cycle(&mut self, cycle: &Cycle) -> Result<(), Failure> {
        self.add(&Line::Cycle(cycle_line(cycle)))
    }

    pub(super) fn add_position(&mut self, position: &Position) -> Result<(), Failure> {
        self.add(&Line::Position(position_line(position)))
    }

    pub(super) fn add_end(&mut self, end: End) -> Result<(), Failure> {
        self.add(&Line::End(end.name().to_owned()))
    }

    fn add(&mut self, line: &Line) -> Result<(), Failure> {
        let text = in_line(line)?;
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

/// The file at `path`, which no other run uses as long as it is open.
fn locked(path: &Path) -> Result<File, Failure> {
    let file = File::options().append(true).open(path).map_err(|error| unwritable(path, &error))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Failure::refused(format!(
            "another run uses {}; wait until it has ended, and start again",
            path.display()
        ))),
        // Where there are no locks, the guard keeps two runs from one card.
        _ => Ok(file),
    }
}

/// Whether a run uses the file at `path` now, for a card of the same kind.
pub(super) fn is_in_use(path: &Path) -> bool {
    let lock = |file: File| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    open_regular(path).is_ok_and(|file| lock(file) == Err(Errno::WOULDBLOCK))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::incomplete(format!(
        "the state of the run cannot be kept in {}: {error}; make room and start the command again: it \
         goes on where it stood",
        path.display(),
        error = in_words(error)
    ))
}

fn in_line(line: &Line) -> Result<String, Failure> {
    let text = serde_json::to_string(line).map_err(|error| {
        Failure::incomplete(format!("the state cannot be put in words: {error}",))
    })?;
    Ok(text + "\n")
}

/// A cycle as a line.
pub(super) fn cycle_line(cycle: &Cycle) -> EnduranceCycle {
    let tally = cycle.tally;
    EnduranceCycle {
        cycle: cycle.number,
        written_bytes: cycle.written_bytes,
        read_bytes: cycle.read_bytes,
        bad_pages: cycle.bad_pages,
        new_bad: cycle.new_bad.iter().map(|&(first, count)| [first, count]).collect(),
        write_errors: tally.write_errors,
        read_errors: tally.read_errors,
        stale_pages: tally.stale_pages,
        wrong_pages: tally.wrong_pages,
        transient: tally.transient,
        host_errors: tally.host_errors,
        write_bytes_per_s: cycle.write_rate,
        read_bytes_per_s: cycle.read_rate,
        duration_ns: cycle.duration_ns,
    }
}

fn tally(line: &EnduranceCycle) -> Tally {
    Tally {
        write_errors: line.write_errors,
        read_errors: line.read_errors,
        stale_pages: line.stale_pages,
        wrong_pages: line.wrong_pages,
        transient: line.transient,
        host_errors: line.host_errors,
    }
}

fn cycle(line: &EnduranceCycle) -> Cycle {
    Cycle {
        number: line.cycle,
        written_bytes: line.written_bytes,
        read_bytes: line.read_bytes,
        new_bad: line.new_bad.iter().map(|&[first, count]| (first, count)).collect(),
        bad_pages: line.bad_pages,
        tally: tally(line),
        write_rate: line.write_bytes_per_s,
        read_rate: line.read_bytes_per_s,
        duration_ns: line.duration_ns,
    }
}

fn position_line(position: &Position) -> PositionLine {
    let so_far = Cycle {
        number: position.cycle,
        written_bytes: position.written_bytes,
        read_bytes: position.read_bytes,
        tally: position.tally,
        write_rate: position.write_rate,
        read_rate: position.read_rate,
        duration_ns: position.duration_ns,
        ..Cycle::default()
    };
    PositionLine {
        cycle: position.cycle,
        is_reading: position.pass == Pass::Read,
        done: position.done,
        later: position.later.clone(),
        new_bad: position.new_bad.clone(),
        so_far: cycle_line(&so_far),
    }
}

fn position(line: &PositionLine) -> Position {
    Position {
        cycle: line.cycle,
        pass: if line.is_reading { Pass::Read } else { Pass::Write },
        done: line.done,
        later: line.later.clone(),
        written_bytes: line.so_far.written_bytes,
        read_bytes: line.so_far.read_bytes,
        new_bad: line.new_bad.clone(),
        tally: tally(&line.so_far),
        write_rate: line.so_far.write_bytes_per_s,
        read_rate: line.so_far.read_bytes_per_s,
        duration_ns: line.so_far.duration_ns,
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
