//! `cardproof watch --who`: who writes to the storage, and what a change has saved.

mod tally;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_device::live::device_at;
use cardproof_device::{Sysroot, WriteCounters};
use cardproof_rating::who::{Change, WHO_SCHEMA, Watched, WhoDocument, changes, who};
use cardproof_units::{Nanos, shell_word};

use super::args::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::{self, Talk};
use tally::Tally;

/// What is watched unless the user says otherwise.
const HERE: &str = ".";

/// How long is watched unless the user says otherwise.
const TIME: Nanos = Nanos::from_secs(60);

/// How often those are looked at that write or have begun. What begins and ends between two looks is not seen.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Of so many looks the first is at everything, which costs a hundred times as much. It tells who writes.
const LOOKS: u32 = 10;

/// How often is looked at who waits for writes to be kept: of two programs the one that waits longer is seen more often.
const SYNCS_EVERY: Duration = Duration::from_millis(200);

/// How long a wish to stop may go unnoticed.
const STOP_EVERY: Duration = Duration::from_millis(50);

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
        let document = WhoDocument { schema, device: disk, who: found };
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
fn read(path: &Path) -> Result<WhoDocument, Failure> {
    let told = |error: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "--against {}: {error}; name a file that `cardproof watch --who --json` has written",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| told(&error))?;
    let document: WhoDocument = serde_json::from_str(&text).map_err(|error| told(&error))?;
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
    let mut tally = Tally::new(WriteCounters::read(root, device));
    let end = start + Duration::from_nanos(time.get());
    let mut next = start + LOOK_EVERY;
    let mut next_syncs = start;
    for look in 1_u32.. {
        while let Some(left) = next.min(end).checked_duration_since(Instant::now()) {
            if signals.stop().load(Ordering::Relaxed) {
                return None;
            }
            if Instant::now() >= next_syncs {
                tally.look_at_syncs(root);
                next_syncs = Instant::now() + SYNCS_EVERY;
            }
            thread::sleep(left.min(STOP_EVERY));
        }
        let is_over = Instant::now() >= end;
        if is_over || look % LOOKS == 1 {
            tally.look(root, device);
        } else {
            tally.look_again(root);
        }
        if is_over {
            break;
        }
        next = Instant::now() + LOOK_EVERY;
    }
    Some((tally.disk().to_owned(), tally.watched(start.elapsed().as_secs_f64())))
}
