//! The events of one device put together: which card it was, how its bus runs, and what went wrong, how
//! often, since when.
//!
//! A message of the host (`mmc0`) belongs to the card that the kernel found there. Where the log does not
//! say which block device that is, it is the one of the same number, as in every kernel since 4.6. A card
//! of another name or size on the same host is another device.

use std::collections::HashMap;

use cardproof_record::OpName;
use cardproof_units::Bytes;

use super::event::{CardKind, Event, EventKind, Filesystem, ModeStep};
use super::{Stamp, whole_device};

/// No more sectors are kept of one kind of trouble.
const SECTORS_MAX: usize = 16;

/// All that a log tells of storage and power.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelLog {
    /// The devices, in the order in which they appear.
    pub devices: Vec<DeviceLog>,
    /// What is of no device: the board's power, and messages that name none.
    pub others: Vec<Trouble>,
}

impl KernelLog {
    /// What the log tells of the device called `name`, such as `mmcblk0`, or in the slot `host`, such as
    /// `mmc0`; where several cards were in it, of the last one.
    #[must_use]
    pub fn of(&self, name: &str, host: Option<&str>) -> Option<&DeviceLog> {
        let is_it = |device: &&DeviceLog| {
            device.device.as_deref() == Some(name)
                || host.is_some() && device.host.as_deref() == host
        };
        self.devices.iter().filter(is_it).max_by_key(|device| device.lines.last().copied())
    }
}

/// What a log tells of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceLog {
    /// The block device's name, such as `mmcblk0`.
    pub device: Option<String>,
    /// The card's host, such as `mmc0`, or a controller, such as `nvme0`.
    pub host: Option<String>,
    /// What the kernel found.
    pub card: CardSeen,
    /// What went wrong, in the order in which it began.
    pub troubles: Vec<Trouble>,
    /// Numbers of the lines that tell of it.
    pub lines: Vec<usize>,
}

/// A card and its bus as the kernel reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardSeen {
    /// The product's name.
    pub name: Option<String>,
    /// SD card or eMMC.
    pub kind: Option<CardKind>,
    /// The size, rounded by the kernel.
    pub size_bytes: Option<Bytes>,
    /// Whether the kernel mounts it read-only from the start.
    pub is_read_only: bool,
    /// The bus mode in the kernel's words, such as `UHS-I speed SDR104`.
    pub mode: Option<String>,
    /// The clock of the bus in Hz.
    pub clock_hz: Option<u64>,
    /// Data lines with which the card did not work: 8, 4.
    pub widths_failed: Vec<u8>,
    /// Whether the card's command queue is in use.
    pub queue: Option<bool>,
}

impl CardSeen {
    /// How many data lines are in use, where the messages about failed widths tell.
    #[must_use]
    pub fn width_bits(&self) -> Option<u8> {
        match self.widths_failed.iter().min()? {
            8 => None,
            _ => Some(1),
        }
    }
}

/// A kind of trouble, without the figures of single events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleKind {
    /// Commands that failed with this number of the kernel.
    Command(u16),
    /// The card could not be put to use; the kernel's number.
    Init(u16),
    /// The card remained busy.
    StuckBusy,
    /// Requests that failed for good.
    Io,
    /// Requests for places that the device itself cannot read or write.
    Medium,
    /// Data that could not be written are lost.
    WriteLost,
    /// Errors that a file system met.
    Filesystem,
    /// A file system takes no more writes.
    ReadOnly,
    /// A file system was not unmounted.
    Unclean,
    /// Requests beyond the end of the device.
    BeyondEnd,
    /// The bus is narrower than it can be.
    Width,
    /// A faster mode did not work.
    Mode,
    /// The command queue stopped and was started again.
    Queue,
    /// Resets of a USB device.
    UsbReset,
    /// Errors on the link to a SATA device.
    Link,
    /// The device did not answer and was reset.
    DeviceTimeout,
    /// The device went away.
    Gone,
    /// Tasks waited for storage for minutes.
    TaskBlocked,
    /// The board's supply fell below 4.63 V.
    UnderVoltage,
    /// The card is write-protected.
    WriteProtected,
}

