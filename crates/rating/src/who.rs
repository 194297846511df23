//! Who writes to a storage: by service and program, what they asked for and what reached the storage.
//!
//! A control group's figure is what reached the device for it, written back from memory included and swap left out;
//! where groups tell nothing, a service's share is that of the pages that its programs made dirty. What reached the
//! device and is of no group is the file system's own: its journal and its tables. Programs that began and ended
//! between two looks are in their group's figure, and are told by the program that started them.

mod owners;
mod remedy;
mod synced;

use std::collections::BTreeMap;

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

use owners::Owners;
pub use owners::{GroupGrowth, Waiting};
pub use remedy::Remedy;
pub use synced::{SyncWaits, Synced};

/// The name and version of the published form.
pub const WHO_SCHEMA: &str = "cardproof.who/1";

/// A day in seconds.
const DAY_S: f64 = 86_400.0;

/// Savings below this share of the whole are not told from chance.
const SAVED_MIN: f64 = 0.05;

/// What one program of one service handed to storage in the time that was watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramWrites {
    /// The name of the program.
    pub program: String,
    /// The control group.
    pub group: String,
    /// Whether it was not written by this program but by those that it started and that have ended.
    pub is_of_ended: bool,
    /// Bytes in its write calls, to files, pipes and sockets alike.
    pub asked_bytes: u64,
    /// Bytes of pages that it made dirty.
    pub dirtied_bytes: u64,
    /// Bytes of such pages that it cut off before they were written, whoever had made them dirty.
    pub cancelled_bytes: u64,
}

/// All that was seen in the time that was watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// How long, in seconds.
    pub seconds: f64,
    /// Each program of each group.
    pub programs: Vec<ProgramWrites>,
    /// What reached the device for each group; empty where the kernel does not tell.
    pub groups: BTreeMap<String, GroupGrowth>,
    /// What waited in memory to be written for each group that the kernel does not count for, and those below it.
    pub waiting: BTreeMap<String, Waiting>,
    /// What reached the device in all.
    pub device_bytes: u64,
    /// Writes of the device.
    pub device_writes: u64,
    /// Flushes of the device's cache.
    pub flushes: u64,
    /// What was written to swap.
    pub swapped_out_bytes: u64,
    /// Processes that this user may not look at.
    pub hidden: usize,
    /// How often was looked at who waits for writes to be kept.
    pub sync_looks: u64,
    /// Who was seen waiting.
    pub sync_waits: Vec<SyncWaits>,
}

/// Who writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Who {
    /// How long was watched, in seconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub seconds: f64,
    /// What reached the device.
    pub device_bytes: Bytes,
    /// The same for a day at this pace.
    pub bytes_a_day: Bytes,
    /// Flushes of the device's cache a minute.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub flushes_a_minute: f64,
    /// Bytes that reached the device for each byte that programs asked for; absent where either is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub amplification: Option<f64>,
    /// The share of what reached the device that is a service's or a known cause's, 0 to 1; absent where nothing
    /// reached it, and where the kernel does not count by group: then all is an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub attributed: Option<f64>,
    /// The programs whose writes wait until the storage has kept them, which costs a card most: the one that waits most
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synced: Vec<Synced>,
    /// The writers, the largest first.
    pub writers: Vec<Writer>,
    /// Processes that this user may not look at.
    pub hidden: usize,
}

/// The published form: the answer of `watch --who --json`, what reached one storage device, and whose it is.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhoDocument {
    /// Name and version of this form.
    pub schema: String,
    /// The kernel's name of the whole device.
    pub device: String,
    /// Who wrote to it.
    #[serde(flatten)]
    pub who: Who,
}

/// A service, or what the system does by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Writer {
    /// The service's name, such as `influxdb.service`.
    pub name: String,
    /// Whether the figure is that of the kernel for a group, and not a share by dirty pages.
    pub is_counted: bool,
    /// What its programs asked for: at most the bytes in their write calls and at most the pages that they made
    /// dirty.
    pub asked_bytes: Bytes,
    /// What reached the device.
    pub reached_bytes: Bytes,
    /// The same for a day at this pace.
    pub bytes_a_day: Bytes,
    /// Its share of what reached the device, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub share: f64,
    /// Its programs, the largest first, with what they asked for.
    pub programs: Vec<(String, Bytes)>,
    /// What programs asked for that have ended and were not seen doing it, by the program that started them, the
    /// largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_programs: Vec<(String, Bytes)>,
    /// What can be done about it, if it is of a kind that something can be done about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// What the remedy is for: the service, or the program of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy_for: Option<String>,
}

