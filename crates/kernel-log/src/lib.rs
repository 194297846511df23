//! What Linux says of storage in its log: `dmesg`, `journalctl -k`, `syslog`, the console.
//!
//! Each message is decoded into an [`Event`] by itself; [`read`] puts the events of one device together.
//! Only messages of the forms that the kernel's sources print are decoded, so that a sentence about an
//! error is none. Messages that look alarming and mean nothing, such as `host does not support reading
//! read-only switch`, are left out on purpose. Nothing is opened and no clock is read here, so the log of
//! the running system can be read by the same code.

mod block;
mod event;
mod filesystem;
mod findings;
mod log;
mod mmc;
mod other;
mod stamp;
mod text;

pub use event::{CardKind, Event, EventKind, Filesystem, ModeStep};
pub use log::{CardSeen, DeviceLog, KernelLog, Trouble, TroubleKind};
pub use stamp::{Stamp, Stamped};

/// The event that a line of a log tells, with or without the time before it.
#[must_use]
pub fn event(line: &str) -> Option<Event<'_>> {
    let Stamped { stamp, message } = stamp::split(line);
    let (device, kind) = mmc::event(message)
        .or_else(|| block::event(message))
        .or_else(|| filesystem::event(message))
        .or_else(|| other::event(message))?;
    Some(Event { stamp, device, kind })
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

/// The devices that the numbered lines of a log tell of.
pub fn read<'t>(lines: impl IntoIterator<Item = (usize, &'t str)>) -> KernelLog {
    let events = lines.into_iter().filter_map(|(number, line)| Some((number, event(line)?)));
    read_events(events)
}

/// The devices that the events of numbered lines tell of.
pub fn read_events<'t>(events: impl IntoIterator<Item = (usize, Event<'t>)>) -> KernelLog {
    let mut log = log::Reading::default();
    for (number, event) in events {
        log.add(number, &event);
    }
    log.finish()
}

/// The whole device of a kernel's name with or without a partition: `mmcblk0` of `mmcblk0p2` and of
/// `mmcblk0boot0`, `sda` of `sda1`; nothing for what is no block device's name.
#[must_use]
pub fn whole_device(name: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    for (prefix, has_namespace) in [("mmcblk", false), ("nvme", true), ("loop", false)] {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let mut end = prefix.len() + digits(rest);
        if end == prefix.len() {
            return None;
        }
        if has_namespace && name[end..].starts_with('n') {
            end += 1 + digits(&name[end + 1..]);
        }
        let tail = &name[end..];
        let is_part = tail.strip_prefix('p').is_some_and(|part| digits(part) == part.len());
        let is_area = tail.starts_with("boot") || tail.starts_with("gp") || tail == "rpmb";
        return (tail.is_empty() || is_part || is_area).then_some(&name[..end]);
    }
    for prefix in ["sd", "hd", "vd"] {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        let end = prefix.len() + letters;
        let is_device = (1..=2).contains(&letters) && digits(&name[end..]) == name.len() - end;
        return is_device.then_some(&name[..end]);
    }
    None
}

#[cfg(test)]
mod tests;