/// One kind of trouble with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// What went wrong.
    pub kind: TroubleKind,
    /// How often the log says so. The kernel leaves out repeats.
    pub count: u64,
    /// When the log says so first.
    pub first: Option<String>,
    /// When the log says so last.
    pub last: Option<String>,
    /// On how many days: of running, where the log counts seconds, else of the calendar. 1 without times.
    pub days: u64,
    /// The last of them.
    day: Option<String>,
    /// The line of the first.
    pub line: usize,
    /// Sectors of 512 bytes, each once, in the order of the log; the first sixteen.
    pub sectors: Vec<u64>,
    /// What failed, where all messages agree.
    pub op: OpName,
    /// The file system, where one is meant.
    pub filesystem: Option<Filesystem>,
    /// The partition, where one is named.
    pub partition: Option<String>,
    /// The steps to a faster bus that failed.
    pub steps: Vec<ModeStep>,
    /// The longest wait of a task in seconds.
    pub seconds: u64,
}

/// A log while it is read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    log: KernelLog,
    /// The place of each name among the devices.
    places: HashMap<String, usize>,
}

impl Reading {
    /// Adds what the line called `number` says.
    pub(super) fn add(&mut self, number: usize, event: &Event<'_>) {
        let Some(name) = event.device else { return self.add_nameless(number, event) };
        let place = self.place(name, event);
        if event.kind == EventKind::Removed {
            // What comes next in this slot may be another card.
            self.places.retain(|_, known| *known != place);
        }
        let device = &mut self.log.devices[place];
        device.lines.push(number);
        device.card.learn(&event.kind);
        if let Some(kind) = trouble(&event.kind) {
            let partition = (whole_device(name).is_some_and(|whole| whole != name)).then_some(name);
            note(&mut device.troubles, kind, number, event, partition);
        }
    }

    /// What names no device: of the only one, else of none.
    fn add_nameless(&mut self, number: usize, event: &Event<'_>) {
        let Some(kind) = trouble(&event.kind) else { return };
        note(&mut self.log.others, kind, number, event, None);
    }

    /// The place of the device called `name`, which is made where it is not known.
    fn place(&mut self, name: &str, event: &Event<'_>) -> usize {
        let whole = whole_device(name).unwrap_or(name);
        if let EventKind::Card { host, name, size_bytes, .. } = &event.kind {
            return self.place_of_card(whole, host, name, *size_bytes);
        }
        if let Some(place) = self.places.get(whole) {
            return *place;
        }
        // Host and block device of one number are the same card, unless the log says otherwise.
        let twin = match (whole.strip_prefix("mmcblk"), whole.strip_prefix("mmc")) {
            (Some(number), _) => Some(format!("mmc{number}")),
            (None, Some(number)) => Some(format!("mmcblk{number}")),
            (None, None) => nvme_twin(whole),
        };
        if let Some(place) = twin.and_then(|twin| self.places.get(&twin).copied()) {
            let device = &mut self.log.devices[place];
            let is_free = |known: &Option<String>| known.is_none();
            let is_block = whole_device(whole).is_some();
            if is_block && is_free(&device.device) || !is_block && is_free(&device.host) {
                let known = if is_block { &mut device.device } else { &mut device.host };
                *known = Some(whole.to_owned());
                self.places.insert(whole.to_owned(), place);
                return place;
            }
        }
        let is_block = whole_device(whole).is_some();
        let own = || Some(whole.to_owned());
        let device = DeviceLog {
            device: if is_block { own() } else { None },
            host: if is_block { None } else { own() },
            ..DeviceLog::default()
        };
        self.push(device, &[whole])
    }

    /// The place of a card that the kernel names: a known one, or another one in its slot.
    fn place_of_card(&mut self, whole: &str, host: &str, name: &str, size: Bytes) -> usize {
        let known = [host, whole].iter().find_map(|it| self.places.get(*it)).copied();
        let is_this = |device: &DeviceLog| {
            let seen = &device.card;
            device.device.as_deref() == Some(whole)
                && (seen.name.as_deref(), seen.size_bytes) == (Some(name), Some(size))
        };
        let is_open = |device: &DeviceLog| {
            device.card.name.is_none()
                && device.device.as_deref().is_none_or(|known| known == whole)
        };
        let earlier = self.log.devices.iter().position(is_this);
        let open = known.filter(|place| is_open(&self.log.devices[*place]));
        let place = match (earlier, open) {
            (Some(earlier), Some(open)) => {
                // The same card, put in again or found again after an error.
                let found = std::mem::take(&mut self.log.devices[open]);
                self.log.devices[earlier].absorb(found);
                earlier
            }
            (Some(place), None) | (None, Some(place)) => place,
            (None, None) => self.push(DeviceLog::default(), &[]),
        };
        let device = &mut self.log.devices[place];
        (device.device, device.host) = (Some(whole.to_owned()), Some(host.to_owned()));
        for name in [whole, host] {
            self.places.insert(name.to_owned(), place);
        }
        place
    }