impl Writer {
    /// Whether it is a service and not the system's own: swap, or the file system's journal and tables.
    #[must_use]
    pub const fn is_service(&self) -> bool {
        !matches!(self.remedy, Some(Remedy::SwapOffStorage | Remedy::LongerCommit))
    }
}

/// The name of what the file system writes by itself.
pub const FILESYSTEM: &str = "file system (journal, tables)";

/// The name of what programs write that belong to no service, such as those of a shell without systemd.
pub const NO_SERVICE: &str = "programs outside services";

/// The name of what is swapped out.
pub const SWAP: &str = "swap";

/// Who wrote in what was `watched`.
#[must_use]
pub fn who(watched: &Watched) -> Who {
    let device = watched.device_bytes;
    let owners = Owners::of(watched);
    let mut writers = of_services(watched, &owners);
    let of_groups: u64 = writers.iter().map(|writer| writer.reached_bytes.get()).sum();
    let rest = device.saturating_sub(of_groups + owners.swapped);
    let is_counted = !watched.groups.is_empty();
    // Without counts by group the rest is the file system's where no program is hidden.
    let has_rest = is_counted || watched.hidden == 0;
    for (name, bytes, remedy) in [
        (SWAP, owners.swapped, Remedy::SwapOffStorage),
        (FILESYSTEM, if has_rest { rest } else { 0 }, Remedy::LongerCommit),
    ] {
        if bytes > 0 {
            writers.push(Writer {
                name: name.to_owned(),
                is_counted,
                asked_bytes: Bytes::ZERO,
                reached_bytes: Bytes(bytes),
                bytes_a_day: Bytes::ZERO,
                share: 0.0,
                programs: Vec::new(),
                ended_programs: Vec::new(),
                remedy: Some(remedy),
                remedy_for: None,
            });
        }
    }
    let a_day = |bytes: u64| Bytes((bytes as f64 / watched.seconds.max(1e-9) * DAY_S) as u64);
    for writer in &mut writers {
        writer.share = writer.reached_bytes.as_f64() / (device.max(1)) as f64;
        writer.bytes_a_day = a_day(writer.reached_bytes.get());
    }
    let synced = synced::synced(watched);
    remedy::add(&mut writers, &synced);
    writers.sort_by_key(|writer| std::cmp::Reverse(writer.reached_bytes.get()));
    let asked: u64 = writers.iter().map(|writer| writer.asked_bytes.get()).sum();
    let attributed: f64 = writers.iter().map(|writer| writer.share).sum();
    Who {
        seconds: watched.seconds,
        device_bytes: Bytes(device),
        bytes_a_day: a_day(device),
        flushes_a_minute: watched.flushes as f64 / watched.seconds.max(1e-9) * 60.0,
        amplification: (asked > 0 && device > 0).then(|| device as f64 / asked as f64),
        attributed: (is_counted && device > 0).then_some(attributed.min(1.0)),
        synced,
        writers,
        hidden: watched.hidden,
    }
}

/// The services, each with its programs.
fn of_services(watched: &Watched, owners: &Owners<'_>) -> Vec<Writer> {
    let mut services: BTreeMap<&str, Vec<&ProgramWrites>> = BTreeMap::new();
    for program in watched.programs.iter().filter(|it| it.kept() > 0) {
        services.entry(service(&program.group)).or_default().push(program);
    }
    for group in owners.counted.keys() {
        services.entry(service(group)).or_default();
    }
    let writer = |(name, programs): (&str, Vec<&ProgramWrites>)| {
        let of = |groups: &BTreeMap<&str, u64>| -> u64 {
            groups.iter().filter(|(group, _)| service(group) == name).map(|(_, it)| it).sum()
        };
        Writer {
            name: name.to_owned(),
            is_counted: owners.counted.keys().any(|group| service(group) == name),
            asked_bytes: Bytes(programs.iter().map(|it| it.asked()).sum()),
            reached_bytes: Bytes(of(&owners.counted) + of(&owners.estimated)),
            bytes_a_day: Bytes::ZERO,
            share: 0.0,
            programs: by_program(programs.iter().filter(|it| !it.is_of_ended)),
            ended_programs: by_program(programs.iter().filter(|it| it.is_of_ended)),
            remedy: None,
            remedy_for: None,
        }
    };
    let all = services.into_iter().map(writer);
    all.filter(|writer| writer.reached_bytes.get() > 0 || writer.asked_bytes.get() > 0).collect()
}

