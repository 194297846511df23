//! `cardproof watch --who`: who writes to the storage, and what a change has saved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_device::live::device_at;
use cardproof_device::{ProcessId, ProcessWrites, Sysroot, WriteCounters};
use cardproof_rating::ledger::CardCounters;
use cardproof_rating::who::{Change, ProgramWrites, WHO_SCHEMA, Watched, Who, changes, who};
use cardproof_units::{Nanos, shell_word};
use serde::{Deserialize, Serialize};

use super::args::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::{self, Talk};

/// What is watched unless the user says otherwise.
const HERE: &str = ".";

/// How long is watched unless the user says otherwise.
const TIME: Nanos = Nanos::from_secs(60);

/// Processes that begin and end between two looks are not seen.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long a wish to stop may go unnoticed.
const STOP_EVERY: Duration = Duration::from_millis(50);

/// The published form.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    device: String,
    #[serde(flatten)]
    who: Who,
}

/// Watches, and tells who wrote.
pub(super) fn run(args: &WatchArgs, signals: &Signals) -> Result<Exit, Failure> {
    let name = match args.devices.as_slice() {
        [] => HERE,
        [name] => name.as_str(),
        _ => {
            return Err(Failure::usage(
                "name one device or a path on it for --who, such as mmcblk0 or /; without a name it is that of the \
                 current directory",
            ));
        }
    };
    let before = args.against.as_deref().map(read).transpose()?;
    let root = Sysroot::default();
    let device = device_at(&root, name).map_err(Failure::usage)?;
    let time = args.time.unwrap_or(TIME);
    Talk::new(args.quiet || args.json).note(&format!("Watching for {}.", time.in_whole_seconds()));
    let Some((disk, watched)) = watch(&root, &device, time, signals) else {
        return Ok(signals.exit().unwrap_or(Exit::Interrupted));
    };
    let found = who(&watched);
    if args.json {
        let schema = WHO_SCHEMA.to_owned();
        let document = Document { schema, device: disk, who: found };
        let text = serde_json::to_string(&document)
            .map_err(Failure::because("the writers cannot be put into JSON"))?;
        output::write(&Sink::Stdout, &(text + "\n"))?;
        return Ok(Exit::Done);
    }
    let changes: Vec<Change> =
        before.map(|before| changes(&before.who, &found)).unwrap_or_default();
    let text =
        cardproof_report::who::page(&disk, command_of_root(name).as_deref(), &found, &changes);
    output::write(&Sink::Stdout, &cardproof_report::wrapped(&text, talk::width()))?;
    Ok(Exit::Done)
}

/// What root would type to see the processes of all users; nothing for root.
fn command_of_root(name: &str) -> Option<String> {
    let command = || format!("sudo cardproof watch --who {}", shell_word(name));
    (!rustix::process::geteuid().is_root()).then(command)
}

/// What an earlier watch has told.
fn read(path: &Path) -> Result<Document, Failure> {
    let told = |error: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "--against {}: {error}; name a file that `cardproof watch --who --json` has written",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| told(&error))?;
    let document: Document = serde_json::from_str(&text).map_err(|error| told(&error))?;
    if document.schema == WHO_SCHEMA {
        Ok(document)
    } else {
        Err(told(&format!("it is of the form {}", document.schema)))
    }
}

/// What was written in `time`; `None` where a signal came first.
fn watch(
    root: &Sysroot,
    device: &str,
    time: Nanos,
    signals: &Signals,
) -> Option<(String, Watched)> {
    let start = Instant::now();
    let first = WriteCounters::read(root, device);
    let mut tally = Tally::new(first);
    let end = start + Duration::from_nanos(time.get());
    let mut next = start + LOOK_EVERY;
    loop {
        while let Some(left) = next.min(end).checked_duration_since(Instant::now()) {
            if signals.stop().load(Ordering::Relaxed) {
                return None;
            }
            thread::sleep(left.min(STOP_EVERY));
        }
        tally.add(WriteCounters::read(root, device));
        if Instant::now() >= end {
            break;
        }
        next = Instant::now() + LOOK_EVERY;
    }
    let disk = tally.last.disk.clone();
    Some((disk, tally.watched(start.elapsed().as_secs_f64())))
}

/// The counters at the beginning and the last that were seen of each process.
struct Tally {
    first: WriteCounters,
    last: WriteCounters,
    /// Processes that have ended, as they were seen last.
    ended: BTreeMap<ProcessId, ProcessWrites>,
}

impl Tally {
    fn new(first: WriteCounters) -> Self {
        Self { last: first.clone(), first, ended: BTreeMap::new() }
    }

    fn add(&mut self, now: WriteCounters) {
        let gone = self.last.processes.iter().filter(|(id, _)| !now.processes.contains_key(id));
        self.ended.extend(gone.map(|(id, process)| (*id, process.clone())));
        self.last = now;
    }

    fn watched(&self, seconds: f64) -> Watched {
        let mut programs: BTreeMap<(String, String), ProgramWrites> = BTreeMap::new();
        for (id, now) in self.last.processes.iter().chain(&self.ended) {
            let then = self.first.processes.get(id).cloned().unwrap_or_default();
            let key = (now.group.clone(), now.program.clone());
            let sum = programs.entry(key).or_insert_with(|| ProgramWrites {
                program: now.program.clone(),
                group: now.group.clone(),
                ..ProgramWrites::default()
            });
            sum.asked_bytes += now.asked_bytes.saturating_sub(then.asked_bytes);
            sum.dirtied_bytes += now.dirtied_bytes.saturating_sub(then.dirtied_bytes);
        }
        let grown_group = |(group, now): (&String, &u64)| {
            let grown = now.saturating_sub(self.first.groups.get(group).copied().unwrap_or(0));
            (grown > 0).then(|| (group.clone(), grown))
        };
        let device = self.device();
        let pages = self.last.swapped_out_pages.saturating_sub(self.first.swapped_out_pages);
        Watched {
            seconds,
            programs: programs.into_values().collect(),
            groups: self.last.groups.iter().filter_map(grown_group).collect(),
            device_bytes: device.sectors_written * 512,
            device_writes: device.writes,
            flushes: device.flushes,
            swapped_out_bytes: pages * rustix::param::page_size() as u64,
            hidden: self.last.hidden,
        }
    }

    /// What the device did.
    fn device(&self) -> CardCounters {
        let of = |counters: &WriteCounters| CardCounters::from_stat(&counters.disk_counters);
        let (first, last) = (of(&self.first), of(&self.last));
        first.zip(last).map_or_else(CardCounters::default, |(first, last)| last.since(&first))
    }
}