    fn push(&mut self, device: DeviceLog, names: &[&str]) -> usize {
        let place = self.log.devices.len();
        self.log.devices.push(device);
        for name in names {
            self.places.insert((*name).to_owned(), place);
        }
        place
    }

    /// The log, without radios.
    pub(super) fn finish(mut self) -> KernelLog {
        let is_storage = |it: &DeviceLog| {
            it.card.kind != Some(CardKind::Sdio) && (it.device.is_some() || it.host.is_some())
        };
        self.log.devices.retain(is_storage);
        // What names no device is of the only one that had trouble.
        let mut troubled = self.log.devices.iter_mut().filter(|it| !it.troubles.is_empty());
        if let (Some(only), None) = (troubled.next(), troubled.next()) {
            let is_own = |it: &Trouble| it.kind != TroubleKind::UnderVoltage;
            only.troubles.extend(self.log.others.iter().filter(|it| is_own(it)).cloned());
            self.log.others.retain(|it| !is_own(it));
        }
        self.log
    }
}

impl DeviceLog {
    /// Takes over what `later` tells of the same card.
    fn absorb(&mut self, later: Self) {
        self.lines.extend(later.lines);
        self.card.mode = later.card.mode.or_else(|| self.card.mode.take());
        self.card.kind = later.card.kind.or(self.card.kind);
        self.card.clock_hz = later.card.clock_hz.or(self.card.clock_hz);
        self.card.queue = later.card.queue.or(self.card.queue);
        self.card.widths_failed = later.card.widths_failed;
        for trouble in later.troubles {
            match self.troubles.iter_mut().find(|known| known.is_like(&trouble)) {
                Some(known) => known.absorb(trouble),
                None => self.troubles.push(trouble),
            }
        }
    }
}

impl Trouble {
    /// Whether both are of one kind and one file system.
    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind && self.partition == other.partition
    }

    /// Takes over what `later` tells of the same.
    fn absorb(&mut self, later: Self) {
        self.count += later.count;
        self.last = later.last.or_else(|| self.last.take());
        self.seconds = self.seconds.max(later.seconds);
        if later.day.is_some() && later.day != self.day {
            self.days += later.days;
            self.day = later.day;
        }
        if self.op != later.op {
            self.op = OpName::Unknown;
        }
        for sector in later.sectors {
            self.add_sector(sector);
        }
        for step in later.steps {
            self.add_step(step);
        }
    }

    fn add_sector(&mut self, sector: u64) {
        if self.sectors.len() < SECTORS_MAX && !self.sectors.contains(&sector) {
            self.sectors.push(sector);
        }
    }

    fn add_step(&mut self, step: ModeStep) {
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }
}

/// The name of an NVMe device's controller, and the other way round.
fn nvme_twin(name: &str) -> Option<String> {
    let rest = name.strip_prefix("nvme")?;
    Some(match rest.split_once('n') {
        Some((controller, _)) => format!("nvme{controller}"),
        None => format!("nvme{rest}n1"),
    })
}

impl CardSeen {
    /// Takes over what a message tells of the card.
    fn learn(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Card { name, size_bytes, is_read_only, .. } => {
                self.name = Some((*name).to_owned());
                self.size_bytes = Some(*size_bytes);
                self.is_read_only = *is_read_only;
            }
            EventKind::Attached { mode, card } => {
                self.kind = Some(*card);
                self.mode = Some((*mode).to_owned());
            }
            EventKind::Clock(hz) => self.clock_hz = Some(*hz),
            EventKind::WidthFailed(bits) if !self.widths_failed.contains(bits) => {
                self.widths_failed.push(*bits);
            }
            EventKind::QueueOn => self.queue = Some(true),
            EventKind::QueueOff => self.queue = Some(false),
            _ => {}
        }
    }
}

impl EventKind<'_> {
    /// Whether a message tells that something went wrong.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        trouble(self).is_some()
    }
}

