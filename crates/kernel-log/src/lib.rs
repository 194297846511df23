//! What Linux says of storage in its log: `dmesg`, `journalctl -k`, `syslog`, the console.
//!
//! Each message is decoded into an [`Event`] by itself; [`read`] puts the events of one device together.
//! Only messages of the forms that the kernel's sources print are decoded, so that a sentence about an
//! error is none. Messages that look alarming and mean nothing, such as `host does not support reading
//! read-only switch`, are left out on purpose. Nothing is opened and no clock is read here, so the log of
//! the running system can be read by the same code.

mod block;
mod course;
mod event;
mod filesystem;
mod findings;
mod guess;
mod log;
mod medium;
mod mmc;
mod name;
mod other;
mod stamp;
mod text;
mod trouble;
mod wrapped;

pub use event::{CardKind, Cause, Event, EventKind, Filesystem, ModeStep};
pub use log::{CardSeen, DeviceLog, KernelLog};
pub use name::{is_file, is_layer, is_place, whole_device};
pub use stamp::{Stamp, Stamped};
pub use trouble::{Trouble, TroubleKind};
pub use wrapped::unwrapped;

/// Each message that is known has one of these words, so that a reader of long texts need not ask for every line.
pub const WORDS: [&str; 24] = [
    "mmc",
    "error, dev ",
    "Buffer I/O error",
    "swap-device",
    "device-mapper",
    "md/raid",
    "VFS: Dirty",
    "ntfs3",
    "-fs",
    "BTRFS",
    "XFS (",
    "SQUASHFS",
    "on device ",
    "nvme",
    "sd ",
    "usb ",
    "ata",
    "oltage",
    "JBD2",
    "blocked for more than",
    "limit=",
    "scsi ",
    "capacity change",
    "Linux version",
];

/// The event that a line of a log tells, with or without the time before it.
#[must_use]
pub fn event(line: &str) -> Option<Event<'_>> {
    let Stamped { stamp, message } = stamp::split(line);
    let (count, message) = repeated(message);
    let (device, kind) = mmc::event(message)
        .or_else(|| block::event(message))
        .or_else(|| filesystem::event(message))
        .or_else(|| other::event(message))?;
    debug_assert!(WORDS.iter().any(|word| line.contains(word)), "no word of WORDS is in {line}");
    Some(Event { stamp, device, count, kind })
}

/// How often a log daemon says that it got a message, and the message: `message repeated 5 times: [ … ]`.
fn repeated(message: &str) -> (u64, &str) {
    let parts = message.strip_prefix("message repeated ").and_then(|it| it.split_once(" times: ["));
    let Some((count, rest)) = parts else { return (1, message) };
    let inside = rest.trim_end().strip_suffix(']').unwrap_or(rest);
    (count.parse().unwrap_or(1), stamp::split(inside).message)
}

/// `line` with its time, and without the name of the computer that a log daemon puts before a message.
#[must_use]
pub fn without_host(line: &str) -> String {
    let Stamped { stamp, message } = stamp::split(line);
    match stamp {
        None => message.to_owned(),
        Some(Stamp::SinceBoot(seconds)) => format!("[{seconds:12.6}] {message}"),
        Some(Stamp::Clock(clock)) => format!("{clock} - kernel: {message}"),
    }
}

/// The date or the hour that a log daemon puts before a message of the kernel; nothing where that is no
/// time.
#[must_use]
pub fn clock_before(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    match stamp::split(line).stamp? {
        Stamp::Clock(clock) => Some(clock),
        Stamp::SinceBoot(_) => None,
    }
}

/// The devices that the numbered lines of a log tell of. What names no device is given to the only one with trouble.
pub fn read<'t>(lines: impl IntoIterator<Item = (usize, &'t str)>) -> KernelLog {
    read_named(lines).with_guesses()
}

/// As [`read`], of the events of numbered lines.
pub fn read_events<'t>(events: impl IntoIterator<Item = (usize, Event<'t>)>) -> KernelLog {
    named_in(events).with_guesses()
}

/// The devices that the numbered lines of a log name. What names none stays by itself, with its place, for who knows
/// the computer.
pub fn read_named<'t>(lines: impl IntoIterator<Item = (usize, &'t str)>) -> KernelLog {
    named_in(lines.into_iter().filter_map(|(number, line)| Some((number, event(line)?))))
}

fn named_in<'t>(events: impl IntoIterator<Item = (usize, Event<'t>)>) -> KernelLog {
    let mut log = log::Reading::default();
    for (number, event) in events {
        log.add(number, &event);
    }
    log.finish()
}

#[cfg(test)]
mod media_tests;
#[cfg(test)]
mod tests;