impl ProgramWrites {
    /// What it asked to be stored: write calls also go to pipes and sockets, and a page is dirty as a whole.
    fn asked(&self) -> u64 {
        let kept = self.kept();
        if self.asked_bytes == 0 { kept } else { self.asked_bytes.min(kept) }
    }

    /// Bytes of pages that it made dirty and did not cut off.
    const fn kept(&self) -> u64 {
        self.dirtied_bytes.saturating_sub(self.cancelled_bytes)
    }
}

fn by_program<'a>(programs: impl Iterator<Item = &'a &'a ProgramWrites>) -> Vec<(String, Bytes)> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for program in programs {
        *sums.entry(&program.program).or_default() += program.asked();
    }
    let mut sums: Vec<(String, Bytes)> =
        sums.into_iter().map(|(name, bytes)| (name.to_owned(), Bytes(bytes))).collect();
    sums.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.get()));
    sums
}

/// The service of a control group: the last part of its path that systemd calls one, else the last part.
#[must_use]
pub fn service(group: &str) -> &str {
    let mut parts = group.rsplit('/').filter(|part| !part.is_empty());
    let is_unit = |part: &&str| part.ends_with(".service") || part.ends_with(".scope");
    parts.clone().find(is_unit).or_else(|| parts.next()).unwrap_or(NO_SERVICE)
}

/// What changed between two watches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The writer; absent for the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Bytes a day before.
    pub before: Bytes,
    /// Bytes a day now.
    pub now: Bytes,
    /// Whether it is more than a twentieth of the whole, and so no chance of two short watches alone.
    pub is_told: bool,
}