/// The kind of trouble that a message tells of.
fn trouble(event: &EventKind<'_>) -> Option<TroubleKind> {
    Some(match event {
        EventKind::CommandError { error, .. } => TroubleKind::Command(*error),
        EventKind::InitFailed(error) => TroubleKind::Init(*error),
        // ETIMEDOUT, which the kernel's other messages name by its number.
        EventKind::NoAnswer => TroubleKind::Command(110),
        EventKind::StuckBusy => TroubleKind::StuckBusy,
        EventKind::IoError { is_medium: true, .. } => TroubleKind::Medium,
        EventKind::IoError { .. } => TroubleKind::Io,
        EventKind::WriteLost => TroubleKind::WriteLost,
        EventKind::FilesystemError(_) => TroubleKind::Filesystem,
        EventKind::ReadOnly(_) => TroubleKind::ReadOnly,
        EventKind::Unclean(_) => TroubleKind::Unclean,
        EventKind::BeyondEnd => TroubleKind::BeyondEnd,
        EventKind::WidthFailed(_) => TroubleKind::Width,
        EventKind::ModeFailed(_) => TroubleKind::Mode,
        EventKind::QueueRecovery => TroubleKind::Queue,
        EventKind::UsbReset => TroubleKind::UsbReset,
        EventKind::LinkError => TroubleKind::Link,
        EventKind::DeviceTimeout => TroubleKind::DeviceTimeout,
        EventKind::Gone => TroubleKind::Gone,
        EventKind::TaskBlocked(_) => TroubleKind::TaskBlocked,
        EventKind::UnderVoltage => TroubleKind::UnderVoltage,
        EventKind::Card { is_read_only: true, .. } => TroubleKind::WriteProtected,
        EventKind::Boot
        | EventKind::Attached { .. }
        | EventKind::Card { .. }
        | EventKind::Removed
        | EventKind::Clock(_)
        | EventKind::UasOff
        | EventKind::QueueOn
        | EventKind::QueueOff
        | EventKind::VoltageNormal => return None,
    })
}

/// Counts one event among `troubles`.
fn note(
    troubles: &mut Vec<Trouble>,
    kind: TroubleKind,
    line: usize,
    event: &Event<'_>,
    partition: Option<&str>,
) {
    let time = event.stamp.map(printed);
    let mut found = Trouble {
        kind,
        count: 1,
        first: time.clone(),
        last: time,
        days: 1,
        day: event.stamp.map(day),
        line,
        sectors: Vec::new(),
        op: OpName::Unknown,
        filesystem: None,
        partition: None,
        steps: Vec::new(),
        seconds: 0,
    };
    match event.kind {
        EventKind::IoError { op, sector, .. } => {
            found.op = op;
            found.sectors.extend(sector);
            // Some boards do not let these areas of an eMMC be read, which is no fault.
            let is_area = |name: &&str| name.contains("boot") || name.ends_with("rpmb");
            found.partition = partition.filter(is_area).map(str::to_owned);
        }
        EventKind::CommandError { sector, .. } => found.sectors.extend(sector),
        EventKind::FilesystemError(it) | EventKind::ReadOnly(it) | EventKind::Unclean(it) => {
            found.filesystem = Some(it);
            found.partition = partition.map(str::to_owned);
        }
        EventKind::TaskBlocked(seconds) => found.seconds = seconds,
        EventKind::ModeFailed(step) => found.steps.push(step),
        _ => {}
    }
    match troubles.iter_mut().find(|known| known.is_like(&found)) {
        Some(known) => known.absorb(found),
        None => troubles.push(found),
    }
}

/// What all times of a day have in common.
fn day(stamp: Stamp<'_>) -> String {
    match stamp {
        Stamp::SinceBoot(seconds) => format!("{:.0}", (seconds / 86_400.0).floor()),
        // What stands before the hour.
        Stamp::Clock(clock) => {
            let hour = clock.find(':').and_then(|colon| colon.checked_sub(2));
            hour.and_then(|hour| clock.get(..hour)).unwrap_or_default().trim_end().to_owned()
        }
    }
}

/// A time for people: seconds since the start, or the log's own words.
fn printed(stamp: Stamp<'_>) -> String {
    match stamp {
        Stamp::SinceBoot(seconds) => format!("{seconds:.1} s"),
        Stamp::Clock(clock) => clock.to_owned(),
    }
}
