//! What the kernel said in earlier starts of this computer, from systemd's journal, where there is one.
//!
//! The program `journalctl` reads it, for its files have a form of their own. It is never required. A journal on a card
//! may be large and slow, so the newest messages come first, and after a few seconds what was read has to do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_device::Sysroot;
use cardproof_kernel_log::event;
use serde::Deserialize;

/// For so long is read.
const PATIENCE: Duration = Duration::from_secs(5);

/// At most so many messages are read.
const MESSAGES_MAX: usize = 300_000;

/// What is older may have been dealt with, in seconds: 30 days.
const RECENT_S: u64 = 30 * 86_400;

/// Messages of the kernel about storage and power, the oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    /// Whether any message of this start was read.
    pub(crate) has_this_start: bool,
    /// Those of this start.
    pub(crate) this_start: Vec<String>,
    /// Those of earlier starts, of the last 30 days.
    pub(crate) recent: Vec<String>,
    /// Those that are older.
    pub(crate) old: Vec<String>,
    /// How many earlier starts there are messages of.
    pub(crate) starts: u64,
    /// How long the computer ran after these, in whole days: to the last message of each.
    pub(crate) days: u64,
}

/// A line of `journalctl --output=json` (systemd, Journal JSON Format).
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    time_us: String,
    #[serde(rename = "__MONOTONIC_TIMESTAMP")]
    uptime_us: String,
    #[serde(rename = "_BOOT_ID")]
    boot: String,
    /// Text, or numbers of bytes where it is none.
    #[serde(rename = "MESSAGE")]
    message: Option<serde_json::Value>,
}

impl Journal {
    /// The journal of the running system; `None` elsewhere and where there is no journal that this user may read.
    pub(crate) fn read(root: &Sysroot) -> Option<Self> {
        if !root.is_running_system() {
            return None;
        }
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let boot: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
        let mut journalctl = Command::new("journalctl")
            .args(["--quiet", "--no-pager", "--reverse", "--output=json"])
            .args(["--output-fields=MESSAGE", "_TRANSPORT=kernel"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = within(PATIENCE, BufReader::new(journalctl.stdout.take()?)).take(MESSAGES_MAX);
        let now_s = jiff::Timestamp::now().as_second().try_into().unwrap_or(0);
        let journal = Self::new(lines, &boot, now_s);
        // It may have more to say, or have ended.
        let _ = journalctl.kill();
        let _ = journalctl.wait();
        (journal != Self::default()).then_some(journal)
    }

    /// What `lines` tell, the newest first; `boot` is the number of this start.
    fn new(lines: impl Iterator<Item = String>, boot: &str, now_s: u64) -> Self {
        let mut journal = Self::default();
        let mut ran_us: BTreeMap<String, u64> = BTreeMap::new();
        for entry in lines.filter_map(|line| serde_json::from_str::<Entry>(&line).ok()) {
            let time_s = entry.time_us.parse::<u64>().unwrap_or(0) / 1_000_000;
            let is_of_now = entry.boot == boot;
            if is_of_now {
                journal.has_this_start = true;
            } else {
                let uptime_us = entry.uptime_us.parse().unwrap_or(0);
                let ran_us = ran_us.entry(entry.boot).or_default();
                *ran_us = uptime_us.max(*ran_us);
            }
            let Some(message) = entry.message.as_ref().and_then(serde_json::Value::as_str) else {
                continue;
            };
            let message = message.lines().next().unwrap_or_default();
            if event(message).is_none() {
                continue;
            }
            // A clock that was wrong makes a message old.
            let is_recent = time_s + RECENT_S >= now_s && time_s <= now_s + RECENT_S;
            let list = match (is_of_now, is_recent) {
                (true, _) => &mut journal.this_start,
                (false, true) => &mut journal.recent,
                (false, false) => &mut journal.old,
            };
            list.push(format!("{} {message}", date(time_s)));
        }
        for list in [&mut journal.this_start, &mut journal.recent, &mut journal.old] {
            list.reverse();
        }
        journal.starts = ran_us.len() as u64;
        journal.days = ran_us.values().sum::<u64>() / 1_000_000 / 86_400;
        journal
    }
}

/// The lines of `source` that come within `time`, however long it keeps silent.
fn within(time: Duration, source: impl BufRead + Send + 'static) -> impl Iterator<Item = String> {
    let (sender, lines) = sync_channel(256);
    thread::spawn(move || {
        let whole = source.lines().map_while(Result::ok);
        // The receiver is closed when the time is over.
        whole.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    let end = Instant::now() + time;
    std::iter::from_fn(move || {
        lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
    })
}

/// The date and time of `time_s`, in the form that logs have before a message.
fn date(time_s: u64) -> String {
    let time = i64::try_from(time_s).ok().and_then(|time| jiff::Timestamp::from_second(time).ok());
    time.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    const NOW_S: u64 = 1_795_600_000;
    const DAY_S: u64 = 86_400;

    fn line(boot: &str, days_ago: u64, uptime_days: u64, message: &str) -> String {
        let time_us = (NOW_S - days_ago * DAY_S) * 1_000_000;
        let uptime_us = uptime_days * DAY_S * 1_000_000;
        serde_json::json!({
            "__REALTIME_TIMESTAMP": time_us.to_string(),
            "__MONOTONIC_TIMESTAMP": uptime_us.to_string(),
            "_BOOT_ID": boot,
            "MESSAGE": message,
        })
        .to_string()
    }

    #[test]
    fn a_source_that_keeps_silent_is_not_waited_for() {
        let (reader, writer) = UnixStream::pair().unwrap();
        let lines = within(Duration::ZERO, BufReader::new(reader));
        assert_eq!(lines.count(), 0, "nothing was written, and the other end is open");
        drop(writer);
        let lines = within(PATIENCE, "one\ntwo\n".as_bytes());
        assert_eq!(lines.collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn each_start_is_told_apart_and_covers_the_time_that_it_ran() {
        let error = "I/O error, dev mmcblk0, sector 8 op 0x1:(WRITE) flags 0x800";
        let new = "mmc0: new high speed SDHC card at address aaaa";
        let lines = [
            line("now", 0, 1, "usb 1-1: something else"),
            line("now", 0, 1, new),
            line("b", 2, 20, error),
            "no line of the journal".to_owned(),
            line("b", 21, 1, new),
            line("a", 60, 22, error),
            line("a", 80, 2, "systemd: something else"),
        ];
        let journal = Journal::new(lines.into_iter(), "now", NOW_S);
        assert!(journal.has_this_start);
        assert_eq!(journal.this_start.len(), 1);
        assert_eq!((journal.starts, journal.days), (2, 42));
        assert_eq!(journal.recent.len(), 2, "the oldest first: {:#?}", journal.recent);
        assert!(journal.recent[0].ends_with(new) && journal.recent[1].ends_with(error));
        assert_eq!(journal.old, [format!("{} {error}", date(NOW_S - 60 * DAY_S))]);
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(Journal::new(std::iter::empty(), "now", NOW_S), Journal::default());
    }
}