/// What changed from `before` to `now`: the whole first, then each writer, the largest change first.
#[must_use]
pub fn changes(before: &Who, now: &Who) -> Vec<Change> {
    let of = |who: &Who, name: &str| {
        let writer = who.writers.iter().find(|writer| writer.name == name);
        writer.map_or(Bytes::ZERO, |writer| writer.bytes_a_day)
    };
    let whole = before.bytes_a_day.as_f64().max(now.bytes_a_day.as_f64());
    let change = |name: Option<String>, before: Bytes, now: Bytes| Change {
        is_told: (before.as_f64() - now.as_f64()).abs() >= SAVED_MIN * whole && whole > 0.0,
        name,
        before,
        now,
    };
    let mut names: Vec<&String> = Vec::new();
    for writer in before.writers.iter().chain(&now.writers) {
        if !names.contains(&&writer.name) {
            names.push(&writer.name);
        }
    }
    let mut of_writers: Vec<Change> = names
        .into_iter()
        .map(|name| change(Some(name.clone()), of(before, name), of(now, name)))
        .collect();
    of_writers.sort_by_key(|it| std::cmp::Reverse(it.before.get().abs_diff(it.now.get())));
    let mut all = vec![change(None, before.bytes_a_day, now.bytes_a_day)];
    all.extend(of_writers);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(group: &str, program: &str, asked: u64, dirtied: u64) -> ProgramWrites {
        ProgramWrites {
            program: program.to_owned(),
            group: group.to_owned(),
            asked_bytes: asked,
            dirtied_bytes: dirtied,
            ..ProgramWrites::default()
        }
    }

    fn reached(reached_bytes: u64) -> GroupGrowth {
        GroupGrowth { reached_bytes, ..GroupGrowth::default() }
    }

    const JOURNAL: &str = "/system.slice/systemd-journald.service";
    const INFLUX: &str = "/system.slice/influxdb.service";

    fn watched() -> Watched {
        Watched {
            seconds: 60.0,
            programs: vec![
                program(JOURNAL, "systemd-journal", 1000, 40_960),
                program(INFLUX, "influxd", 100_000, 409_600),
                program("/user.slice/user-1000.slice/session-1.scope", "ssh", 9_000_000, 0),
            ],
            groups: [(JOURNAL.to_owned(), reached(50_000)), (INFLUX.to_owned(), reached(600_000))]
                .into(),
            waiting: BTreeMap::new(),
            device_bytes: 1_000_000,
            device_writes: 200,
            flushes: 30,
            swapped_out_bytes: 100_000,
            ..Watched::default()
        }
    }

    #[test]
    fn all_that_reached_the_device_has_an_owner() {
        let found = who(&watched());
        let names: Vec<_> =
            found.writers.iter().map(|it| (it.name.as_str(), it.reached_bytes.get())).collect();
        let expected = [
            ("influxdb.service", 600_000),
            (FILESYSTEM, 250_000),
            (SWAP, 100_000),
            ("systemd-journald.service", 50_000),
        ];
        assert_eq!(names, expected);
        assert!(found.attributed.is_some_and(|share| (share - 1.0).abs() < 1e-9));
        assert_eq!(found.bytes_a_day, Bytes(1_440_000_000));
        assert!((found.flushes_a_minute - 30.0).abs() < 1e-9);
        // 101,000 bytes were asked for; what went to a socket was not.
        assert!((found.amplification.unwrap() - 1_000_000.0 / 101_000.0).abs() < 1e-9);
        assert_eq!(found.writers[3].remedy, Some(Remedy::JournalInMemory));
    }

    #[test]
    fn without_groups_the_pages_made_dirty_tell_and_the_rest_is_the_file_systems() {
        let found = who(&Watched { groups: BTreeMap::new(), ..watched() });
        let names: Vec<_> =
            found.writers.iter().map(|it| (it.name.as_str(), it.reached_bytes.get())).collect();
        let expected = [
            (FILESYSTEM, 1_000_000 - 409_600 - 100_000 - 40_960),
            ("influxdb.service", 409_600),
            (SWAP, 100_000),
            ("systemd-journald.service", 40_960),
        ];
        assert_eq!(names, expected);
        assert!(found.writers.iter().all(|writer| !writer.is_counted));
        assert_eq!(found.attributed, None);
        // A program that may not be looked at may have written it as well.
        let found = who(&Watched { groups: BTreeMap::new(), hidden: 1, ..watched() });
        assert!(found.writers.iter().all(|writer| writer.name != FILESYSTEM));
    }

    #[test]
    fn a_saving_is_the_difference_of_two_watches() {
        let before = who(&watched());
        let mut later = watched();
        later.groups.remove(INFLUX);
        later.programs.retain(|it| it.group != INFLUX);
        later.device_bytes = 300_000;
        let changes = changes(&before, &who(&later));
        assert_eq!((changes[0].name.clone(), changes[0].before), (None, Bytes(1_440_000_000)));
        assert_eq!(changes[0].now, Bytes(432_000_000));
        assert_eq!(changes[1].name.as_deref(), Some("influxdb.service"));
        assert!(changes[1].is_told);
        let journal =
            changes.iter().find(|it| it.name.as_deref() == Some("systemd-journald.service"));
        assert!(!journal.unwrap().is_told);
    }

    #[test]
    fn what_ended_programs_wrote_is_told_apart_from_who_started_them() {
        let mut seen = watched();
        let ended = program(INFLUX, "influxd", 5000, 8192);
        seen.programs.push(ProgramWrites { is_of_ended: true, ..ended });
        let found = who(&seen);
        let influx = found.writers.iter().find(|it| it.name == "influxdb.service").unwrap();
        let of = |bytes| vec![("influxd".to_owned(), Bytes(bytes))];
        assert_eq!((&influx.programs, &influx.ended_programs), (&of(100_000), &of(5000)));
        assert_eq!(influx.asked_bytes, Bytes(105_000));
    }

    #[test]
    fn nothing_written_is_no_division_by_zero() {
        let found = who(&Watched::default());
        assert_eq!((found.device_bytes, found.amplification), (Bytes::ZERO, None));
        assert_eq!(found.attributed, None);
        let asked_only = who(&Watched { device_bytes: 0, groups: BTreeMap::new(), ..watched() });
        assert_eq!((asked_only.amplification, asked_only.attributed), (None, None));
        assert_eq!(service("/"), NO_SERVICE);
        assert_eq!(
            service("/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope"),
            "a.scope"
        );
    }
}
